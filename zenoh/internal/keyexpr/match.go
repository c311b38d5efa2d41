package keyexpr

import "strings"

// Intersects reports whether some key is covered by both a and b. Both must be in canon form.
func Intersects(a, b string) bool {
	la, lb := IsLiteral(a), IsLiteral(b)
	if la && lb {
		return a == b
	}
	if a == b {
		return true
	}
	var abuf, bbuf [maxStack]string
	as, bs := split(abuf[:0], a), split(bbuf[:0], b)
	// next[j] holds the answer for the rests as[i+1:] and bs[j:], row[j] for as[i:] and bs[j:].
	var buf [2][maxStack + 1]bool
	row, next := rows(&buf, len(bs)+1)
	for i := len(as); i >= 0; i-- {
		for j := len(bs); j >= 0; j-- {
			endA, endB := i == len(as), j == len(bs)
			hit := false
			switch {
			case endA && endB:
				hit = true
			case !endA && as[i] == "**":
				hit = next[j] || !endB && !verbatim(bs[j]) && row[j+1]
			case !endB && bs[j] == "**":
				hit = row[j+1] || !endA && !verbatim(as[i]) && next[j]
			case !endA && !endB:
				hit = next[j+1] && chunksIntersect(as[i], bs[j])
			}
			row[j] = hit
		}
		row, next = next, row
	}
	return next[0]
}

// maxStack is the number of chunks up to which comparing needs no heap.
const maxStack = 32

func rows(buf *[2][maxStack + 1]bool, n int) (row, next []bool) {
	if n <= len(buf[0]) {
		return buf[0][:n], buf[1][:n]
	}
	return make([]bool, n), make([]bool, n)
}

func split(dst []string, s string) []string {
	for more := true; more; {
		var chunk string
		chunk, s, more = strings.Cut(s, "/")
		dst = append(dst, chunk)
	}
	return dst
}

func verbatim(chunk string) bool { return chunk[0] == '@' }

// chunksIntersect compares two chunks, neither of which is "**".
func chunksIntersect(a, b string) bool {
	switch {
	case a == b:
		return true
	case verbatim(a) || verbatim(b):
		return false
	case a == "*" || b == "*":
		return true
	}
	wa, wb := strings.Contains(a, "$*"), strings.Contains(b, "$*")
	switch {
	case wa && wb:
		return globsIntersect(a, b)
	case wa:
		return globCovers(a, b)
	case wb:
		return globCovers(b, a)
	}
	return false
}

// globsIntersect compares two chunks that both hold "$*". What lies between
// the first and the last "$*" of either never stands in the way, since the
// other side's "$*" can spell it out; only the fixed beginnings and ends must
// agree with each other.
func globsIntersect(a, b string) bool {
	headA, headB := a[:strings.Index(a, "$*")], b[:strings.Index(b, "$*")]
	tailA, tailB := a[strings.LastIndex(a, "$*")+2:], b[strings.LastIndex(b, "$*")+2:]
	return (strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)) &&
		(strings.HasSuffix(tailA, tailB) || strings.HasSuffix(tailB, tailA))
}

// globCovers reports whether every text that chunk covers is covered by glob.
// A "$*" in chunk is covered only by a "$*" in glob, since it may stand for a
// character that neither text holds.
func globCovers(glob, chunk string) bool {
	head, rest, wild := strings.Cut(glob, "$*")
	if !wild {
		return glob == chunk
	}
	if !strings.HasPrefix(chunk, head) {
		return false
	}
	chunk = chunk[len(head):]
	for {
		part, after, more := strings.Cut(rest, "$*")
		if !more {
			return len(chunk) >= len(part) && strings.HasSuffix(chunk, part)
		}
		i := strings.Index(chunk, part)
		if i < 0 {
			return false
		}
		chunk, rest = chunk[i+len(part):], after
	}
}

// chunkCovers reports whether every chunk that b stands for is covered by a; neither is "**".
func chunkCovers(a, b string) bool {
	switch {
	case a == b:
		return true
	case verbatim(a) || verbatim(b):
		return false
	case a == "*":
		return true
	case b == "*":
		return false
	}
	return globCovers(a, b)
}
