package tagus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/param"
	"github.com/tagus-ros/tagus/qos"
)

// overridesPrefix begins the names of the parameters by which the profile of a publisher
// or subscription is set from outside: qos_overrides./chatter.publisher.depth.
const overridesPrefix = "qos_overrides."

// overridable are the policies that can be set so, with their values as parameters.
var overridable = []struct {
	name string
	get  func(q *qos.Profile) param.Value
	set  func(q *qos.Profile, v param.Value) error
}{
	{"history", func(q *qos.Profile) param.Value { return param.Of(q.History.String()) }, word(qos.ParseHistory, func(q *qos.Profile, v qos.History) { q.History = v })},
	{"depth", func(q *qos.Profile) param.Value { return param.Of(q.Depth) }, func(q *qos.Profile, v param.Value) (err error) {
		q.Depth, err = param.As[int](v)
		return err
	}},
	{"reliability", func(q *qos.Profile) param.Value { return param.Of(q.Reliability.String()) }, word(qos.ParseReliability, func(q *qos.Profile, v qos.Reliability) { q.Reliability = v })},
	{"durability", func(q *qos.Profile) param.Value { return param.Of(q.Durability.String()) }, word(qos.ParseDurability, func(q *qos.Profile, v qos.Durability) { q.Durability = v })},
	{"liveliness", func(q *qos.Profile) param.Value { return param.Of(q.Liveliness.String()) }, word(qos.ParseLiveliness, func(q *qos.Profile, v qos.Liveliness) { q.Liveliness = v })},
	{"deadline", nanoseconds(func(q *qos.Profile) *time.Duration { return &q.Deadline }), span(func(q *qos.Profile) *time.Duration { return &q.Deadline })},
	{"lifespan", nanoseconds(func(q *qos.Profile) *time.Duration { return &q.Lifespan }), span(func(q *qos.Profile) *time.Duration { return &q.Lifespan })},
	{"liveliness_lease_duration", nanoseconds(func(q *qos.Profile) *time.Duration { return &q.LivelinessLeaseDuration }), span(func(q *qos.Profile) *time.Duration { return &q.LivelinessLeaseDuration })},
	{"avoid_ros_namespace_conventions", func(*qos.Profile) param.Value { return param.Of(false) }, func(_ *qos.Profile, v param.Value) error {
		if raw, err := param.As[bool](v); err != nil || raw {
			return errors.Join(err, errors.New("topics have names of ROS here"))
		}
		return nil
	}},
}

func word[T any](parse func(string) (T, error), put func(*qos.Profile, T)) func(*qos.Profile, param.Value) error {
	return func(q *qos.Profile, v param.Value) error {
		text, err := param.As[string](v)
		if err != nil {
			return err
		}
		t, err := parse(text)
		if err == nil {
			put(q, t)
		}
		return err
	}
}

func nanoseconds(of func(*qos.Profile) *time.Duration) func(*qos.Profile) param.Value {
	return func(q *qos.Profile) param.Value {
		if !finite(*of(q)) {
			return param.Of(int64(qos.Infinite))
		}
		return param.Of(int64(*of(q)))
	}
}

func span(of func(*qos.Profile) *time.Duration) func(*qos.Profile, param.Value) error {
	return func(q *qos.Profile, v param.Value) error {
		ns, err := param.As[int64](v)
		*of(q) = time.Duration(ns)
		return err
	}
}

// overrideQoS gives the profile with what is set from outside for publishers, or
// subscriptions, of the node on the topic. Each such policy is a read-only parameter.
func (n *Node) overrideQoS(k graph.Kind, topic string, q qos.Profile) (qos.Profile, error) {
	prefix := overridesPrefix + topic
	switch {
	case len(n.qosGiven) == 0:
		return q, nil
	case k == graph.KindPublisher:
		prefix += ".publisher."
	case k == graph.KindSubscription:
		prefix += ".subscription."
	default:
		return q, nil
	}
	for _, given := range n.qosGiven {
		policy, ok := strings.CutPrefix(given, prefix)
		if !ok {
			continue
		}
		if err := n.overridePolicy(given, policy, &q); err != nil {
			return q, err
		}
	}
	return q, q.Validate()
}

func (n *Node) overridePolicy(name, policy string, q *qos.Profile) error {
	for _, p := range overridable {
		if p.name != policy {
			continue
		}
		v, err := n.declaredOnce(name, p.get(q))
		if err != nil {
			return err
		}
		if err := p.set(q, v); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("parameter %s: there is no policy %q", name, policy)
}

// declaredOnce declares a read-only parameter unless another endpoint did, and gives its
// value.
func (n *Node) declaredOnce(name string, def param.Value) (param.Value, error) {
	p, err := param.Declare(n, name, def, param.Descriptor{ReadOnly: true, Description: "a policy of quality of service"})
	if err == nil {
		return p.Value(), nil
	}
	if !errors.Is(err, param.ErrDeclared) {
		return param.Value{}, err
	}
	values, err := n.params.Get(name)
	if err != nil {
		return param.Value{}, err
	}
	return values[0], nil
}

// givenQoS are the names of those parameters that are set from outside, sorted.
func givenQoS(overrides map[string]param.Override) (names []string) {
	for name := range overrides {
		if strings.HasPrefix(name, overridesPrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
