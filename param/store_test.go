package param

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var ctx = context.Background()

// store makes the parameters of /ns/camera.
func store(overrides ...Override) *Store {
	return NewStore("/ns/camera", Options{Overrides: Select(overrides, "/ns/camera")})
}

func must[T Kind](t *testing.T, p *Param[T], err error) *Param[T] {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// people write 1 for 1.0, and want to know what is wrong where (SA-5).
func TestTypesAsPeopleWriteThem(t *testing.T) {
	file := "/**:\n  ros__parameters:\n    rate: 1\n    list: []\n    doubles: [1, 2]\n    mixed: [1, 2.5]\n    bytes: [0, 255]\n"
	overrides, err := ParseFile("p.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	s := store(overrides...)
	p, err := Declare(s, "rate", 10.0, Descriptor{})
	rate := must(t, p, err)
	if rate.Value() != 1 {
		t.Errorf("from a file: %v", rate.Value())
	}
	for _, v := range []Value{Guess("2"), Of(int64(2)), Of(2)} {
		if err := s.Set(ctx, "rate", v); err != nil || rate.Value() != 2 {
			t.Errorf("%v: %v, %v", v, rate.Value(), err)
		}
		if got, err := s.Get("rate"); err != nil || !got[0].Equal(Of(2.0)) {
			t.Errorf("%v is kept as %v", v, got)
		}
	}
	err = s.Set(ctx, "rate", Guess("abc"))
	var typed *TypeError
	if !errors.As(err, &typed) || typed.Want != Double || err.Error() != "tagus: parameter rate of /ns/camera: set: want double, given string 'abc'" || rate.Value() != 2 {
		t.Errorf("%v, value %v", err, rate.Value())
	}
	pi, err := Declare(s, "n", 5, Descriptor{})
	n := must(t, pi, err)
	if err := s.Set(ctx, "n", Guess("1.5")); !errors.As(err, &typed) || typed.Want != Integer || n.Value() != 5 {
		t.Errorf("an integer took 1.5: %v", err)
	}
	ps, err := Declare(s, "list", []string{"a"}, Descriptor{})
	if list := must(t, ps, err); len(list.Value()) != 0 {
		t.Errorf("[] gave %v", list.Value())
	}
	if err := s.Set(ctx, "list", Guess("[x]")); err != nil {
		t.Error(err)
	}
	if err := s.Set(ctx, "list", Guess("[]")); err != nil {
		t.Error(err)
	}
	if got, _ := s.Get("list"); got[0].Type() != StringArray {
		t.Errorf("[] made it a %s", got[0].Type())
	}
	pd, err := Declare(s, "doubles", []float64{}, Descriptor{})
	if d := must(t, pd, err); !slices.Equal(d.Value(), []float64{1, 2}) {
		t.Error(d.Value())
	}
	pm, err := Declare(s, "mixed", []float64{}, Descriptor{})
	if d := must(t, pm, err); !slices.Equal(d.Value(), []float64{1, 2.5}) {
		t.Error(d.Value())
	}
	pb, err := Declare(s, "bytes", []byte{}, Descriptor{})
	if d := must(t, pb, err); !slices.Equal(d.Value(), []byte{0, 255}) {
		t.Error(d.Value())
	}
}

// A batch with one bad entry changes nothing; one by one, the others change (SA-5).
func TestBatches(t *testing.T) {
	s := store()
	p1, err := Declare(s, "a", 1.0, Descriptor{})
	a := must(t, p1, err)
	p2, err := Declare(s, "b", "x", Descriptor{})
	b := must(t, p2, err)
	p3, err := Declare(s, "c", 1, Descriptor{ReadOnly: true})
	must(t, p3, err)
	p4, err := Declare(s, "d", 1, Descriptor{Integer: &IntegerRange{From: 0, To: 10}})
	d := must(t, p4, err)
	_ = d.Validate(func(_, new int) error {
		if new == 7 {
			return errors.New("seven is not to be")
		}
		return nil
	})
	var told []Event
	s.Subscribe(func(e Event) { told = append(told, e) })
	good := []Parameter{{"a", Of(2)}, {"b", Of("y")}}
	for _, bad := range []struct {
		p    Parameter
		want string
	}{
		{Parameter{"a", Of("abc")}, "parameter a of /ns/camera: set: want double, given string 'abc'"},
		{Parameter{"b", Of(1)}, "parameter b of /ns/camera: set: want string, given integer 1"},
		{Parameter{"c", Of(1)}, "parameter c of /ns/camera: set: read-only"},
		{Parameter{"d", Of(11)}, "parameter d of /ns/camera: set: 11 is not in the range 0 to 10"},
		{Parameter{"d", Of(7)}, "parameter d of /ns/camera: set: seven is not to be"},
		{Parameter{"d", Value{}}, "parameter d of /ns/camera: set: has a fixed type, so its value cannot be taken away"},
		{Parameter{"e", Of(7)}, "parameter e of /ns/camera: set: not declared"},
		{Parameter{"", Of(7)}, "parameter  of /ns/camera: set: the name is empty"},
		{Parameter{"a", Value{typ: 77}}, "parameter a of /ns/camera: set: unknown type 77"},
	} {
		var e *Error
		for at := range len(good) + 1 {
			batch := slices.Insert(slices.Clone(good), at, bad.p)
			if err := s.SetAtomically(ctx, batch...); !errors.As(err, &e) || e.Reason() != bad.want || e.Node != "/ns/camera" || e.Name != bad.p.Name {
				t.Errorf("%v: %v, want %s", batch, err, bad.want)
			}
		}
		if a.Value() != 1 || b.Value() != "x" || d.Value() != 1 {
			t.Fatalf("%v changed something: %v %v %v", bad, a.Value(), b.Value(), d.Value())
		}
	}
	if len(told) != 0 {
		t.Errorf("told of changes that were not made: %v", told)
	}
	if err := s.SetAtomically(ctx, Parameter{"a", Of(2)}, Parameter{"b", Of("y")}, Parameter{"a", Of(3)}); err != nil || a.Value() != 3 || b.Value() != "y" {
		t.Errorf("%v: %v %v", err, a.Value(), b.Value())
	}
	if err := s.SetAtomically(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Set(ctx, "a", Of("bad")); err == nil {
		t.Error("took a text for a double")
	}
	if err := s.Set(ctx, "b", Of("z")); err != nil || b.Value() != "z" {
		t.Errorf("one by one: %v", err)
	}
	want := []Event{
		{Node: "/ns/camera", Changed: []Parameter{{"a", Of(3.0)}, {"b", Of("y")}}},
		{Node: "/ns/camera", Changed: []Parameter{{"b", Of("z")}}},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestDeclare(t *testing.T) {
	given := func(name string, v Value) Override {
		return Override{Node: "/**", Name: name, Value: v, Source: "p.yaml:3"}
	}
	s := store(given("given", Of(3)), given("word", Of("abc")), given("far", Of(99)), given("null", Value{}), given("typo", Of(1)), given("any", Of("x")),
		given("static", Of(4)))
	var told []Event
	stop := s.Subscribe(func(e Event) { told = append(told, e) })
	p, err := Declare(s, "given", 1, Descriptor{})
	if must(t, p, err).Value() != 3 {
		t.Error("the value from outside does not count")
	}
	p, err = Declare(s, "null", 1, Descriptor{})
	if must(t, p, err).Value() != 1 {
		t.Error("null is not the default")
	}
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{second(Declare(s, "given", 1, Descriptor{})), ErrDeclared, "parameter given of /ns/camera: declare with the value from p.yaml:3: declared before"},
		{second(Declare(s, "null", 1, Descriptor{})), ErrDeclared, "parameter null of /ns/camera: declare: declared before"},
		{second(Declare(s, "", 1, Descriptor{})), ErrNoName, "parameter  of /ns/camera: declare: the name is empty"},
		{second(Declare(s, "word", 1.0, Descriptor{})), nil, "parameter word of /ns/camera: declare with the value from p.yaml:3: want double, given string 'abc'"},
		{second(Declare(s, "far", 1, Descriptor{Integer: &IntegerRange{From: 1, To: 9, Step: 2}})), nil,
			"parameter far of /ns/camera: declare with the value from p.yaml:3: 99 is not in the range 1 to 9 in steps of 2"},
		{second(Declare(s, "x", 0.5, Descriptor{FloatingPoint: &FloatingPointRange{From: 1, To: 2}})), nil, "parameter x of /ns/camera: declare: 0.5 is not in the range 1 to 2"},
		{second(Declare(s, "x", 1, Descriptor{FloatingPoint: &FloatingPointRange{}})), nil, "parameter x of /ns/camera: declare: a range of doubles for a parameter of type integer"},
		{second(Declare(s, "x", 1.0, Descriptor{Integer: &IntegerRange{}})), nil, "parameter x of /ns/camera: declare: a range of integers for a parameter of type double"},
		{second(Declare(s, "x", 1, Descriptor{Integer: &IntegerRange{From: 1}})), nil, "parameter x of /ns/camera: declare: the range 1 to 0 is empty"},
		{second(Declare(s, "x", 1.0, Descriptor{FloatingPoint: &FloatingPointRange{From: math.NaN()}})), nil, "parameter x of /ns/camera: declare: the range NaN to 0 is empty"},
		{second(Declare(s, "x", 1.0, Descriptor{FloatingPoint: &FloatingPointRange{Step: -1}})), nil, "parameter x of /ns/camera: declare: the range 0 to 0 in steps of -1 has a step below 0"},
		{second(Declare(s, "x", 1, Descriptor{DynamicTyping: true})), nil, "parameter x of /ns/camera: declare: dynamic typing needs the kind param.Value, integer is fixed"},
		{second(Declare(s, "x", Value{}, Descriptor{})), nil, "parameter x of /ns/camera: declare: a default that is not set needs dynamic typing"},
		{second(Require[int](s, "x", Descriptor{})), ErrNoValue, "parameter x of /ns/camera: declare: has no default and was given no value"},
	} {
		var e *Error
		if !errors.As(c.err, &e) || e.Reason() != c.want || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	static, err := Require[Value](s, "static", Descriptor{})
	if v := must(t, static, err).Value(); !v.Equal(Of(4)) {
		t.Error(v)
	}
	if err := s.Set(ctx, "static", Of("text")); err == nil {
		t.Error("a parameter without dynamic typing took another type")
	}
	far, err := Require[int](s, "far", Descriptor{ReadOnly: true})
	if must(t, far, err).Value() != 99 || far.Name() != "far" {
		t.Error(far.Value())
	}
	if err := far.Set(ctx, 1); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	names := func() (out []string) {
		for _, o := range s.Unused() {
			out = append(out, o.Name)
		}
		return out
	}
	if got := names(); !slices.Equal(got, []string{"any", "typo", "word"}) {
		t.Errorf("unused: %v", got)
	}
	if err := s.DeclareOverrides(); err != nil || len(names()) != 0 || !s.Declared("typo") {
		t.Error(err, names())
	}
	if err := s.Set(ctx, "word", Of(1)); err != nil {
		t.Errorf("what was declared from outside has a fixed type: %v", err)
	}
	stop()
	if err := s.Set(ctx, "word", Of(2)); err != nil {
		t.Error(err)
	}
	var lines []string
	for _, e := range told {
		for _, p := range e.New {
			lines = append(lines, "new "+p.Name+" "+p.Value.String())
		}
		for _, p := range e.Changed {
			lines = append(lines, "changed "+p.Name+" "+p.Value.String())
		}
	}
	if want := []string{"new given 3", "new null 1", "new static 4", "new far 99", "new any x", "new typo 1", "new word abc", "changed word 1"}; !slices.Equal(lines, want) {
		t.Errorf("told %q, want %q", lines, want)
	}
}

func TestDynamicTyping(t *testing.T) {
	s := store()
	p, err := Declare(s, "any", Of(1), Descriptor{DynamicTyping: true, Integer: &IntegerRange{From: 0, To: 5}})
	any := must(t, p, err)
	for _, v := range []Value{Of("x"), Of(2.5), Of([]int{1}), Of(5)} {
		if err := any.Set(ctx, v); err != nil || !any.Value().Equal(v) {
			t.Errorf("%v: %v", v, err)
		}
		if info, err := s.Describe("any"); err != nil || info[0].Type != v.Type() {
			t.Error(info, err)
		}
	}
	if err := any.Set(ctx, Of(6)); err == nil {
		t.Error("took an integer out of range")
	}
	if err := any.Set(ctx, Of([]string{"a"})); err != nil {
		t.Error(err)
	}
	if err := any.Set(ctx, Guess("[]")); err != nil || any.Value().Type() != StringArray {
		t.Errorf("[] made a list of texts a %s", any.Value().Type())
	}
	// A value that is not set takes it away.
	var told []Event
	s.Subscribe(func(e Event) { told = append(told, e) })
	if err := any.Set(ctx, Value{}); err != nil || s.Declared("any") || any.Value().IsSet() {
		t.Errorf("%v, %v", err, any.Value())
	}
	if err := any.Set(ctx, Of(1)); !errors.Is(err, ErrNotDeclared) {
		t.Errorf("a handle of a parameter that is gone: %v", err)
	}
	if len(told) != 1 || len(told[0].Deleted) != 1 || told[0].Deleted[0].Name != "any" || told[0].Deleted[0].Value.String() != "[]" {
		t.Error(told)
	}
	p, err = Declare(s, "later", Value{}, Descriptor{DynamicTyping: true})
	if must(t, p, err).Value().IsSet() || !s.Declared("later") || len(told) != 1 {
		t.Error("a parameter without a value", told)
	}
}

func TestUndeclare(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 1, Descriptor{})
	a := must(t, p, err)
	p, err = Declare(s, "fixed", 1, Descriptor{ReadOnly: true})
	must(t, p, err)
	var told []Event
	s.Subscribe(func(e Event) { told = append(told, e) })
	if err := s.Undeclare("fixed"); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := s.Undeclare("none"); !errors.Is(err, ErrNotDeclared) {
		t.Error(err)
	}
	if err := s.Undeclare("a"); err != nil || s.Declared("a") || a.Value() != 1 {
		t.Error(err)
	}
	if d := cmp.Diff([]Event{{Node: "/ns/camera", Deleted: []Parameter{{"a", Of(1)}}}}, told); d != "" {
		t.Error(d)
	}
	again, err := Declare(s, "a", 2, Descriptor{})
	must(t, again, err)
	if err := a.Set(ctx, 5); !errors.Is(err, ErrNotDeclared) || again.Value() != 2 {
		t.Errorf("the old handle changed the new parameter: %v", err)
	}
}

func TestGetAndDescribe(t *testing.T) {
	s := store()
	limits := &FloatingPointRange{From: 1, To: 60}
	d := Descriptor{Description: "images a second", Constraints: "even", FloatingPoint: limits}
	p, err := Declare(s, "rate", 10.0, d)
	must(t, p, err)
	limits.To = 0 // is the maker's own
	got, err := s.Get("rate", "rate")
	if err != nil || len(got) != 2 || !got[1].Equal(Of(10.0)) {
		t.Error(got, err)
	}
	info, err := s.Describe("rate")
	want := Info{Name: "rate", Type: Double, Descriptor: Descriptor{Description: "images a second", Constraints: "even", FloatingPoint: &FloatingPointRange{From: 1, To: 60}}}
	if err != nil || cmp.Diff(want, info[0]) != "" {
		t.Error(info, err)
	}
	info[0].Descriptor.FloatingPoint.To = 0
	if err := s.Set(ctx, "rate", Of(50.0)); err != nil {
		t.Errorf("what Describe gave changed the store: %v", err)
	}
	if _, err := s.Get("rate", "none"); !errors.Is(err, ErrNotDeclared) || !strings.Contains(err.Error(), "parameter none of /ns/camera: get: not declared") {
		t.Error(err)
	}
	if _, err := s.Describe("none"); !errors.Is(err, ErrNotDeclared) {
		t.Error(err)
	}
	if s.Node() != "/ns/camera" || s.Parameters() != s {
		t.Error("who it is")
	}
}

func TestUndeclaredAllowed(t *testing.T) {
	s := NewStore("/n", Options{AllowUndeclared: true})
	if got, err := s.Get("a"); err != nil || got[0].IsSet() {
		t.Error(got, err)
	}
	if info, err := s.Describe("a"); err != nil || info[0].Name != "a" || info[0].Type != NotSet {
		t.Error(info, err)
	}
	var told []Event
	s.Subscribe(func(e Event) { told = append(told, e) })
	if err := s.SetAtomically(ctx, Parameter{"a", Of(1)}, Parameter{"b", Of("x")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(ctx, "a", Of("now a text")); err != nil {
		t.Error(err)
	}
	if err := s.Set(ctx, "a", Value{}); err != nil || s.Declared("a") {
		t.Error(err)
	}
	if err := s.Set(ctx, "a", Value{}); !errors.Is(err, ErrNotDeclared) {
		t.Error(err)
	}
	want := []Event{{Node: "/n", New: []Parameter{{"a", Of(1)}, {"b", Of("x")}}}, {Node: "/n", Changed: []Parameter{{"a", Of("now a text")}}},
		{Node: "/n", Deleted: []Parameter{{"a", Of("now a text")}}}}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
}

// What list_parameters of rclcpp chooses, by its own tests and its rules.
func TestList(t *testing.T) {
	s := store()
	for _, name := range []string{"a", "a.b", "a.b.c", "a.b.c.d", "ab", "foo", "foo.first", "foo.second", "x.y", "foobar.z"} {
		p, err := Declare(s, name, 1, Descriptor{})
		must(t, p, err)
	}
	for _, c := range []struct {
		prefixes        []string
		depth           uint64
		names, ofPrefix string
	}{
		{nil, Recursive, "a a.b a.b.c a.b.c.d ab foo foo.first foo.second foobar.z x.y", "a a.b a.b.c foo foobar x"},
		{nil, 1, "a ab foo", ""},
		{nil, 2, "a a.b ab foo foo.first foo.second foobar.z x.y", "a foo foobar x"},
		{[]string{"a"}, 1, "a a.b", "a"},
		{[]string{"a"}, 2, "a a.b a.b.c", "a a.b"},
		{[]string{"a"}, Recursive, "a a.b a.b.c a.b.c.d", "a a.b a.b.c"},
		{[]string{"a.b", "x"}, 1, "a.b a.b.c x.y", "a a.b x"},
		{[]string{"foo"}, 1, "foo foo.first foo.second", "foo"},
		{[]string{"foo.first"}, 5, "foo.first", "foo"},
		{[]string{"none"}, Recursive, "", ""},
		{[]string{""}, Recursive, "", ""},
	} {
		names, prefixes := s.List(c.prefixes, c.depth)
		if strings.Join(names, " ") != c.names || strings.Join(prefixes, " ") != c.ofPrefix {
			t.Errorf("%q to %d: %q, %q; want %q, %q", c.prefixes, c.depth, names, prefixes, c.names, c.ofPrefix)
		}
	}
}
