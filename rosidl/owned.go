package rosidl

import "unsafe"

// Owned remembers the slices that a pool made for one recycled message, so that
// it can tell them from those its user put in. It belongs to that message and
// is used through [TypeSupport.Recycle] alone. The zero value holds nothing.
type Owned struct {
	slots []ownedSlot
	next  int
}

// ownedSlot is the slice of one field. Fields come in the same order each time,
// so the element type at a place never changes.
type ownedSlot struct {
	data     unsafe.Pointer
	cap      int
	replaced bool    // the user has slices of its own though ours was long enough
	elements []Owned // of a sequence of messages that hold slices
}

// Begin is called by generated code before the first field.
func (o *Owned) Begin() { o.next = 0 }

func (o *Owned) slot() *ownedSlot {
	if o.next == len(o.slots) {
		o.slots = append(o.slots, ownedSlot{})
	}
	o.next++
	return &o.slots[o.next-1]
}

// RecycleSlice sets *s to the next slice that o holds, with length 0. If *s is
// another one, o's grows to its length, unless o's was long enough before: then
// the user fills this field with memory of its own, and o lets go of its slice.
func RecycleSlice[E any](o *Owned, s *[]E) { recycleSlice(o.slot(), s) }

func recycleSlice[E any](slot *ownedSlot, s *[]E) {
	user := *s
	if cap(user) > 0 && !slot.holds(unsafe.Pointer(unsafe.SliceData(user)), unsafe.Sizeof(*new(E))) {
		switch {
		case slot.replaced:
		case len(user) > slot.cap:
			grown := make([]E, max(len(user), slot.cap+slot.cap/4))
			slot.data, slot.cap = unsafe.Pointer(unsafe.SliceData(grown)), len(grown)
			slot.elements = nil
		case len(user) > 0:
			*slot = ownedSlot{replaced: true}
		}
	}
	if slot.cap == 0 {
		*s = nil
		return
	}
	*s = unsafe.Slice((*E)(slot.data), slot.cap)[:0]
}

// holds tells whether p points into the slot's memory: the user may have cut
// off the front of its slice.
func (s *ownedSlot) holds(p unsafe.Pointer, size uintptr) bool {
	return uintptr(p)-uintptr(s.data) < uintptr(s.cap)*size
}

// RecycleMessages is [RecycleSlice] for messages that hold slices themselves:
// those of every element that o owns are recycled with each.
func RecycleMessages[E any](o *Owned, s *[]E, each func(m *E, own *Owned)) {
	slot := o.slot()
	recycleSlice(slot, s)
	all := (*s)[:cap(*s)]
	for len(slot.elements) < len(all) {
		slot.elements = append(slot.elements, Owned{})
	}
	for i := range all {
		slot.elements[i].Begin()
		each(&all[i], &slot.elements[i])
	}
}
