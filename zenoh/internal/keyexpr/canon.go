package keyexpr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLength is the longest expression, in bytes, that the wire can carry.
const MaxLength = 65535

// Error says why a text is no key expression, or not in canon form.
type Error struct {
	Text string // the whole text
	Pos  int    // byte offset of the offending part
	What string // what is wrong there
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Text
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return fmt.Sprintf("key expression %q: at byte %d: %s", text, e.Pos, e.What)
}

// Check reports whether s is a key expression in canon form; the error is an *Error.
func Check(s string) error {
	if err := grammar(s); err != nil {
		return err
	}
	if IsLiteral(s) {
		return nil
	}
	if pos := notCanon(s); pos >= 0 {
		return &Error{s, pos, "not in canon form"}
	}
	return nil
}

// Canon rewrites s into canon form; the error is an *Error and says which rule of the grammar s breaks.
func Canon(s string) (string, error) {
	if err := grammar(s); err != nil {
		return "", err
	}
	if IsLiteral(s) || notCanon(s) < 0 {
		return s, nil
	}
	var out strings.Builder
	out.Grow(len(s))
	put := func(chunk string) {
		if out.Len() > 0 {
			out.WriteByte('/')
		}
		out.WriteString(chunk)
	}
	pending := false // a "**" waits for the end of the run of wildcard chunks
	for rest, more := s, true; more; {
		var chunk string
		chunk, rest, more = strings.Cut(rest, "/")
		for strings.Contains(chunk, "$*$*") {
			chunk = strings.ReplaceAll(chunk, "$*$*", "$*")
		}
		switch chunk {
		case "**":
			pending = true
		case "*", "$*":
			put("*")
		default:
			if pending {
				put("**")
				pending = false
			}
			put(chunk)
		}
	}
	if pending {
		put("**")
	}
	return out.String(), nil
}

// IsLiteral reports whether s holds no wildcard, so that it stands for one key only.
func IsLiteral(s string) bool { return strings.IndexByte(s, '*') < 0 }

// grammar checks everything but the canon form.
func grammar(s string) error {
	if s == "" {
		return &Error{s, 0, "empty"}
	}
	if len(s) > MaxLength {
		return &Error{s, MaxLength, fmt.Sprintf("longer than %d bytes", MaxLength)}
	}
	if !utf8.ValidString(s) {
		for i, r := range s {
			if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
				return &Error{s, i, "not UTF-8"}
			}
		}
	}
	start := 0 // of the current chunk
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '/' {
			if i == start {
				return &Error{s, i, "empty chunk"}
			}
			start = i + 1
			continue
		}
		switch s[i] {
		case '#', '?':
			return &Error{s, i, fmt.Sprintf("character %q is not allowed", s[i])}
		case '$':
			if i+1 == len(s) || s[i+1] != '*' {
				return &Error{s, i, "'$' without '*' after it"}
			}
		case '*':
			if i > start && s[i-1] == '$' {
				continue
			}
			end := i
			for end < len(s) && s[end] != '/' {
				end++
			}
			if chunk := s[start:end]; chunk != "*" && chunk != "**" {
				return &Error{s, i, "'*' inside a chunk must be written \"$*\""}
			}
			i = end - 1
		}
	}
	return nil
}

// notCanon returns the offset of the first chunk that canon form would change, or -1.
func notCanon(s string) int {
	double := false // the chunk before was "**"
	pos := 0
	for rest, more := s, true; more; {
		var chunk string
		chunk, rest, more = strings.Cut(rest, "/")
		switch {
		case chunk == "$*", strings.Contains(chunk, "$*$*"):
			return pos
		case double && (chunk == "*" || chunk == "**"):
			return pos
		}
		double = chunk == "**"
		pos += len(chunk) + 1
	}
	return -1
}
