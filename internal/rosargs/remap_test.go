package rosargs

import (
	"errors"
	"slices"
	"testing"

	"github.com/tagus-ros/tagus/internal/names"
)

func rules(t *testing.T, texts ...string) Remaps {
	t.Helper()
	var out Remaps
	for _, text := range texts {
		r, wrong := parseRemap(text)
		if wrong != nil {
			t.Fatalf("%s: %v", text, *wrong)
		}
		out = append(out, r)
	}
	return out
}

// The cases are those of rcl's own tests, and what follows from its order: the name first, then the namespace by the new name.
func TestForNode(t *testing.T) {
	for _, c := range []struct {
		rules               []string
		name, ns            string
		wantName, wantSpace string
	}{
		{nil, "n", "", "n", "/"},
		{nil, "n", "ns", "n", "/ns"},
		{[]string{"__ns:=/foo/bar"}, "n", "/x", "n", "/foo/bar"},
		{[]string{"Node1:__ns:=/foo/bar", "Node2:__ns:=/this_one", "Node3:__ns:=/bar/foo"}, "Node2", "/", "Node2", "/this_one"},
		{[]string{"Node1:__ns:=/foo/bar"}, "Node2", "/x", "Node2", "/x"},
		{[]string{"/foobar:=/foo/bar", "__ns:=/namespace", "__node:=new_name"}, "n", "/", "new_name", "/namespace"},
		{[]string{"__node:=firstname", "__node:=secondname"}, "n", "/", "firstname", "/"},
		{[]string{"__ns:=/first", "__ns:=/second"}, "n", "/", "n", "/first"},
		{[]string{"Node1:__node:=a", "Node2:__node:=b"}, "Node2", "/", "b", "/"},
		{[]string{"old:__node:=new", "old:__ns:=/by_old", "new:__ns:=/by_new"}, "old", "/", "new", "/by_new"},
	} {
		name, ns, err := rules(t, c.rules...).ForNode(c.name, c.ns)
		if err != nil || name != c.wantName || ns != c.wantSpace {
			t.Errorf("%v: %s %s: %s %s %v, want %s %s", c.rules, c.name, c.ns, name, ns, err, c.wantName, c.wantSpace)
		}
	}
	var bad *names.Error
	if _, _, err := rules(t).ForNode("9a", "/"); !errors.As(err, &bad) {
		t.Errorf("a bad name: %v", err)
	}
	if _, _, err := rules(t).ForNode("a", "/9"); !errors.As(err, &bad) {
		t.Errorf("a bad namespace: %v", err)
	}
}

func TestForNames(t *testing.T) {
	for _, c := range []struct {
		rules          []string
		name, node, ns string
		topic, service string
	}{
		{nil, "foo", "n", "/ns", "/ns/foo", "/ns/foo"},
		{[]string{"/bar/foo:=/foo/bar"}, "/bar/foo", "n", "/", "/foo/bar", "/foo/bar"},
		{[]string{"/bar/foo:=/foo/bar"}, "/foo/bar", "n", "/", "/foo/bar", "/foo/bar"},
		{[]string{"foo:=bar"}, "/ns/foo", "n", "/ns", "/ns/bar", "/ns/bar"},
		{[]string{"foo:=bar"}, "foo", "n", "/ns", "/ns/bar", "/ns/bar"},
		{[]string{"foo:=bar"}, "/foo", "n", "/ns", "/foo", "/foo"},
		{[]string{"/ns/foo:=/x"}, "foo", "n", "/ns", "/x", "/x"},
		{[]string{"~/foo:=~/bar"}, "~/foo", "n", "/ns", "/ns/n/bar", "/ns/n/bar"},
		{[]string{"~/foo:=bar"}, "n/foo", "n", "/ns", "/ns/bar", "/ns/bar"},
		{[]string{"Node1:/foo:=/foo/bar", "Node2:/foo:=/this_one", "Node3:/foo:=/bar/foo"}, "/foo", "Node2", "/", "/this_one", "/this_one"},
		{[]string{"Node1:/foo:=/foo/bar"}, "/foo", "Node2", "/", "/foo", "/foo"},
		{[]string{"__ns:=/namespace", "__node:=remap_name", "/foobar:=/foo/bar"}, "/foobar", "n", "/", "/foo/bar", "/foo/bar"},
		{[]string{"rostopic://foo:=t", "rosservice://foo:=s"}, "foo", "n", "/", "/t", "/s"},
		{[]string{"rosservice://foo:=s", "foo:=both"}, "foo", "n", "/", "/both", "/s"},
		{[]string{"a:=b", "b:=c"}, "a", "n", "/", "/b", "/b"}, // once only
		{[]string{"a:=b", "a:=c"}, "a", "n", "/", "/b", "/b"},
		{[]string{"n:a:=b", "a:=c"}, "a", "n", "/", "/b", "/b"},
		{[]string{"a:=c", "n:a:=b"}, "a", "n", "/", "/c", "/c"},
		{[]string{"foo:=bar"}, "{node}", "foo", "/", "/bar", "/bar"},
	} {
		r := rules(t, c.rules...)
		topic, err1 := r.ForTopic(c.name, c.node, c.ns)
		service, err2 := r.ForService(c.name, c.node, c.ns)
		if err1 != nil || err2 != nil || topic != c.topic || service != c.service {
			t.Errorf("%v: %s of %s in %s: %s %v, %s %v, want %s, %s", c.rules, c.name, c.node, c.ns, topic, err1, service, err2, c.topic, c.service)
		}
	}
	// Rules of the node go before those of the process.
	local, global := rules(t, "/bar/foo:=/foo/local_args"), rules(t, "/bar/foo:=/foo/global_args", "x:=y")
	all := slices.Concat(local, global)
	if got, err := all.ForTopic("/bar/foo", "n", "/"); got != "/foo/local_args" {
		t.Error(got, err)
	}
	if got, err := all.ForTopic("x", "n", "/"); got != "/y" {
		t.Error(got, err)
	}
	var bad *names.Error
	if _, err := all.ForTopic("a//b", "n", "/"); !errors.As(err, &bad) || bad.What != "topic name" {
		t.Error(err)
	}
	if _, err := all.ForService("a b", "n", "/"); !errors.As(err, &bad) || bad.What != "service name" {
		t.Error(err)
	}
}
