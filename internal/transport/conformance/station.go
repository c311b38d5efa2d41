package conformance

import (
	"sync"

	"github.com/tagus-ros/tagus/internal/exec"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/wake"
)

// Summary words of an executor's area and of a subscription's own.
const (
	executorWords = 8
	pullWords     = 1
)

// pullStation is a place to sleep of one subscription, whose owner looks for itself.
type pullStation struct {
	area   *wake.Area
	offset uint64

	mu      sync.Mutex
	sources []transport.Poller
	free    []int
}

func (s *pullStation) Attach(src transport.Poller) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		leaf := s.free[n-1]
		s.free = s.free[:n-1]
		s.sources[leaf] = src
		return leaf, nil
	}
	if len(s.sources) == s.area.Leaves() {
		return 0, &exec.LimitError{Limit: "leaves", Value: s.area.Leaves()}
	}
	s.sources = append(s.sources, src)
	return len(s.sources) - 1, nil
}

func (s *pullStation) Detach(leaf int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources[leaf] = nil
	s.free = append(s.free, leaf)
}

func (s *pullStation) Area() *wake.Area  { return s.area }
func (s *pullStation) Offset() uint64    { return s.offset }
func (s *pullStation) SummaryWords() int { return pullWords }
func (s *pullStation) Ready()            {}

// look polls what was signalled. One goroutine at a time does.
func (s *pullStation) look() {
	s.area.Take(func(leaf int) {
		s.mu.Lock()
		var src transport.Poller
		if leaf < len(s.sources) {
			src = s.sources[leaf]
		}
		s.mu.Unlock()
		if src != nil {
			src.Poll()
		}
	})
}

// execStation is the place of one subscription on an executor.
type execStation struct {
	ex     *exec.Executor
	area   *wake.Area
	offset uint64
	entry  exec.Entry
}

func (s *execStation) Attach(src transport.Poller) (int, error) { return s.ex.Attach(src) }
func (s *execStation) Detach(leaf int)                          { s.ex.Detach(leaf) }
func (s *execStation) Area() *wake.Area                         { return s.area }
func (s *execStation) Offset() uint64                           { return s.offset }
func (s *execStation) SummaryWords() int                        { return executorWords }
func (s *execStation) Ready()                                   { s.ex.Ready(&s.entry) }
