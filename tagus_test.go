package tagus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/qos"
)

// spin runs the callbacks of d until the test ends.
func spin(t testing.TB, d *tagus.Domain) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Spin(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("spin: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func join(t testing.TB, dir string, opts ...tagus.DomainOption) *tagus.Domain {
	t.Helper()
	d, err := tagus.Join(append([]tagus.DomainOption{tagus.WithDir(dir), tagus.WithDomainID(7)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func node(t testing.TB, d *tagus.Domain, name string) *tagus.Node {
	t.Helper()
	n, err := d.NewNode(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// setups are the ways in which a publisher and a subscription can be apart.
var setups = []struct {
	name string
	path tagus.Path
	make func(t *testing.T) (pub, sub *tagus.Domain)
}{
	{"in process", tagus.PathIntra, func(t *testing.T) (pub, sub *tagus.Domain) {
		d := join(t, t.TempDir())
		spin(t, d)
		return d, d
	}},
	{"one process without in-process delivery", tagus.PathSHM, func(t *testing.T) (pub, sub *tagus.Domain) {
		d := join(t, t.TempDir(), tagus.WithInProcess(false))
		spin(t, d)
		return d, d
	}},
	{"two participants", tagus.PathSHM, func(t *testing.T) (pub, sub *tagus.Domain) {
		dir := t.TempDir()
		pub, sub = join(t, dir), join(t, dir)
		spin(t, pub)
		spin(t, sub)
		return pub, sub
	}},
}

func TestChatter(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			pd, sd := s.make(t)
			pub, err := tagus.NewPublisher[std_msgs.String](node(t, pd, "talker"), "chatter", qos.Default())
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan string, 100)
			sub, err := tagus.NewSubscription(node(t, sd, "listener"), "chatter", qos.Default(), func(_ context.Context, s *tagus.Sample[std_msgs.String]) {
				got <- fmt.Sprintf("%s %d %v", s.Msg.Data, s.Info.Sequence, s.Info.Path)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := pub.WaitForSubscriptions(within(t, 5*time.Second), 1); err != nil {
				t.Fatal(err)
			}
			if err := sub.WaitForPublishers(within(t, 5*time.Second), 1); err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				if err := pub.Publish(&std_msgs.String{Data: fmt.Sprint("hello ", i)}); err != nil {
					t.Fatal(err)
				}
				select {
				case g := <-got:
					if want := fmt.Sprintf("hello %d %d %v", i, i+1, s.path); g != want {
						t.Fatalf("got %q, want %q", g, want)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("message %d did not come: %+v %+v", i, pub.Stats(), sub.Stats())
				}
			}
		})
	}
}
