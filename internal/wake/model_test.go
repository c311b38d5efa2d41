package wake

import (
	"fmt"
	"testing"
)

// The protocol of the area as a model: each atomic step of one sleeper and two signallers is a transition, and every
// interleaving is visited. Go's atomic operations are sequentially consistent, so interleavings are all there is.

// explore visits every state that can be reached from start and calls check for those from which nothing can happen.
func explore[S comparable](start S, next func(S) []S, check func(S) error) (states int, err error) {
	seen := map[S]bool{start: true}
	todo := []S{start}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		successors := next(s)
		if len(successors) == 0 {
			if err := check(s); err != nil {
				return len(seen), fmt.Errorf("%w in %+v", err, s)
			}
		}
		for _, n := range successors {
			if !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), nil
}

// model is an area with one summary word of one bit and two leaves. Leaf i is signalled by signaller i, which before each
// signal adds one to offered[i]; the sleeper's visit sets visited[i] to what it finds there. Signaller 1 may poke instead;
// what it offers then is looked at after each Take.
type model struct {
	word     uint8
	sleeping bool
	poked    bool
	summary  bool
	leaves   [2]bool
	offered  [2]uint8
	visited  [2]uint8

	signallers [2]signaller
	dead       bool // signaller 0 was killed

	pc     uint8 // of the sleeper
	w      uint8
	taken  [2]bool
	asleep bool // in the kernel
}

type signaller struct {
	pc, left uint8
}

// Steps of a signaller.
const (
	sOffer uint8 = iota
	sLeaf
	sSummary
	sWord
	sLook
	sWake
	sEnd
)

// Steps of the sleeper.
const (
	clearPoked uint8 = iota
	takeSummary
	takeLeaves
	visit0
	visit1
	lookAround // at what pokes are about
	readWord
	setSleeping
	readSummary
	readPoked
	readWordLate // only with that flaw
	compare      // in the kernel, one step with falling asleep
	inKernel
	clearSleeping
)

// steps returns the transitions of the code in area.go. A flaw leaves out or moves one of them.
func steps(flaw string, killable, poke bool) func(model) []model {
	return func(m model) (out []model) {
		for i := range m.signallers {
			if i == 0 && m.dead {
				continue
			}
			s := m.signallers[i]
			if i == 1 && killable && s.pc == sOffer && !m.dead && m.signallers[0].pc != sEnd {
				continue // its signal comes after the other's death, and must arrive
			}
			n := m
			p := &n.signallers[i]
			p.pc++
			switch s.pc {
			case sOffer:
				n.offered[i]++
			case sLeaf:
				if i == 1 && poke {
					n.poked = true
					p.pc = sWord
				} else {
					n.leaves[i] = true
				}
			case sSummary:
				n.summary = true
				if flaw == "no word" {
					p.pc = sLook
				}
			case sWord:
				n.word++
			case sLook:
				if !m.sleeping {
					p.end()
				}
			case sWake:
				n.asleep = false
				p.end()
			default:
				continue
			}
			out = append(out, n)
			if i == 0 && killable && s.pc != sOffer {
				n := m
				n.dead = true
				out = append(out, n)
			}
		}

		n := m
		n.pc++
		switch m.pc {
		case clearPoked:
			n.poked = m.poked && flaw == "poke cleared late"
		case takeSummary:
			if flaw == "leaves first" {
				n.taken, n.leaves = m.leaves, [2]bool{}
				break
			}
			n.summary = false
			if !m.summary {
				n.pc = lookAround
			}
		case takeLeaves:
			if flaw == "leaves first" {
				n.summary = false
				break
			}
			n.taken, n.leaves = m.leaves, [2]bool{}
		case visit0, visit1:
			i := m.pc - visit0
			if m.taken[i] {
				n.visited[i] = m.offered[i]
			}
			n.taken[i] = false
		case lookAround:
			if poke {
				n.visited[1] = m.offered[1]
			}
		case readWord:
			if flaw == "poke cleared late" {
				n.poked = false
			}
			if flaw != "word after summary" {
				n.w = m.word
			}
		case setSleeping:
			n.sleeping = flaw != "no flag"
			if flaw == "no look at the summary" {
				n.pc = compare
			}
		case readSummary:
			if m.summary {
				n.pc = clearSleeping
			}
		case readPoked:
			if m.poked && flaw != "no look at the poke" {
				n.pc = clearSleeping
			} else if flaw != "word after summary" {
				n.pc = compare
			}
		case readWordLate:
			n.w = m.word
		case compare:
			if m.word != m.w && flaw != "no comparison" {
				n.pc = clearSleeping
			} else {
				n.asleep = true
			}
		case inKernel:
			if m.asleep {
				return out
			}
		case clearSleeping:
			n.sleeping = false
			n.w = 0
			n.pc = clearPoked
		}
		return append(out, n)
	}
}

func (s *signaller) end() {
	if s.left--; s.left > 0 {
		s.pc = sOffer
	} else {
		s.pc = sEnd
	}
}

// check looks at a state in which the sleeper sleeps and nobody else does anything. What a killed signaller offered may be
// unseen, until somebody wakes the sleeper on its behalf.
func check(m model) error {
	for i := range m.offered {
		if m.visited[i] != m.offered[i] && !(i == 0 && m.dead) {
			return fmt.Errorf("leaf %d was offered %d and visited at %d", i, m.offered[i], m.visited[i])
		}
	}
	return nil
}

func start() model {
	return model{signallers: [2]signaller{{left: 2}, {left: 2}}}
}

func TestModel(t *testing.T) {
	for _, killable := range []bool{false, true} {
		for _, poke := range []bool{false, true} {
			states, err := explore(start(), steps("", killable, poke), check)
			if err != nil {
				t.Errorf("killable %v, poke %v: %v", killable, poke, err)
			}
			t.Logf("killable %v, poke %v: %d states", killable, poke, states)
		}
	}
}

// TestModelFindsFlaws shows that the model can fail, and that each step is there for a reason.
func TestModelFindsFlaws(t *testing.T) {
	for _, flaw := range []string{
		"no look at the summary", "no flag", "word after summary", "no comparison", "no word", "leaves first",
	} {
		if _, err := explore(start(), steps(flaw, false, false), check); err == nil {
			t.Errorf("%s: not found", flaw)
		}
	}
	for _, flaw := range []string{"no look at the poke", "poke cleared late"} {
		if _, err := explore(start(), steps(flaw, false, true), check); err == nil {
			t.Errorf("%s: not found", flaw)
		}
	}
}
