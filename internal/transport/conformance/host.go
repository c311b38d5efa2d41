package conformance

import (
	"fmt"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/qos"
)

// Host is a participant, in this process or another. All methods may be called from any
// goroutine.
type Host interface {
	Publisher(topic string, q qos.Profile) (Publisher, error)
	Subscription(topic string, q qos.Profile, o Options) (Subscription, error)
	// Service and Client make the two ends of calls.
	Service(name string) (Service, error)
	Client(name string) (Client, error)
	// InUse is how many bytes of the participant's arena somebody holds.
	InUse() (int64, error)
	// Close closes what is left and the participant. It is an error if something of
	// the arena is in use then.
	Close() error
}

// Options set something about a subscription.
type Options struct {
	Leases   int  // messages that can be out at a time; 0 means 4
	Callback bool // an executor takes, by Stream; else Take and Stream look for themselves
	Bytes    bool // needs bytes, as one that knows no Go type does
}

// Publisher is a publishing end.
type Publisher interface {
	GID() graph.GID
	// Wait waits for n live subscriptions.
	Wait(n int) error
	// Publish sends messages, the first numbered like its sequence. It ends early
	// with an error, except where the batch says otherwise.
	Publish(b Batch) (Sent, error)
	Counts() (accepted uint64, c transport.LinkCounts, err error)
	Close() error
}

// Batch is what to publish.
type Batch struct {
	N     int
	Sizes []int         // of the payloads in bytes, used in turn; none: 64
	Every time.Duration // between two; 0: at once
	Retry bool          // refused by a full keep-all queue, try again until it is taken
	Lanes int           // this many goroutines share the work; 0 or 1: one
}

// Sent is what came of a batch.
type Sent struct {
	N       int           // accepted
	Full    int           // refused, the queue of a keep-all subscription being full
	Slowest time.Duration // of the publish calls
}

// Subscription is a subscribing end.
type Subscription interface {
	GID() graph.GID
	// Wait waits for n live publishers.
	Wait(n int) error
	// Take takes the oldest message, waiting up to within for one. It is released at
	// once unless hold is set: then Got.Handle is for Check and Release.
	Take(within time.Duration, hold bool) (Got, error)
	// Check looks at the content of a held message again.
	Check(handle int) (bad string, err error)
	Release(handle int) error
	// Stream takes and releases all that comes until Stop.
	Stream(s Stream) error
	// Report is what the stream has seen so far.
	Report() (Report, error)
	Stop() (Report, error)
	Counts() (transport.InletCounts, error)
	// Close ends it. Held messages stay.
	Close() error
}

// Stream says how a reader behaves.
type Stream struct {
	Delay time.Duration // for each message
	Hold  int           // this many of the newest are kept at a time
}

// Service is the serving end of calls.
type Service interface {
	// Serve answers n requests with their number.
	Serve(n int) error
	// Taken is how many requests were taken.
	Taken() (int, error)
	Close() error
}

// Client is the calling end.
type Client interface {
	// Wait waits for n servers, both ways.
	Wait(n int) error
	// Ask sends a request and does not wait.
	Ask(number uint64) error
	// Call sends a request and waits for its answer.
	Call(number uint64) (answer uint64, err error)
	Close() error
}

// Got is one message as it was taken. The zero value says that none came.
type Got struct {
	OK       bool
	Handle   int
	GID      graph.GID
	Sequence uint64
	Number   uint64 // from the content
	Size     int    // of the payload
	Source   int64  // ns since the Unix epoch
	Stamp    int64  // ns of CLOCK_MONOTONIC
	Arrived  int64  // ns of CLOCK_MONOTONIC
	Wall     int64  // when it was taken, ns since the Unix epoch
	Path     transport.Path
	Bad      string // what is wrong with the content
}

func (g Got) String() string {
	if !g.OK {
		return "nothing"
	}
	return fmt.Sprintf("%s#%d (number %d, %d bytes, %s) %s", g.GID.Hex()[:6], g.Sequence, g.Number, g.Size, g.Path, g.Bad)
}

// Report is what a stream has seen, by publisher in the order of their first message.
type Report struct {
	Received int
	Flows    []Flow
	Bad      []string // at most ten
}

// Flow is what came from one publisher.
type Flow struct {
	GID         graph.GID
	N           int
	First, Last uint64
	Missing     uint64 // holes between First and Last
	Disorder    int    // sequences not above the one before
	Renumbered  int    // messages whose content is not numbered as their sequence
}

// of is the run of a publisher.
func (r *Report) of(gid graph.GID) *Flow {
	for i := range r.Flows {
		if r.Flows[i].GID == gid {
			return &r.Flows[i]
		}
	}
	r.Flows = append(r.Flows, Flow{GID: gid})
	return &r.Flows[len(r.Flows)-1]
}

// note adds a message.
func (r *Report) note(g *Got) {
	r.Received++
	if g.Bad != "" && len(r.Bad) < 10 {
		r.Bad = append(r.Bad, g.String())
	}
	run := r.of(g.GID)
	switch {
	case run.N == 0:
		run.First = g.Sequence
	case g.Sequence <= run.Last:
		run.Disorder++
		run.N++
		return
	default:
		run.Missing += g.Sequence - run.Last - 1
	}
	run.N++
	run.Last = g.Sequence
	if g.Number != g.Sequence {
		run.Renumbered++
	}
}
