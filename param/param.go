package param

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Param is a declared parameter. It is safe for concurrent use.
type Param[T Kind] struct {
	store *Store
	entry *entry
	value atomic.Pointer[T]
}

// Declare makes a parameter of the owner. Its first value is the one given from outside, if any, otherwise def; either must be in the range
// that d allows. With [Value] as T the type is that of def, or any with dynamic typing. The error is an *Error; it says where an unfit value
// from outside stands.
func Declare[T Kind](o Owner, name string, def T, d Descriptor) (*Param[T], error) {
	return declare[T](o, name, Of(def), d, false)
}

// Require makes a parameter that has no default: without a value given from outside it is an error, ErrNoValue. See Declare.
func Require[T Kind](o Owner, name string, d Descriptor) (*Param[T], error) {
	return declare[T](o, name, Value{}, d, true)
}

func declare[T Kind](o Owner, name string, def Value, d Descriptor, required bool) (*Param[T], error) {
	s := o.Parameters()
	typ := typeOf[T]()
	if _, free := any(new(T)).(*Value); free && !d.DynamicTyping {
		typ = def.typ
	}
	p := &Param[T]{store: s, entry: &entry{name: name, typ: typ, descriptor: d.clone()}}
	p.entry.fits = func(v Value) error {
		_, err := As[T](v)
		return err
	}
	p.entry.apply = p.apply
	switch {
	case name == "":
		return nil, s.fail("declare", name, ErrNoName)
	case d.DynamicTyping && typ != NotSet:
		return nil, s.fail("declare", name, fmt.Errorf("dynamic typing needs the kind param.Value, %s is fixed", typ))
	}
	if err := d.validate(typ); err != nil {
		return nil, s.fail("declare", name, err)
	}
	v, source, err := p.entry.first(s, def, required)
	if err == nil {
		err = s.add(p.entry, v)
	}
	if err != nil {
		return nil, &Error{Op: "declare", Node: s.node, Name: name, Source: source, Err: err}
	}
	return p, nil
}

// first chooses the value that a parameter begins with and says where it is from.
func (e *entry) first(s *Store, def Value, required bool) (v Value, source string, err error) {
	s.mu.Lock()
	given := s.overrides[e.name]
	s.mu.Unlock()
	switch {
	case given.Value.IsSet():
		if e.typ == NotSet && !e.descriptor.DynamicTyping { // Require[Value]: the type is that of the value
			e.typ = given.Value.typ
		}
		v, err = e.accept(given.Value)
		return v, given.Source, err
	case required:
		return Value{}, "", ErrNoValue
	case !def.IsSet() && !e.descriptor.DynamicTyping:
		return Value{}, "", fmt.Errorf("a default that is not set needs dynamic typing")
	}
	v, err = e.accept(def)
	return v, "", err
}

// add declares an entry with its first value, which the functions for all parameters are asked about.
func (s *Store) add(e *entry, v Value) error {
	for range attempts {
		s.mu.Lock()
		declared, version, validators := s.entries[e.name] != nil, s.version, s.validators
		s.mu.Unlock()
		if declared {
			return ErrDeclared
		}
		for _, val := range validators {
			if err := val.fn([]Change{{Name: e.name, New: v}}); err != nil {
				return err
			}
		}
		s.mu.Lock()
		if s.entries[e.name] != nil || len(s.validators) > 0 && s.version != version || len(s.validators) != len(validators) {
			s.mu.Unlock()
			continue
		}
		e.value = v
		e.apply(v)
		s.entries[e.name] = e
		s.version++
		if !v.IsSet() { // nothing to tell
			s.mu.Unlock()
			return nil
		}
		d := s.deliveries.put(&delivery{event: Event{Node: s.node, New: []Parameter{{e.name, v}}}})
		s.mu.Unlock()
		s.deliver(d)
		return nil
	}
	return ErrBusy
}

// apply puts a value where Value reads it. It has the right type.
func (p *Param[T]) apply(v Value) {
	if t, err := As[T](v); err == nil {
		p.value.Store(&t)
	}
}

// Name is the parameter's name.
func (p *Param[T]) Name() string { return p.entry.name }

// Value gives the value, without a lock and without allocating. A list is shared with all who ask: do not write into it. After the parameter
// was undeclared it is the last value.
func (p *Param[T]) Value() T { return *p.value.Load() }

// Set changes the value as [Store.Set] does.
func (p *Param[T]) Set(ctx context.Context, v T) error {
	return p.store.change(ctx, []Parameter{{p.entry.name, Of(v)}}, p.entry)
}

// Validate has fn asked before each change, after type and range were found right; an error from it refuses the change, and with it the
// batch. It is asked at once about the present value too (old and new are then the same): the result is what it says of that, and fn stays
// in either case. So a value from a file can be checked right after Declare.
//
// fn only decides. It holds no lock, may read any parameter, and may be called by several goroutines at once and more than once for a
// change.
func (p *Param[T]) Validate(fn func(old, new T) error) error {
	s := p.store
	s.mu.Lock()
	e := p.entry
	e.validators = append(e.validators[:len(e.validators):len(e.validators)], func(old, new Value) error {
		o, n, err := both[T](old, new)
		if err != nil {
			return err
		}
		return fn(o, n)
	})
	now := e.value
	s.mu.Unlock()
	v, err := As[T](now)
	if err != nil {
		return s.fail("validate", e.name, err)
	}
	if err := fn(v, v); err != nil {
		return s.fail("validate", e.name, err)
	}
	return nil
}

// Watch has fn called after each change to another value, one change at a time and in order; see [Store.Set] for on which goroutine. It
// holds no lock and may change parameters, also this one: of that it is told after it has returned.
func (p *Param[T]) Watch(fn func(old, new T)) {
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	e := p.entry
	e.watchers = append(e.watchers[:len(e.watchers):len(e.watchers)], func(old, new Value) {
		if o, n, err := both[T](old, new); err == nil {
			fn(o, n)
		}
	})
}

func both[T Kind](old, new Value) (o, n T, err error) {
	if o, err = As[T](old); err == nil {
		n, err = As[T](new)
	}
	return o, n, err
}
