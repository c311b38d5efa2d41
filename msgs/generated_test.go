package msgs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tagus-ros/tagus/rosidl/gen"
)

// The committed code is what the generator writes now, and nothing else lies
// beside it that the generator wrote before.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	files, err := gen.Generate(gen.Options{
		Dirs: []string{"."}, Registry: "all_test.go",
		Suffixes: map[string]string{"srv": "Srv", "action": "Action"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Errorf("%v: run go generate ./msgs", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run go generate ./msgs", name)
		}
	}
	found, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if files[filepath.ToSlash(name)] == nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s has no definition", name)
		}
	}
}
