package roslog

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func line(i int) *Line { return &Line{Level: Info, Logger: "n", Message: fmt.Sprint("line ", i)} }

// buffer is a writer that may stand still.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *buffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *buffer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// A line is out when Print returns, so that it is not lost with a program that ends.
func TestConsoleIsDirect(t *testing.T) {
	var w buffer
	c := newConsole(&w, func() bool { return true }, ParseFormat("{message}"))
	for i := range 3 {
		c.Print(line(i))
		if want := fmt.Sprintf("line %d\n", i); !strings.HasSuffix(w.String(), want) {
			t.Errorf("%q after Print of %q", w.String(), want)
		}
	}
	c.colours = true
	c.Print(&Line{Level: Error, Message: "bad"})
	if !strings.HasSuffix(w.String(), "\x1b[31mbad\x1b[0m\n") {
		t.Errorf("%q", w.String())
	}
}

// Lines of many goroutines come out whole, and each goroutine's in its order.
func TestConsoleConcurrent(t *testing.T) {
	var w buffer
	var turn atomic.Int64
	c := newConsole(&w, func() bool { return turn.Add(1)%5 != 0 }, ParseFormat("{name} {message}"))
	var wg sync.WaitGroup
	const goroutines, lines = 8, 500
	for g := range goroutines {
		wg.Go(func() {
			for i := range lines {
				c.Print(&Line{Logger: fmt.Sprint(g), Message: fmt.Sprint(i)})
			}
		})
	}
	wg.Wait()
	c.Flush(10 * time.Second)
	next := map[string]int{}
	for _, l := range strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n") {
		g, i, _ := strings.Cut(l, " ")
		if i != fmt.Sprint(next[g]) {
			t.Fatalf("%q, want number %d", l, next[g])
		}
		next[g]++
	}
	for g := range goroutines {
		if next[fmt.Sprint(g)] != lines {
			t.Errorf("%d lines of %d", next[fmt.Sprint(g)], g)
		}
	}
	if c.Lost() != 0 {
		t.Errorf("%d lost", c.Lost())
	}
}

func TestConsoleAllocates(t *testing.T) {
	c := newConsole(new(nothing), func() bool { return true }, ParseFormat(""))
	l := line(1)
	c.Print(l)
	c.Print(l)
	if n := testing.AllocsPerRun(100, func() { c.Print(l) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
