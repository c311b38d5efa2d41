package zenoh

import "github.com/tagus-ros/tagus/zenoh/internal/wire"

// declarations visits everything the session has declared; mu is held.
func (s *Session) declarations(f *face, visit func(key string, d wire.Declaration)) {
	for _, sub := range *s.subs.Load() {
		if sub.opts.Origin.remote() {
			visit(sub.key, sub.declaration(f))
		}
	}
	for _, q := range *s.queryables.Load() {
		if q.opts.Origin.remote() {
			visit(q.key, q.declaration(f))
		}
	}
	for t := range s.tokens {
		visit(t.key, t.declaration())
	}
}

// replay declares everything on a new link; mu is held.
func (s *Session) replay(f *face) {
	for _, a := range s.aliases {
		f.declareKey(a)
	}
	s.declarations(f, func(_ string, d wire.Declaration) { f.declare(wire.NewDeclare(d)) })
	for w := range s.watchers {
		f.askTokens(w.id, w.mode(), w.key)
	}
}
