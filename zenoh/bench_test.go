package zenoh

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A put and its arrival allocate nothing in steady state; the reading side and
// the writing side are both sessions of this process, and the fake router that
// passes everything on is not counted on.
func TestPutAndReceiveDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool forgets at random under the race detector")
	}
	for _, tc := range []struct {
		name  string
		size  int
		limit float64
	}{{"64 B", 64, 0}, {"1 MB", 1 << 20, 0.2}} {
		t.Run(tc.name, func(t *testing.T) {
			// What the session sends is read and dropped; what it receives is sent by the fake.
			s, _, c := withFake(t)
			arrived := make(chan struct{}, 1)
			must[*Subscriber](t)(s.NewSubscriber("in/**", func(m *Sample) {
				if len(m.Payload) == tc.size {
					m.Retain().Release()
					arrived <- struct{}{}
				}
			}, SubscriberOptions{Origin: Remote}))
			pub := must[*Publisher](t)(s.NewPublisher("in/here", PublisherOptions{Congestion: Block}))
			payload, attachment := make([]byte, tc.size), make([]byte, 33)
			head := pushHead("in/there", payload)
			round := func() {
				if err := pub.PutWith(bg, payload, PutOptions{Attachment: attachment}); err != nil {
					t.Error(err)
				}
				c.say(head, payload...)
				<-arrived
			}
			c.deaf.Store(true)
			for range 30 {
				round()
			}
			if n := testing.AllocsPerRun(200, round); n > tc.limit {
				t.Errorf("%v allocations a round", n)
			}
		})
	}
}

// Local delivery allocates nothing either.
func TestLocalPutDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool forgets at random under the race detector")
	}
	s, _, _ := withFake(t)
	n := 0
	must[*Subscriber](t)(s.NewSubscriber("k", func(m *Sample) { n += len(m.Payload) }, SubscriberOptions{}))
	pub := must[*Publisher](t)(s.NewPublisher("k", PublisherOptions{Destination: SessionLocal}))
	payload := make([]byte, 64)
	if a := testing.AllocsPerRun(200, func() { _ = pub.Put(bg, payload) }); a != 0 || n == 0 {
		t.Errorf("%v allocations, %d bytes", a, n)
	}
}

// BenchmarkThroughput: samples a second through the reference router, put by us
// or by the reference library, counted by one of our sessions in both cases.
func BenchmarkThroughput(b *testing.B) {
	at := router(b)
	for _, size := range []int{8, 1024, 64 << 10, 1 << 20} {
		total := map[int]int{8: 1_000_000, 1024: 300_000, 64 << 10: 10_000, 1 << 20: 800}[size]
		for _, who := range []string{"ours", "reference"} {
			b.Run(fmt.Sprintf("%dB/%s", size, who), func(b *testing.B) {
				rx := session(b, at)
				var n atomic.Int64
				var first atomic.Int64
				done := make(chan time.Duration, 1)
				must[*Subscriber](b)(rx.NewSubscriber("bench/x", func(m *Sample) {
					switch n.Add(1) {
					case 1:
						first.Store(time.Now().UnixNano())
					case int64(total):
						done <- time.Duration(time.Now().UnixNano() - first.Load())
					}
				}, SubscriberOptions{}))
				settle(b, rx)
				var put func()
				if who == "ours" {
					tx := session(b, at)
					pub := must[*Publisher](b)(tx.NewPublisher("bench/x", PublisherOptions{Congestion: Block}))
					payload := make([]byte, size)
					put = func() {
						for range total {
							if err := pub.Put(bg, payload); err != nil {
								b.Error(err)
								return
							}
						}
					}
				} else {
					p := client(b, at)
					p.call("pub", args{"key": "bench/x", "block": true}, nil)
					put = func() {
						p.call("put", args{"key": "bench/x", "payload": args{"size": size, "fill": 1}, "times": total}, nil)
					}
				}
				var took time.Duration
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range b.N {
					n.Store(0)
					put()
					took += withinLong(b, done)
				}
				runtime.ReadMemStats(&after)
				all := float64(total) * float64(b.N)
				b.ReportMetric(all/took.Seconds(), "msgs/s")
				b.ReportMetric(all*float64(size)/took.Seconds()/1e6, "MB/s")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/all, "B/msg")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func withinLong(b *testing.B, ch <-chan time.Duration) time.Duration {
	select {
	case d := <-ch:
		return d
	case <-time.After(time.Minute):
		b.Fatal("not all samples arrived within a minute")
		return 0
	}
}

// BenchmarkLatency: half a round trip through the reference router, both ends
// ours or both ends the reference library.
func BenchmarkLatency(b *testing.B) {
	at := router(b)
	const rounds = 5000
	for _, size := range []int{64, 64 << 10} {
		for _, who := range []string{"ours", "reference"} {
			b.Run(fmt.Sprintf("%dB/%s", size, who), func(b *testing.B) {
				var p50, p99 float64
				for range b.N {
					if who == "ours" {
						p50, p99 = pingPong(b, at, size, rounds)
						continue
					}
					ping, pong := client(b, at), client(b, at)
					pong.call("pong", args{"key": "lat/ping", "back": "lat/pong"}, nil)
					var r struct{ P50, P99 float64 }
					ping.call("ping", args{"key": "lat/ping", "back": "lat/pong", "size": size, "rounds": rounds}, &r)
					p50, p99 = r.P50*1e6, r.P99*1e6
				}
				b.ReportMetric(p50, "p50-µs")
				b.ReportMetric(p99, "p99-µs")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
