package notify

import "sync/atomic"

// Notifier is one of several notifying ends of an [Event]. When the last one is closed, the event is.
type Notifier struct {
	e      *Event
	closed atomic.Bool
}

// NewNotifier makes a notifying end. An event that is closed by Close needs none. Where there are ends, the first one must
// exist before the last one is closed: as with a sync.WaitGroup, a new one must be made while another is open.
func (e *Event) NewNotifier() *Notifier {
	e.notifiers.Add(1)
	return &Notifier{e: e}
}

// Notify is [Event.Notify]; it fails with ErrClosed after Close, too.
func (n *Notifier) Notify() error {
	if n.closed.Load() {
		return ErrClosed
	}
	return n.e.Notify()
}

// Close gives the end back. More calls do nothing.
func (n *Notifier) Close() error {
	if n.closed.Swap(true) {
		return nil
	}
	if n.e.notifiers.Add(-1) == 0 {
		return n.e.Close()
	}
	return nil
}
