package rosargs

import "strings"

// lexeme is one of the pieces that rules consist of.
type lexeme uint8

const (
	lexEnd           lexeme = iota
	lexBad                  // a character that begins nothing
	lexToken                // letters, digits, single underscores; not a digit first
	lexSlash                // /
	lexTilde                // ~/
	lexDot                  // .
	lexColon                // :
	lexSeparator            // :=
	lexNode                 // __node or __name
	lexNamespace            // __ns
	lexTopicURL             // rostopic://
	lexServiceURL           // rosservice://
	lexOne                  // *
	lexMany                 // **
	lexBackReference        // \1 to \9
)

var lexNames = [...]string{"the end", "a character that cannot stand there", "a name", `"/"`, `"~/"`, `"."`, `":"`, `":="`, `"__node"`, `"__ns"`,
	`"rostopic://"`, `"rosservice://"`, `"*"`, `"**"`, "a back reference"}

func (l lexeme) String() string { return lexNames[l] }

// cutLexeme gives the kind and the length of what a text begins with.
func cutLexeme(s string) (lexeme, int) {
	if s == "" {
		return lexEnd, 0
	}
	begins := func(prefix string) bool { return strings.HasPrefix(s, prefix) }
	switch c := s[0]; {
	case c == '/':
		return lexSlash, 1
	case c == '.':
		return lexDot, 1
	case begins(":="):
		return lexSeparator, 2
	case c == ':':
		return lexColon, 1
	case begins("~/"):
		return lexTilde, 2
	case begins("**"):
		return lexMany, 2
	case c == '*':
		return lexOne, 1
	case c == '\\' && len(s) > 1 && s[1] >= '1' && s[1] <= '9':
		return lexBackReference, 2
	case begins("__ns"):
		return lexNamespace, len("__ns")
	case begins("__node"), begins("__name"):
		return lexNode, len("__node")
	case begins("rostopic://"):
		return lexTopicURL, len("rostopic://")
	case begins("rosservice://"):
		return lexServiceURL, len("rosservice://")
	case begins("__"), !letter(c) && c != '_':
		return lexBad, 1
	}
	n := 1
	for n < len(s) && (letter(s[n]) || digit(s[n]) || s[n] == '_' && s[n-1] != '_') {
		n++
	}
	return lexToken, n
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lexer reads a rule from left to right. The first thing that is not as wanted is kept as the error; from then on there is only the end.
type lexer struct {
	text string
	pos  int
	err  *ruleError
}

// ruleError is what is wrong with a rule, and at which byte of it.
type ruleError struct {
	pos  int
	text string
}

func (l *lexer) peek() lexeme {
	if l.err != nil {
		return lexEnd
	}
	kind, _ := cutLexeme(l.text[l.pos:])
	return kind
}

// peek2 is the lexeme after the next.
func (l *lexer) peek2() lexeme {
	if l.err != nil {
		return lexEnd
	}
	_, n := cutLexeme(l.text[l.pos:])
	kind, _ := cutLexeme(l.text[l.pos+n:])
	return kind
}

// accept takes the next lexeme if it is of the kind.
func (l *lexer) accept(kind lexeme) bool {
	if l.err != nil || l.peek() != kind {
		return false
	}
	_, n := cutLexeme(l.text[l.pos:])
	l.pos += n
	return true
}

// expect takes the next lexeme, which must be of the kind, and gives its text.
func (l *lexer) expect(kind lexeme) string {
	start := l.pos
	if !l.accept(kind) {
		l.fail("want %s, found %s", kind, l.found())
	}
	return l.text[start:l.pos]
}

// found describes what stands next.
func (l *lexer) found() string {
	kind, n := cutLexeme(l.text[l.pos:])
	switch kind {
	case lexEnd:
		return "the end"
	case lexBad:
		for _, c := range l.text[l.pos:] {
			return quote(string(c))
		}
	}
	return quote(l.text[l.pos : l.pos+n])
}
