package dynamic

import (
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// This file alone knows the YAML library. It takes the tree from it, with the
// scalars as text; what a text means is decided by the type of its field.

const (
	maxYAML  = 64 << 20 // bytes of a text
	maxLevel = 200      // brackets, lists and mappings in each other; the library calls itself for each
)

// AssignYAML sets the fields that a YAML mapping names, in block or flow style;
// see [Message.Assign]. Empty text changes nothing.
func (m *Message) AssignYAML(text string, now func() time.Time) error {
	docs, err := ReadYAML(text)
	if err != nil {
		return fmt.Errorf("dynamic: %s from YAML: %w", m.typ.Name, err)
	}
	switch len(docs) {
	case 0:
		return nil
	case 1:
		return m.Assign(docs[0], now)
	}
	return fmt.Errorf("dynamic: %s from YAML: %d documents where one is wanted", m.typ.Name, len(docs))
}

// ReadYAML gives the documents of a text: mappings as map[string]any, lists as
// []any, empty values as nil, and all other scalars as strings, for
// [Message.Assign]. Aliases and merge keys are refused.
func ReadYAML(text string) (docs []any, err error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(text), maxYAML)
	}
	if line := tooDeep(text); line > 0 {
		return nil, fmt.Errorf("line %d: nested deeper than %d", line, maxLevel)
	}
	defer func() { // whatever a text does to the library stays here
		if r := recover(); r != nil {
			docs, err = nil, fmt.Errorf("not readable as YAML: %v", r)
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.TrimPrefix(text, "\ufeff")), 0)
	if err != nil {
		return nil, fmt.Errorf("not readable as YAML: %s", strings.TrimSpace(err.Error()))
	}
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		v, err := tree(d.Body, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
	return docs, nil
}

// tooDeep gives the first line on which things lie too deep in each other, as
// far as that can be seen without reading the text; 0 if none does.
func tooDeep(text string) int {
	line, open, signs, before := 1, 0, 0, byte('\n')
	for i := range len(text) {
		switch c := text[i]; c {
		case '\n':
			line, signs = line+1, 0
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '-', '?', '!', '&':
			if before == ' ' || before == '\n' || before == '\t' {
				signs++
			}
		}
		if open > maxLevel || signs > maxLevel {
			return line
		}
		before = text[i]
	}
	return 0
}

func yamlError(n ast.Node, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if t := n.GetToken(); t != nil && t.Position != nil && t.Position.Line > 0 {
		return fmt.Errorf("line %d: %s", t.Position.Line, what)
	}
	return fmt.Errorf("%s", what)
}

func tree(n ast.Node, level int) (any, error) {
	if level > 2*maxLevel {
		return nil, yamlError(n, "nested deeper than %d", maxLevel)
	}
	switch n := n.(type) {
	case nil, *ast.CommentGroupNode, *ast.CommentNode, *ast.DirectiveNode, *ast.NullNode:
		return nil, nil
	case *ast.MappingNode:
		out := make(map[string]any, len(n.Values))
		for _, pair := range n.Values {
			if err := addPair(out, pair, level); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *ast.MappingValueNode:
		out := map[string]any{}
		return out, addPair(out, n, level)
	case *ast.SequenceNode:
		out := make([]any, len(n.Values))
		for i, v := range n.Values {
			var err error
			if out[i], err = tree(v, level+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *ast.TagNode:
		if s, ok := n.Value.(ast.ScalarNode); ok && n.Start.Value == "!!str" {
			return s.GetToken().Value, nil
		}
		return tree(n.Value, level+1)
	case *ast.AnchorNode:
		return tree(n.Value, level+1)
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		if !quoted && (n.Value == "~" || strings.EqualFold(n.Value, "null")) {
			return nil, nil
		}
		return n.Value, nil
	case *ast.InfinityNode, *ast.NanNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return nil, yamlError(n, "%s is not supported", n.Type())
}

func addPair(out map[string]any, pair *ast.MappingValueNode, level int) error {
	var key ast.Node = pair.Key
	if explicit, ok := key.(*ast.MappingKeyNode); ok { // "? key"
		key = explicit.Value
	}
	if _, ok := key.(*ast.MergeKeyNode); ok {
		return yamlError(pair, "merge keys are not supported")
	}
	k, err := tree(key, level+1)
	if err != nil {
		return err
	}
	name, ok := k.(string)
	if !ok {
		return yamlError(pair, "a key must be the name of a field")
	}
	if _, twice := out[name]; twice {
		return yamlError(pair, "%q stands twice", name)
	}
	out[name], err = tree(pair.Value, level+1)
	return err
}
