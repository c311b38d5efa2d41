package transport

import "net"

// link is the sending side of a connection as the writer needs it.
type link interface {
	// direct reports that writev never blocks.
	direct() bool
	// writev writes what it can; full says that the link takes no more for now.
	writev(vecs [][]byte) (n int, full bool, err error)
	// park calls step now, and again each time the link takes more, until step
	// returns false or the link is closed. step may call writev.
	park(step func() (again bool)) error
}

// streamLink writes to any connection. Its writev blocks until all is written.
type streamLink struct{ conn net.Conn }

func (l *streamLink) direct() bool { return false }

func (l *streamLink) writev(vecs [][]byte) (int, bool, error) {
	total := 0
	for _, v := range vecs {
		n, err := l.conn.Write(v)
		total += n
		if err != nil {
			return total, false, err
		}
	}
	return total, false, nil
}

func (l *streamLink) park(step func() bool) error {
	for step() {
	}
	return nil
}
