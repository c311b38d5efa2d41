package zenoh

import (
	"crypto/tls"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/transport"
	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Config says how a session connects and behaves. Every zero field stands for
// the value in its comment.
type Config struct {
	// Connect lists endpoints ("tcp/host:port", "tls/host:port"), tried in turn
	// until one answers. At least one is needed.
	Connect []string
	// ID of the session; a random one. Two sessions of one network must not share an ID.
	ID ID
	// Background makes Open return at once and connect in the background;
	// otherwise Open fails if none of the endpoints answers.
	Background bool

	// Lease is how long the peer waits for a sign of life before it gives us up,
	// from 100 ms; 10 s. Fractions of a millisecond are cut.
	Lease time.Duration
	// KeepAlives per lease are sent if there is nothing else to send; 4.
	KeepAlives int
	// OpenTimeout bounds connecting and handshake with one endpoint; 10 s.
	OpenTimeout time.Duration
	// RetryMin and RetryMax bound the pause between attempts to connect, which doubles; 1 s and 4 s.
	RetryMin, RetryMax time.Duration
	// CloseTimeout bounds how long Close waits for what is queued to be sent; 1 s.
	CloseTimeout time.Duration
	// TLS is for "tls" endpoints: server name, roots, client certificates. nil: the system's roots.
	TLS *tls.Config

	// BatchSize is the largest batch in bytes, from 128; 65535.
	BatchSize int
	// QueueDepth is how many batches each priority may queue; 2.
	QueueDepth int
	// WaitBeforeDrop is how long a message with Drop waits for a congested link, before it is dropped; 1 ms.
	WaitBeforeDrop time.Duration
	// WaitBeforeDropFragments is how much longer, in all, a message in fragments may wait between them; 50 ms.
	WaitBeforeDropFragments time.Duration
	// WaitBeforeClose is how long a message with Block waits before the peer is taken for dead; 5 s.
	WaitBeforeClose time.Duration
	// MaxMessage bounds messages both ways, in bytes; 1 GiB. Larger ones are refused or, when received, counted and thrown away.
	MaxMessage int
	// BufferPool bounds the bytes of idle buffers that are kept for reuse; 16 MiB. Negative: none.
	BufferPool int64

	// QueryTimeout is for queries that name none; 10 s.
	QueryTimeout time.Duration
	// Timestamps makes the session stamp every sample that has no timestamp.
	Timestamps bool

	// OnState is told of each change of the link, one after the other; it must not block.
	OnState func(State)
}

// State is what a session's link is like.
type State struct {
	Connected bool
	Endpoint  string        // of Config.Connect; the last one tried if not connected
	Peer      ID            // while connected
	Role      WhatAmI       // of the peer
	PeerLease time.Duration // silence after which the peer counts as gone
	Since     time.Time     // of this state
	Err       error         // why there is no link; nil before the first attempt
	Links     uint64        // links made since Open
}

func (c *Config) fill() error {
	if c.ID.IsZero() {
		c.ID = wire.NewID()
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.Lease, 10*time.Second)
	c.Lease = max(c.Lease.Truncate(time.Millisecond), 100*time.Millisecond)
	if c.KeepAlives <= 0 {
		c.KeepAlives = 4
	}
	def(&c.OpenTimeout, 10*time.Second)
	def(&c.RetryMin, time.Second)
	def(&c.RetryMax, 4*time.Second)
	c.RetryMax = max(c.RetryMax, c.RetryMin)
	def(&c.CloseTimeout, time.Second)
	def(&c.QueryTimeout, 10*time.Second)
	if c.BatchSize == 0 {
		c.BatchSize = wire.MaxBatch
	}
	if c.BatchSize < 128 || c.BatchSize > wire.MaxBatch {
		return &ValueError{"batch size", uint64(max(c.BatchSize, 0)), wire.MaxBatch}
	}
	if c.BufferPool == 0 {
		c.BufferPool = 16 << 20
	}
	if len(c.Connect) == 0 {
		return &LocatorError{"", "no endpoint to connect to"}
	}
	return nil
}

func (c *Config) limits() transport.Limits {
	return transport.Limits{
		QueueDepth: c.QueueDepth, WaitBeforeDrop: c.WaitBeforeDrop, WaitBetweenDrop: c.WaitBeforeDropFragments,
		WaitBeforeClose: c.WaitBeforeClose, MaxMessage: c.MaxMessage, CloseFlush: c.CloseTimeout, KeepAlivesPerLease: c.KeepAlives,
	}
}
