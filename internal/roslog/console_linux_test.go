package roslog

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// While nobody reads a pipe, Print does not wait; what was lost is told once it is read.
func TestConsoleNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := NewConsole(w, func(name string) string {
		return map[string]string{"RCUTILS_CONSOLE_OUTPUT_FORMAT": "{message}"}[name]
	})
	const lines = 20000
	text := strings.Repeat("x", 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range lines {
			c.Print(&Line{Message: text})
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("Print waits for a pipe that nobody reads")
	}
	lost := c.Lost()
	if lost == 0 || lost == lines {
		t.Fatalf("%d of %d lines lost", lost, lines)
	}
	var whole uint64
	report := make(chan string, 1)
	go func() {
		for s := bufio.NewScanner(r); s.Scan(); {
			if s.Text() == text {
				whole++
			} else {
				report <- s.Text()
			}
		}
		close(report)
	}()
	if got, want := <-report, fmt.Sprintf("%d lines were not written: the console took nothing", lost); got != want {
		t.Errorf("report %q, want %q", got, want)
	}
	c.Flush(10 * time.Second)
	w.Close()
	for other := range report {
		t.Errorf("a broken line %q", other)
	}
	if whole+lost != lines {
		t.Errorf("%d lines written and %d lost of %d", whole, lost, lines)
	}
}
