//go:build linux

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/graph"
)

func TestPath(t *testing.T) {
	t.Setenv(DirVariable, "")
	if p, err := Path(7); err != nil || p != fmt.Sprintf("/dev/shm/tagus-%d/7", os.Geteuid()) {
		t.Errorf("Path = %q, %v", p, err)
	}
	t.Setenv(DirVariable, "/somewhere/else/")
	if p, err := Path(0); err != nil || p != "/somewhere/else/0" {
		t.Errorf("Path = %q, %v", p, err)
	}
	if _, err := Path(-1); err == nil {
		t.Error("Path(-1) works")
	}
	t.Setenv(DirVariable, "here")
	var fe *FolderError
	if _, err := Path(0); !errors.As(err, &fe) || fe.Code != CodePath || fe.Path != "here" {
		t.Errorf("Path below a relative folder: %v", err)
	}
}

func TestIDNames(t *testing.T) {
	for range 100 {
		id := graph.NewID()
		if got := fileOf(id); got != id.String() {
			t.Fatalf("file of %v is %q", id, got)
		}
		if back, ok := parseName([]byte(id.String())); !ok || back != id {
			t.Fatalf("parseName(%v) = %v, %v", id, back, ok)
		}
	}
	good := graph.NewID().String()
	for _, name := range []string{"", "x", good + ".sock", strings.ToUpper(good[:31]) + "F", good[:31], good + "0", "00" + good[2:], good[:31] + "g"} {
		if id, ok := parseName([]byte(name)); ok {
			t.Errorf("parseName(%q) = %v", name, id)
		}
	}
}

func TestFolderIsMadeForUsAlone(t *testing.T) {
	f := testFolder(t)
	m := testJoin(t, f, []byte("x"))
	checkModes(t, f, m)
}

func checkModes(t testing.TB, f *Folder, m *Member) {
	t.Helper()
	for path, want := range map[string]fs.FileMode{
		f.Path():                   fs.ModeDir | 0o700,
		pathOf(f.Path(), m.ID()):   0o600,
		f.Path() + "/" + m.sockN(): fs.ModeSocket | 0o600,
	} {
		st, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, st.Mode(), want)
		}
	}
}

func (m *Member) sockN() string { return sockOf(m.id) }

// TestModesUnderAnyUmask needs processes of its own: the umask is one for all
// threads.
func TestModesUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o177, 0o777} {
		t.Run(fmt.Sprintf("%04o", mask), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "0")
			c := startChild(t, nil, "umask", fmt.Sprint(mask), path)
			c.expect("joined")
			st, err := os.Lstat(path)
			if err != nil || st.Mode() != fs.ModeDir|0o700 {
				t.Errorf("folder: %v, %v", st.Mode(), err)
			}
			es, err := os.ReadDir(path)
			if err != nil || len(es) != 2 {
				t.Fatalf("%v, %v", es, err)
			}
			for _, e := range es {
				if i, err := e.Info(); err != nil || i.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v", e.Name(), i.Mode(), err)
				}
			}
			c.finish()
		})
	}
}

func init() {
	children["umask"] = func(args []string) error {
		var mask int
		fmt.Sscan(args[0], &mask)
		unix.Umask(mask)
		f, err := Open(args[1])
		if err != nil {
			return err
		}
		m, err := f.Join(graph.NewID(), []byte("x"))
		if err != nil {
			return err
		}
		fmt.Println("joined")
		untilTold()
		return m.Close()
	}
}

// TestBadFolders: each is refused with an error that names the path and what
// is wrong, and nothing is made or changed.
func TestBadFolders(t *testing.T) {
	root := t.TempDir()
	mk := func(name string, mode fs.FileMode) string {
		p := filepath.Join(root, name)
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(mk("target", 0o700), link); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(root, "dangling")
	if err := os.Symlink("/nowhere/at/all", dangling); err != nil {
		t.Fatal(err)
	}
	open := mk("open", 0o777)
	sticky := mk("sticky", 0o777|fs.ModeSticky)
	above := mk("above", 0o755)
	for _, c := range []struct {
		name, path string
		code       Code
		names      string // the path that the error names
		says       string
	}{
		{"relative", "0", CodePath, "0", "must be absolute"},
		{"root", "/", CodePath, "/", "not the root"},
		{"nothing above", filepath.Join(root, "no", "0"), CodeMissing, filepath.Join(root, "no"), "does not exist; make it first (mkdir -m 700) or correct TAGUS_DIR"},
		{"nothing above that", filepath.Join(root, "no", "such", "0"), CodeMissing, filepath.Join(root, "no", "such"), "does not exist"},
		{"link", link, CodeSymlink, link, "it points to " + root + "/target"},
		{"dangling link", dangling, CodeSymlink, dangling, "it points to /nowhere/at/all"},
		{"link above", filepath.Join(link, "0"), CodeSymlink, link, "is a symbolic link"},
		{"file", file, CodeNotFolder, file, "is not a folder but a file"},
		{"file above", filepath.Join(file, "0"), CodeNotFolder, file, "is not a folder but a file"},
		{"for all", mk("all", 0o777), CodeMode, filepath.Join(root, "all"), "mode 0777"},
		{"for the group", mk("group", 0o750), CodeMode, filepath.Join(root, "group"), fmt.Sprintf("mode 0750 (owner uid %d)", os.Geteuid())},
		{"not for us", mk("closed", 0o500), CodeMode, filepath.Join(root, "closed"), "mode 0500"},
		{"others can swap it", filepath.Join(open, "0"), CodeMode, open, "others can write to it"},
		{"good: sticky above", filepath.Join(sticky, "0"), "", "", ""},
		{"good: others may look above", filepath.Join(above, "0"), "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := walk(t, root)
			var f *Folder
			var err error
			noLeak(t, func() {
				if f, err = Open(c.path); err == nil {
					f.Close()
				}
			})
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			checkFolderError(t, err, c.code, c.names, c.says)
			if after := walk(t, root); after != before {
				t.Errorf("Open has changed something:\n%s\nto\n%s", before, after)
			}
		})
	}
}

func checkFolderError(t testing.TB, err error, code Code, path, says string) {
	t.Helper()
	var fe *FolderError
	if !errors.As(err, &fe) {
		t.Fatalf("error %v is a %T", err, err)
	}
	if fe.Code != code || fe.Path != path || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %q\ncode %s, path %s\nwant %s, %s, %q", err, fe.Code, fe.Path, code, path, says)
	}
	if !errors.Is(err, &FolderError{Code: code}) {
		t.Errorf("error is not Is of its code")
	}
}

// walk describes a tree.
func walk(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := e.Info()
		fmt.Fprintln(&b, p, i.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFolderOfAnotherUser(t *testing.T) {
	needRoot(t)
	root := t.TempDir()
	theirs := filepath.Join(root, "theirs")
	if err := os.Mkdir(theirs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	says := "owned by uid 12345, this process runs as uid 0"
	_, err := Open(theirs)
	checkFolderError(t, err, CodeOwner, theirs, says)
	_, err = Open(filepath.Join(theirs, "0"))
	checkFolderError(t, err, CodeOwner, theirs, says)
	if ns := names(t, theirs); len(ns) != 0 {
		t.Errorf("made %v", ns)
	}
}

// TestFolderOfRoot: what a user sees of a folder that root made, with and
// without the right to look into it.
func TestFolderOfRoot(t *testing.T) {
	needRoot(t)
	root := worldTemp(t)
	for _, mode := range []fs.FileMode{0o700, 0o755} {
		path := filepath.Join(root, fmt.Sprintf("m%o", mode))
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		runChild(t, asUser(12345), "open", path, string(CodeOwner), path, "owned by uid 0, this process runs as uid 12345")
		runChild(t, asUser(12345), "open", path+"/0", string(CodePermission), path+"/0", "permission denied")
	}
}

// worldTemp is a temporary folder that every user can look into.
func worldTemp(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("", "tagus-folder")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func asUser(uid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
}

// TestUserNamespaceWithOtherUIDs: in a user namespace where the folder's owner
// has no uid, the folder is refused for that reason.
func TestUserNamespaceWithOtherUIDs(t *testing.T) {
	needRoot(t)
	root := worldTemp(t)
	path := filepath.Join(root, "0")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 12345, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 12345, Size: 1}},
		Credential:  &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: true},
	}
	needNamespaces(t, attr)
	runChild(t, attr, "open", path, string(CodeUserNamespace), root, "has no uid in this user namespace (shown as 65534)")
}

func init() {
	// open expects Open of args[0] to fail as args[1:] say.
	children["open"] = func(args []string) error {
		_, err := Open(args[0])
		var fe *FolderError
		if !errors.As(err, &fe) || string(fe.Code) != args[1] || fe.Path != args[2] || !strings.Contains(err.Error(), args[3]) {
			return fmt.Errorf("Open(%s): %v (%+v); want %v", args[0], err, fe, args[1:])
		}
		return nil
	}
}
