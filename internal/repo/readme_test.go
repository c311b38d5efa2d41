package repo

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program in README.md is one that is compiled and run by tests.
func TestProgramInReadme(t *testing.T) {
	_, rest, found := strings.Cut(string(read(t, "README.md")), "```go\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("README.md shows no Go program")
	}
	if !strings.Contains(string(read(t, "examples/hello/main.go")), code) {
		t.Errorf("README.md shows a program that is not in examples/hello/main.go:\n%s", code)
	}
}

// What a text tells to make is a target of the Makefile.
func TestTargetsInTexts(t *testing.T) {
	makefile := string(read(t, "Makefile"))
	command := regexp.MustCompile("(?m)(?:^|`)make((?: [a-z]+)+)")
	seen := 0
	for _, file := range tracked(t, ".md") {
		for _, m := range command.FindAllStringSubmatch(string(read(t, file)), -1) {
			for _, target := range strings.Fields(m[1]) {
				seen++
				if !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
					t.Errorf("%s: make %s: there is no such target", file, target)
				}
			}
		}
	}
	if seen < 2 {
		t.Errorf("only %d targets found", seen)
	}
}

// Links within the repository lead somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, file := range tracked(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(string(read(t, file)), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, path.Dir(file), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
}

// Tests and packages that a text tells to run are there.
func TestTestsInTexts(t *testing.T) {
	command := regexp.MustCompile("`[^`]*go test ([^`]*)`")
	quoted := regexp.MustCompile(`-run '?([^' ]+)'?`)
	seen := 0
	for _, file := range tracked(t, ".md") {
		for _, m := range command.FindAllStringSubmatch(string(read(t, file)), -1) {
			var code strings.Builder
			for _, arg := range strings.Fields(m[1]) {
				if !strings.HasPrefix(arg, ".") {
					continue
				}
				dir := strings.TrimSuffix(arg, "/...")
				found, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
				if err != nil || len(found) == 0 && dir == arg {
					t.Errorf("%s: go test %s: no tests in %s", file, m[1], arg)
				}
				for _, name := range found {
					b, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					code.Write(b)
				}
			}
			run := quoted.FindStringSubmatch(m[1])
			if run == nil {
				continue
			}
			top, _, _ := strings.Cut(strings.ReplaceAll(run[1], `\|`, "|"), "/")
			for _, name := range strings.Split(top, "|") {
				seen++
				if !regexp.MustCompile(`(?m)^func (Test|Benchmark|Fuzz)?\w*` + name).MatchString(code.String()) {
					t.Errorf("%s: go test %s: no test is called %s", file, m[1], name)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d tests found", seen)
	}
}
