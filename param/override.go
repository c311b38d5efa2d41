package param

import "strings"

// Override is a value that a command line or a file gives a parameter of the nodes that a pattern stands for.
type Override struct {
	// Node is a node's full name (a leading slash may be missing) or a pattern: a part that is * stands for one part of the name, ** for
	// any number of them.
	Node   string
	Name   string // of the parameter, parts joined by dots
	Value  Value  // not set: null was given, which leaves the default
	Source string // where it stands, for errors: "camera.yaml:12"
}

// Select chooses those of the overrides that are for the node with this full name; where several give the same parameter, the last.
func Select(overrides []Override, node string) map[string]Override {
	out := map[string]Override{}
	for _, o := range overrides {
		if matches(o.Node, node) {
			out[o.Name] = o
		}
	}
	return out
}

func matches(pattern, node string) bool {
	return matchParts(parts(pattern), parts(node))
}

func parts(name string) []string {
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// matchParts tells from the pattern's end to its beginning which beginnings of the name are stood for, so that many ** take no more time
// than the product of the lengths.
func matchParts(pattern, name []string) bool {
	reach := make([]bool, len(name)+1) // reach[i]: the pattern so far stands for name[:i]
	reach[0] = true
	for _, part := range pattern {
		if part == "**" {
			for i := 1; i <= len(name); i++ {
				reach[i] = reach[i] || reach[i-1]
			}
			continue
		}
		for i := len(name); i > 0; i-- {
			reach[i] = reach[i-1] && (part == "*" || part == name[i-1])
		}
		reach[0] = false
	}
	return reach[len(name)]
}

// wildcard says whether a pattern stands for more than one node.
func wildcard(pattern string) bool { return strings.Contains(pattern, "*") }
