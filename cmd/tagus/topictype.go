package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/rosidl"
	"github.com/tagus-ros/tagus/rosidl/dynamic"
)

// askTime is how long other processes have to tell a definition.
const askTime = 3 * time.Second

// topicType is the type of a topic as far as a verb needs it.
type topicType struct {
	name string
	hash string
	typ  *dynamic.Type
	text string // the definition in the form called ros2msg
}

// typeOnTopic is what the endpoints of a topic say about its type. With a name given, only endpoints of that type count. ok is false if there
// are none.
func typeOnTopic(g *graph.Graph, topic, name string) (typ, hash string, ok bool) {
	for _, list := range [][]graph.Endpoint{g.Publishers(topic), g.Subscriptions(topic)} {
		for _, e := range list {
			if name == "" || e.Type == name {
				return e.Type, e.Hash, true
			}
		}
	}
	return "", "", false
}

// oneType checks that a topic has but one type; the error is that of the ros2 command line.
func oneType(g *graph.Graph, topic string) error {
	for _, t := range g.Topics() {
		if t.Name == topic && len(t.Types) > 1 {
			return verbatim{fmt.Sprintf("Cannot echo topic '%s', as it contains more than one type: [%s]", topic, strings.Join(t.Types, ", "))}
		}
	}
	return nil
}

// typeOf waits until a topic is there and returns its type. Not to find it at once is told in the words of the ros2 command line.
func typeOf(ctx context.Context, e env, g *graph.Graph, topic string) (name, hash string, err error) {
	if _, _, ok := typeOnTopic(g, topic, ""); !ok {
		warnUnpublished(e, topic)
	}
	if err := g.Wait(ctx, func(g *graph.Graph) bool {
		_, _, ok := typeOnTopic(g, topic, "")
		return ok
	}); err != nil {
		return "", "", err
	}
	name, hash, _ = typeOnTopic(g, topic, "")
	return name, hash, oneType(g, topic)
}

func warnUnpublished(e env, topic string) {
	fmt.Fprintf(e.out, "WARNING: topic [%s] does not appear to be published yet\n", topic)
}

// normalType is the full name of a message type: "std_msgs/String" stands for "std_msgs/msg/String".
func normalType(name string) (string, error) {
	pkg, kind, short, err := rosidl.SplitName(name)
	if err != nil {
		return "", err
	}
	if kind != rosidl.KindMessage && !strings.Contains(short, "_") { // services and actions imply messages of their own
		return "", fmt.Errorf("%s is a %s, and topics have messages", name, kind)
	}
	return pkg + "/" + kind.Folder() + "/" + short, nil
}

// resolveType finds the definition of a message type: here, or told by a process of the domain that uses it. An empty hash is any.
func resolveType(ctx context.Context, d *tagus.Domain, defs *definitions, name, hash string) (*topicType, error) {
	wanted := hash
	if !strings.HasPrefix(hash, "RIHS01_") { // others have no hashes, and match by name alone
		wanted = ""
	}
	def, err := defs.find(name, wanted)
	if err == nil && def.set.Struct(def.name) != nil {
		typ, err := dynamic.NewType(def.desc)
		if err != nil {
			return nil, err
		}
		if hash == "" {
			hash = def.hash
		}
		return &topicType{def.name, hash, typ, def.text()}, nil
	}
	var unknown *unknownTypeError
	if err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	if hash == "" {
		if hash = anyHash(d.Graph(), name); hash == "" {
			if unknown == nil {
				return nil, fmt.Errorf("%s is no message", name)
			}
			unknown.where += "; nothing in domain " + fmt.Sprint(d.DomainID()) + " uses it"
			return nil, unknown
		}
	}
	ask, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	text, err := d.Definition(ask, name, hash)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && unknown != nil:
		unknown.cause = errors.Join(unknown.cause, err)
		return nil, unknown
	case err != nil:
		return nil, err
	}
	typ, err := dynamic.ParseType(name, text)
	if err != nil {
		return nil, fmt.Errorf("the definition of %s that a process of the domain tells: %w", name, err)
	}
	if h := typ.Description().Hash(); wanted != "" && h != wanted {
		return nil, fmt.Errorf("the definition of %s that a process of the domain tells has the hash %s, but its endpoints say %s", name, h, wanted)
	}
	return &topicType{name, hash, typ, text}, nil
}

// anyHash is the hash that some endpoint of the domain has for a type, "" if none uses it.
func anyHash(g *graph.Graph, name string) string {
	for _, n := range g.Nodes() {
		for _, e := range g.Of(n) {
			if e.Type == name {
				return e.Hash
			}
		}
	}
	return ""
}

// noSuchTopic is the end of a verb whose topic has no type, with what may have been meant.
func noSuchTopic(g *graph.Graph, topic string) error {
	var all []string
	for _, t := range topicsOf(g, true) {
		all = append(all, t.Name)
	}
	text := "Could not determine the type for the passed topic"
	if near := nearest(topic, all); len(near) > 0 {
		return verbatim{text + didYouMean(near)}
	}
	return verbatim{text + "\nNothing publishes or hears " + topic + ". \"tagus topic list\" shows what there is; with the type as second argument messages are waited for."}
}
