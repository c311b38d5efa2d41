package rosargs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tagus-ros/tagus/internal/names"
	"github.com/tagus-ros/tagus/param"
)

func quote(s string) string { return strconv.Quote(s) }

func (l *lexer) fail(format string, args ...any) {
	if l.err == nil {
		l.err = &ruleError{l.pos, fmt.Sprintf(format, args...)}
	}
}

// parseRemap reads a rule: [node:]__node:=name, [node:]__ns:=/namespace, [node:][rostopic://|rosservice://]from:=to.
func parseRemap(text string) (Remap, *ruleError) {
	l := &lexer{text: text}
	r := Remap{Node: l.nodePrefix()}
	switch {
	case l.accept(lexNode):
		l.expect(lexSeparator)
		r.Kind, r.To = NodeName, l.expect(lexToken)
	case l.accept(lexNamespace):
		l.expect(lexSeparator)
		start := l.pos
		r.Kind, r.To = Namespace, l.namespace()
		if l.err == nil && l.peek() == lexEnd {
			if err := names.CheckNamespace(r.To); err != nil {
				return r, &ruleError{start, err.Error()}
			}
		}
	default:
		switch {
		case l.accept(lexTopicURL):
			r.Kind = Topic
		case l.accept(lexServiceURL):
			r.Kind = Service
		default:
			r.Kind = Topic | Service
		}
		r.From = l.name(lexSeparator)
		l.expect(lexSeparator)
		r.To = l.name(lexEnd)
	}
	l.expect(lexEnd)
	return r, l.err
}

// nodePrefix takes "node:" if it stands there.
func (l *lexer) nodePrefix() string {
	if l.peek() != lexToken || l.peek2() != lexColon {
		return ""
	}
	node := l.expect(lexToken)
	l.expect(lexColon)
	return node
}

func (l *lexer) namespace() string {
	start := l.pos
	l.expect(lexSlash)
	for l.accept(lexToken) && l.accept(lexSlash) {
	}
	return l.text[start:l.pos]
}

// name takes a relative, private or full name up to the lexeme that ends it.
func (l *lexer) name(end lexeme) string {
	start := l.pos
	if !l.accept(lexTilde) {
		l.accept(lexSlash)
	}
	for {
		switch kind := l.peek(); kind {
		case lexOne, lexMany, lexBackReference:
			l.fail("%s is not supported, as in ROS 2", kind)
		}
		l.expect(lexToken)
		if l.err != nil || l.peek() == end {
			return l.text[start:l.pos]
		}
		l.expect(lexSlash)
	}
}

// parseParameter reads an assignment: [node:]name:=value, with the value in YAML.
func parseParameter(text string) (param.Override, *ruleError) {
	l := &lexer{text: text}
	o := param.Override{Node: "/**"}
	if node := l.nodePrefix(); node != "" {
		o.Node = "/" + node
	}
	o.Name = l.parameterName()
	l.expect(lexSeparator)
	if l.err != nil {
		return o, l.err
	}
	if l.pos == len(text) {
		l.fail("there is no value")
		return o, l.err
	}
	v, err := param.Parse(text[l.pos:])
	if err != nil {
		l.fail("%v", err)
		return o, l.err
	}
	o.Value = v
	return o, nil
}

// parameterName takes parts joined by dots. A part may have slashes in it, for the parameters that stand for the QoS of a topic.
func (l *lexer) parameterName() string {
	start := l.pos
	for {
		switch kind := l.peek(); kind {
		case lexOne, lexMany:
			l.fail("%s is not supported, as in ROS 2", kind)
		case lexSlash:
		default:
			l.expect(lexToken)
		}
		for l.accept(lexToken) || l.accept(lexSlash) {
		}
		if l.err != nil || l.peek() == lexSeparator {
			return l.text[start:l.pos]
		}
		l.expect(lexDot)
	}
}

// parseLogLevel reads level or logger:=level.
func parseLogLevel(text string) (LoggerLevel, *ruleError) {
	logger, level, named := strings.Cut(text, ":=")
	if !named {
		level, logger = text, ""
	}
	out := LoggerLevel{Logger: logger}
	pos := len(text) - len(level)
	if named && logger == "" {
		return out, &ruleError{0, "the name of the logger is missing"}
	}
	for l, name := range levels {
		if strings.EqualFold(name, level) {
			out.Level = l
			return out, nil
		}
	}
	return out, &ruleError{pos, fmt.Sprintf("%s is no level; there are debug, info, warn, error, fatal and unset", quote(level))}
}
