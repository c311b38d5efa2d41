package conformance

import (
	"sync"
	"testing"

	"github.com/tagus-ros/tagus/internal/transport"
)

// testServices finds that calls work or that the path says that it has none.
func testServices(t *testing.T, h *Harness) {
	if !h.Services {
		ph, sh := hosts(t, h)
		if _, err := sh.Service("/add"); err != transport.ErrNotYet {
			t.Errorf("service: %v", err)
		}
		if _, err := ph.Client("/add"); err != transport.ErrNotYet {
			t.Errorf("client: %v", err)
		}
		return
	}
	t.Run("Calls", func(t *testing.T) { testCalls(t, h) })
	t.Run("ServerLeaves", func(t *testing.T) { testServerLeaves(t, h) })
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
