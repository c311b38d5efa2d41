package shm

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

const withoutRights = "TAGUS_TEST_WITHOUT_RIGHTS"

// again runs the test in a process of its own, without the two capabilities with which
// root is above its limit.
func again(t *testing.T) {
	t.Helper()
	result := make(chan error)
	var out []byte
	go func() {
		runtime.LockOSThread() // for good: it has lost what others may need
		var err error
		for _, c := range []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SYS_ADMIN} {
			err = errors.Join(err, unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0))
		}
		if err == nil || os.Geteuid() != 0 {
			cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), withoutRights+"=1")
			out, err = cmd.CombinedOutput()
		}
		result <- err
	}()
	if err := <-result; err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("%s", out)
	}
}

// Too many descriptors of this user on their way delay a match. They end nothing.
func TestDescriptorsInFlight(t *testing.T) {
	if os.Getenv(withoutRights) == "" {
		again(t)
		return
	}
	dir := t.TempDir()
	log := new(faults)
	_, a := newParticipant(t, dir, log)
	_, b := newParticipant(t, dir, log)
	other := newSoundPair(t, a, b, "/other")
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	check(t, err)
	defer unix.Close(pair[1])
	defer unix.Close(pair[0])
	fds, _ := openThings(t)
	var limit unix.Rlimit
	check(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	low := limit
	low.Cur = uint64(fds + 64)
	check(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	many := make([]int, 100)
	for i := range many {
		many[i] = 0
	}
	for n := 0; ; n++ {
		if err = unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(many...), nil, unix.MSG_DONTWAIT); err != nil {
			break
		}
	}
	if err != unix.ETOOMANYREFS {
		t.Skipf("no limit of descriptors on their way: %v", err)
	}
	q := qos.Default().WithDepth(4000) // its rings need a memory of their own
	s, err := b.Subscription("/deep", q, conformance.Options{})
	check(t, err)
	p, err := a.Publisher("/deep", q)
	check(t, err)
	until(t, "a descriptor cannot be sent", func() bool { return log.count("control message delayed to") > 0 })
	other.send(t, 100)
	unix.Close(pair[1]) // what was on its way goes with it
	unix.Close(pair[0])
	check(t, p.Wait(1))
	check(t, s.Wait(1))
	if n := log.count("control connection"); n != 0 {
		t.Errorf("%d connections ended", n)
	}
	other.end(t)
	check(t, a.Close())
	check(t, b.Close())
}
