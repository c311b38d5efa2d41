// Package zenoh is a session of the Zenoh 1.x protocol in pure Go: publish,
// subscribe, query and liveliness over a router, as a client of it.
//
// It exists because the reference implementation is a Rust library, and tagus
// must reach other hosts without cgo. It can be used by itself: it knows
// nothing of ROS, and must not import anything of this module but notify and
// the clock and pool of internal.
//
//	s, err := zenoh.Open(ctx, zenoh.Config{Connect: []string{"tcp/192.0.2.7:7447"}})
//	sub, err := s.NewSubscriber("robot/**", func(m *zenoh.Sample) { use(m.Key, m.Payload) }, zenoh.SubscriberOptions{})
//	pub, err := s.NewPublisher("robot/pose", zenoh.PublisherOptions{})
//	err = pub.Put(ctx, bytes)
//
// What a callback is given is lent: samples, queries and replies are valid
// until the callback returns, unless retained. Keys are strings of their own
// and may be kept. Callbacks run on the goroutine that reads the link (or, for
// what the session itself puts, on the one that puts); while one runs nothing
// else is received, so long work belongs elsewhere.
//
// A session whose link breaks connects again by itself, to the endpoints in
// turn, and declares anew what it has. What is put meanwhile reaches the
// subscribers of this session only, and is counted.
package zenoh
