//go:build linux

package folder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

// TestGoldenHeader holds a header written by hand from the table in
// docs/shm-protocol.md. Its checksums were computed with the reference
// implementation of XXH3 (python-xxhash 4.1.0).
func TestGoldenHeader(t *testing.T) {
	var id graph.ID
	for i := range id {
		id[i] = byte(0xa0 + i)
	}
	want := []byte{
		'T', 'G', 'S', 'A', 1, 0, 2, 0, // magic, layout, state up
		7, 0, 0, 0, 0, 0, 0, 0, // version
		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
		0x80, 0, 0, 0, 0, 0, 0, 0, // offset
		5, 0, 0, 0, 0, 0, 0, 0, // length
		0x1b, 0x9e, 0x82, 0x4e, 0xda, 0x3e, 0x68, 0x1f, // sum of "hello", seed 7
		0x54, 0xe5, 0x29, 0x8d, 0xae, 0x47, 0x66, 0xc2, // sum of the 56 bytes above
	}
	h := header{state: StateUp, version: 7, id: id, offset: 128, length: 5, bodySum: bodySum(7, []byte("hello"))}
	var got [headerSize]byte
	h.put(&got)
	if string(got[:]) != string(want) {
		t.Errorf("put = %x\nwant  %x", got, want)
	}
	if back, f := parseHeader(want, id); f != flawNone || back != h {
		t.Errorf("parseHeader = %+v, %s", back, flawText[f])
	}
}

// TestPlaceNeverTouchesTheCurrentBody also bounds how far a file grows.
func TestPlaceNeverTouchesTheCurrentBody(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var cur header
		largest := 0
		size := r.IntN(100)
		for v := uint64(1); v < 1000; v++ {
			switch r.IntN(3) {
			case 0:
				size += r.IntN(200) // an announcement that grows bit by bit
			case 1:
				size = r.IntN(5000)
			}
			largest = max(largest, size)
			next := header{version: v, offset: place(cur, size), length: uint32(size)}
			if next.offset < bodyStart {
				t.Fatalf("body at %d", next.offset)
			}
			if cur.version != 0 && size > 0 && cur.length > 0 &&
				next.offset < cur.offset+uint64(cur.length) && cur.offset < next.offset+uint64(size) {
				t.Fatalf("%+v touches %+v", next, cur)
			}
			if end := next.offset + uint64(size); end > uint64(bodyStart+3*largest+2*bodyAlign) {
				t.Fatalf("file of %d bytes for bodies of at most %d", end, largest)
			}
			cur = next
		}
	}
}

// pattern is a body in which a mix of two versions shows: every 8 bytes say
// the same number.
func pattern(n uint64, size int) []byte {
	b := make([]byte, 8*size)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], n)
	}
	return b
}

func checkPattern(b []byte) error {
	if len(b) == 0 || len(b)%8 != 0 {
		return fmt.Errorf("body of %d bytes", len(b))
	}
	first := binary.LittleEndian.Uint64(b)
	for i := 0; i < len(b); i += 8 {
		if n := binary.LittleEndian.Uint64(b[i:]); n != first {
			return fmt.Errorf("a mix: %d at 0, %d at %d", first, n, i)
		}
	}
	return nil
}

// TestWriterOvertakesReader lets the owner write while a reader is between
// header and body.
func TestWriterOvertakesReader(t *testing.T) {
	for writes := range 5 {
		f := testFolder(t)
		m := testJoin(t, f, pattern(1, 100))
		n := uint64(1)
		readHook = func() {
			for range writes {
				n++
				if _, err := m.Write(pattern(n, 100)); err != nil {
					t.Fatal(err)
				}
			}
			readHook = nil
		}
		a, err := f.Read(m.ID(), 0)
		readHook = nil
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPattern(a.Body); err != nil {
			t.Errorf("after %d writes in between: %v", writes, err)
		}
		// The body is that of the version, and no older than what was there
		// before the last write but one.
		if got := binary.LittleEndian.Uint64(a.Body); got+1 != a.Version || got+1 < n {
			t.Errorf("after %d writes in between: body %d with version %d, newest is %d", writes, got, a.Version, n)
		}
	}
}

// TestWriterOvertakesForever: a reader gives up with an error rather than
// wait.
func TestWriterOvertakesForever(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, pattern(1, 100))
	n := uint64(1)
	readHook = func() {
		for range 2 {
			n++
			if _, err := m.Write(pattern(n, 100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	defer func() { readHook = nil }()
	var ce *CorruptError
	if _, err := f.Read(m.ID(), 0); !errors.As(err, &ce) {
		t.Errorf("Read = %v", err)
	}
}

// TestMixWithoutChecksums shows that the tests above would find a mix: without
// checksums there is one.
func TestMixWithoutChecksums(t *testing.T) {
	checksums = false
	defer func() { checksums = true }()
	f := testFolder(t)
	m := testJoin(t, f, pattern(1, 100))
	readHook = func() {
		readHook = nil
		// Two writes; of the second only half, as if it were under way.
		for n := uint64(2); n <= 3; n++ {
			if _, err := m.Write(pattern(n, 100)); err != nil {
				t.Fatal(err)
			}
		}
		if err := pwrite(m.file.fd, pattern(1, 50), int64(m.file.cur.offset)); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { readHook = nil }()
	a, err := f.Read(m.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if checkPattern(a.Body) == nil {
		t.Error("no mix was seen without checksums: the test of mixes tests nothing")
	}
}

// TestCrashAtEveryByte replays a write cut off after each of its bytes: a
// reader finds the old content or the new one, whole.
func TestCrashAtEveryByte(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("the first body, a long one so that the next lies before or behind it"))
	rounds := [][]byte{[]byte("second"), bytes.Repeat([]byte("third "), 30), []byte("4"), nil, []byte("the sixth")}
	old := []byte("the first body, a long one so that the next lies before or behind it")
	for _, next := range rounds {
		file, err := os.ReadFile(pathOf(f.Path(), m.ID()))
		if err != nil {
			t.Fatal(err)
		}
		v0 := m.file.cur.version
		type step struct {
			at int64
			b  byte
		}
		var steps []step
		writeHook = func(b []byte, off int64) {
			for i, c := range b {
				steps = append(steps, step{off + int64(i), c})
			}
		}
		_, err = m.Write(next)
		writeHook = nil
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) < headerSize+len(next) {
			t.Fatalf("only %d bytes were written", len(steps))
		}
		fd := memfile(t, file)
		for k := 0; k <= len(steps); k++ {
			a, err := f.readCopies(fd, m.ID(), 0)
			if err != nil {
				t.Fatalf("cut after %d of %d bytes: %v", k, len(steps), err)
			}
			isNew := a.Version == v0+1
			want := old
			if isNew {
				want = next
			}
			if !bytes.Equal(a.Body, want) || (a.Version != v0 && !isNew) || (k == len(steps)) && !isNew {
				t.Fatalf("cut after %d of %d bytes: version %d, body %q", k, len(steps), a.Version, a.Body)
			}
			if k < len(steps) {
				if err := pwrite(fd, []byte{steps[k].b}, steps[k].at); err != nil {
					t.Fatal(err)
				}
			}
		}
		unix.Close(fd)
		old = next
	}
}

func memfile(t testing.TB, content []byte) int {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := pwrite(fd, content, 0); err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestWriterKilledAtRandom reads all the time while a writer writes as fast as
// it can and is killed at a random moment, then whatever it left.
func TestWriterKilledAtRandom(t *testing.T) {
	f := testFolder(t)
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	var reads, versions int
	for range rounds {
		c := startChild(t, nil, "writer", f.Path())
		id, err := graph.ParseID(c.line())
		if err != nil {
			t.Fatal(err)
		}
		// What the dead leave is read through a descriptor of our own; the
		// folder would reap it.
		fd, err := unix.Open(pathOf(f.Path(), id), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { c.cmd.Process.Kill() })
		var last uint64
		for {
			a, err := f.Read(id, 0)
			if err == ErrDead || err == ErrGone {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := checkPattern(a.Body); err != nil {
				t.Fatalf("version %d: %v", a.Version, err)
			}
			if a.Version < last {
				t.Fatalf("version went back from %d to %d", last, a.Version)
			}
			if a.Version > last {
				versions++
			}
			last = a.Version
			reads++
		}
		timer.Stop()
		c.wait()
		a, err := f.readCopies(fd, id, 0)
		if err != nil {
			t.Fatalf("after the writer was killed: %v", err)
		}
		if err := checkPattern(a.Body); err != nil || a.Version < last {
			t.Fatalf("after the writer was killed: version %d after %d: %v", a.Version, last, err)
		}
		unix.Close(fd)
	}
	t.Logf("%d reads, %d versions", reads, versions)
	if reads < 10*rounds || versions < 2*rounds {
		t.Errorf("only %d reads of %d versions: nothing was tested", reads, versions)
	}
	if ns := names(t, f.Path()); len(ns) != 0 {
		t.Errorf("left %v", ns)
	}
}

func init() {
	// writer announces one body after another until it is killed.
	children["writer"] = func(args []string) error {
		f, err := Open(args[0])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), pattern(0, 1))
		if err != nil {
			return err
		}
		fmt.Println(m.ID())
		for n := uint64(1); ; n++ {
			if _, err := m.Write(pattern(n, 1+rand.IntN(4000))); err != nil {
				return err
			}
		}
	}
}

// TestRandomBytesInAnnouncements overwrites random bytes of the files of two
// living processes: no panic, nothing removed, an error that names the path and
// what, or content that was once announced; and Check mends it.
func TestRandomBytesInAnnouncements(t *testing.T) {
	f := testFolder(t)
	ms := []*Member{testJoin(t, f, pattern(1, 50)), testJoin(t, f, pattern(1, 700))}
	r := rand.New(rand.NewPCG(3, 4))
	errs := map[string]int{}
	n := uint64(1)
	for trial := range 1000 {
		m := ms[trial%2]
		n++
		if _, err := m.Write(pattern(n, 20+r.IntN(500))); err != nil {
			t.Fatal(err)
		}
		good, err := f.Read(m.ID(), 0)
		if err != nil {
			t.Fatal(err)
		}
		path := pathOf(f.Path(), m.ID())
		size := int(must(os.Stat(path)).Size())
		damage := make([]byte, 1+r.IntN(64))
		for i := range damage {
			damage[i] = byte(r.Uint32())
		}
		var off int
		switch r.IntN(4) {
		case 0:
			off = r.IntN(bodyStart)
		case 1: // both headers
			damage, off = append(damage, make([]byte, bodyStart)...), 0
		default:
			off = r.IntN(size)
		}
		overwrite(t, path, damage, int64(off))
		if r.IntN(10) == 0 {
			if err := os.Truncate(path, int64(r.IntN(size))); err != nil {
				t.Fatal(err)
			}
		}
		for _, have := range []uint64{0, good.Version - 1, good.Version} {
			a, err := f.Read(m.ID(), have)
			var ce *CorruptError
			var ve *VersionError
			switch {
			case err == nil && a.Version < have:
				t.Fatalf("version went back from %d to %d", have, a.Version)
			case err == nil && a.Version == have && a.Body == nil:
			case err == nil:
				if err := checkPattern(a.Body); err != nil {
					t.Fatalf("believed: %v", err)
				}
			case errors.As(err, &ce) || errors.As(err, &ve):
				if !strings.Contains(err.Error(), path) {
					t.Fatalf("error %q does not name %s", err, path)
				}
				errs[strings.ReplaceAll(err.Error(), path, "FILE")]++
			default:
				t.Fatalf("Read: %v (%T)", err, err)
			}
		}
		if ns := names(t, f.Path()); len(ns) != 4 {
			t.Fatalf("files are %v", ns)
		}
		if _, err := m.Check(); err != nil {
			t.Fatal(err)
		}
		a, err := f.Read(m.ID(), good.Version-1)
		if err != nil || !bytes.Equal(a.Body, good.Body) {
			t.Fatalf("Check has not mended it: version %d, %v", a.Version, err)
		}
	}
	if len(errs) < 3 {
		t.Errorf("only these errors were seen: %v", errs)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func overwrite(t testing.TB, path string, b []byte, off int64) {
	t.Helper()
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

// TestLiesInAnnouncements: headers with good checksums that lie, as only a
// program could write them.
func TestLiesInAnnouncements(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("hello"))
	path := pathOf(f.Path(), m.ID())
	le := binary.LittleEndian
	for _, c := range []struct {
		name string
		bend func(h *header, raw []byte)
		says string
	}{
		{"other id", func(h *header, raw []byte) { h.id[0]++ }, "announces another id than its name"},
		{"version 0", func(h *header, raw []byte) { h.version = 0 }, "version 0"},
		{"state 3", func(h *header, raw []byte) { h.state = 3 }, "unknown state"},
		{"body in the headers", func(h *header, raw []byte) { h.offset = 64 }, "out of bounds"},
		{"body at the end of the world", func(h *header, raw []byte) { h.offset = 1<<64 - 1 }, "out of bounds"},
		{"body larger than allowed", func(h *header, raw []byte) { h.length = MaxBody + 1 }, "out of bounds"},
		{"body larger than the file", func(h *header, raw []byte) { h.length = MaxBody }, "body of 16777216 bytes at 192 does not fit in a file of 4096 bytes"},
		{"other body", func(h *header, raw []byte) { h.bodySum++ }, "body checksum is wrong"},
		{"layout 2", func(h *header, raw []byte) { le.PutUint16(raw[4:], 2) }, "file layout 2, this program knows layout 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := m.file.cur
			var raw [headerSize]byte
			c.bend(&h, raw[:])
			layout := le.Uint16(raw[4:])
			h.put(&raw)
			if layout != 0 {
				le.PutUint16(raw[4:], layout)
				resum(&raw)
			}
			overwrite(t, path, append(raw[:], raw[:]...), 0)
			a, err := f.Read(m.ID(), 0)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("Read = %+v, %v; want %q", a, err, c.says)
			}
			if ok, err := f.Alive(m.ID()); !ok || err != nil {
				t.Errorf("Alive = %v, %v", ok, err)
			}
		})
	}
}

// TestStrangeFilesUnderOurNames: whatever stands under the name of an id,
// nothing hangs and nothing outside is touched.
func TestStrangeFilesUnderOurNames(t *testing.T) {
	f := testFolder(t)
	outside := f.Path() + "-outside"
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name string
		make func(path string) error
		says string // "": it is the leftover of a dead one
	}{
		{"link", func(p string) error { return os.Symlink(outside, p) }, "is a symbolic link"},
		{"pipe", func(p string) error { return unix.Mkfifo(p, 0o600) }, "is not a file but a pipe"},
		{"folder", func(p string) error { return os.Mkdir(p, 0o700) }, "is not a file but a folder"},
		{"socket", func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o600, 0) }, "is a socket or device"},
		{"hard link to outside", func(p string) error { return os.Link(outside, p) }, "is no announcement, and nobody holds it"},
		{"empty file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := graph.ID{0: byte(i), 15: 0x77}
			path := pathOf(f.Path(), id)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			noLeak(t, func() {
				_, err := f.Read(id, 0)
				if c.says == "" {
					if err != ErrDead {
						t.Errorf("Read = %v", err)
					}
					if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("it was not removed: %v", err)
					}
					return
				}
				var ce *CorruptError
				if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.says) || ce.Path != path {
					t.Errorf("Read = %v", err)
				}
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("it was removed: %v", err)
				}
				if ok, err := f.Alive(id); ok || err == nil {
					t.Errorf("Alive = %v, %v", ok, err)
				}
			})
		})
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "keep" {
		t.Errorf("outside: %q, %v", b, err)
	}
	// Joining sweeps the folder; the strange ones do not keep it from that.
	m := testJoin(t, f, nil)
	if _, err := f.Read(m.ID(), 0); err != nil {
		t.Error(err)
	}
}

func TestBodyTooLarge(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("small"))
	var le *LimitError
	if _, err := m.Write(make([]byte, MaxBody+1)); !errors.As(err, &le) || le.Limit != "MaxBody" || le.Value != MaxBody ||
		!strings.Contains(err.Error(), strconv.Itoa(MaxBody+1)) {
		t.Errorf("Write: %v", err)
	}
	if _, err := f.Join(graph.NewID(), make([]byte, MaxBody+1)); !errors.As(err, &le) {
		t.Errorf("Join: %v", err)
	}
	if a, err := f.Read(m.ID(), 0); err != nil || string(a.Body) != "small" {
		t.Errorf("Read = %q, %v", a.Body, err)
	}
	if _, err := m.Write(make([]byte, MaxBody)); err != nil {
		t.Errorf("Write of MaxBody bytes: %v", err)
	}
	if a, err := f.Read(m.ID(), 0); err != nil || len(a.Body) != MaxBody {
		t.Errorf("Read of MaxBody bytes: %d, %v", len(a.Body), err)
	}
	if _, err := f.Join(graph.ID{0: 1}, nil); err == nil {
		t.Error("Join takes an id whose top byte is zero")
	}
}

// resum makes the checksum of a header good again.
func resum(raw *[headerSize]byte) {
	binary.LittleEndian.PutUint64(raw[56:], xxh3.Hash(raw[:56]))
}

// FuzzReadCopies reads files made of anything, with checksums put right so that
// what they protect is reached as well.
func FuzzReadCopies(f *testing.F) {
	var id graph.ID
	for i := range id {
		id[i] = byte(0xa0 + i)
	}
	var raw [headerSize]byte
	h := header{state: StateUp, version: 7, id: id, offset: 128, length: 5, bodySum: bodySum(7, []byte("hello"))}
	h.put(&raw)
	f.Add(append(append(bytes.Clone(raw[:]), raw[:]...), "hello"...), uint64(0))
	h.version, h.offset, h.length = 8, maxOffset, MaxBody
	h.put(&raw)
	f.Add(append(raw[:], raw[:]...), uint64(7))
	f.Add([]byte("TGSA"), uint64(1))
	folder := &Folder{path: "/folder"}
	f.Fuzz(func(t *testing.T, b []byte, have uint64) {
		b = bytes.Clone(b)
		for at := 0; at+headerSize <= min(len(b), bodyStart); at += headerSize {
			resum((*[headerSize]byte)(b[at:]))
		}
		fd := memfile(t, b)
		defer unix.Close(fd)
		a, err := folder.readCopies(fd, id, have)
		if err != nil {
			if !strings.Contains(err.Error(), pathOf("/folder", id)) {
				t.Fatalf("error %q does not name the file", err)
			}
			return
		}
		if a.Version < have || (a.Body == nil) != (a.Version == have) || len(a.Body) > len(b) {
			t.Fatalf("%+v of %d bytes, have %d", a, len(b), have)
		}
	})
}
