package conformance

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/transport"
)

func testServices(t *testing.T, h *Harness) {
	if !h.Services {
		t.Skip("this path carries no services yet")
	}
	t.Run("Calls", func(t *testing.T) { testCalls(t, h) })
	t.Run("ServerLeaves", func(t *testing.T) { testServerLeaves(t, h) })
	t.Run("ClientLeaves", func(t *testing.T) { testClientLeaves(t, h) })
}

// Every client gets the answers to its own calls.
func testCalls(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	srv, err := sh.Service(topic(t))
	must(t, err)
	const clients, calls = 4, 100
	served := make(chan error)
	go func() { served <- srv.Serve(clients * calls) }()
	var wg sync.WaitGroup
	for i := range clients {
		c, err := ph.Client(topic(t))
		must(t, err)
		must(t, c.Wait(1))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range calls {
				n := uint64(i*calls + k)
				if got, err := c.Call(n); err != nil || got != n {
					t.Errorf("call %d: answer %d, %v", n, got, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	must(t, <-served)
	must(t, srv.Close())
}

// A call that nobody will answer ends with an error.
func testServerLeaves(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	srv, err := sh.Service(topic(t))
	must(t, err)
	c, err := ph.Client(topic(t))
	must(t, err)
	must(t, c.Wait(1))
	called := make(chan error)
	go func() {
		_, err := c.Call(1)
		called <- err
	}()
	must(t, srv.Close())
	if err := <-called; err == nil {
		t.Error("a call was answered by nobody")
	}
	must(t, c.Close())
}

// A client that leaves without its answer costs the server and others nothing.
func testClientLeaves(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	srv, err := sh.Service(topic(t))
	must(t, err)
	const rounds = 20
	served := make(chan error)
	go func() { served <- srv.Serve(rounds) }()
	for n := range uint64(rounds) {
		c, err := ph.Client(topic(t))
		must(t, err)
		must(t, c.Wait(1))
		if n%2 == 0 {
			must(t, c.Ask(n))
		} else if got, err := c.Call(n); err != nil || got != n {
			t.Errorf("call %d: answer %d, %v", n, got, err)
		}
		if n%2 == 0 {
			// The server has the request, and may be answering.
			until(t, "the request is taken", func() bool {
				taken, err := srv.Taken()
				must(t, err)
				return taken > int(n)
			})
		}
		must(t, c.Close())
	}
	must(t, <-served)
	must(t, srv.Close())
	unused(t, ph)
	unused(t, sh)
}

// A server that dies with a request leaves its caller an error, and the next server is
// found.
func testServerKilled(t *testing.T, h *Harness) {
	ph, _ := hosts(t, h)
	c, err := ph.Client(topic(t))
	must(t, err)
	for round := range uint64(rounds(t, 3, 15, 100)) {
		victim := h.Process(t)
		srv, err := victim.Service(topic(t))
		must(t, err)
		must(t, c.Wait(1))
		go srv.Serve(1)
		if got, err := c.Call(round); err != nil || got != round {
			t.Fatalf("round %d: answer %d, %v", round, got, err)
		}
		called := make(chan error)
		go func() {
			_, err := c.Call(round)
			called <- err
		}()
		time.Sleep(moment() / 10)
		victim.Kill()
		if err := <-called; err == nil {
			t.Fatalf("round %d: a call was answered by nobody", round)
		}
	}
	must(t, c.Close())
	unused(t, ph)
}

// Clients that die with a request under way cost the server and other clients nothing.
func testClientKilled(t *testing.T, h *Harness) {
	ph, sh := hosts(t, h)
	srv, err := sh.Service(topic(t))
	must(t, err)
	served := make(chan error)
	go func() { served <- srv.Serve(1 << 30) }()
	good, err := ph.Client(topic(t))
	must(t, err)
	must(t, good.Wait(1))
	n := rounds(t, 3, 15, 100)
	for round := range uint64(n) {
		victim := h.Process(t)
		c, err := victim.Client(topic(t))
		must(t, err)
		must(t, c.Wait(1))
		must(t, c.Ask(round))
		if round%2 == 0 {
			time.Sleep(moment() / 30)
		}
		victim.Kill()
		if got, err := good.Call(round); err != nil || got != round {
			select {
			case err := <-served:
				t.Errorf("the server ended with %v", err)
			default:
			}
			t.Fatalf("round %d: answer %d, %v", round, got, err)
		}
	}
	until(t, "all requests are taken, those of the dead, too", func() bool {
		taken, err := srv.Taken()
		must(t, err)
		return taken == 2*n
	})
	must(t, srv.Close())
	if err := <-served; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the server ended with %v", err)
	}
	must(t, good.Close())
	unused(t, ph)
	unused(t, sh)
}
