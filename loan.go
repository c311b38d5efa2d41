package tagus

import (
	"unsafe"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/clock"
	"github.com/tagus-ros/tagus/internal/transport"
)

// Loan is a message whose payload lies in the transport's memory: what is written
// there is not copied when it is published. It belongs to one goroutine at a time
// and ends with Publish or Discard; nothing of it may be used after that.
type Loan[T any] struct {
	p    *Publisher[T]
	slot *arena.Slot // nil when the loan has ended
	msg  *T
	body *T  // of a message of variable size: its head, whose sequences lie in the slot
	size int // bytes of the body the slot was made for
}

// Loan returns memory of the transport for one message.
//
// A type of fixed size (numbers only) lies there whole; shape may be nil. Its
// contents are arbitrary at first where a fixed array has over 4096 bytes, else zero.
//
// A type of variable size needs a shape: a message with all short fields set and
// its sequences of numbers made to their final length. The loan's message has the
// same fields, but those sequences lie in the transport's memory, to be filled; their
// contents are arbitrary at first. The shape stays the caller's; strings and short
// sequences are shared with it until the loan ends. A field set to another length
// before Publish costs a copy, which is counted.
//
// Errors: ErrNotLoanable, ErrNoShape, a bound that the shape breaks, ErrClosed,
// shared memory is full.
func (p *Publisher[T]) Loan(shape *T) (*Loan[T], error) {
	l, err := p.loan(shape)
	if err != nil {
		return nil, p.fail("loan", err)
	}
	return l, nil
}

func (p *Publisher[T]) loan(shape *T) (*Loan[T], error) {
	if p.closed.Load() {
		return nil, ErrClosed
	}
	flat := p.ts.Flat > 0
	if !flat && shape == nil {
		return nil, ErrNoShape
	}
	if shape != nil {
		if err := p.ts.Check(shape); err != nil {
			p.refused.Add(1)
			return nil, err
		}
	}
	p.out.Collect()
	l := p.takeLoan()
	if flat {
		l.size = p.ts.Flat
		slot, err := p.slot(max(l.size, int(unsafe.Sizeof(*l.msg))))
		if err != nil {
			p.giveLoan(l)
			return nil, err
		}
		l.slot = slot
		l.msg = (*T)(unsafe.Pointer(&slot.Mem()[transport.SlotHeader]))
		if shape != nil {
			p.ts.Copy(l.msg, shape)
			p.addCopied(l.size)
		} else {
			p.ts.Default(l.msg)
		}
		return l, nil
	}
	l.size = p.ts.Size(shape)
	slot, err := p.slot(l.size)
	if err != nil {
		p.giveLoan(l)
		return nil, err
	}
	if l.body == nil {
		l.body = new(T)
	}
	*l.body = *shape
	l.slot, l.msg = slot, l.body
	s := p.take() // for its encoder: one of its own would be allocated
	s.enc.Reset(slot.Mem()[transport.SlotHeader:])
	placed := p.ts.Place(&s.enc, l.msg)
	p.give(s)
	if !placed {
		l.end()
		return nil, ErrNotLoanable
	}
	return l, nil
}

// Msg is the message to fill. It is valid until the loan ends.
func (l *Loan[T]) Msg() *T { return l.msg }

// Publish sends the message and ends the loan, also when an error is returned.
func (l *Loan[T]) Publish() error {
	if l.slot == nil {
		return ErrLoanEnded
	}
	p := l.p
	defer l.end()
	s := p.take()
	defer p.give(s)
	s.msg.Stamp, s.msg.Source = clock.Now()
	if err := l.seal(s); err != nil {
		return p.fail("publish loan", err)
	}
	if err := p.out.Send(&s.msg); err != nil {
		return p.fail("publish loan", err)
	}
	p.loaned.Add(1)
	return nil
}

// seal completes the slot: the encapsulation, and the head of a message of variable
// size. If what precedes its sequences changed its length, they lie at the wrong
// place, and the message is encoded into another slot.
func (l *Loan[T]) seal(s *sending) error {
	p := l.p
	mem := l.slot.Mem()
	if p.ts.Flat == 0 {
		if err := p.ts.Check(l.msg); err != nil {
			p.refused.Add(1)
			return err
		}
		if p.ts.Size(l.msg) != l.size || !p.ts.Placed(l.msg, mem[transport.SlotHeader:]) {
			p.fallbacks.Add(1)
			return p.encode(s, l.msg)
		}
		s.enc.Reset(mem[transport.SlotHeader:])
		p.ts.Encode(&s.enc, l.msg)
		if err := s.enc.Err(); err != nil {
			p.refused.Add(1)
			return err
		}
	}
	cdr.PutEncapsulation(mem[transport.CDROffset:])
	p.bytes.Add(uint64(l.size) + cdr.EncapsulationSize)
	l.slot.Ref() // the sending gives up its own
	s.msg.Slot, s.msg.Length = l.slot, l.size+cdr.EncapsulationSize
	return nil
}

// Discard ends the loan without publishing.
func (l *Loan[T]) Discard() {
	if l.slot != nil {
		l.end()
	}
}

// end gives the slot and the loan back.
func (l *Loan[T]) end() {
	l.slot.Unref()
	l.p.giveLoan(l)
}

func (p *Publisher[T]) takeLoan() *Loan[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.loans); n > 0 {
		l := p.loans[n-1]
		p.loans = p.loans[:n-1]
		return l
	}
	return &Loan[T]{p: p}
}

func (p *Publisher[T]) giveLoan(l *Loan[T]) {
	l.slot, l.msg = nil, nil
	if l.body != nil {
		forget(l.body)
	}
	p.mu.Lock()
	p.loans = append(p.loans, l)
	p.mu.Unlock()
}

// forget drops what m shares with a shape and with a slot. It is a function of its
// own, since a zero T may be large.
//
//go:noinline
func forget[T any](m *T) {
	var zero T
	*m = zero
}
