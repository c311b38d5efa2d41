//go:build unix

package zenoh

import (
	"net"

	"golang.org/x/sys/unix"
)

// multicastOn chooses the interface with the given address for what is sent to groups; nil: the system chooses.
func multicastOn(conn *net.UDPConn, ip net.IP) error {
	if ip == nil {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var addr [4]byte
	copy(addr[:], ip.To4())
	var set error
	if err := raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInet4Addr(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_IF, addr)
	}); err != nil {
		return err
	}
	return set
}
