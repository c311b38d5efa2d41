package repo

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is for files that people write, tests included.
const maxLines = 700

func TestGoFiles(t *testing.T) {
	for _, name := range tracked(t, ".go") {
		src := read(t, name)
		formatted, err := format.Source(src)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(src, formatted) {
			t.Errorf("%s is not as gofmt writes it", name)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		if lines := bytes.Count(src, []byte("\n")); lines > maxLines && !ast.IsGenerated(f) {
			t.Errorf("%s has %d lines, more than %d: give each idea a file of its own", name, lines, maxLines)
		}
	}
}

// Every package says what it is, in one place.
func TestPackageDocs(t *testing.T) {
	type found struct {
		name string
		docs []string
	}
	packages := map[string]*found{}
	for _, name := range tracked(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		p := packages[path.Dir(name)]
		if p == nil {
			p = &found{name: f.Name.Name}
			packages[path.Dir(name)] = p
		}
		if f.Doc != nil {
			p.docs = append(p.docs, f.Doc.Text())
		}
	}
	for dir, p := range packages {
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		switch {
		case len(p.docs) == 0:
			t.Errorf("%s: the package has no doc comment", dir)
		case len(p.docs) > 1:
			t.Errorf("%s: the package has %d doc comments, one is enough", dir, len(p.docs))
		case !strings.HasPrefix(p.docs[0], want):
			t.Errorf("%s: the doc comment begins with %.40q, want %q", dir, p.docs[0], want)
		}
	}
}

// Decisions are numbered without gaps and have a heading.
func TestDesignFiles(t *testing.T) {
	name := regexp.MustCompile(`^docs/design/(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	var last int
	for _, file := range tracked(t, ".md") {
		if path.Dir(file) != "docs/design" {
			continue
		}
		m := name.FindStringSubmatch(file)
		if m == nil {
			t.Errorf("%s: want docs/design/NNNN-lower-case-title.md", file)
			continue
		}
		if want := fmt.Sprintf("%04d", last+1); m[1] != want {
			t.Errorf("%s: want number %s next", file, want)
		}
		last++
		if !bytes.HasPrefix(read(t, file), []byte("# ")) {
			t.Errorf("%s: must begin with a heading", file)
		}
	}
	if last == 0 {
		t.Error("no decision is written down")
	}
}

// The repository speaks of tagus: not of the machine that it was written on, nor of where that machine got its packages.
func TestWords(t *testing.T) {
	bad := regexp.MustCompile(`(?i)` + strings.Join([]string{
		`(^|[\s"'=(` + "`" + `])/(work|root)/`, // folders of one machine
		`/home/[a-z]+/`,
		`/users/[a-z]+/`,
		`proxy\.golang\.` + `org`,
		`sum\.golang\.` + `org`,
		`registry\.npmjs\.` + `org`,
		`registry\.yarnpkg\.`,
		`\bpypi\.` + `org`,
		`files\.pythonhosted\.`,
		`\bdeb\.debian\.`,
	}, "|"))
	for _, name := range tracked(t, ".go", ".md", ".mod", ".txt", ".txtar", ".yml", ".yaml", ".json", ".msg", ".srv", ".sh", ".conf", "Makefile", "run", ".py", ".js", ".mjs", ".toml") {
		if name == "internal/repo/files_test.go" {
			continue
		}
		for i, line := range strings.Split(string(read(t, name)), "\n") {
			if m := bad.FindString(line); m != "" {
				t.Errorf("%s:%d: %q", name, i+1, strings.TrimSpace(m))
			}
		}
	}
}

func TestLicence(t *testing.T) {
	text := string(read(t, "LICENSE"))
	if !strings.Contains(text, "Apache License") || !strings.Contains(text, "Version 2.0, January 2004") {
		t.Error("LICENSE is not the Apache License 2.0")
	}
}
