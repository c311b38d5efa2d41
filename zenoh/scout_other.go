//go:build !unix

package zenoh

import "net"

// multicastOn leaves the choice to the system, which sends by the interface whose address the socket is bound to.
func multicastOn(*net.UDPConn, net.IP) error { return nil }
