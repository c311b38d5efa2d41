package action

import (
	"fmt"
	"time"
)

// Defaults of a server.
const (
	// DefaultRetention is how long the result of an ended goal can be asked for, as in rcl.
	DefaultRetention = 10 * time.Second
	// DefaultGoalLimit is how many goals can be under way; one more is rejected.
	DefaultGoalLimit = 1000
	// DefaultResultLimit is how many ended goals are kept; one more makes the oldest go
	// before its time.
	DefaultResultLimit = 10000
)

// ListedResults is how many ended goals, the newest, a status message lists beside the
// goals that are under way. Without a bound each goal would make the next ones slower.
const ListedResults = 64

// ServerOption sets something about a [Server].
type ServerOption func(*serverOptions) error

type serverOptions struct {
	retention time.Duration
	goals     int
	results   int
	policy    Policy
	orphans   bool
}

// WithRetention sets how long the result of a goal can be asked for, counted from the end
// of the goal, 0 or more. With 0 only those get it who asked before the end, and a client
// of a goal that ends at once may be too late.
func WithRetention(d time.Duration) ServerOption {
	return func(o *serverOptions) error {
		if d < 0 {
			return fmt.Errorf("retention of %v: want 0 or more", d)
		}
		o.retention = d
		return nil
	}
}

// WithGoalLimit sets how many goals can be under way, 1 or more; see [DefaultGoalLimit].
func WithGoalLimit(n int) ServerOption {
	return func(o *serverOptions) error {
		if n < 1 {
			return fmt.Errorf("goal limit of %d: want 1 or more", n)
		}
		o.goals = n
		return nil
	}
}

// WithResultLimit sets how many ended goals are kept, 1 or more; see [DefaultResultLimit].
func WithResultLimit(n int) ServerOption {
	return func(o *serverOptions) error {
		if n < 1 {
			return fmt.Errorf("result limit of %d: want 1 or more", n)
		}
		o.results = n
		return nil
	}
}

// WithPolicy sets what happens to a goal while another is under way.
func WithPolicy(p Policy) ServerOption {
	return func(o *serverOptions) error {
		if p > Single {
			return fmt.Errorf("unknown %v", p)
		}
		o.policy = p
		return nil
	}
}

// WithCancelOrphans cancels a goal when the client that sent it is gone: its context ends
// with the cause tagus.ErrClientGone. The Cancel handler is not asked.
func WithCancelOrphans() ServerOption {
	return func(o *serverOptions) error {
		o.orphans = true
		return nil
	}
}

// DefaultFeedbackDepth is how much feedback waits for [ClientGoal.Feedback]; when more
// comes, the oldest goes.
const DefaultFeedbackDepth = 32

// ClientOption sets something about a [Client].
type ClientOption func(*clientOptions) error

type clientOptions struct{ feedback int }

// WithFeedbackDepth sets how much feedback of one goal is kept for a reader that is slow
// or has not begun, 1 or more; see [DefaultFeedbackDepth].
func WithFeedbackDepth(n int) ClientOption {
	return func(o *clientOptions) error {
		if n < 1 {
			return fmt.Errorf("feedback depth of %d: want 1 or more", n)
		}
		o.feedback = n
		return nil
	}
}
