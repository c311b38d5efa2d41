//go:build !linux

package shm

import (
	"context"
	"errors"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/transport"
)

// member stands for the other processes, which this system gives no way to meet.
type member struct{}

func joinFolder(*Config) (*member, error)               { return &member{}, nil }
func (*member) addOutlet(*transport.Outlet)             {}
func (*member) removeOutlet(*transport.Outlet)          {}
func (*member) addInlet(*transport.Inlet)               {}
func (*member) removeInlet(*transport.Inlet)            {}
func (*member) announce([]graph.Node, []graph.Endpoint) {}
func (*member) watch() error                            { return nil }
func (*member) ask(context.Context, graph.ID, string, string) (string, error) {
	return "", errors.ErrUnsupported
}
func (*member) holds(uintptr) bool { return false }
func (*member) close() error       { return nil }
