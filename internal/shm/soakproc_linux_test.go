package shm_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// soakTime is how long a test that could go on for ever goes on: TAGUS_SOAK, or briefly.
func soakTime(t *testing.T) time.Duration {
	if s := os.Getenv("TAGUS_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("TAGUS_SOAK: %v", err)
		}
		return d
	}
	if testing.Short() {
		return 500 * time.Millisecond
	}
	return 3 * time.Second
}

// crowd is a number of participants that open, use and close endpoints at random.
type crowd struct {
	t     *testing.T
	dir   string
	hosts []conformance.Host
	pubs  []crowdPub
	subs  []crowdSub
	log   []string // the last steps
	sent  int
	got   int
}

type crowdPub struct {
	conformance.Publisher
	host conformance.Host
}

type crowdSub struct {
	conformance.Subscription
	host conformance.Host
	name string
}

// Participants of this process and of others do what they like, and some are killed:
// nothing that any subscription receives is out of order, twice, or wrong, and at the end
// all memory is back.
func TestSoakCrowd(t *testing.T) {
	c := &crowd{t: t, dir: t.TempDir()}
	c.hosts = []conformance.Host{
		host(t, c.dir, nil), host(t, c.dir, nil),
		conformance.StartProcess(t, c.dir), conformance.StartProcess(t, c.dir),
	}
	steps := 0
	for end := time.Now().Add(soakTime(t)); time.Now().Before(end) && !t.Failed(); steps++ {
		c.step()
	}
	for len(c.subs) > 0 {
		c.closeSub(0)
	}
	for len(c.pubs) > 0 {
		c.closePub(0)
	}
	for i, h := range c.hosts {
		if err := h.Close(); err != nil {
			t.Errorf("close host %d: %v", i, err)
		}
	}
	if t.Failed() {
		t.Logf("the last steps: %v", c.log)
	}
	if c.got == 0 {
		t.Error("nothing was received")
	}
	t.Logf("%d steps, %d messages sent, %d received", steps, c.sent, c.got)
}

func (c *crowd) note(format string, args ...any) {
	if c.log = append(c.log, fmt.Sprintf(format, args...)); len(c.log) > 40 {
		c.log = c.log[1:]
	}
}

func (c *crowd) step() {
	topic := fmt.Sprintf("/crowd_%d", rand.IntN(3))
	i := rand.IntN(len(c.hosts))
	switch k := rand.IntN(100); {
	case k < 12 && len(c.pubs) < 10:
		q := crowdProfile()
		c.note("publisher %s %v on %d", topic, q, i)
		p, err := c.hosts[i].Publisher(topic, q)
		if err != nil {
			c.t.Error(err)
			return
		}
		c.pubs = append(c.pubs, crowdPub{p, c.hosts[i]})
	case k < 26 && len(c.subs) < 12:
		q := crowdProfile()
		o := conformance.Options{Callback: rand.IntN(2) == 0, Leases: 1 + rand.IntN(5)}
		c.note("subscription %s %v %+v on %d", topic, q, o, i)
		s, err := c.hosts[i].Subscription(topic, q, o)
		if err == nil {
			err = s.Stream(conformance.Stream{Hold: rand.IntN(o.Leases), Delay: time.Duration(rand.IntN(3)*rand.IntN(300)) * time.Microsecond})
		}
		if err != nil {
			c.t.Error(err)
			return
		}
		c.subs = append(c.subs, crowdSub{s, c.hosts[i], topic})
	case k < 31 && len(c.pubs) > 0:
		c.closePub(rand.IntN(len(c.pubs)))
	case k < 36 && len(c.subs) > 0:
		c.closeSub(rand.IntN(len(c.subs)))
	case k < 38 && i >= 2:
		c.kill(i)
	case k < 42:
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	case len(c.pubs) > 0:
		p := c.pubs[rand.IntN(len(c.pubs))]
		b := conformance.Batch{N: 1 + rand.IntN(50), Sizes: []int{64, 1 + rand.IntN(3000), 1 + rand.IntN(200000)}}
		sent, err := p.Publish(b)
		if err != nil {
			c.t.Errorf("publish: %v", err)
		}
		c.sent += sent.N
	}
}

// crowdProfile is a profile; all match each other.
func crowdProfile() qos.Profile {
	q := qos.Default().WithDepth(1 + rand.IntN(20))
	if rand.IntN(4) == 0 {
		q = qos.Profile{History: qos.KeepAll}
	}
	return q
}

func (c *crowd) closePub(i int) {
	c.note("close a publisher")
	if err := c.pubs[i].Close(); err != nil {
		c.t.Errorf("close a publisher: %v", err)
	}
	c.pubs = slices.Delete(c.pubs, i, i+1)
}

func (c *crowd) closeSub(i int) {
	c.note("close a subscription")
	s := c.subs[i]
	c.subs = slices.Delete(c.subs, i, i+1)
	counts, err := s.Counts()
	if err == nil {
		err = s.Close()
	}
	var r conformance.Report
	if err == nil {
		r, err = s.Report()
	}
	if err != nil {
		c.t.Errorf("close a subscription: %v", err)
		return
	}
	c.got += r.Received
	if len(r.Bad) > 0 || counts.Duplicate != 0 || counts.Faults != 0 {
		c.t.Errorf("%s: bad content %v, counted %+v", s.name, r.Bad, counts)
	}
	for _, f := range r.Flows {
		if f.Disorder != 0 || f.Renumbered != 0 {
			c.t.Errorf("%s: %+v", s.name, f)
		}
	}
}

// kill ends a process with all its endpoints, and starts another one.
func (c *crowd) kill(i int) {
	c.note("kill %d", i)
	h := c.hosts[i]
	h.(conformance.Process).Kill()
	c.pubs = slices.DeleteFunc(c.pubs, func(p crowdPub) bool { return p.host == h })
	c.subs = slices.DeleteFunc(c.subs, func(s crowdSub) bool { return s.host == h })
	c.hosts[i] = conformance.StartProcess(c.t, c.dir)
}
