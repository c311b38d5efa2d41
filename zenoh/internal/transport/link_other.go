//go:build !linux

package transport

import "net"

func newLink(conn net.Conn) link { return &streamLink{conn} }
