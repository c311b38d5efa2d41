package param

// Event tells of one change of a node's parameters, as /parameter_events does; the publisher adds the time.
type Event struct {
	Node    string // full name
	New     []Parameter
	Changed []Parameter // also those set to the value they had
	Deleted []Parameter // with their last value
}

// delivery is what is to be told of one change.
type delivery struct {
	event   Event
	watches []func()
}

// deliveries tells changes one at a time in the order in which they were made, on the goroutine of one of those who made them, with no
// lock held. A goroutine that has told its own change tells those that came meanwhile too (its callbacks may have made them), but not for
// ever: after a while it leaves them to a goroutine made for it.
type deliveries struct {
	queue       []*delivery
	running     bool
	subscribers []*func(Event)
}

// put adds a change. Store.mu is held.
func (d *deliveries) put(one *delivery) *delivery {
	d.queue = append(d.queue, one)
	return one
}

// Subscribe calls fn after each change, one at a time and in order, until stop is called. The call may come on the goroutine of anybody who
// changes a parameter; fn may change parameters itself, of which it is told afterwards.
func (s *Store) Subscribe(fn func(Event)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := &fn
	s.deliveries.subscribers = append(s.deliveries.subscribers[:len(s.deliveries.subscribers):len(s.deliveries.subscribers)], entry)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deliveries.subscribers = without(s.deliveries.subscribers, entry)
	}
}

// moreThanOwn is how many changes one who makes a change tells at most beyond it.
const moreThanOwn = 100

// deliver tells the changes, own among them, unless somebody is at it.
func (s *Store) deliver(own *delivery) {
	s.mu.Lock()
	if s.deliveries.running {
		s.mu.Unlock()
		return
	}
	s.deliveries.running = true
	s.mu.Unlock()
	s.drain(own)
}

// drain tells changes until there are none or there was enough of them after own. A callback that panics takes its goroutine with it, not
// the changes after it.
func (s *Store) drain(own *delivery) {
	d := &s.deliveries
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if d.running = len(d.queue) > 0; d.running {
			go s.drain(nil)
		}
	}()
	for after := -1; after < moreThanOwn; {
		s.mu.Lock()
		if len(d.queue) == 0 {
			s.mu.Unlock()
			return
		}
		one := d.queue[0]
		d.queue[0] = nil
		d.queue = d.queue[1:]
		subscribers := d.subscribers
		s.mu.Unlock()
		for _, watch := range one.watches {
			watch()
		}
		for _, fn := range subscribers {
			(*fn)(one.event)
		}
		if one == own || after >= 0 {
			after++
		}
	}
}

// without gives a new list that lacks one.
func without[E comparable](list []E, one E) []E {
	out := make([]E, 0, len(list))
	for _, e := range list {
		if e != one {
			out = append(out, e)
		}
	}
	return out
}
