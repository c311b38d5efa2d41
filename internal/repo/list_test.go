package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tagus-ros/tagus"

// root is the top folder of the repository, seen from this package.
const root = "../.."

// pkg is what the tests need of go list's answer.
type pkg struct {
	ImportPath   string
	ForTest      string
	Dir          string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
	CFiles       []string
	CXXFiles     []string
	MFiles       []string
	HFiles       []string
	FFiles       []string
	SwigFiles    []string
	SysoFiles    []string
}

// own says whether p is a package of this module, and gives its path in it: "" for the root package.
func (p *pkg) own() (string, bool) { return ownPath(p.ImportPath) }

func ownPath(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

// platforms are those that must build.
var platforms = []struct{ os, arch string }{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

type listKey struct {
	os, arch, cgo string
	tests         bool
}

var (
	listMu sync.Mutex
	listed = map[listKey][]pkg{}
)

// list gives all packages of the module and all that they are built from, for one platform; with tests also what the tests need.
func list(t *testing.T, k listKey) []pkg {
	t.Helper()
	listMu.Lock()
	defer listMu.Unlock()
	if out, ok := listed[k]; ok {
		return out
	}
	args := []string{"list", "-deps", "-json=ImportPath,ForTest,Dir,Standard,Module,Imports,TestImports,XTestImports,CgoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SwigFiles,SysoFiles"}
	if k.tests {
		args = append(args, "-test")
	}
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+k.os, "GOARCH="+k.arch, "CGO_ENABLED="+k.cgo)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s for %s/%s: %v\n%s", strings.Join(cmd.Args[1:], " "), k.os, k.arch, err, stderr.String())
	}
	var out []pkg
	for d := json.NewDecoder(&stdout); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	listed[k] = out
	return out
}

// tracked gives the files of the work tree with one of these endings, without what git ignores and other folders that begin with a dot.
func tracked(t *testing.T, endings ...string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if rel != "." && (rel == "bin" || base != ".ci" && strings.HasPrefix(base, ".") || strings.HasSuffix(base, "_log")) {
				return fs.SkipDir
			}
			return nil
		}
		for _, e := range endings {
			if strings.HasSuffix(base, e) {
				out = append(out, filepath.ToSlash(rel))
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, rel string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, rel))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
