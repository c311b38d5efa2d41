package param

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that say a plain state; they come wrapped in an *Error that names the node and the parameter.
var (
	// ErrNotDeclared says that there is no such parameter.
	ErrNotDeclared = errors.New("not declared")
	// ErrDeclared says that there is such a parameter already.
	ErrDeclared = errors.New("declared before")
	// ErrReadOnly says that a parameter cannot be changed or removed after it was declared.
	ErrReadOnly = errors.New("read-only")
	// ErrFixedType says that the value of a parameter cannot be taken away: that would change its type, and it has no dynamic typing.
	ErrFixedType = errors.New("has a fixed type, so its value cannot be taken away")
	// ErrNoValue says that a parameter without a default was given no value.
	ErrNoValue = errors.New("has no default and was given no value")
	// ErrNoName says that a parameter has an empty name.
	ErrNoName = errors.New("the name is empty")
	// ErrBusy says that others kept changing the parameter while a change was being checked.
	ErrBusy = errors.New("kept being changed by others while the change was checked")
)

// Error says what was tried with which parameter of which node. The cause is one of the errors above, a *TypeError, a *RangeError, a
// context's error or what a Validate function returned.
type Error struct {
	Op     string // "declare", "get", "set", "undeclare"
	Node   string // full name
	Name   string // of the parameter
	Source string // where a value that was given from outside stands: "camera.yaml:12"; empty otherwise
	Err    error
}

func (e *Error) Error() string { return "tagus: " + e.Reason() }

// Reason is the text without the name of the library, for the answer of a service.
func (e *Error) Reason() string {
	from := ""
	if e.Source != "" {
		from = " with the value from " + e.Source
	}
	return fmt.Sprintf("parameter %s of %s: %s%s: %v", e.Name, e.Node, e.Op, from, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// TypeError says that a value has another type than the parameter.
type TypeError struct {
	Want  Type
	Given Value
}

func (e *TypeError) Error() string {
	if !e.Given.IsSet() {
		return fmt.Sprintf("want %s, given no value", e.Want)
	}
	given := e.Given.String()
	if e.Given.typ == String {
		given = pythonText(given)
	}
	return fmt.Sprintf("want %s, given %s %s", e.Want, e.Given.typ, shorten(given))
}

// RangeError says that a number is outside what its descriptor allows.
type RangeError struct {
	Given Value
	Range string // "1 to 60 in steps of 0.5"
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s is not in the range %s", shorten(e.Given.String()), e.Range)
}

// FileError says what is wrong with a parameter file and where. Line and Column count from 1; 0 where nothing is known.
type FileError struct {
	Path         string
	Line, Column int
	Text         string
	Err          error // the cause, where reading failed
}

func (e *FileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tagus: parameter file %s", e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	fmt.Fprintf(&b, ": %s", e.Text)
	return b.String()
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// shorten keeps an error readable, whatever was given.
func shorten(s string) string {
	const most = 80
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}
