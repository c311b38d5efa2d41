package zenoh

import (
	"sync/atomic"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// alias is a key that entities of the session use, and the number that stands
// for it on the wire. Numbers belong to a link: they are given anew on each.
type alias struct {
	key     string
	refs    int // entities, under Session.mu
	binding atomic.Pointer[binding]
}

type binding struct {
	face *face
	id   uint16
}

// maxAliases bounds the numbers of a link. They are not used twice: what the
// peer sent before it learned of an undeclaration must not be taken for
// something else. Beyond the bound keys are written out.
const maxAliases = 65535

// expr gives the key as it goes to f.
func (a *alias) expr(f *face) wire.WireExpr {
	if b := a.binding.Load(); b != nil && b.face == f {
		return wire.WireExpr{Scope: b.id, Sender: true}
	}
	return wire.WireExpr{Suffix: bytesOf(a.key), Sender: true}
}

// useKey takes a reference to the alias of a key and declares it on the link; mu is held.
func (s *Session) useKey(key string) *alias {
	a := s.aliases[key]
	if a == nil {
		a = &alias{key: key}
		s.aliases[key] = a
		if f := s.link.Load(); f != nil {
			f.declareKey(a)
		}
	}
	a.refs++
	return a
}

// dropKey gives a reference back; mu is held.
func (s *Session) dropKey(a *alias) {
	if a.refs--; a.refs > 0 {
		return
	}
	delete(s.aliases, a.key)
	if b := a.binding.Swap(nil); b != nil && b.face == s.link.Load() {
		b.face.declare(wire.NewDeclare(wire.Declaration{Kind: wire.UndeclareKey, ID: uint32(b.id)}))
	}
}

// declareKey gives a the next number of the link; Session.mu is held.
func (f *face) declareKey(a *alias) {
	own := *f.own.Load()
	if len(own) > maxAliases {
		return
	}
	id := uint16(len(own)) // own[0] stands for no key
	f.declare(wire.NewDeclare(wire.Declaration{Kind: wire.DeclareKey, ID: uint32(id), Key: wire.WireExpr{Suffix: bytesOf(a.key), Sender: true}}))
	// Readers hold shorter views of the same memory, which stay as they are.
	own = append(own, a.key)
	f.own.Store(&own)
	a.binding.Store(&binding{f, id})
}
