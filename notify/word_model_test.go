package notify

import (
	"fmt"
	"testing"
)

// The word's protocol as a model: every atomic step of every thread is one transition, and all interleavings are visited.
// Go's atomic operations are sequentially consistent, so interleavings are all there is.

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

type wordThread struct {
	pc   uint8
	s    uint32 // the value it works with
	left uint8  // rounds to go
}

type wordModel struct {
	word      uint32
	notifiers [2]wordThread
	waiters   [2]wordThread
	sleeping  [2]bool // in the kernel
	dead      bool    // notifier 0 was killed
	consumed  uint8
}

const (
	mStart uint8 = iota
	mWake        // notifier: bit is set, sleepers are still asleep
	mClear       // notifier: sleepers are awake, the bit is still on
	mSleep       // waiter: has set the bit, is about to sleep
	mAsleep
	mEnd
)

// wordSteps returns the transitions of the code in word.go. The flaws each leave out one of its precautions.
func wordSteps(flaw string, killable bool) func(wordModel) []wordModel {
	return func(m wordModel) (out []wordModel) {
		for i := range m.notifiers {
			if m.dead && i == 0 {
				continue
			}
			t := m.notifiers[i]
			if i == 1 && killable && t.pc == mStart && t.left == 1 && !m.dead && m.notifiers[0].pc != mEnd {
				continue // its last notification comes after the other notifier's death or end, and must arrive
			}
			n := m
			p := &n.notifiers[i]
			switch t.pc {
			case mStart:
				if m.word&wordWaiting == 0 {
					n.word |= wordSet
					p.end()
				} else {
					n.word |= wordSet
					if flaw != "no count" {
						n.word += wordCount
					}
					if flaw == "clear before waking" {
						n.word &^= wordWaiting
					}
					p.s, p.pc = n.word, mWake
				}
			case mWake:
				n.wakeAll()
				p.pc = mClear
			case mClear:
				if n.word == p.s {
					n.word &^= wordWaiting
				}
				p.end()
			default:
				continue
			}
			out = append(out, n)
			if i == 0 && killable && t.pc != mStart {
				n = m
				n.dead = true
				out = append(out, n)
			}
		}
		for i := range m.waiters {
			t := m.waiters[i]
			n := m
			p := &n.waiters[i]
			switch t.pc {
			case mStart: // consume, or set the bit
				if m.word&wordSet != 0 {
					n.word &^= wordSet
					n.consumed++
					p.end()
				} else {
					if flaw != "no waiting bit" {
						n.word |= wordWaiting
					}
					p.s, p.pc = n.word, mSleep
				}
			case mSleep: // the kernel compares and puts to sleep in one step
				if m.word != t.s && flaw != "no comparison" {
					p.pc = mStart
				} else {
					n.sleeping[i] = true
					p.pc = mAsleep
				}
			case mAsleep:
				if m.sleeping[i] {
					// Only a deadline can end this; waiter 0 has one.
					if i != 0 {
						continue
					}
					n.sleeping[i] = false
					if m.word&wordSet != 0 {
						n.word &^= wordSet
						n.consumed++
					}
					p.end()
				} else {
					p.pc = mStart
				}
			default:
				continue
			}
			out = append(out, n)
		}
		return out
	}
}

func (t *wordThread) end() {
	t.s = 0
	if t.left > 1 {
		t.left--
		t.pc = mStart
	} else {
		t.left, t.pc = 0, mEnd
	}
}

func (m *wordModel) wakeAll() {
	m.sleeping = [2]bool{}
}

// checkWord looks at a state in which nothing happens any more.
func checkWord(m wordModel) error {
	asleep := m.sleeping[0] || m.sleeping[1]
	if m.word&wordSet != 0 && asleep && m.notifiers[1].pc == mEnd {
		return fmt.Errorf("a waiter sleeps beside a notification")
	}
	return nil
}

func TestWordModel(t *testing.T) {
	start := wordModel{
		notifiers: [2]wordThread{{left: 2}, {left: 2}},
		waiters:   [2]wordThread{{left: 3}, {left: 2}},
	}
	for _, killable := range []bool{false, true} {
		states, err := explore(start, wordSteps("", killable), checkWord)
		if err != nil {
			t.Errorf("killable %v: %v", killable, err)
		}
		t.Logf("killable %v: %d states", killable, states)
	}
}

// TestWordModelFindsFlaws shows that the model can fail.
func TestWordModelFindsFlaws(t *testing.T) {
	start := wordModel{
		notifiers: [2]wordThread{{left: 2}, {left: 2}},
		waiters:   [2]wordThread{{left: 3}, {left: 2}},
	}
	for _, flaw := range []string{"no waiting bit", "no comparison", "clear before waking", "no count"} {
		found := false
		for _, killable := range []bool{false, true} {
			_, err := explore(start, wordSteps(flaw, killable), checkWord)
			found = found || err != nil
		}
		if !found {
			t.Errorf("%s: not found", flaw)
		}
	}
}
