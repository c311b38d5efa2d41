package tagus_test

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	msgs "github.com/tagus-ros/tagus/msgs/irobot_interfaces_plugin"
	"github.com/tagus-ros/tagus/qos"
	"github.com/tagus-ros/tagus/rosidl"
)

// benchPair makes a publisher and a pull subscription that are matched on the path.
func benchPair[T any, P rosidl.Message[T]](b *testing.B, opts ...tagus.DomainOption) (*tagus.Publisher[T], *tagus.PullSubscription[T]) {
	d := join(b, b.TempDir(), opts...)
	b.Cleanup(func() { d.Close() })
	n := node(b, d, "n")
	pub, err := tagus.NewPublisher[T, P](n, "t", qos.Default())
	if err != nil {
		b.Fatal(err)
	}
	sub, err := tagus.NewPullSubscription[T, P](n, "t", qos.Default())
	if err != nil {
		b.Fatal(err)
	}
	if err := sub.WaitForPublishers(within(b, 5*time.Second), 1); err != nil {
		b.Fatal(err)
	}
	return pub, sub
}

// roundTrip publishes with send and takes the message, b.N times.
func roundTrip[T any, P rosidl.Message[T]](b *testing.B, send func(*tagus.Publisher[T]) error, opts ...tagus.DomainOption) {
	pub, sub := benchPair[T, P](b, opts...)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := send(pub); err != nil {
			b.Fatal(err)
		}
		s, ok := sub.Take()
		if !ok {
			b.Fatal("nothing came")
		}
		s.Release()
	}
}

// BenchmarkPath is the cost of publishing and taking one message on one goroutine,
// without a wake-up.
func BenchmarkPath(b *testing.B) {
	small, large := new(msgs.Stamped100b), new(msgs.Stamped1mb)
	b.Run("intra/100B", func(b *testing.B) {
		roundTrip(b, func(p *tagus.Publisher[msgs.Stamped100b]) error { return p.Publish(small) })
	})
	b.Run("intra/100B/owned", func(b *testing.B) {
		roundTrip(b, func(p *tagus.Publisher[msgs.Stamped100b]) error { return p.PublishOwned(p.New()) })
	})
	b.Run("shm/100B", func(b *testing.B) {
		roundTrip(b, func(p *tagus.Publisher[msgs.Stamped100b]) error { return p.Publish(small) }, tagus.WithInProcess(false))
	})
	b.Run("shm/1MB", func(b *testing.B) {
		roundTrip(b, func(p *tagus.Publisher[msgs.Stamped1mb]) error { return p.Publish(large) }, tagus.WithInProcess(false))
	})
	b.Run("shm/1MB/loan", func(b *testing.B) {
		roundTrip(b, func(p *tagus.Publisher[msgs.Stamped1mb]) error {
			l, err := p.Loan(nil)
			if err != nil {
				return err
			}
			return l.Publish()
		}, tagus.WithInProcess(false))
	})
}
