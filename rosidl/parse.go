package rosidl

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseError tells what is wrong with a definition and where.
type ParseError struct {
	File string
	Line int    // from 1; 0 if the whole file is meant
	Text string // the line
	What string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.What, e.Text)
}

var (
	packageName  = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	fieldName    = packageName
	typeName     = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	derivedName  = regexp.MustCompile(`^[a-z][a-z0-9_]*/(srv|action)/[A-Z][A-Za-z0-9_]*$`)
	constantName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
)

func isPackageName(s string) bool { return packageName.MatchString(s) }

// Limits on what a definition may ask for. They are far above what any real
// one does and keep a hostile one from exhausting memory.
const (
	maxDefinition = 4 << 20 // bytes of a file
	maxCapacity   = math.MaxInt32
)

// Parse reads one definition. The name is that of the file without extension;
// file is used in errors only. The error is a [*ParseError].
func Parse(file, pkg string, kind Kind, name string, text []byte) (*Interface, error) {
	fail := func(what string) (*Interface, error) { return nil, &ParseError{File: file, What: what} }
	switch {
	case !isPackageName(pkg):
		return fail(fmt.Sprintf("%q is not a package name", pkg))
	case !typeName.MatchString(name):
		return fail(fmt.Sprintf("%q is not a type name", name))
	case len(text) > maxDefinition:
		return fail(fmt.Sprintf("the definition has %d bytes, at most %d are allowed", len(text), maxDefinition))
	case !utf8.Valid(text):
		return fail("the text is not UTF-8")
	}
	src := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r", "\n")
	i := &Interface{Package: pkg, Name: name, Kind: kind, File: file, Text: src}
	suffixes := [][]string{{""}, {"_Request", "_Response"}, {"_Goal", "_Result", "_Feedback"}}[kind]
	p := parser{file: file, pkg: pkg}
	p.begin(i.FullName()+suffixes[0], 1)
	i.Parts = append(i.Parts, p.part)
	for n, line := range strings.Split(src, "\n") {
		if strings.TrimSpace(line) == "---" && kind != KindMessage {
			if len(i.Parts) == len(suffixes) {
				return nil, p.errorf(n+1, line, "a %s has %d parts", kind, len(suffixes))
			}
			p.begin(i.FullName()+suffixes[len(i.Parts)], n+2)
			i.Parts = append(i.Parts, p.part)
			continue
		}
		p.text.WriteString(line + "\n")
		if err := p.line(n+1, line); err != nil {
			return nil, err
		}
	}
	p.end()
	if len(i.Parts) != len(suffixes) {
		return fail(fmt.Sprintf("a %s has %d parts divided by lines of ---, this one has %d", kind, len(suffixes), len(i.Parts)))
	}
	return i, nil
}

// parseText reads the text of one message or part whose full name is known. Its
// fields may be of types that no file can name: parts of services and actions.
func parseText(file, name, text string, firstLine int) (*Struct, error) {
	pkg, _, _, err := SplitName(name)
	if err != nil {
		return nil, &ParseError{File: file, Line: firstLine, What: err.Error()}
	}
	p := parser{file: file, pkg: pkg, anyNested: true}
	p.begin(name, firstLine)
	for n, line := range strings.Split(text, "\n") {
		p.text.WriteString(line + "\n")
		if err := p.line(firstLine+n, line); err != nil {
			return nil, err
		}
	}
	p.end()
	return p.part, nil
}

// parser holds the part of the file being read.
type parser struct {
	file, pkg string
	anyNested bool // nested types may be parts of services and actions
	part      *Struct
	text      strings.Builder
	names     map[string]bool
	comment   []string // lines since the last blank or definition
	last      *string  // comment of the last field or constant: indented comments belong to it
	more      []string // those comments
	started   bool     // something other than comments was seen
}

func (p *parser) begin(name string, line int) {
	p.end()
	p.part = &Struct{Name: name, File: p.file, Line: line}
	p.names, p.comment, p.last, p.started = map[string]bool{}, nil, nil, false
}

func (p *parser) end() {
	if p.part == nil {
		return
	}
	p.keepTop()
	p.keepMore()
	p.part.Text = strings.TrimSuffix(p.text.String(), "\n")
	p.text.Reset()
}

// keepTop makes the first block of comments that of the whole message.
func (p *parser) keepTop() {
	if !p.started && len(p.comment) > 0 {
		if p.part.Comment != "" {
			p.part.Comment += "\n\n"
		}
		p.part.Comment += strings.Join(p.comment, "\n")
		p.comment = nil
	}
}

// keepMore ends the comment of the last field or constant.
func (p *parser) keepMore() {
	if p.last != nil && len(p.more) > 0 {
		*p.last = strings.TrimPrefix(*p.last+"\n"+strings.Join(p.more, "\n"), "\n")
	}
	p.last, p.more = nil, nil
}

func (p *parser) errorf(line int, text, format string, args ...any) error {
	return &ParseError{File: p.file, Line: line, Text: strings.TrimSpace(text), What: fmt.Sprintf(format, args...)}
}

func (p *parser) line(n int, line string) error {
	body, comment, hasComment := cutComment(line)
	body = strings.TrimSpace(body)
	if body == "" {
		switch {
		case !hasComment:
			p.keepTop()
			p.keepMore()
			p.comment = nil
		case p.last != nil && (line[0] == ' ' || line[0] == '\t'):
			p.more = append(p.more, comment)
		default:
			p.comment = append(p.comment, comment)
		}
		return nil
	}
	p.started = true
	p.keepMore()
	above := p.comment
	p.comment = nil
	if hasComment {
		above = append(above, comment)
	}
	text := strings.Join(above, "\n")

	typeText, rest, _ := strings.Cut(strings.ReplaceAll(body, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return p.errorf(n, line, "a line has a type and a name")
	}
	end := strings.IndexAny(rest, " =")
	if end < 0 {
		end = len(rest)
	}
	name, value := rest[:end], strings.TrimSpace(rest[end:])
	typ, err := p.fieldType(typeText)
	if err != nil {
		return p.errorf(n, line, "%v", err)
	}
	if p.names[name] {
		return p.errorf(n, line, "%q is defined twice", name)
	}
	p.names[name] = true

	// What follows a field's name is its default, which cannot begin with '='.
	if literal, ok := strings.CutPrefix(value, "="); ok {
		return p.constant(n, line, typ, name, strings.TrimSpace(literal), text)
	}
	if !fieldName.MatchString(name) {
		return p.errorf(n, line, "%q is not a field name: lower-case letters, digits and single underscores, a letter first", name)
	}
	f := Field{Name: name, Type: typ, Comment: text, Line: n}
	if value != "" {
		if f.Default, err = ParseDefault(typ, value); err != nil {
			return p.errorf(n, line, "default of %s: %v", name, err)
		}
	}
	p.part.Fields = append(p.part.Fields, f)
	p.last = &p.part.Fields[len(p.part.Fields)-1].Comment
	return nil
}

func (p *parser) constant(n int, line string, typ FieldType, name, literal, comment string) error {
	if typ.ID == Nested || typ.Shape != Single {
		return p.errorf(n, line, "constant %s: only single primitives can be constant", name)
	}
	if !constantName.MatchString(name) {
		return p.errorf(n, line, "%q is not a constant name: upper-case letters, digits and single underscores", name)
	}
	v, err := parseValue(typ, literal)
	if err != nil {
		return p.errorf(n, line, "constant %s: %v", name, err)
	}
	id := typ.ID
	switch id {
	case BoundedString:
		id = String
	case BoundedWString:
		id = WString
	}
	p.part.Constants = append(p.part.Constants, Constant{Name: name, Type: id, Value: v, Text: literal, Comment: comment, Line: n})
	p.last = &p.part.Constants[len(p.part.Constants)-1].Comment
	return nil
}

// cutComment splits a line at the first # that is not inside quotes. A quote
// opens a string where a value can begin: after the type and the name, and after
// '=', '[' and ','. Elsewhere it is an apostrophe.
func cutComment(line string) (body, comment string, found bool) {
	var quote, last byte // last one that is not a space
	words, space := 0, true
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (space && words == 2 || last == '=' || last == '[' || last == ','):
			quote = c
		case c == '#':
			return line[:i], strings.TrimRight(strings.TrimPrefix(strings.TrimLeft(line[i:], "#"), " "), " \t"), true
		}
		if c == ' ' || c == '\t' {
			space = true
			continue
		}
		if space {
			words++
		}
		space, last = false, c
	}
	return line, "", false
}

// fieldType reads "geometry_msgs/Pose[<=3]" and the like.
func (p *parser) fieldType(s string) (FieldType, error) {
	var t FieldType
	base := s
	if open := strings.LastIndexByte(s, '['); open >= 0 {
		if !strings.HasSuffix(s, "]") {
			return t, fmt.Errorf("%q is not a type", s)
		}
		base = s[:open]
		count := s[open+1 : len(s)-1]
		bounded := strings.HasPrefix(count, "<=")
		switch {
		case count == "":
			t.Shape = Unbounded
		case bounded:
			t.Shape = Bounded
		default:
			t.Shape = Array
		}
		if count != "" {
			n, err := parseCapacity(strings.TrimPrefix(count, "<="))
			if err != nil {
				return t, fmt.Errorf("length of %q: %w", s, err)
			}
			t.Capacity = n
		}
	}
	name, limit, bounded := strings.Cut(base, "<=")
	if bounded {
		n, err := parseCapacity(limit)
		if err != nil {
			return t, fmt.Errorf("bound of %q: %w", s, err)
		}
		t.StringCapacity = n
	}
	if id, ok := baseIDs[name]; ok {
		if bounded {
			switch id {
			case String:
				id = BoundedString
			case WString:
				id = BoundedWString
			default:
				return t, fmt.Errorf("%q: only strings have bounds", s)
			}
		}
		t.ID = id
		return t, nil
	}
	if bounded {
		return t, fmt.Errorf("%q: only strings have bounds", s)
	}
	t.ID = Nested
	switch parts := strings.Split(name, "/"); {
	case name == "time":
		t.NestedName = "builtin_interfaces/msg/Time"
	case name == "duration":
		t.NestedName = "builtin_interfaces/msg/Duration"
	case len(parts) == 1 && typeName.MatchString(name):
		t.NestedName = p.pkg + "/msg/" + name
	case len(parts) == 2 && isPackageName(parts[0]) && typeName.MatchString(parts[1]):
		t.NestedName = parts[0] + "/msg/" + parts[1]
	case len(parts) == 3 && isPackageName(parts[0]) && parts[1] == "msg" && typeName.MatchString(parts[2]):
		t.NestedName = name
	case len(parts) == 3 && p.anyNested && derivedName.MatchString(name):
		t.NestedName = name
	default:
		return t, fmt.Errorf("%q is not a type", s)
	}
	return t, nil
}

func parseCapacity(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 || n > maxCapacity {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", s, maxCapacity)
	}
	return int(n), nil
}

// ParseStruct reads the text of one message whose full name is known, without
// what it refers to.
func ParseStruct(name, text string) (*Struct, error) { return parseText(name, name, text, 1) }
