//go:build !linux

package folder

import (
	"context"
	"time"

	"github.com/tagus-ros/tagus/graph"
)

// Folder is an open domain folder; on this system there are none.
type Folder struct{}

// Open returns [ErrUnsupported].
func Open(path string) (*Folder, error) { return nil, ErrUnsupported }

// Path returns "".
func (f *Folder) Path() string { return "" }

// Close does nothing.
func (f *Folder) Close() error { return nil }

// Check returns [ErrUnsupported].
func (f *Folder) Check() (changed bool, err error) { return false, ErrUnsupported }

// List returns [ErrUnsupported].
func (f *Folder) List() ([]graph.ID, error) { return nil, ErrUnsupported }

// AppendList returns [ErrUnsupported].
func (f *Folder) AppendList(ids []graph.ID) ([]graph.ID, error) { return ids, ErrUnsupported }

// Read returns [ErrUnsupported].
func (f *Folder) Read(id graph.ID, have uint64) (Announcement, error) {
	return Announcement{}, ErrUnsupported
}

// Alive returns [ErrUnsupported].
func (f *Folder) Alive(id graph.ID) (bool, error) { return false, ErrUnsupported }

// Dial returns [ErrUnsupported].
func (f *Folder) Dial(ctx context.Context, id graph.ID) (*Conn, error) { return nil, ErrUnsupported }

// Join returns [ErrUnsupported].
func (f *Folder) Join(id graph.ID, body []byte) (*Member, error) { return nil, ErrUnsupported }

// Member is this process's place in a folder; on this system there is none.
type Member struct{}

// ID returns the zero id.
func (m *Member) ID() graph.ID { return graph.ID{} }

// Write returns [ErrUnsupported].
func (m *Member) Write(body []byte) (version uint64, err error) { return 0, ErrUnsupported }

// Check returns [ErrUnsupported].
func (m *Member) Check() (remade bool, err error) { return false, ErrUnsupported }

// Accept returns [ErrUnsupported].
func (m *Member) Accept(ctx context.Context) (*Conn, error) { return nil, ErrUnsupported }

// Close does nothing.
func (m *Member) Close() error { return nil }

// Conn is a control connection; on this system there are none.
type Conn struct{}

// Peer returns zeros.
func (c *Conn) Peer() (pid, uid, gid int) { return 0, 0, 0 }

// Send returns [ErrUnsupported].
func (c *Conn) Send(ctx context.Context, msg []byte, fds ...int) error { return ErrUnsupported }

// Recv returns [ErrUnsupported].
func (c *Conn) Recv(buf []byte) (n int, fds []int, err error) { return 0, nil, ErrUnsupported }

// CloseWrite returns [ErrUnsupported].
func (c *Conn) CloseWrite() error { return ErrUnsupported }

// SetRecvDeadline returns [ErrUnsupported].
func (c *Conn) SetRecvDeadline(t time.Time) error { return ErrUnsupported }

// Close does nothing.
func (c *Conn) Close() error { return nil }
