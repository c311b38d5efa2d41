package gen

import "github.com/tagus-ros/tagus/rosidl"

// layout is what the generator knows about how a message is encoded and how Go
// lays it out on a host where numbers lie at multiples of their size.
type layout struct {
	min     int // least bytes of an encoding, without padding
	slices  bool
	aliases bool // has sequences that can point into a payload, at any depth
	bounds  bool
	defs    bool // has default values
	big     bool // has an array too large to be cleared

	// The rest is meaningful if flat: encoding and memory agree.
	flat   bool
	size   int      // of the encoding
	goSize int      // of the memory
	align  int      // of the largest number
	first  int      // alignment of the first number
	pads   [][2]int // gaps in it, from and to
}

// stackable tells whether a sequence of such messages is encoded as it lies in
// memory, wherever it begins: there is no gap in or after one, and the first
// number brings about the alignment of all.
func (l *layout) stackable() bool {
	return l.flat && len(l.pads) == 0 && l.size == l.goSize && l.first == l.align
}

const (
	maxCleared = 4096 // bytes of an array that Reset clears
	maxPads    = 32   // gaps for which code is written
)

// layoutOf analyses a type and all it holds.
func (g *generator) layoutOf(st *rosidl.Struct) *layout {
	if l := g.layouts[st.Name]; l != nil {
		return l
	}
	l := &layout{flat: len(st.Fields) > 0, align: 1}
	if len(st.Fields) == 0 {
		l.min = 1
	}
	goOff := 0
	for i := range st.Fields {
		g.addField(l, &st.Fields[i], &goOff)
	}
	l.goSize = alignUp(goOff, l.align)
	if len(l.pads) > maxPads {
		l.flat = false
	}
	g.layouts[st.Name] = l
	return l
}

func (g *generator) addField(l *layout, f *rosidl.Field, goOff *int) {
	t := f.Type
	n := 1 // elements that are always there
	if t.Shape == rosidl.Array {
		n = t.Capacity
	}
	l.bounds = l.bounds || t.StringCapacity > 0 || t.Shape == rosidl.Bounded
	l.defs = l.defs || f.Default != nil
	var e *layout
	element := 4 // a string's count
	if t.ID == rosidl.Nested {
		e = g.layoutOf(g.set.Struct(t.NestedName))
		element = e.min
		l.bounds, l.defs, l.big = l.bounds || e.bounds, l.defs || e.defs, l.big || e.big
		l.slices, l.aliases = l.slices || e.slices, l.aliases || e.aliases
	} else if size := t.ID.Size(); size > 0 {
		element = size
	}
	if t.Shape == rosidl.Bounded || t.Shape == rosidl.Unbounded {
		l.min += 4
		l.slices, l.flat = true, false
		l.aliases = l.aliases || g.aliasable(t)
		return
	}
	l.min += n * element
	if t.ID.IsString() || t.ID == rosidl.Bool {
		l.flat = false
	}
	l.big = l.big || t.Shape == rosidl.Array && t.ID != rosidl.Nested && n*element > maxCleared
	if !l.flat {
		return
	}
	align, first, size, goSize := t.ID.Size(), t.ID.Size(), t.ID.Size(), t.ID.Size()
	var pads [][2]int
	if e != nil {
		if !e.flat || n > 1 && e.size != e.goSize {
			l.flat = false
			return
		}
		align, first, size, goSize, pads = e.align, e.first, e.size, e.goSize, e.pads
	}
	// In memory a nested message starts at its largest alignment, encoded at its
	// first number's; after a nested message memory has its tail gap.
	start := alignUp(l.size, first)
	if alignUp(*goOff, align) != start || len(pads)*n > maxPads {
		l.flat = false
		return
	}
	if start > l.size {
		l.pads = append(l.pads, [2]int{l.size, start})
	}
	for i := range n {
		for _, p := range pads {
			l.pads = append(l.pads, [2]int{start + i*size + p[0], start + i*size + p[1]})
		}
		if len(pads) == 0 {
			break
		}
	}
	if l.first == 0 {
		l.first = first
	}
	l.align = max(l.align, align)
	l.size = start + n*size
	*goOff = start + n*goSize
}

// aliasable tells whether a sequence of that type can point into a payload.
func (g *generator) aliasable(t rosidl.FieldType) bool {
	if t.Shape != rosidl.Bounded && t.Shape != rosidl.Unbounded {
		return false
	}
	if t.ID == rosidl.Nested {
		return g.layoutOf(g.set.Struct(t.NestedName)).stackable()
	}
	return t.ID.Size() > 0 && t.ID != rosidl.Bool
}

func alignUp(n, a int) int { return (n + a - 1) / a * a }
