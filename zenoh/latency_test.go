package zenoh

import (
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

func pushHead(key string, payload []byte) []byte {
	m := wire.Push{Key: wire.WireExpr{Suffix: []byte(key), Sender: true}, QoS: wire.DefaultQoS, Body: wire.Sample{Payload: payload}}
	return m.AppendHead(nil)
}

// pingPong measures half round trips between two sessions over a router, in microseconds.
func pingPong(b testing.TB, at string, size, rounds int) (p50, p99 float64) {
	pong, ping := session(b, at), session(b, at)
	o := PublisherOptions{Congestion: Block, Express: true}
	back := must[*Publisher](b)(pong.NewPublisher("lat/pong", o))
	must[*Subscriber](b)(pong.NewSubscriber("lat/ping", func(m *Sample) { _ = back.Put(bg, m.Payload) }, SubscriberOptions{}))
	got := make(chan struct{}, 1)
	must[*Subscriber](b)(ping.NewSubscriber("lat/pong", func(*Sample) { got <- struct{}{} }, SubscriberOptions{}))
	pub := must[*Publisher](b)(ping.NewPublisher("lat/ping", o))
	settle(b, pong)
	settle(b, ping)
	payload := make([]byte, size)
	var took []time.Duration
	for i := range rounds + 200 {
		begin := time.Now()
		if err := pub.Put(bg, payload); err != nil {
			b.Fatal(err)
		}
		within(b, "pong", got)
		if i >= 200 {
			took = append(took, time.Since(begin)/2)
		}
	}
	slices.Sort(took)
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	return us(took[len(took)/2]), us(took[len(took)*99/100])
}
