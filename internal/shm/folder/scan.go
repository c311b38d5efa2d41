package folder

import "github.com/tagus-ros/tagus/graph"

// ChangeKind says what a [Scanner] found.
type ChangeKind uint8

// Kinds of changes.
const (
	// Changed: a process is new or has another announcement.
	Changed ChangeKind = iota + 1
	// Gone: a process that was there has no file any more. Err says why:
	// ErrDead means that it has died. ErrGone means that it has left, that it
	// has died and somebody else has reaped it, or that the file of a living
	// process was removed by hand, who remakes it within seconds: an open
	// control connection tells.
	Gone
	// Trouble: a living process could not be read; Err says why. What was
	// known of it before still holds. It is reported at every look.
	Trouble
)

// Change is one finding of a Scanner.
type Change struct {
	Kind         ChangeKind
	ID           graph.ID
	Announcement Announcement // of Changed
	Err          error        // of Gone and Trouble
}

// Scanner finds what has changed in a folder since it last looked. A look
// costs four system calls for each process whose version has not moved, and
// two more for each whose version has. It is not safe for several goroutines.
type Scanner struct {
	f    *Folder
	self graph.ID
	seen map[graph.ID]seen
	look uint64
	ids  []graph.ID
	gone []graph.ID
}

type seen struct {
	version uint64 // 0 if nothing could be read so far
	look    uint64 // last look that found it
}

// NewScanner returns a scanner of f that passes over the process self.
func (f *Folder) NewScanner(self graph.ID) *Scanner {
	return &Scanner{f: f, self: self, seen: make(map[graph.ID]seen)}
}

// Scan looks at all processes and calls visit for every change. The dead are
// reaped. Starting processes are not there yet. The error is one of listing
// the folder; nothing is visited then.
//
// Whoever has something to announce calls Scan after [Member.Write]: of two
// processes that change at the same time at least one then sees the other's
// change.
func (s *Scanner) Scan(visit func(Change)) error {
	ids, err := s.f.AppendList(s.ids[:0])
	s.ids = ids
	if err != nil {
		return err
	}
	s.look++
	for _, id := range ids {
		s.one(id, visit)
	}
	s.gone = s.gone[:0]
	for id, was := range s.seen {
		if was.look != s.look {
			s.gone = append(s.gone, id)
		}
	}
	for _, id := range s.gone {
		delete(s.seen, id)
		visit(Change{Kind: Gone, ID: id, Err: ErrGone})
	}
	return nil
}

// Look looks at one process, for example after it asked for it.
func (s *Scanner) Look(id graph.ID, visit func(Change)) { s.one(id, visit) }

// Forget makes the next look at a process find it changed.
func (s *Scanner) Forget(id graph.ID) {
	if was, ok := s.seen[id]; ok {
		s.seen[id] = seen{look: was.look}
	}
}

func (s *Scanner) one(id graph.ID, visit func(Change)) {
	if id == s.self {
		return
	}
	was, known := s.seen[id]
	a, err := s.f.Read(id, was.version)
	switch {
	case err == ErrGone || err == ErrDead:
		if known {
			delete(s.seen, id)
			visit(Change{Kind: Gone, ID: id, Err: err})
		}
	case err != nil:
		s.seen[id] = seen{version: was.version, look: s.look}
		visit(Change{Kind: Trouble, ID: id, Err: err})
	case a.State == StateStarting:
		if known { // a file made anew under the same id
			s.seen[id] = seen{version: was.version, look: s.look}
		}
	default:
		s.seen[id] = seen{version: a.Version, look: s.look}
		if a.Body != nil {
			visit(Change{Kind: Changed, ID: id, Announcement: a})
		}
	}
}
