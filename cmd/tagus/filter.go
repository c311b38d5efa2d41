package main

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// filterHelp says what a filter can be. The ros2 command line evaluates any Python there; this is the part of it that asks about a message.
const filterHelp = `A filter is what Python would write about the message m: fields (m.header.frame_id, m.poses[0].position.x), numbers, texts in quotes, True,
False and lists [1, 2]; compared with == != < <= > >= in, not in; joined with and, or, not and parentheses; len(…) and abs(…). It is checked
against the type before the first message: an unknown field, or a comparison that can never hold, is an error. With --field, m is that field.`

// filter is a compiled filter expression.
type filter struct{ root filterNode }

// filterNode is a part of an expression.
type filterNode struct {
	kind filterKind
	elem filterKind // of a list
	eval func(m *dynamic.Message) (any, error)
}

// filterKind is the static type of a part.
type filterKind uint8

const (
	anyKind     filterKind = iota // the elements of an empty list
	boolKind                      // a number, too, as in Python
	numberKind                    // int64 or float64
	textKind                      // string
	listKind                      // []any
	messageKind                   // *dynamic.Message
)

func (k filterKind) String() string {
	return [...]string{"anything", "a bool", "a number", "a text", "a list", "a message"}[k]
}

func (k filterKind) number() bool { return k == numberKind || k == boolKind || k == anyKind }

// newFilter compiles an expression about messages of a type, or about one field of it.
func newFilter(expr string, t *dynamic.Type, field *fieldPath) (*filter, error) {
	p := filterParser{text: expr, typ: t, field: field}
	p.next()
	n, err := p.or()
	if err == nil && p.tok != "" {
		err = p.unexpected()
	}
	if err != nil {
		return nil, fmt.Errorf("--filter %s: %w", strconv.Quote(expr), err)
	}
	return &filter{n}, nil
}

// holds evaluates the expression for a message.
func (f *filter) holds(m *dynamic.Message) (bool, error) {
	v, err := f.root.eval(m)
	if err != nil {
		return false, err
	}
	return truth(v), nil
}

// filterParser reads an expression from left to right; tok is the token at hand, "" at the end.
type filterParser struct {
	text  string
	typ   *dynamic.Type
	field *fieldPath
	at    int // where tok ends
	start int // where it begins
	tok   string
	depth int
}

// maxFilterDepth is how deep parentheses and the like can lie in each other.
const maxFilterDepth = 100

func (p *filterParser) next() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n", p.text[p.at]) >= 0 {
		p.at++
	}
	p.start = p.at
	rest := p.text[p.at:]
	n := 1
	switch {
	case rest == "":
		n = 0
	case wordByte(rest[0]):
		for n < len(rest) && (wordByte(rest[n]) || rest[n] == '.' || number(rest[:n]) && (rest[n-1] == 'e' || rest[n-1] == 'E') && (rest[n] == '+' || rest[n] == '-')) {
			n++
		}
	case rest[0] == '"' || rest[0] == '\'':
		for n < len(rest) && rest[n] != rest[0] {
			if rest[n] == '\\' {
				n++
			}
			n++
		}
		n = min(n+1, len(rest))
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "!=") || strings.HasPrefix(rest, "<=") || strings.HasPrefix(rest, ">="):
		n = 2
	}
	p.tok = rest[:n]
	p.at += n
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func number(s string) bool { return s[0] >= '0' && s[0] <= '9' }

func (p *filterParser) fail(format string, args ...any) error {
	return fmt.Errorf("at %d: "+format, append([]any{p.start + 1}, args...)...)
}

func (p *filterParser) unexpected() error {
	switch p.tok {
	case "":
		return p.fail("the expression ends too early")
	case "=":
		return p.fail("= sets something; == compares")
	case "&", "|", "!":
		return p.fail("write and, or, not in place of %s", p.tok)
	case "+", "-", "*", "/", "%":
		return p.fail("a filter does not calculate; see \"tagus topic echo --help\" for what it can")
	}
	return p.fail("%q is not expected here", p.tok)
}

// or and and are the joins; Python gives the deciding operand, here only its truth counts.
func (p *filterParser) or() (filterNode, error)  { return p.join("or", true, p.and) }
func (p *filterParser) and() (filterNode, error) { return p.join("and", false, p.not) }

func (p *filterParser) join(word string, decides bool, operand func() (filterNode, error)) (filterNode, error) {
	left, err := operand()
	for err == nil && p.tok == word {
		p.next()
		var right filterNode
		if right, err = operand(); err != nil {
			break
		}
		a, b := left.eval, right.eval
		left = filterNode{kind: boolKind, eval: func(m *dynamic.Message) (any, error) {
			v, err := a(m)
			if err != nil || truth(v) == decides {
				return decides && err == nil, err
			}
			v, err = b(m)
			return err == nil && truth(v), err
		}}
	}
	return left, err
}

func (p *filterParser) not() (filterNode, error) {
	if p.depth++; p.depth > maxFilterDepth {
		return filterNode{}, p.fail("nested deeper than %d", maxFilterDepth)
	}
	defer func() { p.depth-- }()
	if p.tok != "not" {
		return p.comparison()
	}
	p.next()
	n, err := p.not()
	if err != nil {
		return n, err
	}
	return filterNode{kind: boolKind, eval: func(m *dynamic.Message) (any, error) {
		v, err := n.eval(m)
		return err == nil && !truth(v), err
	}}, nil
}

// comparison is a term, or several compared in a row as in 0 < m.x < 5.
func (p *filterParser) comparison() (filterNode, error) {
	left, err := p.term()
	if err != nil {
		return left, err
	}
	var all []func(m *dynamic.Message) (bool, error)
	for {
		op := p.tok
		switch op {
		case "==", "!=", "<", "<=", ">", ">=", "in":
		case "not":
			p.next()
			if p.tok != "in" {
				return left, p.unexpected()
			}
			op = "not in"
		default:
			if len(all) == 0 {
				return left, nil
			}
			return filterNode{kind: boolKind, eval: func(m *dynamic.Message) (any, error) {
				for _, holds := range all {
					if ok, err := holds(m); err != nil || !ok {
						return false, err
					}
				}
				return true, nil
			}}, nil
		}
		where := p.start
		p.next()
		right, err := p.term()
		if err != nil {
			return left, err
		}
		if what := mismatch(op, left, right); what != "" {
			p.start = where
			return left, p.fail("%s", what)
		}
		a, b := left.eval, right.eval
		all = append(all, func(m *dynamic.Message) (bool, error) {
			x, err := a(m)
			if err != nil {
				return false, err
			}
			y, err := b(m)
			return err == nil && compareValues(op, x, y), err
		})
		left = right
	}
}

// mismatch says why a comparison of two kinds makes no sense, "" if it does.
func mismatch(op string, left, right filterNode) string {
	a, b := left.kind, right.kind
	switch op {
	case "in", "not in":
		switch {
		case b == textKind && a != textKind:
			return fmt.Sprintf("%s is never in a text", a)
		case b == listKind && right.elem != anyKind && a != right.elem && !(a.number() && right.elem.number()):
			return fmt.Sprintf("%s is never in a list of which each element is %s", a, right.elem)
		case b != textKind && b != listKind:
			return fmt.Sprintf("nothing is in %s; want a text or a list", b)
		}
		return ""
	case "==", "!=":
		if a != b && !(a.number() && b.number()) {
			return fmt.Sprintf("%s never equals %s", a, b)
		}
		return ""
	}
	if !(a.number() && b.number()) && !(a == textKind && b == textKind) {
		return fmt.Sprintf("%s and %s have no order", a, b)
	}
	return ""
}

// term is a value.
func (p *filterParser) term() (filterNode, error) {
	tok := p.tok
	constant := func(k filterKind, v any) (filterNode, error) {
		p.next()
		return filterNode{kind: k, eval: func(*dynamic.Message) (any, error) { return v, nil }}, nil
	}
	switch {
	case tok == "True" || tok == "False":
		return constant(boolKind, tok == "True")
	case tok == "":
		return filterNode{}, p.unexpected()
	case tok == "-":
		p.next()
		if p.tok == "" || !number(p.tok) {
			return filterNode{}, p.unexpected()
		}
		v, err := parseNumber("-" + p.tok)
		if err != nil {
			return filterNode{}, p.fail("%v", err)
		}
		return constant(numberKind, v)
	case number(tok):
		v, err := parseNumber(tok)
		if err != nil {
			return filterNode{}, p.fail("%v", err)
		}
		return constant(numberKind, v)
	case tok[0] == '"' || tok[0] == '\'':
		s, err := unquote(tok)
		if err != nil {
			return filterNode{}, p.fail("%v", err)
		}
		return constant(textKind, s)
	case tok == "(":
		p.next()
		n, err := p.or()
		if err != nil {
			return n, err
		}
		return n, p.expect(")")
	case tok == "[":
		return p.list()
	case tok == "len" || tok == "abs":
		return p.call(tok)
	case tok == "m" || strings.HasPrefix(tok, "m."):
		return p.message()
	case wordByte(tok[0]) && tok != "and" && tok != "or" && tok != "in":
		return filterNode{}, p.fail("%q is not known; fields of the message begin with m.", tok)
	}
	return filterNode{}, p.unexpected()
}

func (p *filterParser) expect(tok string) error {
	if p.tok != tok {
		if p.tok == "" {
			return p.fail("%s is missing", tok)
		}
		return p.unexpected()
	}
	p.next()
	return nil
}

func (p *filterParser) list() (filterNode, error) {
	out := filterNode{kind: listKind}
	var parts []filterNode
	p.next()
	for p.tok != "]" {
		n, err := p.term()
		if err != nil {
			return out, err
		}
		if out.elem == anyKind {
			out.elem = n.kind
		} else if n.kind != out.elem && !(n.kind.number() && out.elem.number()) {
			return out, p.fail("a list of %s and %s", out.elem, n.kind)
		}
		parts = append(parts, n)
		if p.tok != "," {
			break
		}
		p.next()
	}
	out.eval = func(m *dynamic.Message) (any, error) {
		list := make([]any, len(parts))
		for i, n := range parts {
			var err error
			if list[i], err = n.eval(m); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return out, p.expect("]")
}

func (p *filterParser) call(name string) (filterNode, error) {
	p.next()
	if err := p.expect("("); err != nil {
		return filterNode{}, err
	}
	where := p.start
	arg, err := p.or()
	if err != nil {
		return arg, err
	}
	if name == "len" && arg.kind != textKind && arg.kind != listKind || name == "abs" && !arg.kind.number() {
		p.start = where
		return arg, p.fail("%s has no %s", arg.kind, map[string]string{"len": "length", "abs": "sign"}[name])
	}
	return filterNode{kind: numberKind, eval: func(m *dynamic.Message) (any, error) {
		v, err := arg.eval(m)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			return int64(len([]rune(v))), nil
		case []any:
			return int64(len(v)), nil
		case int64:
			return max(v, -v), nil
		case float64:
			return math.Abs(v), nil
		}
		return v, nil
	}}, p.expect(")")
}

// message is m, or a field of it. An index ends a token, so that the rest of the path is put together here.
func (p *filterParser) message() (filterNode, error) {
	where, bare := p.start, p.tok == "m"
	path := strings.TrimPrefix(strings.TrimPrefix(p.tok, "m"), ".")
	if path == "" && !bare {
		return filterNode{}, p.fail("the name of a field is missing after m.")
	}
	for p.at < len(p.text) && p.text[p.at] == '[' {
		end := strings.IndexByte(p.text[p.at:], ']')
		if end < 0 {
			return filterNode{}, p.fail("] is missing")
		}
		end += p.at + 1
		for end < len(p.text) && (wordByte(p.text[end]) || p.text[end] == '.') {
			end++
		}
		path += p.text[p.at:end]
		p.at = end
	}
	p.next()
	if p.field != nil { // m is that field
		if path != "" && path[0] != '[' {
			path = "." + path
		}
		path = p.field.text + path
	}
	if path == "" {
		return filterNode{kind: messageKind, eval: func(m *dynamic.Message) (any, error) { return m, nil }}, nil
	}
	fp, err := parsePath(p.typ, path)
	if err != nil {
		p.start = where
		return filterNode{}, p.fail("%w", err)
	}
	k, elem := kindOf(fp.field, fp.list)
	return filterNode{kind: k, elem: elem, eval: func(m *dynamic.Message) (any, error) {
		v, err := fp.value(m)
		if err != nil {
			return nil, err
		}
		return filterValue(v), nil
	}}, nil
}

// kindOf is the kind of a field and, for a list, of its elements.
func kindOf(f *dynamic.Field, list bool) (kind, elem filterKind) {
	switch {
	case f.Nested != nil:
		elem = messageKind
	case f.Type.ID.IsString():
		elem = textKind
	case f.Type.ID == rosidl.Bool:
		elem = boolKind
	default:
		elem = numberKind
	}
	if list {
		return listKind, elem
	}
	return elem, anyKind
}

// filterValue brings a value of a message into the form that filters compare.
func filterValue(v any) any {
	switch v := v.(type) {
	case bool, string, *dynamic.Message:
		return v
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = filterValue(r.Index(i).Interface())
		}
		return list
	case reflect.Float32, reflect.Float64:
		return r.Float()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := r.Uint(); u > math.MaxInt64 {
			return float64(u)
		}
		return int64(r.Uint())
	}
	return r.Int()
}

func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return true
}

// compareValues compares two values whose kinds fit.
func compareValues(op string, a, b any) bool {
	switch op {
	case "==":
		return equalValues(a, b)
	case "!=":
		return !equalValues(a, b)
	case "in", "not in":
		found := false
		switch b := b.(type) {
		case string:
			found = strings.Contains(b, a.(string))
		case []any:
			for _, x := range b {
				found = found || equalValues(a, x)
			}
		}
		return found == (op == "in")
	}
	if s, ok := a.(string); ok {
		return ordered(op, strings.Compare(s, b.(string)))
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	if xInt && yInt {
		switch {
		case x < y:
			return ordered(op, -1)
		case x > y:
			return ordered(op, 1)
		}
		return ordered(op, 0)
	}
	f, g := float(a), float(b)
	switch {
	case f < g:
		return ordered(op, -1)
	case f > g:
		return ordered(op, 1)
	case f == g:
		return ordered(op, 0)
	}
	return false // a NaN
}

func ordered(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func equalValues(a, b any) bool {
	switch a := a.(type) {
	case string:
		s, ok := b.(string)
		return ok && a == s
	case *dynamic.Message:
		m, ok := b.(*dynamic.Message)
		return ok && a.Equal(m)
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !equalValues(a[i], list[i]) {
				return false
			}
		}
		return true
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	if xInt && yInt {
		return x == y
	}
	return float(a) == float(b)
}

func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

func float(v any) float64 {
	if i, ok := integer(v); ok {
		return float64(i)
	}
	f, ok := v.(float64)
	if !ok {
		return math.NaN()
	}
	return f
}

func parseNumber(s string) (any, error) {
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no number", s)
	}
	return f, nil
}

// unquote reads a text as Python writes it, with the escapes that Go has, too.
func unquote(tok string) (string, error) {
	q := tok[0]
	if len(tok) < 2 || tok[len(tok)-1] != q {
		return "", fmt.Errorf("the text %s does not end", tok)
	}
	var b strings.Builder
	for s := tok[1 : len(tok)-1]; s != ""; {
		r, _, rest, err := strconv.UnquoteChar(s, q)
		switch {
		case err == nil:
			b.WriteRune(r)
		case len(s) > 1 && s[0] == '\\' && (s[1] == '"' || s[1] == '\''):
			b.WriteByte(s[1])
			rest = s[2:]
		default:
			return "", fmt.Errorf("%s has an escape that is not known", tok)
		}
		s = rest
	}
	return b.String(), nil
}
