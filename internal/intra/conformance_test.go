package intra_test

import (
	"errors"
	"testing"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/arena"
	"github.com/tagus-ros/tagus/internal/intra"
	"github.com/tagus-ros/tagus/internal/match"
	"github.com/tagus-ros/tagus/internal/transport"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/internal/wake"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Harness{
		Path:     transport.PathIntra,
		Services: true,
		Hosts: func(t *testing.T) (pub, sub conformance.Host) {
			a, err := arena.New(arena.Config{Heap: true, Limit: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			path := intra.New(func(o *transport.Outlet, in *transport.Inlet) bool {
				return len(match.Check(&o.Endpoint, &in.Endpoint)) == 0
			})
			h := conformance.NewHost(conformance.Member{
				ID:    graph.NewID(),
				Arena: a,
				Paths: []transport.Transport{path},
				Area: func(words int) (*wake.Area, uint64, error) {
					area, err := wake.NewHeapArea(words)
					return area, 0, err
				},
				Close: func() error { return errors.Join(path.Close(), a.Close()) },
			})
			return h, h
		},
	})
}
