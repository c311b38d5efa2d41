package rosidl

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Source is a place with definitions: a file system and how to call it in errors.
type Source struct {
	FS   fs.FS
	Root string // put in front of file names; the folder if FS is one
}

// DirSource is the folder dir.
func DirSource(dir string) Source { return Source{FS: os.DirFS(dir), Root: dir} }

// AmentSources are the share folders of the installations in the environment
// variable AMENT_PREFIX_PATH, first one first. Missing ones are left out.
func AmentSources() []Source {
	var sources []Source
	for _, prefix := range filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")) {
		share := filepath.Join(prefix, "share")
		if st, err := os.Stat(share); prefix != "" && err == nil && st.IsDir() {
			sources = append(sources, DirSource(share))
		}
	}
	return sources
}

// File is a definition file that was found.
type File struct {
	Source  Source
	Path    string // in Source.FS
	Package string
	Kind    Kind
	Name    string
}

// Name of the file for errors.
func (f File) String() string { return filepath.Join(f.Source.Root, filepath.FromSlash(f.Path)) }

// Find lists the definition files in a source, sorted. The package of a file is
// that of the nearest folder above it with a package.xml, else the name of the
// folder that holds its msg, srv or action folder, else of the folder it lies
// in. An .idl file without a .msg, .srv or .action file of its name is an error
// that says that it is not supported yet.
func Find(src Source) ([]File, error) {
	var files []File
	var idl []string
	packages := map[string]string{} // by folder, from package.xml; "" for none
	err := fs.WalkDir(src.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		ext := path.Ext(base)
		if ext == ".idl" {
			idl = append(idl, p)
			return nil
		}
		kind := slices.Index([]string{".msg", ".srv", ".action"}, ext)
		if kind < 0 {
			return nil
		}
		f := File{Source: src, Path: p, Kind: Kind(kind), Name: strings.TrimSuffix(base, ext)}
		f.Package, err = packageOf(src, p, packages)
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rosidl: looking for definitions in %s: %w", src.Root, err)
	}
	for _, p := range idl {
		base := strings.TrimSuffix(path.Base(p), ".idl")
		if !slices.ContainsFunc(files, func(f File) bool { return f.Name == base }) {
			return nil, &ParseError{File: filepath.Join(src.Root, p), What: ".idl files are not supported yet; write it as .msg, .srv or .action"}
		}
	}
	return files, nil
}

// packageOf names the package of the file p.
func packageOf(src Source, p string, known map[string]string) (string, error) {
	fallback := ""
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		name, ok := known[dir]
		if !ok {
			var err error
			if name, err = packageXML(src, dir); err != nil {
				return "", err
			}
			known[dir] = name
		}
		if name != "" {
			return name, nil
		}
		base := path.Base(dir)
		above := path.Base(path.Dir(dir))
		if path.Dir(dir) == "." {
			above = filepath.Base(absolute(src.Root))
		}
		if (base == "msg" || base == "srv" || base == "action") && dir != "." && fallback == "" {
			fallback = above
		}
		if dir == "." {
			break
		}
	}
	if fallback != "" {
		return fallback, nil
	}
	if dir := path.Dir(p); dir != "." {
		return path.Base(dir), nil
	}
	dir := absolute(src.Root)
	if base := filepath.Base(dir); base == "msg" || base == "srv" || base == "action" {
		dir = filepath.Dir(dir)
	}
	return filepath.Base(dir), nil
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// packageXML returns the name in a folder's package.xml, "" if it has none.
func packageXML(src Source, dir string) (string, error) {
	p := path.Join(dir, "package.xml")
	text, err := fs.ReadFile(src.FS, p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var doc struct {
		Name string `xml:"name"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		return "", &ParseError{File: filepath.Join(src.Root, p), What: err.Error()}
	}
	return strings.TrimSpace(doc.Name), nil
}

// Parse reads the file.
func (f File) Parse() (*Interface, error) {
	text, err := fs.ReadFile(f.Source.FS, f.Path)
	if err != nil {
		return nil, fmt.Errorf("rosidl: %w", err)
	}
	return Parse(f.String(), f.Package, f.Kind, f.Name, text)
}

// Load adds all definitions of src to the set and returns them. Names that the
// set has already are left out if skipKnown is set: the first source wins.
func (s *Set) Load(src Source, skipKnown bool) ([]*Interface, error) {
	files, err := Find(src)
	if err != nil {
		return nil, err
	}
	var added []*Interface
	for _, f := range files {
		if skipKnown && s.interfaces[f.Package+"/"+f.Kind.Folder()+"/"+f.Name] != nil {
			continue
		}
		i, err := f.Parse()
		if err != nil {
			return nil, err
		}
		if err := s.Add(i); err != nil {
			return nil, err
		}
		added = append(added, s.Interface(i.FullName()))
	}
	return added, nil
}
