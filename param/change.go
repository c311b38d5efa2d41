package param

import (
	"context"
	"errors"
)

// Change is a parameter that is about to get another value. Old is not set for one that is being declared, New is not set for one that
// Set takes away.
type Change struct {
	Name     string
	Old, New Value
}

type storeValidator struct{ fn func([]Change) error }

// Validate has fn asked before each change of any of these parameters, declaring included, until remove is called. It sees the whole of a
// batch; an error refuses the whole. What holds for [Param.Validate] holds here.
func (s *Store) Validate(fn func(changes []Change) error) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &storeValidator{fn}
	s.validators = append(s.validators[:len(s.validators):len(s.validators)], v)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.validators = without(s.validators, v)
	}
}

// Set changes one parameter. It needs to be declared (or undeclared ones allowed), not read-only, of the value's type (see [As] for what else
// is taken), in range, and agreed to by the Validate functions; otherwise the old value stays. A value that is not set takes a parameter
// with dynamic typing away. The error is an *Error. A context that is done refuses the change.
//
// When Set returns, the change is in force and the Watch functions have run; only while another change is being told (by another goroutine, or
// by a Watch function that this Set is called from) they run right after that.
func (s *Store) Set(ctx context.Context, name string, v Value) error {
	return s.change(ctx, []Parameter{{name, v}}, nil)
}

// SetAtomically changes all of the parameters or, if one of them is refused, none. It makes one event. A name that is there twice gets the
// later value. See Set. (Handles read without a lock, so that they may see one parameter of a batch changed and another not yet; Get sees
// all or none.)
func (s *Store) SetAtomically(ctx context.Context, parameters ...Parameter) error {
	return s.change(ctx, parameters, nil)
}

// attempts bounds how often a change is checked anew because others changed the same parameters meanwhile.
const attempts = 1000

// change checks and makes changes. Checking calls code of others and holds no lock: what was checked is made only if it is still what was
// checked, else checked again. only, if given, is the entry that the one parameter must be.
func (s *Store) change(ctx context.Context, parameters []Parameter, only *entry) error {
	if len(parameters) == 0 {
		return nil
	}
	for range attempts {
		if err := ctx.Err(); err != nil {
			return s.fail("set", parameters[0].Name, err)
		}
		s.mu.Lock()
		p, err := s.plan(parameters, only)
		s.mu.Unlock()
		if err != nil {
			return err
		}
		if err := p.ask(); err != nil {
			return err
		}
		s.mu.Lock()
		if !p.holds() {
			s.mu.Unlock()
			continue
		}
		d := s.deliveries.put(p.make())
		s.mu.Unlock()
		s.deliver(d)
		return nil
	}
	return s.fail("set", parameters[0].Name, ErrBusy)
}

// plan is a set of changes that are allowed as far as types and descriptors say.
type plan struct {
	store      *Store
	steps      []step
	version    uint64 // of the store
	validators []*storeValidator
}

type step struct {
	entry      *entry // a new one if fresh
	fresh      bool   // undeclared until now
	version    uint64
	old, new   Value // new is not set: take it away
	validators []func(old, new Value) error
}

// plan is called with Store.mu held.
func (s *Store) plan(parameters []Parameter, only *entry) (*plan, error) {
	p := &plan{store: s, version: s.version, validators: s.validators}
	at := map[string]int{} // where in steps a name is
	for _, given := range parameters {
		i, again := at[given.Name]
		if !again {
			e, err := s.target(given.Name, only)
			if err != nil {
				return nil, s.fail("set", given.Name, err)
			}
			fresh := e == nil
			if fresh {
				e = &entry{name: given.Name, descriptor: Descriptor{DynamicTyping: true}, apply: func(Value) {}}
			}
			i = len(p.steps)
			at[given.Name] = i
			p.steps = append(p.steps, step{entry: e, fresh: fresh, version: e.version, old: e.value, validators: e.validators})
		}
		st := &p.steps[i]
		v, err := st.entry.accept(given.Value)
		if err == nil && st.fresh && !v.IsSet() {
			err = ErrNotDeclared
		}
		if err != nil {
			return nil, s.fail("set", given.Name, err)
		}
		st.new = v
	}
	return p, nil
}

// target finds the entry to change; nil without an error means one to be made.
func (s *Store) target(name string, only *entry) (*entry, error) {
	e := s.entries[name]
	switch {
	case name == "":
		return nil, ErrNoName
	case only != nil && e != only:
		return nil, ErrNotDeclared
	case e == nil && !s.allowUndeclared:
		return nil, ErrNotDeclared
	case e != nil && e.descriptor.ReadOnly:
		return nil, ErrReadOnly
	}
	return e, nil
}

// accept says what becomes of a value that this parameter is to get: a value of its type, or what is wrong.
func (e *entry) accept(v Value) (Value, error) {
	switch {
	case !v.typ.valid():
		return Value{}, errors.New(v.typ.String())
	case !v.IsSet() && e.typ != NotSet:
		return Value{}, ErrFixedType
	case !v.IsSet():
		return v, nil
	case e.typ != NotSet:
		c, ok := convert(v, e.typ)
		if !ok {
			return Value{}, &TypeError{Want: e.typ, Given: v}
		}
		v = c
	case v.typ.Array() && v.Len() == 0 && e.value.typ.Array():
		v = empty(e.value.typ) // [] says nothing of its elements
	}
	if e.fits != nil {
		if err := e.fits(v); err != nil {
			return Value{}, err
		}
	}
	return v, e.descriptor.check(v)
}

// ask asks the functions that may refuse, those of the whole first. No lock is held.
func (p *plan) ask() error {
	if len(p.validators) > 0 {
		changes := make([]Change, len(p.steps))
		for i, st := range p.steps {
			changes[i] = Change{Name: st.entry.name, Old: st.old, New: st.new}
		}
		for _, v := range p.validators {
			if err := v.fn(changes); err != nil {
				return p.store.fail("set", changes[0].Name, err)
			}
		}
	}
	for _, st := range p.steps {
		for _, fn := range st.validators {
			if err := fn(st.old, st.new); err != nil {
				return p.store.fail("set", st.entry.name, err)
			}
		}
	}
	return nil
}

// holds says whether everything is still as it was when the plan was made. Store.mu is held.
func (p *plan) holds() bool {
	s := p.store
	if len(s.validators) > 0 && p.version != s.version || len(s.validators) != len(p.validators) {
		return false
	}
	for _, st := range p.steps {
		now := s.entries[st.entry.name]
		if st.fresh && now != nil || !st.fresh && (now != st.entry || now.version != st.version || len(now.validators) != len(st.validators)) {
			return false
		}
	}
	return true
}

// make makes the changes and says what is to be told of them. Store.mu is held.
func (p *plan) make() *delivery {
	s := p.store
	d := &delivery{event: Event{Node: s.node}}
	for _, st := range p.steps {
		e, told := st.entry, Parameter{st.entry.name, st.new}
		switch {
		case !st.new.IsSet():
			delete(s.entries, e.name)
			told.Value = st.old
			d.event.Deleted = append(d.event.Deleted, told)
		case st.fresh:
			s.entries[e.name] = e
			d.event.New = append(d.event.New, told)
		default:
			d.event.Changed = append(d.event.Changed, told)
		}
		e.version++
		e.value = st.new
		e.apply(st.new)
		if !st.old.Equal(st.new) {
			for _, watch := range e.watchers {
				d.watches = append(d.watches, func() { watch(st.old, st.new) })
			}
		}
	}
	s.version++
	return d
}
