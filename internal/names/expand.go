package names

import "strings"

// CheckRelative says whether name can be given to Expand: not empty, no slash at the end, letters, digits, underscores and slashes, a
// tilde only as the first part, substitutions only as {word}. The error is an *Error; what is "topic name" or "service name".
func CheckRelative(what, name string) error {
	if pos, text := checkRelative(name); text != "" {
		return &Error{What: what, Name: name, Pos: pos, Text: text}
	}
	return nil
}

func checkRelative(name string) (pos int, text string) {
	switch {
	case name == "":
		return 0, "must not be empty"
	case digit(name[0]):
		return 0, "must not begin with a digit"
	case name[len(name)-1] == '/':
		return len(name) - 1, "must not end with a slash"
	}
	open := -1 // where the substitution began, or -1
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '{' && open >= 0, open >= 0 && c != '}' && !word(rune(c)):
			return i, "a substitution must consist of letters, digits and underscores"
		case open >= 0 && i == open+1 && digit(c):
			return i, "a substitution must not begin with a digit"
		case c == '{':
			open = i
		case c == '}' && open < 0:
			return i, "has a closing brace without an opening one"
		case c == '}':
			open = -1
		case c == '~' && i > 0:
			return i, "may have a tilde only at the beginning"
		case c == '~' && len(name) > 1 && name[1] != '/':
			return 1, "must have a slash after the tilde"
		case c == '/' && digit(name[i+1]):
			return i + 1, "no part may begin with a digit"
		case c != '/' && c != '~' && !word(rune(c)):
			return i, "must consist of letters, digits, underscores and slashes"
		}
	}
	if open >= 0 {
		return open, "has an opening brace without a closing one"
	}
	return 0, ""
}

// Expand makes the fully qualified name of a topic or service from the name that a node with this name and namespace uses:
//
//	/chatter     stays
//	chatter      is below the namespace
//	~ and ~/x    are below the node
//	{node}, {ns} and {namespace} are replaced first
//
// The node's name and namespace must be valid. The result is checked; the error is an *Error; what is "topic name" or "service name".
func Expand(what, name, node, namespace string) (string, error) {
	if err := CheckRelative(what, name); err != nil {
		return "", err
	}
	below := strings.TrimSuffix(namespace, "/")
	full := name
	if full[0] == '~' {
		full = below + "/" + node + full[1:]
	}
	if strings.Contains(full, "{") {
		var err *Error
		if full, err = substitute(full, node, namespace); err != nil {
			err.What, err.Name, err.Pos = what, name, strings.Index(name, err.Full)
			err.Full = ""
			return "", err
		}
	}
	if full[0] != '/' {
		full = below + "/" + full
	}
	pos, text := checkFull(full, MaxTopic)
	switch {
	case text == "":
		return full, nil
	case full == name:
		return "", &Error{What: what, Name: name, Pos: pos, Text: text}
	}
	return "", &Error{What: what, Name: name, Full: full, Pos: pos, Text: text}
}

// substitute replaces every {word}; the error has the unknown one in Full.
func substitute(name, node, namespace string) (string, *Error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(name, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		var key string
		key, name, _ = strings.Cut(rest, "}")
		switch key {
		case "node":
			b.WriteString(node)
		case "ns", "namespace":
			b.WriteString(namespace)
		default:
			return "", &Error{Full: "{" + key + "}", Text: "knows the substitutions {node}, {ns} and {namespace}, not {" + key + "}"}
		}
	}
}
