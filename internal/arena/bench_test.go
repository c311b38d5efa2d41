package arena

import (
	"fmt"
	"testing"
)

func getUnref(a *Arena, n int) {
	if s, err := a.Get(n); err == nil {
		s.Unref()
	}
}

func BenchmarkGetUnref(b *testing.B) {
	for _, n := range []int{128, 4096, 64 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := newArena(b, Config{})
			b.ReportAllocs()
			for b.Loop() {
				getUnref(a, n)
			}
		})
	}
}

func BenchmarkGetUnrefContended(b *testing.B) {
	a := newArena(b, Config{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			getUnref(a, 4096)
		}
	})
}

// inPieces copies like copy, which from 1 MiB on would write past the cache: the
// runtime then uses streaming stores, and what was written is cold at once.
func inPieces(dst, src []byte) {
	const piece = 256 << 10
	for len(src) > piece {
		copy(dst[:piece], src[:piece])
		dst, src = dst[piece:], src[piece:]
	}
	copy(dst, src)
}

// BenchmarkGetTouch1MiB writes a whole message and reads it through the view,
// with many free slots to choose from: the order of reuse decides whether the
// slot is in the cache. "off" pays for commit, page faults and giving back.
func BenchmarkGetTouch1MiB(b *testing.B) {
	const n = 1 << 20
	src, dst := make([]byte, n), make([]byte, n)
	for i := range src {
		src[i] = byte(i)
	}
	run := func(r Recycle, free int) {
		b.Run(fmt.Sprintf("%v/%d_free", r, free), func(b *testing.B) {
			a := newArena(b, Config{Recycle: r})
			touch := func(s *Slot) {
				inPieces(s.Mem(), src)
				inPieces(dst, s.View())
			}
			var slots []*Slot
			for range free {
				s := get(b, a, n)
				touch(s)
				slots = append(slots, s)
			}
			unref(slots...)
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				s := get(b, a, n)
				touch(s)
				s.Unref()
			}
		})
	}
	run(LIFO, 32)
	run(FIFO, 32)
	run(LIFO, 256)
	run(FIFO, 256)
	run(Off, 0)
}

// BenchmarkHeadroom is what each commit pays for looking first.
func BenchmarkHeadroom(b *testing.B) {
	h := thisHost()
	b.ReportAllocs()
	for b.Loop() {
		h.headroom(1 << 20)
	}
}
