package gen

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
)

// writer builds one Go file.
type writer struct {
	g       *generator
	pkg     string // ROS package
	body    bytes.Buffer
	imports map[string]string // import path by name used in the file
	err     error

	// schemaOnly are the types of this file without Go type, by full name: the part
	// of their variable's name after "schema".
	schemaOnly map[string]string
}

func (w *writer) p(format string, args ...any) { fmt.Fprintf(&w.body, format+"\n", args...) }

// file writes the Go file of an interface.
func (g *generator) file(i *rosidl.Interface) ([]byte, error) {
	w := &writer{g: g, pkg: i.Package, imports: map[string]string{}}
	w.std("cdr", "github.com/tagus-ros/tagus/cdr")
	w.std("rosidl", "github.com/tagus-ros/tagus/rosidl")
	switch i.Kind {
	case rosidl.KindService:
		w.service(i)
	case rosidl.KindAction:
		w.action(i)
	default:
		w.message(i.Parts[0])
	}
	return w.finish(fmt.Sprintf("from %s.%s", i.FullName(), i.Kind.Folder()), i.Package)
}

// registry writes the list of all message types.
func (g *generator) registry(interfaces []*rosidl.Interface) ([]byte, error) {
	w := &writer{g: g, imports: map[string]string{}}
	w.p("var allTypes = []message{")
	for _, i := range interfaces {
		for _, st := range i.Parts {
			w.p("erase[%s](),", w.typ(st.Name))
		}
		if i.Kind == rosidl.KindAction {
			action := w.typ(i.FullName()) + "{}.ROSAction()"
			for _, part := range []string{"SendGoal.Request", "SendGoal.Response", "GetResult.Request", "GetResult.Response", "FeedbackMessage"} {
				w.p("eraseSupport(%s.%s),", action, part)
			}
		}
	}
	w.p("}")
	return w.finish("for tests", "msgs_test")
}

// finish puts what every file begins with in front of the body.
func (w *writer) finish(from, pkg string) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s%s. DO NOT EDIT.\n\npackage %s\n\nimport (\n", generatedMark, from, pkg)
	var std, other []string
	for name, path := range w.imports {
		line := strconv.Quote(path)
		if !strings.HasSuffix("/"+path, "/"+name) {
			line = name + " " + line
		}
		if strings.Contains(path, ".") {
			other = append(other, line)
		} else {
			std = append(std, line)
		}
	}
	slices.Sort(std)
	slices.Sort(other)
	fmt.Fprintf(&head, "%s\n\n%s\n)\n\n", strings.Join(std, "\n"), strings.Join(other, "\n"))
	return formatted(from, append(head.Bytes(), w.body.Bytes()...))
}

// std imports a package of ours or of the standard library.
func (w *writer) std(name, path string) string {
	w.imports[name] = path
	return name
}

// typ is the Go name of a ROS type, qualified if it is in another package.
func (w *writer) typ(full string) string {
	pkg, _, name, err := rosidl.SplitName(full)
	if err != nil {
		w.fail(err)
		return "_"
	}
	goName := w.g.goNames[full]
	if goName == "" {
		goName = typeGoName(name)
	}
	if pkg == w.pkg {
		return goName
	}
	path, err := w.g.goImport(pkg)
	if err != nil {
		w.fail(err)
	}
	local := pkg
	if slices.Contains([]string{"cdr", "rosidl", "unsafe"}, local) {
		local += "_"
	}
	w.imports[local] = path
	return local + "." + goName
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// message writes all that belongs to one struct.
func (w *writer) message(st *rosidl.Struct) {
	m := w.newMessage(st, nil)
	if m == nil {
		return
	}
	m.constants()
	m.structure()
	m.functions()
}

// newMessage prepares to write a struct. goNames are for fields whose Go name
// does not follow from the ROS name.
func (w *writer) newMessage(st *rosidl.Struct, goNames map[string]string) *message {
	m := &message{writer: w, st: st, name: w.g.goNames[st.Name], l: w.g.layoutOf(st)}
	if err := m.nameFields(goNames); err != nil {
		w.fail(err)
		return nil
	}
	return m
}

// functions writes the type support and everything behind it.
func (m *message) functions() {
	m.support(m.hash(m.st.Name))
	m.schema(m.g.set.Struct(m.st.Name))
	m.sizes()
	m.encoders()
	m.decoders()
	m.values()
}

// hash is the type hash of any type of the set.
func (w *writer) hash(name string) string {
	desc, err := w.g.set.Describe(name)
	if err != nil {
		w.fail(err)
		return ""
	}
	return desc.Hash()
}

// message is the struct being written.
type message struct {
	*writer
	st     *rosidl.Struct
	name   string
	l      *layout
	fields []field
}

// field is a field with its Go name and type.
type field struct {
	*rosidl.Field
	goName string
	elem   string  // Go type of one element
	nested *layout // of a nested message
}

func (m *message) nameFields(goNames map[string]string) error {
	taken := names{"ROSType": "a method that every message has"}
	for i := range m.st.Fields {
		f := &m.st.Fields[i]
		name := goNames[f.Name]
		if name == "" {
			name = fieldGoName(f.Name)
		}
		if old, ok := taken.claim(name, "the field "+f.Name); !ok {
			return &rosidl.ParseError{File: m.st.File, Line: f.Line, Text: f.Name,
				What: fmt.Sprintf("the Go name %s is that of %s too", name, old)}
		}
		gf := field{Field: f, goName: name}
		if f.Type.ID == rosidl.Nested {
			gf.elem = m.typ(f.Type.NestedName)
			gf.nested = m.g.layoutOf(m.g.set.Struct(f.Type.NestedName))
		} else {
			gf.elem = goBase[rosidl.FieldType{ID: f.Type.ID}.String()]
		}
		m.fields = append(m.fields, gf)
	}
	return nil
}

// goType is the Go type of the whole field.
func (f *field) goType() string {
	switch f.Type.Shape {
	case rosidl.Array:
		return fmt.Sprintf("[%d]%s", f.Type.Capacity, f.elem)
	case rosidl.Bounded, rosidl.Unbounded:
		return "[]" + f.elem
	}
	return f.elem
}

func (f *field) sequence() bool {
	return f.Type.Shape == rosidl.Bounded || f.Type.Shape == rosidl.Unbounded
}

// bound is the bound of a sequence, or -1.
func (f *field) bound() int {
	if f.Type.Shape == rosidl.Bounded {
		return f.Type.Capacity
	}
	return -1
}

// textBound is the bound of a string, or -1.
func (f *field) textBound() int {
	if f.Type.StringCapacity > 0 {
		return f.Type.StringCapacity
	}
	return -1
}

// comment writes lines of a definition's comment.
func (w *writer) comment(text, indent string) {
	for _, line := range strings.Split(text, "\n") {
		w.p("%s", strings.TrimRight(indent+"// "+line, " "))
	}
}

func (m *message) constants() {
	if len(m.st.Constants) == 0 {
		return
	}
	m.p("// Constants of %s.\nconst (", m.st.Name)
	for _, c := range m.st.Constants {
		above, beside := split(c.Comment)
		if above != "" {
			m.comment(above, "\t")
		}
		typ := goBase[rosidl.FieldType{ID: c.Type}.String()]
		m.p("\t%s %s = %s // %s", m.g.goNames[m.st.Name+"."+c.Name], typ, literal(c.Value), withRemark(c.Name, beside))
	}
	m.p(")\n")
}

// split puts a comment of one line beside what it explains, others above.
func split(comment string) (above, beside string) {
	comment = strings.TrimSpace(comment)
	if comment == "" || strings.Contains(comment, "\n") || len(comment) > 60 {
		return comment, ""
	}
	return "", comment
}

func withRemark(name, remark string) string {
	if remark == "" {
		return name
	}
	return name + ": " + remark
}

// literal is a value in Go.
func literal(v rosidl.Value) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func (m *message) structure() {
	m.intro(m.name, m.st)
	m.p("type %s struct {", m.name)
	for i := range m.fields {
		f := &m.fields[i]
		above, beside := split(f.Comment)
		if above != "" {
			m.comment(above, "\t")
		}
		name := f.Name
		if f.Type.Shape == rosidl.Bounded {
			name += fmt.Sprintf(", at most %d", f.Type.Capacity)
		}
		if f.Type.StringCapacity > 0 {
			unit := "bytes"
			if f.Type.ID.IsWide() {
				unit = "UTF-16 units"
			}
			name += fmt.Sprintf(", at most %d %s", f.Type.StringCapacity, unit)
		}
		m.p("\t%s %s // %s", f.goName, f.goType(), withRemark(name, beside))
	}
	m.p("}\n")
	m.p("// ROSType gives what is known about %s. The receiver may be nil.", m.st.Name)
	m.p("func (*%s) ROSType() *rosidl.TypeSupport[%s] { return &type%s }\n", m.name, m.name, m.name)
}

// intro writes the first lines of the comment of a type.
func (w *writer) intro(goName string, st *rosidl.Struct) {
	what := st.Name
	for suffix, part := range partWords {
		if base, ok := strings.CutSuffix(st.Name, suffix); ok && !strings.Contains(st.Name, "/msg/") {
			what = "the " + part + " of " + base
		}
	}
	w.p("// %s is %s.", goName, what)
	if c := strings.TrimSpace(st.Comment); c != "" && !strings.HasPrefix(what, "the request") && !strings.HasPrefix(what, "the goal") {
		w.p("//")
		w.comment(c, "")
	}
}

var partWords = map[string]string{
	"_Request": "request", "_Response": "response", "_Goal": "goal", "_Result": "result", "_Feedback": "feedback",
}

// support writes the table of functions.
func (m *message) support(hash string) {
	n := m.name
	m.p("// %sCDR is for generated code: the functions behind ROSType, to be called directly.\ntype %sCDR struct{}\n", n, n)
	m.p("var type%s = rosidl.TypeSupport[%s]{", n, n)
	m.p("Name: %q,\nHash: %q,", m.st.Name, hash)
	if m.l.flat {
		m.p("Flat: %d * int(cdr.FlatHost),", m.l.size)
	}
	m.p("Size: func(m *%s) int { return %sCDR{}.Size(0, m) },", n, n)
	if m.l.bounds {
		m.p("Check: func(m *%s) error { return %sCDR{}.Check(m) },", n, n)
	} else {
		m.p("Check: func(*%s) error { return nil },", n)
	}
	m.p("Encode: func(e *cdr.Encoder, m *%s) { %sCDR{}.Encode(e, m) },", n, n)
	m.p("Decode: func(d *cdr.Decoder, m *%s) error {\n%sCDR{}.Decode(d, m)\nreturn d.Err()\n},", n, n)
	if m.l.aliases {
		m.p("Alias: func(d *cdr.Decoder, m *%s) error {\n%sCDR{}.Alias(d, m)\nreturn d.Err()\n},", n, n)
		m.p("Unalias: func(m *%s) { %sCDR{}.Unalias(m) },", n, n)
	} else {
		m.p("Alias: func(d *cdr.Decoder, m *%s) error {\n%sCDR{}.Decode(d, m)\nreturn d.Err()\n},", n, n)
		m.p("Unalias: func(*%s) {},", n)
	}
	if m.placeable() {
		m.p("Place: func(e *cdr.Encoder, m *%s) bool {\n%sCDR{}.Place(e, m)\nreturn e.Err() == nil\n},", n, n)
		m.p("Placed: func(m *%s, body []byte) bool { return %sCDR{}.Placed(m, body) },", n, n)
	} else {
		m.p("Place: func(*cdr.Encoder, *%s) bool { return false },", n)
		m.p("Placed: func(*%s, []byte) bool { return false },", n)
	}
	m.p("Reset: func(m *%s) { %sCDR{}.Reset(m) },", n, n)
	if m.l.defs {
		m.p("Default: func(m *%s) { %sCDR{}.Default(m) },", n, n)
	} else {
		m.p("Default: func(m *%s) { %sCDR{}.Reset(m) },", n, n)
	}
	m.p("Copy: func(dst, src *%s) { %sCDR{}.Copy(dst, src) },", n, n)
	m.p("Equal: func(a, b *%s) bool { return %sCDR{}.Equal(a, b) },", n, n)
	if m.l.slices {
		m.p("Recycle: func(m *%s, own *rosidl.Owned) {\nown.Begin()\n%sCDR{}.Recycle(m, own)\n},", n, n)
	} else {
		m.p("Recycle: func(m *%s, _ *rosidl.Owned) { %sCDR{}.Reset(m) },", n, n)
	}
	m.p("Definition: func() string { return schema%s.Definition() },", n)
	m.p("Description: func() *rosidl.TypeDescription { return schema%s.Description() },", n)
	m.p("}\n")
}

// placeable tells whether sequences directly in the message can be placed.
func (m *message) placeable() bool {
	return slices.ContainsFunc(m.fields, func(f field) bool { return m.g.aliasable(f.Type) })
}

// schema writes the definition of a message of which there is a CDR type.
func (m *message) schema(st *rosidl.Struct) {
	m.writer.schema(m.name, st)
	m.p("// Schema gives the definition.\nfunc (%sCDR) Schema() *rosidl.Schema { return &schema%s }\n", m.name, m.name)
}

// schema writes the definition of any type.
func (w *writer) schema(goName string, st *rosidl.Struct) {
	w.p("var schema%s = rosidl.Schema{\nName: %q,\nText: %s,", goName, st.Name, textLiteral(st.Text))
	seen := map[string]bool{}
	var deps []string
	for _, f := range st.Fields {
		dep := f.Type.NestedName
		if dep == "" || seen[dep] {
			continue
		}
		seen[dep] = true
		if local := w.schemaOnly[dep]; local != "" {
			deps = append(deps, fmt.Sprintf("func() *rosidl.Schema { return &schema%s },", local))
		} else {
			deps = append(deps, fmt.Sprintf("func() *rosidl.Schema { return %sCDR{}.Schema() },", w.typ(dep)))
		}
	}
	if len(deps) > 0 {
		w.p("Deps: []func() *rosidl.Schema{\n%s\n},", strings.Join(deps, "\n"))
	}
	w.p("}\n")
}

// textLiteral is a definition text in Go, readable where that is possible.
func textLiteral(text string) string {
	if strings.ContainsAny(text, "`\r\uFEFF") {
		return strconv.Quote(text)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !strconv.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return "`" + text + "`"
}
