// Package names checks and expands the names of nodes, namespaces, topics and services by the rules of ROS 2 (those of rcl and rmw), so
// that a name accepted here is accepted by every other ROS 2 node. It knows only texts and imports only the standard library.
package names

import (
	"fmt"
	"strings"
)

// Longest names in bytes, as in rmw: a topic leaves room for a prefix of 8 bytes in 255, a namespace for the shortest topic in it.
const (
	MaxNode      = 255
	MaxNamespace = MaxTopic - 2
	MaxTopic     = 255 - 8
)

// Error says what is wrong with a name and where.
type Error struct {
	What string // "node name", "namespace", "topic name" or "service name"
	Name string // the name as given
	Full string // the expanded name, where it and not the given one is wrong; otherwise empty
	Pos  int    // byte in Name, or in Full where that is set
	Text string // what is wrong, for example "must not begin with a digit"
}

func (e *Error) Error() string {
	if e.Full != "" {
		return fmt.Sprintf("%s %q, expanded to %q: %s (at %d)", e.What, e.Name, e.Full, e.Text, e.Pos)
	}
	return fmt.Sprintf("%s %q: %s (at %d)", e.What, e.Name, e.Text, e.Pos)
}

// CheckNode says whether name can be a node's: letters, digits and underscores, at least one, at most MaxNode, not a digit first. The
// error is an *Error.
func CheckNode(name string) error {
	pos, text := 0, ""
	switch bad := strings.IndexFunc(name, func(c rune) bool { return !word(c) }); {
	case name == "":
		text = "must not be empty"
	case bad >= 0:
		pos, text = bad, "must consist of letters, digits and underscores"
	case digit(name[0]):
		text = "must not begin with a digit"
	case len(name) > MaxNode:
		pos, text = MaxNode, tooLong(name, MaxNode)
	default:
		return nil
	}
	return &Error{What: "node name", Name: name, Pos: pos, Text: text}
}

// CheckNamespace says whether ns can be a node's namespace: "/", or a fully qualified name of at most MaxNamespace bytes. The error is an
// *Error.
func CheckNamespace(ns string) error {
	if ns == "/" {
		return nil
	}
	if pos, text := checkFull(ns, MaxNamespace); text != "" {
		return &Error{What: "namespace", Name: ns, Pos: pos, Text: text}
	}
	return nil
}

// Namespace brings a namespace as users write it into its one form: "" becomes "/", a missing leading slash is put before. The result
// is not checked.
func Namespace(ns string) string {
	if !strings.HasPrefix(ns, "/") {
		return "/" + ns
	}
	return ns
}

// CheckFull says whether name is a valid fully qualified topic or service name: it begins with a slash, does not end with one, has
// none twice in a row, each part consists of letters, digits and underscores and does not begin with a digit, at most MaxTopic bytes.
// The error is an *Error; what is "topic name" or "service name".
func CheckFull(what, name string) error {
	if pos, text := checkFull(name, MaxTopic); text != "" {
		return &Error{What: what, Name: name, Pos: pos, Text: text}
	}
	return nil
}

// checkFull gives an empty text for a valid name. The length comes last, so that it can be told apart from other faults.
func checkFull(name string, limit int) (pos int, text string) {
	switch {
	case name == "":
		return 0, "must not be empty"
	case name[0] != '/':
		return 0, "must begin with a slash"
	case name[len(name)-1] == '/':
		return len(name) - 1, "must not end with a slash"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/' && name[i+1] == '/':
			return i + 1, "must not have two slashes in a row"
		case c == '/' && digit(name[i+1]):
			return i + 1, "no part may begin with a digit"
		case c != '/' && !word(rune(c)):
			return i, "must consist of letters, digits, underscores and slashes"
		}
	}
	if len(name) > limit {
		return limit, tooLong(name, limit)
	}
	return 0, ""
}

// Hidden says whether a fully qualified name has a part that begins with an underscore; such names are not listed by default.
func Hidden(name string) bool { return strings.Contains(name, "/_") || strings.HasPrefix(name, "_") }

func word(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func tooLong(name string, limit int) string {
	return fmt.Sprintf("is %d bytes long, at most %d are allowed", len(name), limit)
}
