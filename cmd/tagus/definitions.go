package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tagus-ros/tagus/msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// definitions finds what types are made of. The packages that come with tagus go first, as for "gen"; then the folders of --search; then the
// installations that AMENT_PREFIX_PATH names. Of these, a package is read when one of its types is asked for, so that what is broken in one
// hurts nobody else.
type definitions struct {
	search  []string
	builtin *rosidl.Set
	found   map[string][]rosidl.File // outside, by package; nil until looked for
	broken  []error                  // folders that could not be looked through
}

// searchFlag adds the choice of folders with definitions to a verb.
func searchFlag(cmd *cobra.Command, f *definitions) {
	cmd.Flags().StringArrayVar(&f.search, "search", nil, "folder of a package, or of packages, with .msg, .srv and .action files; before AMENT_PREFIX_PATH; may be repeated")
	_ = cmd.MarkFlagDirname("search")
}

// bundled are the definitions that tagus brings along.
var bundled = rosidl.Source{FS: msgs.Definitions, Root: "tagus"}

// definition is a type that was found.
type definition struct {
	name string
	hash string
	set  *rosidl.Set
	desc *rosidl.TypeDescription
}

// unknownTypeError says that no definition of a type is here.
type unknownTypeError struct {
	name  string
	hash  string // that no definition has; "" if there is none of the name
	where string // where was looked
	near  []string
	cause error
}

func (e *unknownTypeError) Error() string {
	text := "no definition of " + e.name
	if e.hash != "" {
		text += " with the hash " + e.hash
	}
	text += " was found: looked at " + e.where
	if e.cause != nil {
		text += "; " + e.cause.Error()
	}
	return text + didYouMean(e.near)
}

func (e *unknownTypeError) Unwrap() error { return e.cause }

// find gives the definition of a type, of that very hash if one is given. The name may be short ("std_msgs/String").
func (f *definitions) find(name, hash string) (*definition, error) {
	pkg, kind, short, err := rosidl.SplitName(name)
	if err != nil {
		return nil, err
	}
	name = pkg + "/" + kind.Folder() + "/" + short
	found := false
	try := func(set *rosidl.Set) (*definition, error) {
		if set.Struct(name) == nil && set.Interface(name) == nil {
			return nil, nil
		}
		desc, err := set.Describe(name)
		if err != nil {
			return nil, err
		}
		found = true
		if h := desc.Hash(); hash == "" || h == hash {
			return &definition{name, h, set, desc}, nil
		}
		return nil, nil
	}
	set, err := f.bundled()
	if err != nil {
		return nil, err
	}
	d, err := try(set)
	if d != nil || err != nil {
		return d, err
	}
	// Once with the bundled packages first and once last: an installation may have another version of one.
	for _, last := range []bool{false, true} {
		if set, err = f.outside(pkg, last); err != nil {
			return nil, err
		}
		if d, err = try(set); d != nil || err != nil {
			return d, err
		}
	}
	e := &unknownTypeError{name: name, where: f.places(), cause: errors.Join(f.broken...)}
	if found {
		e.hash = hash
	} else {
		e.near = nearest(name, f.names(kind))
	}
	return nil, e
}

func (f *definitions) bundled() (*rosidl.Set, error) {
	if f.builtin != nil {
		return f.builtin, nil
	}
	set := rosidl.NewSet()
	if _, err := set.Load(bundled, true); err != nil {
		return nil, err
	}
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	f.builtin = set
	return set, nil
}

// outside reads a package that was found outside, and those it refers to.
func (f *definitions) outside(pkg string, bundledLast bool) (*rosidl.Set, error) {
	f.look()
	set := rosidl.NewSet()
	if !bundledLast {
		if _, err := set.Load(bundled, true); err != nil {
			return nil, err
		}
	}
	read := map[string]bool{}
	var load func(pkg string) error
	load = func(pkg string) error {
		read[pkg] = true
		for _, file := range f.found[pkg] {
			if set.Interface(fullName(file)) != nil {
				continue
			}
			i, err := file.Parse()
			if err != nil {
				return err
			}
			if err := set.Add(i); err != nil {
				return err
			}
			for _, part := range i.Parts {
				for _, field := range part.Fields {
					nested, _, _ := strings.Cut(field.Type.NestedName, "/")
					if nested == "" || read[nested] || set.Struct(field.Type.NestedName) != nil {
						continue
					}
					if err := load(nested); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	if err := load(pkg); err != nil {
		return nil, err
	}
	if bundledLast {
		if _, err := set.Load(bundled, true); err != nil {
			return nil, err
		}
	}
	return set, set.Resolve()
}

func fullName(f rosidl.File) string { return f.Package + "/" + f.Kind.Folder() + "/" + f.Name }

// look lists the files outside, once.
func (f *definitions) look() {
	if f.found != nil {
		return
	}
	f.found = map[string][]rosidl.File{}
	seen := map[string]bool{}
	for _, src := range append(f.searched(), installed()...) {
		files, err := rosidl.Find(src)
		if err != nil {
			f.broken = append(f.broken, err)
			continue
		}
		for _, file := range files {
			if name := fullName(file); !seen[name] {
				seen[name] = true
				f.found[file.Package] = append(f.found[file.Package], file)
			}
		}
	}
}

func (f *definitions) searched() []rosidl.Source {
	var out []rosidl.Source
	for _, dir := range f.search {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			f.broken = append(f.broken, fmt.Errorf("--search %s: no such folder", dir))
			continue
		}
		out = append(out, rosidl.DirSource(dir))
	}
	return out
}

// installed are the packages with definitions below AMENT_PREFIX_PATH, each by itself.
func installed() []rosidl.Source {
	var out []rosidl.Source
	for _, share := range rosidl.AmentSources() {
		entries, err := os.ReadDir(share.Root)
		if err != nil {
			continue
		}
		for _, e := range entries {
			dir := filepath.Join(share.Root, e.Name())
			if slices.ContainsFunc([]string{"msg", "srv", "action"}, func(sub string) bool {
				st, err := os.Stat(filepath.Join(dir, sub))
				return err == nil && st.IsDir()
			}) {
				out = append(out, rosidl.DirSource(dir))
			}
		}
	}
	return out
}

// places says where is looked.
func (f *definitions) places() string {
	text := "the packages that come with tagus"
	if len(f.search) > 0 {
		text += ", --search " + strings.Join(f.search, " ")
	}
	if p := os.Getenv("AMENT_PREFIX_PATH"); p != "" {
		return text + " and AMENT_PREFIX_PATH (" + p + ")"
	}
	return text + " (AMENT_PREFIX_PATH is not set)"
}

// all lists every definition by package, those that come with tagus included; the first place wins. Files whose name has an underscore are not
// for users.
func (f *definitions) all() (map[string][]rosidl.File, error) {
	files, err := rosidl.Find(bundled)
	if err != nil {
		return nil, err
	}
	f.look()
	out := map[string][]rosidl.File{}
	seen := map[string]bool{}
	add := func(file rosidl.File) {
		if name := fullName(file); !seen[name] && !strings.Contains(file.Name, "_") {
			seen[name] = true
			out[file.Package] = append(out[file.Package], file)
		}
	}
	for _, file := range files {
		add(file)
	}
	for _, list := range f.found {
		for _, file := range list {
			add(file)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b rosidl.File) int { return strings.Compare(fullName(a), fullName(b)) })
	}
	return out, nil
}

// names are the full names of all types of a kind, sorted.
func (f *definitions) names(kinds ...rosidl.Kind) []string {
	all, err := f.all()
	if err != nil {
		return nil
	}
	var out []string
	for _, list := range all {
		for _, file := range list {
			if slices.Contains(kinds, file.Kind) {
				out = append(out, fullName(file))
			}
		}
	}
	slices.Sort(out)
	return out
}

// text is the definition of a message with all that it refers to, in the form called ros2msg.
func (d *definition) text() string {
	made := map[string]*rosidl.Schema{}
	var schema func(name string) *rosidl.Schema
	schema = func(name string) *rosidl.Schema {
		if s := made[name]; s != nil {
			return s
		}
		st := d.set.Struct(name)
		s := &rosidl.Schema{Name: name, Text: st.Text}
		made[name] = s
		for _, f := range st.Fields {
			if f.Type.NestedName != "" {
				dep := schema(f.Type.NestedName)
				s.Deps = append(s.Deps, func() *rosidl.Schema { return dep })
			}
		}
		return s
	}
	return schema(d.name).Definition()
}
