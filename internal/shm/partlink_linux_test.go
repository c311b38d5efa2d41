package shm

import (
	"testing"
	"time"

	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/transport/conformance"
	"github.com/tagus-ros/tagus/qos"
)

// A side that cannot send any more does not close: what is held on the other side, or
// here, stays as it is, what is queued is still taken, and all comes back at the end.
func TestOwnFailureKeepsWhatIsRead(t *testing.T) {
	for _, side := range []string{"publisher", "subscription"} {
		t.Run(side, func(t *testing.T) {
			dir := t.TempDir()
			log := new(faults)
			pa, a := newParticipant(t, dir, log)
			pb, b := newParticipant(t, dir, log)
			q := qos.Default().WithDepth(10)
			s, err := b.Subscription("/topic", q, conformance.Options{Leases: 3})
			check(t, err)
			p, err := a.Publisher("/topic", q)
			check(t, err)
			check(t, p.Wait(1))
			check(t, s.Wait(1))
			_, err = p.Publish(conformance.Batch{N: 3, Sizes: []int{3000}})
			check(t, err)
			held, err := s.Take(10*time.Second, true)
			check(t, err)
			// No descriptor has this number: sending it fails.
			poison := outgoing{msg: control.Look{ID: pa.cfg.ID}, fd: 1 << 20}
			if side == "publisher" {
				own(t, pa, pb.cfg.ID, func(peer *peer) {
					peer.turned[control.PurposeLink] = "test" // it is not met again
					peer.out.link.put(poison)
				})
			} else {
				own(t, pb, pa.cfg.ID, func(peer *peer) { peer.in.link.put(poison) })
			}
			until(t, "sending fails", func() bool { return log.count("control connection") > 0 })
			if side == "publisher" {
				until(t, "the other side knows", func() (down bool) {
					own(t, pb, pa.cfg.ID, func(peer *peer) { down = peer.in != nil && peer.in.down })
					return down
				})
			}
			_, err = p.Publish(conformance.Batch{N: 50, Sizes: []int{3000}})
			check(t, err)
			if bad, err := s.Check(held.Handle); err != nil || bad != "" {
				t.Errorf("held message: %s (%v)", bad, err)
			}
			if side == "publisher" {
				for want := uint64(2); want <= 3; want++ {
					if g, err := s.Take(10*time.Second, false); err != nil || !g.OK || g.Bad != "" || g.Sequence != want {
						t.Errorf("queued message %d: %+v (%v)", want, g, err)
					}
				}
			}
			check(t, s.Release(held.Handle))
			until(t, "the connection ends", func() (over bool) {
				own(t, pa, pb.cfg.ID, func(peer *peer) {
					over = len(peer.failed) == 0 && (side == "subscription" || peer.out == nil)
				})
				return over
			})
			if side == "publisher" {
				if n, err := a.InUse(); err != nil || n != 0 {
					t.Errorf("%d bytes are still lent (%v)", n, err)
				}
			}
			check(t, a.Close())
			check(t, b.Close())
		})
	}
}
