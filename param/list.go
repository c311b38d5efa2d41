package param

import (
	"slices"
	"strings"
)

// Separator stands between the parts of a parameter's name.
const Separator = "."

// Recursive as a depth means without bound.
const Recursive = 0

// List gives the sorted names of the declared parameters that are below one of the prefixes (or equal to it) by at most depth parts, and the
// sorted distinct prefixes of these names. No prefixes: all names of at most depth parts. It chooses as the list_parameters service of ROS 2
// does.
func (s *Store) List(prefixes []string, depth uint64) (names, namePrefixes []string) {
	s.mu.Lock()
	for name := range s.entries {
		if listed(name, prefixes, depth) {
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(names)
	for _, name := range names {
		if i := strings.LastIndex(name, Separator); i >= 0 {
			namePrefixes = append(namePrefixes, name[:i])
		}
	}
	slices.Sort(namePrefixes)
	return names, slices.Compact(namePrefixes)
}

func listed(name string, prefixes []string, depth uint64) bool {
	shallow := func(s string) bool { return depth == Recursive || uint64(strings.Count(s, Separator)) < depth }
	if len(prefixes) == 0 {
		return shallow(name)
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		if name == prefix {
			return true
		}
		rest, below := strings.CutPrefix(name, prefix+Separator)
		return below && shallow(rest)
	})
}
