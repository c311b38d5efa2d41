package keyexpr

import "math/bits"

// maxAlternatives bounds the work of one Includes; see there.
const maxAlternatives = 256

// Includes reports whether every key that b covers is covered by a. Both must
// be in canon form. The answer is exact, except that for expressions with very
// many "**" it may be false although a does include b; it is never true wrongly.
func Includes(a, b string) bool {
	if a == b || a == "**" && !hasVerbatim(b) {
		return true
	}
	if IsLiteral(a) {
		return false
	}
	var abuf, bbuf [maxStack]string
	as, bs := split(abuf[:0], a), split(bbuf[:0], b)
	if len(as) >= 64 {
		// The state sets below are one machine word; such an expression is of no practical use.
		return IsLiteral(b) && Intersects(a, b)
	}
	// a is read as an automaton whose state i means "as[:i] is used up". A "**"
	// in b may stand for any number of chunks that a does not name, and for each
	// number a must be able to go on: so there are several sets of states, each
	// of which must end in success. A set that contains another is dropped.
	sets := make([]uint64, 1, 8)
	sets[0] = skipDoubles(as, 1)
	for _, chunk := range bs {
		if chunk != "**" {
			for i := range sets {
				sets[i] = step(as, sets[i], chunk)
			}
			sets = minimal(sets)
			continue
		}
		for i := 0; i < len(sets); i++ {
			// "*" as a chunk of b stands for a chunk that only wildcards of a cover.
			if s := step(as, sets[i], "*"); !contains(sets, s) {
				if sets = append(sets, s); len(sets) > maxAlternatives {
					return false
				}
			}
		}
		sets = minimal(sets)
	}
	for _, s := range sets {
		if s>>len(as)&1 == 0 {
			return false
		}
	}
	return true
}

// step moves every state of set over one chunk of b that is not "**".
func step(as []string, set uint64, chunk string) uint64 {
	var out uint64
	for s := set; s != 0; s &= s - 1 {
		i := bits.TrailingZeros64(s)
		switch {
		case i == len(as):
		case as[i] == "**":
			if !verbatim(chunk) {
				out |= 1 << i
			}
		case chunkCovers(as[i], chunk):
			out |= 1 << (i + 1)
		}
	}
	return skipDoubles(as, out)
}

// skipDoubles adds the states that are reached by letting a "**" stand for nothing.
func skipDoubles(as []string, set uint64) uint64 {
	for i, chunk := range as {
		if chunk == "**" && set>>i&1 != 0 {
			set |= 1 << (i + 1)
		}
	}
	return set
}

// minimal drops every set that contains another one: where the smaller succeeds so does the larger.
func minimal(sets []uint64) []uint64 {
	kept := sets[:0]
next:
	for i, s := range sets {
		for j, t := range sets {
			if t&s == t && (t != s || j < i) {
				continue next
			}
		}
		kept = append(kept, s)
	}
	return kept
}

func contains(sets []uint64, s uint64) bool {
	for _, t := range sets {
		if t == s {
			return true
		}
	}
	return false
}

func hasVerbatim(s string) bool {
	for i := range len(s) {
		if s[i] == '@' && (i == 0 || s[i-1] == '/') {
			return true
		}
	}
	return false
}
