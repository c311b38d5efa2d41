package transport

// order is the sequence in which a subscription takes what lies in its feeds:
// by start of publish, over all publishers. Its entries are no leases: a
// publisher may have taken the message back meanwhile, which a claim finds
// out. It holds at most depth entries, so that KEEP_LAST counts over all
// publishers together.
type order struct {
	buf  []orderEntry // ring, oldest at head
	head int
	n    int
}

type orderEntry struct {
	stamp int64
	index uint64
	feed  *Feed
}

func (o *order) at(i int) *orderEntry {
	i += o.head
	if i >= len(o.buf) {
		i -= len(o.buf)
	}
	return &o.buf[i]
}

// grow makes room for at least n entries. It is called when a feed is added,
// not when a message comes.
func (o *order) grow(n int) {
	if n <= len(o.buf) {
		return
	}
	buf := make([]orderEntry, n)
	for i := range o.n {
		buf[i] = *o.at(i)
	}
	o.buf, o.head = buf, 0
}

// insert puts e at its place; entries with one stamp keep the order they came
// in. The caller has made room.
func (o *order) insert(e orderEntry) {
	i := o.n
	o.n++
	for i > 0 && o.at(i-1).stamp > e.stamp {
		*o.at(i) = *o.at(i - 1)
		i--
	}
	*o.at(i) = e
}

// pop removes and returns the oldest entry.
func (o *order) pop() orderEntry {
	e := *o.at(0)
	*o.at(0) = orderEntry{}
	if o.head++; o.head == len(o.buf) {
		o.head = 0
	}
	o.n--
	return e
}

// forget removes the entries of f with an index below before and returns how
// many there were.
func (o *order) forget(f *Feed, before uint64) int {
	k := 0
	for i := range o.n {
		e := *o.at(i)
		if e.feed == f && e.index < before {
			continue
		}
		*o.at(k) = e
		k++
	}
	gone := o.n - k
	for i := k; i < o.n; i++ {
		*o.at(i) = orderEntry{}
	}
	o.n = k
	return gone
}
