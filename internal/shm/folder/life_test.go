//go:build linux

package folder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

func init() {
	// join joins args[0], prints its id and waits; then it closes.
	children["join"] = func(args []string) error {
		f, err := Open(args[0])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), []byte(strings.Join(args[1:], " ")))
		if err != nil {
			return err
		}
		fmt.Println(m.ID())
		untilTold()
		return m.Close()
	}
	// exec joins args[0], prints its id, and when told becomes another
	// program, which prints a line and waits.
	children["exec"] = func(args []string) error {
		f, err := Open(args[0])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), nil)
		if err != nil {
			return err
		}
		fmt.Println(m.ID())
		var b [1]byte
		os.Stdin.Read(b[:])
		return syscall.Exec("/bin/sh", []string{"sh", "-c", "echo another; cat"}, os.Environ())
	}
	// parent joins args[0], starts a program that outlives it, and prints its
	// id and the program's pid.
	children["parent"] = func(args []string) error {
		f, err := Open(args[0])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), nil)
		if err != nil {
			return err
		}
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			return err
		}
		fmt.Println(m.ID(), c.Process.Pid)
		untilTold()
		return nil
	}
}

func mustID(t testing.TB, s string) graph.ID {
	t.Helper()
	id, err := graph.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// expectDead is for after the end of a process: the first who looks finds it
// dead and removes what it left.
func expectDead(t testing.TB, f *Folder, id graph.ID) {
	t.Helper()
	if _, err := f.Read(id, 0); err != ErrDead {
		t.Fatalf("Read of a dead one: %v", err)
	}
	if _, err := f.Read(id, 0); err != ErrGone {
		t.Fatalf("Read of a reaped one: %v", err)
	}
	if ns := names(t, f.Path()); strings.Contains(strings.Join(ns, " "), id.String()) {
		t.Fatalf("left %v", ns)
	}
}

// lookAll reads everybody, as whoever matches does.
func lookAll(t testing.TB, f *Folder, have map[graph.ID]uint64) (up int) {
	t.Helper()
	ids, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		a, err := f.Read(id, have[id])
		switch {
		case err == ErrGone || err == ErrDead:
			delete(have, id)
		case err != nil:
			t.Errorf("Read of %v: %v", id, err)
		case a.State == StateUp:
			have[id] = a.Version
			up++
		}
	}
	return up
}

func TestKilledIsReaped(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, nil)
	c := startChild(t, nil, "join", f.Path(), "hello")
	id := mustID(t, c.line())
	a, err := f.Read(id, 0)
	if err != nil || string(a.Body) != "hello" {
		t.Fatalf("Read = %+v, %v", a, err)
	}
	if ok, err := f.Alive(id); !ok || err != nil {
		t.Fatalf("Alive = %v, %v", ok, err)
	}
	// A stopped process lives.
	c.cmd.Process.Signal(unix.SIGSTOP)
	if ok, err := f.Alive(id); !ok || err != nil {
		t.Fatalf("Alive of a stopped process = %v, %v", ok, err)
	}
	c.kill()
	expectDead(t, f, id)
	if ok, err := f.Alive(m.ID()); !ok || err != nil {
		t.Errorf("the other one: Alive = %v, %v", ok, err)
	}
}

// TestExecIsDeath: the process goes on under the same pid as another program.
func TestExecIsDeath(t *testing.T) {
	f := testFolder(t)
	c := startChild(t, nil, "exec", f.Path())
	id := mustID(t, c.line())
	if ok, err := f.Alive(id); !ok || err != nil {
		t.Fatalf("Alive = %v, %v", ok, err)
	}
	c.in.Write([]byte{'\n'})
	c.expect("another")
	expectDead(t, f, id)
}

// TestChildDoesNotInheritLife: a program started by the dead one lives on, but
// has nothing of it.
func TestChildDoesNotInheritLife(t *testing.T) {
	f := testFolder(t)
	c := startChild(t, nil, "parent", f.Path())
	var id string
	var pid int
	fmt.Sscan(c.line(), &id, &pid)
	defer syscall.Kill(pid, syscall.SIGKILL)
	c.kill()
	expectDead(t, f, mustID(t, id))
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the started program has ended: %v", err)
	}
}

// TestLeftoversAreRemovedByTheNextStart: after all have died, only files and
// sockets are left, and the next to join removes them.
func TestLeftoversAreRemovedByTheNextStart(t *testing.T) {
	f := testFolder(t)
	var cs []*child
	for range 3 {
		c := startChild(t, nil, "join", f.Path())
		c.line()
		cs = append(cs, c)
	}
	for _, c := range cs {
		c.kill()
	}
	if ns := names(t, f.Path()); len(ns) != 6 {
		t.Fatalf("left %v", ns)
	}
	// A socket whose file somebody has removed, and one in use.
	es := names(t, f.Path())
	for _, n := range es {
		if !strings.HasSuffix(n, sockSuffix) {
			os.Remove(filepath.Join(f.Path(), n))
			break
		}
	}
	live := testJoin(t, f, nil)
	os.Remove(pathOf(f.Path(), live.ID()))
	// What is not ours stays.
	notes := filepath.Join(f.Path(), "notes")
	if err := os.WriteFile(notes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := testJoin(t, f, nil)
	want := map[string]bool{"notes": true, fileOf(m.ID()): true, sockOf(m.ID()): true, sockOf(live.ID()): true}
	for _, n := range names(t, f.Path()) {
		if !want[n] {
			t.Errorf("left %s", n)
		}
		delete(want, n)
	}
	if len(want) > 0 {
		t.Errorf("removed %v", want)
	}
}

// TestStartingIsNotStale: a file whose owner has not come to its socket yet is
// left alone by all who look, clean or join.
func TestStartingIsNotStale(t *testing.T) {
	f := testFolder(t)
	d, err := f.use()
	if err != nil {
		t.Fatal(err)
	}
	defer d.done()
	id := graph.NewID()
	a, err := f.create(d, id, StateStarting, 1, []byte("soon"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	got, err := f.Read(id, 0)
	if err != nil || got.State != StateStarting {
		t.Fatalf("Read = %+v, %v", got, err)
	}
	if up := lookAll(t, f, map[graph.ID]uint64{}); up != 0 {
		t.Errorf("%d are up", up)
	}
	m := testJoin(t, f, nil) // sweeps
	if ok, err := f.Alive(id); !ok || err != nil {
		t.Fatalf("Alive = %v, %v", ok, err)
	}
	// Whoever calls it too early is told that it lives.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := f.Dial(ctx, id); !errors.Is(err, ErrNotListening) {
		t.Errorf("Dial: %v", err)
	}
	if up := lookAll(t, f, map[graph.ID]uint64{}); up != 1 {
		t.Errorf("%d are up, want only %v", up, m.ID())
	}
}

// TestReapersAtOnce: many who find the same dead at the same moment all come
// to the same end, and the living are not touched.
func TestReapersAtOnce(t *testing.T) {
	f := testFolder(t)
	live := testJoin(t, f, []byte("x"))
	for range 20 {
		c := startChild(t, nil, "join", f.Path())
		id := mustID(t, c.line())
		c.kill()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					ok, err := f.Alive(id)
					if err != nil {
						t.Error(err)
						return
					}
					if !ok {
						return
					}
				}
			})
		}
		// And somebody starts meanwhile.
		m := testJoin(t, f, []byte("y"))
		wg.Wait()
		want := map[string]bool{fileOf(live.ID()): true, sockOf(live.ID()): true, fileOf(m.ID()): true, sockOf(m.ID()): true}
		for _, n := range names(t, f.Path()) {
			delete(want, n)
		}
		if len(want) > 0 {
			t.Fatalf("these are missing: %v", want)
		}
		m.Close()
	}
	if ns := names(t, f.Path()); len(ns) != 2 {
		t.Errorf("left %v", ns)
	}
}

// TestReaperMeetsRemadeFile: a reaper opened the old file of a process that has
// remade it under the same name. The lock of the old one is free, but the name
// leads elsewhere.
func TestReaperMeetsRemadeFile(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("x"))
	d, err := f.use()
	if err != nil {
		t.Fatal(err)
	}
	defer d.done()
	name := nameOf(m.ID())
	old, err := openName(d.fd, &name)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(old)
	os.Remove(pathOf(f.Path(), m.ID()))
	if remade, err := m.Check(); !remade || err != nil {
		t.Fatalf("Check = %v, %v", remade, err)
	}
	if held, err := lockHeld(old); held || err != nil {
		t.Fatalf("lock of the old file: %v, %v", held, err)
	}
	if err := f.reap(d, old, m.ID()); err != errReplaced {
		t.Fatalf("reap: %v", err)
	}
	if ns := names(t, f.Path()); len(ns) != 2 {
		t.Fatalf("files are %v", ns)
	}
	if a, err := f.Read(m.ID(), 0); err != nil || string(a.Body) != "x" {
		t.Errorf("Read = %+v, %v", a, err)
	}
}

// TestRemadeUnderReapers removes the file of a living process again and again
// while others look at it without pause.
func TestRemadeUnderReapers(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("x"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var looks atomic.Int64
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := f.Read(m.ID(), 0); err != nil && err != ErrGone {
					t.Error(err)
					return
				}
				looks.Add(1)
			}
		})
	}
	for i := range 300 {
		os.Remove(pathOf(f.Path(), m.ID()))
		if i%3 == 0 {
			os.Remove(pathOf(f.Path(), m.ID()) + sockSuffix)
		}
		if remade, err := m.Check(); !remade || err != nil {
			t.Fatalf("Check = %v, %v", remade, err)
		}
		if ns := names(t, f.Path()); len(ns) != 2 {
			t.Fatalf("round %d: files are %v", i, ns)
		}
	}
	close(stop)
	wg.Wait()
	if looks.Load() < 300 {
		t.Errorf("only %d looks", looks.Load())
	}
}

// TestChurn: processes start and end all the time, half of them killed at a
// random moment. No start fails, those who live are never missed, and nothing
// is left.
func TestChurn(t *testing.T) {
	span := 2 * time.Second
	if testing.Short() {
		span = 300 * time.Millisecond
	}
	f := testFolder(t)
	control := testJoin(t, f, []byte("control"))
	end := time.Now().Add(span)
	var wg sync.WaitGroup
	var starts, kills atomic.Int64
	for range 4 {
		wg.Go(func() {
			for time.Now().Before(end) {
				c, err := tryChild(t, nil, "join", f.Path(), "x")
				if err != nil {
					t.Error(err)
					return
				}
				starts.Add(1)
				if rand.IntN(2) == 0 {
					kills.Add(1)
					time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { c.cmd.Process.Kill() })
					for c.lines.Scan() {
						if strings.HasPrefix(c.lines.Text(), "child ") {
							t.Error(c.lines.Text())
						}
					}
					c.wait()
					continue
				}
				if !c.lines.Scan() {
					t.Errorf("start failed: %v", c.wait())
					return
				}
				id := mustID(t, c.lines.Text())
				if a, err := f.Read(id, 0); err != nil || string(a.Body) != "x" {
					t.Errorf("one that runs: %+v, %v", a, err)
				}
				c.in.Close()
				if !c.lines.Scan() || c.lines.Text() != childDone {
					t.Errorf("end failed: %q", c.lines.Text())
				}
				c.wait()
			}
		})
	}
	have := map[graph.ID]uint64{}
	var scans int
	for time.Now().Before(end) {
		scans++
		lookAll(t, f, have)
		if have[control.ID()] == 0 {
			t.Error("the one that stays was missed")
		}
		c, err := f.Dial(context.Background(), control.ID())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if a, err := control.Accept(context.Background()); err != nil {
			t.Fatal(err)
		} else {
			a.Close()
		}
	}
	wg.Wait()
	lookAll(t, f, have)
	if ns := names(t, f.Path()); len(ns) != 2 {
		t.Errorf("left %v", ns)
	}
	t.Logf("%d starts, %d kills, %d scans", starts.Load(), kills.Load(), scans)
}

// TestCheck: whatever happened to folder, file and socket, Check makes it
// anew, the version grows, and Accept, which waits all the time, goes on.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, m *Member, path string)
		ok   bool // nothing was harmed
	}{
		{"nothing", func(t *testing.T, m *Member, path string) {}, true},
		{"file removed", func(t *testing.T, m *Member, path string) { os.Remove(pathOf(path, m.ID())) }, false},
		{"socket removed", func(t *testing.T, m *Member, path string) { os.Remove(pathOf(path, m.ID()) + sockSuffix) }, false},
		{"both removed", func(t *testing.T, m *Member, path string) {
			os.Remove(pathOf(path, m.ID()))
			os.Remove(pathOf(path, m.ID()) + sockSuffix)
		}, false},
		{"folder removed", func(t *testing.T, m *Member, path string) { os.RemoveAll(path) }, false},
		{"folder above removed", func(t *testing.T, m *Member, path string) { os.RemoveAll(filepath.Dir(path)) }, false},
		{"folder moved away", func(t *testing.T, m *Member, path string) { os.Rename(path, path+"-old") }, false},
		{"another folder in its place", func(t *testing.T, m *Member, path string) {
			os.Rename(path, path+"-old")
			os.Mkdir(path, 0o700)
		}, false},
		{"file moved", func(t *testing.T, m *Member, path string) {
			os.Rename(pathOf(path, m.ID()), path+"/moved")
		}, false},
		{"another file in its place", func(t *testing.T, m *Member, path string) {
			os.Remove(pathOf(path, m.ID()))
			os.WriteFile(pathOf(path, m.ID()), nil, 0o600)
		}, false},
		{"a copy in its place", func(t *testing.T, m *Member, path string) {
			b, _ := os.ReadFile(pathOf(path, m.ID()))
			os.Remove(pathOf(path, m.ID()))
			os.WriteFile(pathOf(path, m.ID()), b, 0o600)
		}, false},
		{"header damaged", func(t *testing.T, m *Member, path string) {
			overwrite(t, pathOf(path, m.ID()), make([]byte, bodyStart), 0)
		}, false},
		{"body damaged", func(t *testing.T, m *Member, path string) {
			overwrite(t, pathOf(path, m.ID()), []byte("damage"), int64(m.file.cur.offset)+2)
		}, false},
		{"cut off", func(t *testing.T, m *Member, path string) { os.Truncate(pathOf(path, m.ID()), 10) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "above", "0")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m := testJoin(t, f, []byte("some body"))
			other, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			accepted := make(chan error, 10)
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			defer wg.Wait()
			defer cancel()
			wg.Go(func() {
				for {
					conn, err := m.Accept(ctx)
					if ctx.Err() != nil || err == ErrClosed {
						return
					}
					if err == nil {
						conn.Close()
					}
					accepted <- err
				}
			})
			dial := func() {
				t.Helper()
				conn, err := other.Dial(ctx, m.ID())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if err := <-accepted; err != nil {
					t.Fatal(err)
				}
			}
			dial()
			before, err := f.Read(m.ID(), 0)
			if err != nil {
				t.Fatal(err)
			}
			noLeak(t, func() {
				c.harm(t, m, path)
				remade, err := m.Check()
				if err != nil || remade == c.ok {
					t.Fatalf("Check = %v, %v", remade, err)
				}
			})
			if _, err := other.Check(); err != nil {
				t.Fatal(err)
			}
			after, err := other.Read(m.ID(), 0)
			if err != nil || string(after.Body) != "some body" || after.Version < before.Version || after.State != StateUp {
				t.Fatalf("Read after Check = %+v, %v; version was %d", after, err, before.Version)
			}
			checkModes(t, f, m)
			dial()
			if remade, err := m.Check(); remade || err != nil {
				t.Errorf("second Check = %v, %v", remade, err)
			}
			if _, err := m.Write([]byte("more")); err != nil {
				t.Error(err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			for _, n := range names(t, path) {
				if n != "moved" {
					t.Errorf("left %s", n)
				}
			}
		})
	}
}

// TestCheckFailsAndTriesAgain: what cannot be remade now is remade later.
func TestCheckFailsAndTriesAgain(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("x"))
	os.RemoveAll(f.Path())
	if err := os.WriteFile(f.Path(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	noLeak(t, func() {
		remade, err := m.Check()
		if remade {
			t.Error("remade")
		}
		checkFolderError(t, err, CodeNotFolder, f.Path(), "is not a folder but a file")
	})
	os.Remove(f.Path())
	if remade, err := m.Check(); !remade || err != nil {
		t.Fatalf("Check = %v, %v", remade, err)
	}
	if a, err := f.Read(m.ID(), 0); err != nil || string(a.Body) != "x" {
		t.Errorf("Read = %+v, %v", a, err)
	}
}

// TestIDInUse: nobody can take the id of one who lives.
func TestIDInUse(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("x"))
	noLeak(t, func() {
		_, err := f.Join(m.ID(), []byte("y"))
		checkFolderError(t, err, CodeExists, pathOf(f.Path(), m.ID()), "another process holds it")
	})
	if a, err := f.Read(m.ID(), 0); err != nil || string(a.Body) != "x" {
		t.Errorf("Read = %+v, %v", a, err)
	}
	// Nor can Check take it back from one who has taken it meanwhile.
	os.Remove(pathOf(f.Path(), m.ID()))
	os.Remove(pathOf(f.Path(), m.ID()) + sockSuffix)
	n, err := f.Join(m.ID(), []byte("y"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	_, err = m.Check()
	checkFolderError(t, err, CodeExists, pathOf(f.Path(), m.ID()), "another process holds it")
	m.Close()
	if a, err := f.Read(n.ID(), 0); err != nil || string(a.Body) != "y" {
		t.Errorf("Read after the first one closed = %+v, %v", a, err)
	}
	if ns := names(t, f.Path()); len(ns) != 2 {
		t.Errorf("files are %v", ns)
	}
}

// TestSimultaneousChange: each of two processes writes, then reads the other.
// At least one of them sees what the other wrote.
func TestSimultaneousChange(t *testing.T) {
	f := testFolder(t)
	a, b := testJoin(t, f, nil), testJoin(t, f, nil)
	rounds := 5000
	if testing.Short() {
		rounds = 1000
	}
	var turn [2]atomic.Int64
	var saw [2]int
	step := func(me int, mine, other *Member, round int) {
		turn[me].Store(int64(round))
		for turn[1-me].Load() < int64(round) { // start together
		}
		v, err := mine.Write(nil)
		if err != nil {
			t.Error(err)
		}
		got, err := f.Read(other.ID(), 0)
		if err != nil {
			t.Error(err)
		}
		saw[me] = 0
		if got.Version >= v { // both count alike
			saw[me] = 1
		}
	}
	gate := make(chan int)
	done := make(chan struct{})
	go func() {
		for round := range gate {
			step(1, b, a, round)
			done <- struct{}{}
		}
	}()
	both := 0
	for round := 1; round <= rounds; round++ {
		gate <- round
		step(0, a, b, round)
		<-done
		if saw[0]+saw[1] == 0 {
			t.Fatalf("round %s: neither saw the other", strconv.Itoa(round))
		}
		both += saw[0] + saw[1] - 1
	}
	close(gate)
	t.Logf("both saw the other in %d of %d rounds", both, rounds)
}
