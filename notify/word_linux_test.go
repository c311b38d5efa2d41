package notify

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tagus-ros/tagus/internal/futex"
)

// childEnv makes this test binary, started again, the other process of a test.
const childEnv = "NOTIFY_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := child(role); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// sharedWords maps the memory behind f and makes a word in each of its first cache lines.
func sharedWords(f *os.File, n int) ([]*Word, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	var words []*Word
	for i := range n {
		w, err := NewWord((*uint32)(unsafe.Pointer(&mem[i*64])))
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	return words, nil
}

func memory(t testing.TB) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("notify-test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	return f
}

func startChild(t testing.TB, f *os.File, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// child answers on word 1 what comes on word 0, until word 0 is closed. Role "impatient" gives up its waits all the time.
func child(role string) error {
	words, err := sharedWords(os.NewFile(3, "memfd"), 2)
	if err != nil {
		return err
	}
	in, out := words[0], words[1]
	for {
		var err error
		switch role {
		case "patient":
			err = in.Wait(background)
		case "impatient":
			err = in.WaitUntil(time.Now().Add(time.Duration(rand.IntN(30)) * time.Microsecond))
		default:
			return errors.New("role " + strconv.Quote(role))
		}
		switch {
		case err == nil:
			if err := out.Notify(); err != nil {
				return err
			}
		case errors.Is(err, ErrClosed):
			return nil
		case !errors.Is(err, ErrDeadline):
			return err
		}
	}
}

// TestWordSystemCalls: a sleeper costs its notifier one call; those after it, with nobody asleep, cost none.
func TestWordSystemCalls(t *testing.T) {
	w := newWord(t)
	for range 100 {
		got := make(chan error, 1)
		go func() { got <- w.Wait(background) }()
		for w.state.Load()&wordWaiting == 0 {
			runtime.Gosched()
		}
		w.Notify()
		if err := within(t, got); err != nil {
			t.Fatal(err)
		}
		// If the sleeper was faster than its notifier, the next notification pays for it, once.
		w.Notify()
		w.Wait(background)
		before := futex.Calls()
		for range 10 {
			w.Notify()
			w.Wait(background)
		}
		if now := futex.Calls(); now != before {
			t.Fatalf("%+v before, %+v after, with nobody asleep", before, now)
		}
	}
}

func TestWordBetweenProcesses(t *testing.T) {
	for _, role := range []string{"patient", "impatient"} {
		t.Run(role, func(t *testing.T) {
			f := memory(t)
			words, err := sharedWords(f, 2)
			if err != nil {
				t.Fatal(err)
			}
			cmd := startChild(t, f, role)
			for i := range 20_000 {
				if err := words[0].Notify(); err != nil {
					t.Fatal(err)
				}
				if err := words[1].WaitUntil(time.Now().Add(20 * time.Second)); err != nil {
					t.Fatalf("answer %d: %v", i, err)
				}
				if err := words[1].WaitUntil(longPast); !errors.Is(err, ErrDeadline) {
					t.Fatalf("answer %d came twice: %v", i, err)
				}
			}
			words[0].Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("child after Close: %v", err)
			}
		})
	}
}

// TestWordSurvivesKill kills a process that waits and notifies on the words, at random moments, and expects the next one to be
// served. A notification that the killed process had consumed is gone with it; one that it had not is not.
func TestWordSurvivesKill(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	f := memory(t)
	words, err := sharedWords(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		cmd := startChild(t, f, []string{"patient", "impatient"}[round%2])
		kill := time.Now().Add(time.Duration(rand.IntN(2000)) * time.Microsecond)
		answers := 0
		for answers == 0 || time.Now().Before(kill) {
			words[0].Notify()
			switch err := words[1].WaitUntil(time.Now().Add(20 * time.Second)); {
			case err != nil:
				t.Fatalf("round %d, answer %d: %v", round, answers, err)
			default:
				answers++
			}
		}
		words[0].Notify() // for the child to be killed in the middle of
		cmd.Process.Kill()
		cmd.Wait()
		words[1].WaitUntil(longPast)
	}
	t.Logf("state after %d kills: %#x", rounds, words[0].state.Load())
}

func TestNewWordRefusesOddAddresses(t *testing.T) {
	var mem [8]byte
	addr := unsafe.Pointer(&mem[0])
	if uintptr(addr)%4 == 0 {
		addr = unsafe.Pointer(&mem[1])
	}
	if _, err := NewWord((*uint32)(addr)); err == nil {
		t.Error("accepted")
	}
	if _, err := NewWord(nil); err == nil {
		t.Error("nil accepted")
	}
}
