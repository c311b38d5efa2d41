package param

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// This file is the only one that knows the YAML library. The rest sees trees of yamlNode, whose scalars are texts: which type a text has is
// decided by the rules of rcl or of Python, not by those of the library.

// MaxFileSize is the largest parameter file and the longest value in bytes.
const MaxFileSize = 1 << 20

// maxNesting bounds how deep brackets, lists and mappings lie within each other: the library calls itself for each.
const maxNesting = 1000

type yamlKind uint8

const (
	yamlScalar yamlKind = iota
	yamlSequence
	yamlMapping
)

// yamlNode is a scalar, a sequence or a mapping.
type yamlNode struct {
	kind         yamlKind
	text         string // of a scalar, without quotes
	plain        bool   // a scalar without quotes, and no block
	missing      bool   // there is nothing where a value should be
	tag          string // "!!str"; empty mostly
	items        []*yamlNode
	pairs        []yamlPair
	line, column int
}

type yamlPair struct {
	key   *yamlNode
	value *yamlNode
}

// yamlError is what is wrong with a text and where.
type yamlError struct {
	line, column int
	text         string
}

func (e *yamlError) Error() string {
	if e.line <= 1 {
		return e.text
	}
	return fmt.Sprintf("line %d: %s", e.line, e.text)
}

func (n *yamlNode) fail(format string, args ...any) *yamlError {
	return &yamlError{n.line, n.column, fmt.Sprintf(format, args...)}
}

// parseYAML gives the documents of a text; nil stands for an empty one.
func parseYAML(text string) (docs []*yamlNode, err error) {
	if len(text) > MaxFileSize {
		return nil, &yamlError{text: fmt.Sprintf("%d bytes, at most %d are read", len(text), MaxFileSize)}
	}
	if line := tooDeep(text); line > 0 {
		return nil, &yamlError{line: line, column: 1, text: fmt.Sprintf("nested deeper than %d", maxNesting)}
	}
	defer func() { // the library is not ours: whatever a text does to it stays here
		if r := recover(); r != nil {
			docs, err = nil, &yamlError{text: fmt.Sprintf("not readable as YAML: %v", r)}
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.TrimPrefix(text, "\ufeff")), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, fromLibrary(err)
	}
	for _, d := range file.Docs {
		n, err := fromAST(d.Body, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, n)
	}
	return docs, nil
}

// tooDeep gives the first line on which brackets, or signs that open something within something on one line, lie too deep in each other; 0
// if none does. It counts roughly. Depth by indentation needs no count: it grows with the root of the size.
func tooDeep(text string) int {
	line, brackets, signs := 1, 0, 0
	before := byte('\n')
	for i := range len(text) {
		switch c := text[i]; c {
		case '\n':
			line, signs = line+1, 0
		case '[', '{':
			brackets++
		case ']', '}':
			brackets = max(brackets-1, 0)
		case '-', '?':
			if blank(before) && (i+1 == len(text) || blank(text[i+1])) {
				signs++
			}
		case '!', '&':
			if blank(before) {
				signs++
			}
		}
		if brackets > maxNesting || signs > maxNesting {
			return line
		}
		before = text[i]
	}
	return 0
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func fromLibrary(err error) error {
	var located interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &located) {
		return &yamlError{text: err.Error()}
	}
	out := &yamlError{text: located.GetMessage()}
	out.line, out.column = position(located.GetToken())
	return out
}

func position(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

func fromAST(n ast.Node, depth int) (*yamlNode, error) {
	if n == nil {
		return nil, nil
	}
	out := &yamlNode{}
	out.line, out.column = position(n.GetToken())
	if depth > 2*maxNesting {
		return nil, out.fail("nested deeper than %d", maxNesting)
	}
	switch n := n.(type) {
	case *ast.CommentGroupNode, *ast.CommentNode:
		return nil, nil
	case *ast.MappingNode:
		out.kind = yamlMapping
		for _, v := range n.Values {
			if err := out.addPair(v, depth); err != nil {
				return nil, err
			}
		}
	case *ast.MappingValueNode:
		out.kind = yamlMapping
		return out, out.addPair(n, depth)
	case *ast.SequenceNode:
		out.kind = yamlSequence
		for _, v := range n.Values {
			item, err := fromAST(v, depth+1)
			if err != nil {
				return nil, err
			}
			if item == nil {
				item = &yamlNode{missing: true, plain: true, line: out.line, column: out.column}
			}
			out.items = append(out.items, item)
		}
	case *ast.TagNode:
		inner, err := fromAST(n.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if inner == nil {
			inner = &yamlNode{missing: true, plain: true, line: out.line, column: out.column}
		}
		if inner.tag != "" {
			return nil, out.fail("two tags, %s and %s", n.Start.Value, inner.tag)
		}
		inner.tag = n.Start.Value
		return inner, nil
	case *ast.AnchorNode:
		return fromAST(n.Value, depth+1)
	case *ast.AliasNode:
		return nil, out.fail("aliases are not supported, as in ROS 2")
	case *ast.MergeKeyNode:
		return nil, out.fail("merge keys are not supported, as in ROS 2")
	case *ast.DirectiveNode:
		return nil, nil
	case *ast.LiteralNode:
		out.text = n.Value.Value
	case *ast.StringNode:
		out.text = n.Value
		switch n.Token.Type {
		case token.SingleQuoteType:
			out.text = singleQuoted(n.Token.Origin, n.Value)
		case token.DoubleQuoteType:
		default:
			out.plain = true
		}
	case *ast.NullNode:
		out.plain = true
		out.missing = n.Token.Type == token.ImplicitNullType
		if !out.missing {
			out.text = n.Token.Value
		}
	case ast.ScalarNode:
		out.text, out.plain = n.GetToken().Value, true
	default:
		return nil, out.fail("%s is not supported", n.Type())
	}
	return out, nil
}

// singleQuoted reads what stands between single quotes. The library loses the spaces after two quotes at the beginning of a line, so the text
// is taken from the source; value is what the library makes of it.
func singleQuoted(source, value string) string {
	source = strings.TrimSpace(source)
	if !strings.Contains(value, "'") || len(source) < 2 || source[0] != '\'' || source[len(source)-1] != '\'' {
		return value
	}
	lines := strings.Split(source[1:len(source)-1], "\n")
	var b strings.Builder
	blankLines := 0
	for i, line := range lines {
		if i > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if i < len(lines)-1 {
			line = strings.TrimRight(line, " \t\r")
		}
		switch {
		case i == 0:
		case line == "" && i < len(lines)-1:
			blankLines++
			continue
		case blankLines > 0:
			b.WriteString(strings.Repeat("\n", blankLines))
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
		blankLines = 0
	}
	return strings.ReplaceAll(b.String(), "''", "'")
}

func (n *yamlNode) addPair(v *ast.MappingValueNode, depth int) error {
	var key ast.Node = v.Key
	if explicit, ok := key.(*ast.MappingKeyNode); ok { // "? key"
		key = explicit.Value
	}
	k, err := fromAST(key, depth+1)
	if err != nil {
		return err
	}
	if k == nil || k.kind != yamlScalar {
		return n.fail("a key must be a name")
	}
	value, err := fromAST(v.Value, depth+1)
	if err != nil {
		return err
	}
	if value == nil {
		value = &yamlNode{missing: true, plain: true, line: k.line, column: k.column}
	}
	n.pairs = append(n.pairs, yamlPair{k, value})
	return nil
}
