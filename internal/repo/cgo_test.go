package repo

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// No package outside the standard library contains or needs a C compiler, tests included: not for any platform, not even with cgo on.
func TestNoCgo(t *testing.T) {
	for _, p := range platforms {
		count := 0
		for _, pkg := range list(t, listKey{os: p.os, arch: p.arch, cgo: "1", tests: true}) {
			if pkg.Standard {
				continue
			}
			count++
			if files := slices.Concat(pkg.CgoFiles, pkg.CFiles, pkg.CXXFiles, pkg.MFiles, pkg.HFiles, pkg.FFiles, pkg.SwigFiles, pkg.SysoFiles); len(files) > 0 {
				// Headers for Go's own assembler need no C compiler.
				if foreign := pkg.Module != nil && pkg.Module.Path != module; foreign && len(files) == len(pkg.HFiles) {
					continue
				}
				t.Errorf("%s/%s: %s has %v", p.os, p.arch, pkg.ImportPath, files)
			}
			if slices.Contains(pkg.Imports, "C") {
				t.Errorf("%s/%s: %s imports C", p.os, p.arch, pkg.ImportPath)
			}
		}
		if count < 10 {
			t.Errorf("%s/%s: only %d packages were looked at", p.os, p.arch, count)
		}
	}
}

// Nor does a file that some build tag leaves out today.
func TestNoImportC(t *testing.T) {
	for _, name := range tracked(t, ".go") {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"C"` {
				t.Errorf("%s imports C", name)
			}
		}
	}
	for _, name := range tracked(t, ".c", ".h", ".cc", ".cpp", ".cxx", ".m", ".syso", ".swig", ".a", ".so") {
		t.Errorf("%s: no C in this repository", name)
	}
}
