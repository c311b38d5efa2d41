package transport

import (
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unsentLimit is how much the kernel may hold that is not on its way yet. More
// would queue behind our back, where priorities no longer count.
const unsentLimit = 128 << 10

// tcpLink writes without blocking, many pieces in one system call, and waits
// for room through the runtime's poller.
type tcpLink struct {
	raw   syscall.RawConn
	iov   []unix.Iovec
	n     int
	errno syscall.Errno

	// park holds the descriptor while step runs, so writev inside must not ask for it again.
	parked bool
	fd     uintptr
	step   func() bool

	// Method values, kept so that a write makes none.
	try, wait func(fd uintptr) bool
}

func newLink(conn net.Conn) link {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return &streamLink{conn}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return &streamLink{conn}
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentLimit)
	})
	l := &tcpLink{raw: raw, iov: make([]unix.Iovec, 0, maxVectors+3)}
	l.try, l.wait = l.tryOnce, l.stepOnce
	return l
}

func (l *tcpLink) direct() bool { return true }

func (l *tcpLink) writev(vecs [][]byte) (int, bool, error) {
	total := 0
	iov := l.iov[:0]
	for _, v := range vecs {
		if len(v) == 0 {
			continue
		}
		total += len(v)
		iov = append(iov, unix.Iovec{Base: unsafe.SliceData(v)})
		iov[len(iov)-1].SetLen(len(v))
	}
	l.iov = iov
	var err error
	if l.parked {
		l.tryOnce(l.fd)
	} else {
		err = l.raw.Write(l.try)
	}
	clear(iov)
	switch {
	case err != nil:
		return 0, false, err
	case l.errno == syscall.EAGAIN:
		return 0, true, nil
	case l.errno != 0:
		return 0, false, os.NewSyscallError("writev", l.errno)
	}
	return l.n, l.n < total, nil
}

func (l *tcpLink) tryOnce(fd uintptr) bool {
	for {
		n, _, errno := syscall.Syscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(unsafe.SliceData(l.iov))), uintptr(len(l.iov)))
		if errno == syscall.EINTR {
			continue
		}
		l.n, l.errno = int(n), errno
		return true
	}
}

// The poller reports only changes, and forgets one that came before the wait
// began. So the attempt is made again within the wait, not before it.
func (l *tcpLink) park(step func() bool) error {
	l.step = step
	return l.raw.Write(l.wait)
}

func (l *tcpLink) stepOnce(fd uintptr) (done bool) {
	l.parked, l.fd = true, fd
	again := l.step()
	l.parked = false
	return !again
}
