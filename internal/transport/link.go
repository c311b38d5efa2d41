package transport

// Form says in which forms a message is wanted.
type Form uint8

// A reader in the process takes either form; one in another process needs
// bytes, and so does the history of a transient-local publisher.
const (
	FormAny   Form = 1 << iota // some reader takes a Value or bytes
	FormBytes                  // some reader needs bytes
)

// Link is one matched pair as its publisher sees it. All methods but Path and
// Takes are called under the Outlet's mutex, so they neither block nor call
// back into the Outlet.
type Link interface {
	Path() Path
	Takes() Form
	// Push hands m over with references of the link's own. When the queue is
	// full the oldest message in it makes room: that is KEEP_LAST.
	Push(m *Message)
	// Collect takes back what the reader has returned.
	Collect()
	// Room reports whether Push would keep all that is queued. Only a pair of
	// keep-all ends is asked.
	Room() bool
	// Begin tells the reader the first sequence number it is owed. It is
	// called once, before the first Push.
	Begin(first uint64)
	// End says that the publisher is gone after the message numbered last;
	// what is queued stays for the reader.
	End(last uint64)
	// Empty takes back what is queued: the reader is gone or going.
	Empty()
	// Counts adds what the link counted to c.
	Counts(c *LinkCounts)
}

// LinkCounts is what the publisher's side of the links of one Outlet counted.
type LinkCounts struct {
	Queued     int    // messages in queues
	Lent       int    // messages that readers hold
	Evicted    uint64 // oldest messages that made room in a full queue
	LeaseLimit uint64 // not queued: the reader holds too much of the arena
	NoSlot     uint64 // not queued: the arena was full
}

func (c *LinkCounts) add(o LinkCounts) {
	c.Queued += o.Queued
	c.Lent += o.Lent
	c.Evicted += o.Evicted
	c.LeaseLimit += o.LeaseLimit
	c.NoSlot += o.NoSlot
}
