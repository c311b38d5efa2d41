package arena

import (
	"fmt"
	"testing"
)

func BenchmarkGetUnref(b *testing.B) {
	for _, n := range []int{128, 4096, 64 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := newArena(b, Config{})
			b.ReportAllocs()
			for b.Loop() {
				get(b, a, n).Unref()
			}
		})
	}
}

func BenchmarkGetUnrefContended(b *testing.B) {
	a := newArena(b, Config{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			get(b, a, 4096).Unref()
		}
	})
}

// BenchmarkGetTouch1MiB writes a whole message, with 32 free slots to choose
// from: the order of reuse decides whether the slot is in the cache. "off" pays
// for commit, page faults and giving back.
func BenchmarkGetTouch1MiB(b *testing.B) {
	const n = 1 << 20
	src := make([]byte, n)
	for i := range src {
		src[i] = byte(i)
	}
	for _, r := range []Recycle{LIFO, FIFO, Off} {
		b.Run(r.String(), func(b *testing.B) {
			a := newArena(b, Config{Recycle: r})
			if r != Off {
				var slots []*Slot
				for range 32 {
					s := get(b, a, n)
					copy(s.Mem(), src)
					slots = append(slots, s)
				}
				unref(slots...)
			}
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				s := get(b, a, n)
				copy(s.Mem(), src)
				s.Unref()
			}
		})
	}
}
