package param

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

func TestValidate(t *testing.T) {
	s := store(Override{Node: "/**", Name: "odd", Value: Of(3), Source: "p.yaml:3"})
	p, err := Declare(s, "odd", 2, Descriptor{})
	odd := must(t, p, err)
	even := errors.New("must be even")
	asked := []string{}
	err = odd.Validate(func(old, new int) error {
		asked = append(asked, fmt.Sprint(old, new))
		if new%2 != 0 {
			return even
		}
		return nil
	})
	if !errors.Is(err, even) || err.Error() != "tagus: parameter odd of /ns/camera: validate: must be even" {
		t.Errorf("the value that was given: %v", err)
	}
	if err := odd.Set(ctx, 5); !errors.Is(err, even) || odd.Value() != 3 {
		t.Error(err)
	}
	if err := odd.Set(ctx, 4); err != nil || odd.Value() != 4 {
		t.Error(err)
	}
	if err := odd.Validate(func(_, new int) error {
		if new > 100 {
			return errors.New("too much")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for _, bad := range []int{7, 102} {
		if err := odd.Set(ctx, bad); err == nil {
			t.Errorf("took %d", bad)
		}
	}
	if want := []string{"3 3", "3 5", "3 4", "4 7", "4 102"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// Rules between parameters see the batch as a whole.
func TestValidateBatch(t *testing.T) {
	s := store()
	var seen [][]Change
	remove := s.Validate(func(changes []Change) error {
		seen = append(seen, changes)
		low, high := s.number("low"), s.number("high")
		for _, c := range changes {
			n, _ := As[int](c.New)
			switch c.Name {
			case "low":
				low = n
			case "high":
				high = n
			}
		}
		if low > high {
			return fmt.Errorf("low %d above high %d", low, high)
		}
		return nil
	})
	p, err := Declare(s, "high", 10, Descriptor{})
	high := must(t, p, err)
	p, err = Declare(s, "low", 1, Descriptor{})
	low := must(t, p, err)
	if _, err := Declare(s, "third", 1, Descriptor{}); err != nil {
		t.Error(err)
	}
	if err := low.Set(ctx, 11); err == nil || err.Error() != "tagus: parameter low of /ns/camera: set: low 11 above high 10" {
		t.Error(err)
	}
	if err := s.SetAtomically(ctx, Parameter{"low", Of(11)}, Parameter{"high", Of(20)}); err != nil || low.Value() != 11 || high.Value() != 20 {
		t.Error(err)
	}
	if len(seen) != 5 || seen[0][0].Old.IsSet() || len(seen[4]) != 2 || !seen[4][1].Old.Equal(Of(10)) {
		t.Error(seen)
	}
	remove()
	if err := low.Set(ctx, 100); err != nil || len(seen) != 5 {
		t.Error(err)
	}
}

func (s *Store) number(name string) int {
	v, err := s.Get(name)
	if err != nil {
		return 0
	}
	n, _ := As[int](v[0])
	return n
}

func TestWatch(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 1, Descriptor{})
	a := must(t, p, err)
	p, err = Declare(s, "b", 1, Descriptor{})
	b := must(t, p, err)
	var told []string
	a.Watch(func(old, new int) {
		told = append(told, fmt.Sprintf("a %d %d, is %d", old, new, a.Value()))
		if new == 2 { // from inside: is told after this one
			if err := b.Set(ctx, 2); err != nil {
				t.Error(err)
			}
			if err := a.Set(ctx, 3); err != nil {
				t.Error(err)
			}
			told = append(told, "a returns")
		}
	})
	b.Watch(func(old, new int) { told = append(told, fmt.Sprintf("b %d %d", old, new)) })
	s.Subscribe(func(e Event) { told = append(told, "event "+e.Changed[0].Name+" "+e.Changed[0].Value.String()) })
	if err := a.Set(ctx, 2); err != nil {
		t.Fatal(err)
	}
	want := []string{"a 1 2, is 2", "a returns", "event a 2", "b 1 2", "event b 2", "a 2 3, is 3", "event a 3"}
	if !slices.Equal(told, want) {
		t.Errorf("%q\nwant\n%q", told, want)
	}
	told = nil
	if err := a.Set(ctx, 3); err != nil { // the value it has: an event, as in rclcpp, but no change
		t.Error(err)
	}
	if want := []string{"event a 3"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}

// waitFor waits until all changes made so far are told.
func waitFor(t *testing.T, s *Store) {
	t.Helper()
	done := make(chan struct{})
	stop := s.Subscribe(func(e Event) {
		if len(e.New) == 1 && e.New[0].Name == "last" {
			close(done)
		}
	})
	p, err := Declare(s, "last", 1, Descriptor{})
	must(t, p, err)
	<-done
	stop()
	if err := s.Undeclare("last"); err != nil {
		t.Fatal(err)
	}
}

func TestDoneContext(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 1, Descriptor{})
	a := must(t, p, err)
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := a.Set(done, 2); !errors.Is(err, context.Canceled) || a.Value() != 1 {
		t.Error(err)
	}
}

// A change that makes the next one does not keep who made the first for ever.
func TestEndlessWatch(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 0, Descriptor{})
	a := must(t, p, err)
	end := make(chan int)
	a.Watch(func(_, new int) {
		if new == 10*moreThanOwn {
			end <- new // nobody takes it before Set has returned
			return
		}
		if err := a.Set(ctx, new+1); err != nil {
			t.Error(err)
		}
	})
	if err := a.Set(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if got := <-end; got != 10*moreThanOwn {
		t.Error(got)
	}
}

// A callback that panics stops neither the changes after it nor what is told of them.
func TestPanicInWatch(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 1, Descriptor{})
	a := must(t, p, err)
	p, err = Declare(s, "b", 1, Descriptor{})
	b := must(t, p, err)
	told := make(chan int, 3)
	a.Watch(func(_, new int) {
		if new == 2 {
			_ = b.Set(ctx, 5) // waits behind the panic
			panic("in a watch")
		}
	})
	b.Watch(func(_, new int) { told <- new })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic went nowhere")
			}
		}()
		_ = a.Set(ctx, 2)
	}()
	if got := <-told; got != 5 {
		t.Error(got)
	}
	if err := b.Set(ctx, 6); err != nil || <-told != 6 {
		t.Error(err)
	}
}

// A Validate function may change other parameters, and its own: then what it was asked is asked anew, but not for ever.
func TestChangeWhileAsked(t *testing.T) {
	s := store()
	p, err := Declare(s, "a", 0, Descriptor{})
	a := must(t, p, err)
	p, err = Declare(s, "b", 0, Descriptor{})
	b := must(t, p, err)
	depth := 0
	if err := a.Validate(func(old, new int) error {
		if err := b.Set(ctx, b.Value()+1); err != nil {
			t.Error(err)
		}
		if depth == 0 && new == 1 && old < 50 {
			depth++
			err := a.Set(ctx, 50) // changes what is being asked about
			depth--
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := a.Set(ctx, 1); err != nil || a.Value() != 1 || b.Value() < 3 {
		t.Errorf("%v: a %d, b %d", err, a.Value(), b.Value())
	}
	if err := b.Validate(func(old, new int) error {
		if new < 0 {
			s.bump("b") // somebody else, again and again
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.Set(ctx, -1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

func (s *Store) bump(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[name].version++
}

// Many goroutines change and read: no change is lost or told twice, each is told in order, batches are whole, and old is what new was before.
func TestConcurrent(t *testing.T) {
	const writers, rounds = 4, 200
	s := store()
	p, err := Declare(s, "x", 0, Descriptor{})
	x := must(t, p, err)
	p, err = Declare(s, "y", 0, Descriptor{})
	y := must(t, p, err)
	if err := x.Validate(func(old, new int) error {
		if new == old {
			return errors.New("the same again")
		}
		return nil
	}); err == nil {
		t.Fatal("not asked about the present value")
	}
	last, changes := 0, 0
	x.Watch(func(old, new int) {
		if old != last {
			t.Errorf("told of %d to %d after %d", old, new, last)
		}
		last = new
		changes++
	})
	events := 0
	s.Subscribe(func(e Event) {
		if len(e.Changed) == 2 {
			events++
			if !e.Changed[0].Value.Equal(e.Changed[1].Value) {
				t.Errorf("half a batch: %v", e)
			}
		}
	})
	stop := make(chan struct{})
	var readers, wg sync.WaitGroup
	readers.Add(1)
	go func() {
		defer readers.Done()
		for {
			select {
			case <-stop:
				return
			default:
			}
			both, err := s.Get("x", "y")
			if err != nil || !both[0].Equal(both[1]) {
				t.Errorf("half a batch: %v %v", both, err)
				return
			}
			_, _ = x.Value(), y.Value()
			s.List(nil, Recursive)
		}
	}()
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range rounds {
				n := Of(1 + w + writers*i)
				if err := s.SetAtomically(ctx, Parameter{"x", n}, Parameter{"y", n}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	waitFor(t, s)
	if changes != writers*rounds || events != writers*rounds || last != x.Value() || x.Value() != y.Value() {
		t.Errorf("%d watched, %d events, of %d; last told %d, is %d and %d", changes, events, writers*rounds, last, x.Value(), y.Value())
	}
}

func TestConcurrentDeclare(t *testing.T) {
	s := store()
	remove := s.Validate(func([]Change) error { return nil })
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				name := fmt.Sprint("p", i)
				_, err := Declare(s, name, 1, Descriptor{})
				switch {
				case err == nil:
					mu.Lock()
					made[name]++
					mu.Unlock()
				case !errors.Is(err, ErrDeclared):
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	remove()
	if names, _ := s.List(nil, Recursive); len(names) != 50 || len(made) != 50 {
		t.Errorf("%d names, %d made", len(names), len(made))
	}
	for name, n := range made {
		if n != 1 {
			t.Errorf("%s was declared %d times", name, n)
		}
	}
}

func TestValueAllocatesNothing(t *testing.T) {
	s := store()
	p1, err := Declare(s, "a", 1.5, Descriptor{})
	a := must(t, p1, err)
	p2, err := Declare(s, "b", []string{"x"}, Descriptor{})
	b := must(t, p2, err)
	p3, err := Declare(s, "c", Of("x"), Descriptor{DynamicTyping: true})
	c := must(t, p3, err)
	var f float64
	var l []string
	var v Value
	if n := testing.AllocsPerRun(1000, func() { f, l, v = a.Value(), b.Value(), c.Value() }); n != 0 {
		t.Errorf("%v allocations to read %v %v %v", n, f, l, v)
	}
}

func BenchmarkValue(b *testing.B) {
	p, err := Declare(store(), "a", 1.5, Descriptor{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	sum := 0.0
	for b.Loop() {
		sum += p.Value()
	}
	_ = sum
}

func BenchmarkSet(b *testing.B) {
	p, err := Declare(store(), "a", 1, Descriptor{Integer: &IntegerRange{From: 0, To: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	p.Watch(func(_, _ int) {})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := p.Set(ctx, i); err != nil {
			b.Fatal(err)
		}
	}
}
