package param

import (
	"fmt"
	"strings"
)

// emitter writes scalars in the style that Python's YAML writer chooses: plain where that reads back as the same text, else in single quotes,
// else in double ones; lines are folded at spaces once they are longer than bestWidth.
type emitter struct {
	b      strings.Builder
	indent int // of the line that is being written
	column int
}

const bestWidth = 80

func (e *emitter) put(s string) {
	e.b.WriteString(s)
	e.column += len([]rune(s))
}

func (e *emitter) pad() { e.put(strings.Repeat(" ", e.indent)) }

func (e *emitter) endLine() {
	e.b.WriteByte('\n')
	e.column = 0
}

// fold ends the line and begins the next one.
func (e *emitter) fold(indent int) {
	e.endLine()
	e.put(strings.Repeat(" ", indent))
}

// scalar writes a text. Lines after the first are indented so far; split says whether there may be any.
func (e *emitter) scalar(text string, indent int, split bool) {
	s := scan([]rune(text))
	switch {
	case text != "" && s.plain && textOnly(text):
		e.plain([]rune(text), indent, split)
	case s.single && (split || !s.breaks):
		e.singleQuoted([]rune(text), indent, split)
	default:
		e.doubleQuoted([]rune(text), indent, split)
	}
}

// textOnly says whether a plain scalar is a text to both kinds of readers.
func textOnly(text string) bool {
	return text != "<<" && text != "=" && !looksLikeTime(text) && pythonScalar(text).typ == String && rclScalar(text).typ == String
}

// looksLikeTime says whether YAML 1.1 sees a date in a text: four digits, a hyphen, and nothing but what dates and times are made of.
func looksLikeTime(text string) bool {
	if len(text) < 8 || text[4] != '-' {
		return false
	}
	return timeForm().MatchString(text)
}

// style says in which ways a text can be written.
type style struct {
	plain, single bool
	breaks        bool // has line ends
}

func lineEnd(c rune) bool {
	return c == '\n' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}

func space(c rune) bool { return c == 0 || c == ' ' || c == '\t' || c == '\r' || lineEnd(c) }

// special says whether a character needs an escape.
func special(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }

func scan(text []rune) (s style) {
	s = style{plain: true, single: true}
	if starts := string(text[:min(3, len(text))]); starts == "---" || starts == "..." {
		s.plain = false
	}
	afterSpace := true // what stands before is a space or nothing
	for i, c := range text {
		last := i == len(text)-1
		beforeSpace := last || space(text[i+1])
		switch {
		case i == 0 && strings.ContainsRune("#,[]{}&*!|>'\"%@`", c),
			i == 0 && (c == '?' || c == ':' || c == '-') && beforeSpace,
			c == ':' && beforeSpace,
			c == '#' && afterSpace:
			s.plain = false
		}
		if lineEnd(c) {
			s.plain, s.breaks = false, true
		}
		if special(c) {
			s.plain, s.single = false, false
		}
		if (c == ' ' || lineEnd(c)) && (i == 0 || last) {
			s.plain = false
		}
		if i > 0 && (c == ' ' && lineEnd(text[i-1]) || lineEnd(c) && text[i-1] == ' ') {
			s.plain, s.single = false, false
		}
		afterSpace = space(c)
	}
	return s
}

// plain writes a text as it is; a single space may become a line end.
func (e *emitter) plain(text []rune, indent int, split bool) {
	for i, c := range text {
		if c == ' ' && split && e.column > bestWidth && text[i-1] != ' ' && text[i+1] != ' ' {
			e.fold(indent)
			continue
		}
		e.put(string(c))
	}
}

func (e *emitter) singleQuoted(text []rune, indent int, split bool) {
	e.put("'")
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'':
			e.put("''")
		case c == ' ' && split && e.column > bestWidth && i > 0 && i < len(text)-1 && text[i-1] != ' ' && text[i+1] != ' ':
			e.fold(indent)
		case c == '\n': // one more than there are in the text, since a reader folds one to a space
			e.endLine()
			for ; i+1 < len(text) && text[i+1] == '\n'; i++ {
				e.endLine()
			}
			e.fold(indent)
		default:
			e.put(string(c))
		}
	}
	e.put("'")
}

var escapes = map[rune]string{0: "0", '\a': "a", '\b': "b", '\t': "t", '\n': "n", '\v': "v", '\f': "f", '\r': "r", 0x1b: "e", '"': `"`,
	'\\': `\`, 0x85: "N", 0xa0: "_", 0x2028: "L", 0x2029: "P"}

func escape(c rune) string {
	switch short, ok := escapes[c]; {
	case ok:
		return `\` + short
	case c >= ' ' && c <= '~':
		return string(c)
	case c <= 0xff:
		return fmt.Sprintf(`\x%02X`, c)
	case c <= 0xffff:
		return fmt.Sprintf(`\u%04X`, c)
	}
	return fmt.Sprintf(`\U%08X`, c)
}

// doubleQuoted writes a text with escapes. A line may end, with a backslash, before a space and around an escape.
func (e *emitter) doubleQuoted(text []rune, indent int, split bool) {
	e.put(`"`)
	escaped := false // the character before was written as an escape
	for i, c := range text {
		inside := split && i > 0 && i < len(text)-1
		out := escape(c)
		if len(out) > 1 {
			e.put(out)
			if inside && e.column-1 > bestWidth {
				e.foldQuoted(indent, text[i+1])
			}
		} else {
			if inside && (c == ' ' || escaped) && e.column > bestWidth {
				e.foldQuoted(indent, c)
			}
			e.put(out)
		}
		escaped = len(out) > 1
	}
	e.put(`"`)
}

func (e *emitter) foldQuoted(indent int, next rune) {
	e.put(`\`)
	e.fold(indent)
	if next == ' ' {
		e.put(`\`)
	}
}
