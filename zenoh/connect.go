package zenoh

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// connect tries the endpoints in turn, once each.
func (s *Session) connect(ctx context.Context) (*face, error) {
	oe := &OpenError{}
	for i, l := range s.endpoints {
		f, err := s.dial(ctx, l, s.cfg.Connect[i])
		if err == nil {
			return f, nil
		}
		oe.Attempts = append(oe.Attempts, EndpointError{s.cfg.Connect[i], err})
		if ctx.Err() != nil {
			break
		}
	}
	return nil, oe
}

// dial connects to one endpoint. The face it returns does not read yet.
func (s *Session) dial(ctx context.Context, l locator, name string) (*face, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.OpenTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return nil, err
	}
	if l.proto == "tls" {
		if conn, err = s.secure(ctx, conn, l); err != nil {
			return nil, err
		}
	}
	agreed, err := transport.Dial(ctx, conn, transport.Local{
		ID: s.cfg.ID, WhatAmI: wire.Client, Lease: s.cfg.Lease, Batch: uint16(s.cfg.BatchSize), Patch: 1,
	})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return newFace(s, conn, agreed, name), nil
}

func (s *Session) secure(ctx context.Context, conn net.Conn, l locator) (net.Conn, error) {
	cfg := &tls.Config{}
	if s.cfg.TLS != nil {
		cfg = s.cfg.TLS.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(l.addr)
	}
	t := tls.Client(conn, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}

// manage keeps a link: the goroutine that connects, reconnects and closes. It
// begins with one that is up, or nil.
func (s *Session) manage(ctx context.Context, f *face) {
	defer close(s.managed)
	s.manager.Store(goid())
	pause := time.Duration(0)
	for {
		if f == nil {
			var err error
			if f, err = s.connect(ctx); err != nil {
				if ctx.Err() != nil {
					return
				}
				s.setState(State{Endpoint: s.cfg.Connect[len(s.cfg.Connect)-1], Err: err})
				pause = min(max(2*pause, s.cfg.RetryMin), s.cfg.RetryMax)
				if !sleep(ctx, pause) {
					return
				}
				continue
			}
			s.up(f)
		}
		begin := time.Now()
		select {
		case <-ctx.Done():
			flush, cancel := context.WithTimeout(context.Background(), s.cfg.CloseTimeout)
			f.t.Close(flush, wire.ReasonGeneric)
			cancel()
			<-f.t.Done()
			s.setState(State{Endpoint: f.endpoint, Err: ErrClosed})
			return
		case <-f.t.Done():
		}
		s.down(f)
		// A link that lived is replaced at once; one that died young is not, or
		// a peer that accepts and hangs up would be called without end.
		if f = nil; time.Since(begin) >= s.cfg.RetryMin {
			pause = 0
		} else {
			pause = min(max(2*pause, s.cfg.RetryMin), s.cfg.RetryMax)
			if !sleep(ctx, pause) {
				return
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// up declares everything on a new link and opens it for what is put.
func (s *Session) up(f *face) {
	f.t.Run()
	s.mu.Lock()
	if !s.closed {
		s.replay(f)
		s.link.Store(f)
	}
	s.mu.Unlock()
	a := f.t.Agreed()
	s.setState(State{Connected: true, Endpoint: f.endpoint, Peer: a.ID, Role: a.WhatAmI, PeerLease: a.Lease})
}

// down cleans up behind a link that broke: what others declared is gone, and
// queries that wait for it end.
func (s *Session) down(f *face) {
	s.link.CompareAndSwap(f, nil)
	s.mu.Lock()
	var waiting []*Ask
	for _, a := range s.asks {
		if a.face == f {
			waiting = append(waiting, a)
		}
	}
	for id, l := range s.lookups {
		if l.face == f {
			delete(s.lookups, id)
			l.finish(ErrNoLink)
		}
	}
	gone := s.remote
	s.remote = map[uint32]string{}
	var told []*LivelinessSubscriber
	for _, key := range gone {
		if s.lower(key) {
			told = s.tell(told, LivelinessEvent{Key: key}, nil)
		}
	}
	s.mu.Unlock()
	for _, a := range waiting {
		a.remoteEnd(ErrNoLink)
	}
	drainAll(told)
	s.setState(State{Endpoint: f.endpoint, Err: f.err})
}

func (s *Session) setState(st State) {
	s.stateSeen.Lock()
	defer s.stateSeen.Unlock()
	s.mu.Lock()
	st.Since = time.Now()
	st.Links = s.state.Links
	if st.Connected {
		st.Links++
	}
	s.state = st
	s.mu.Unlock()
	if s.cfg.OnState != nil {
		s.cfg.OnState(st)
	}
}
