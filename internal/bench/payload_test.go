package bench

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPayloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*patternBytes).Draw(t, "bytes")
		number := rapid.Uint32().Draw(t, "number")
		b := make([]byte, n)
		Fill(b, number)
		for i, x := range b {
			if x != byte(uint32(i)+number) {
				t.Fatalf("byte %d of message %d is %d", i, number, x)
			}
		}
		if !Intact(b, number) || !intactLines(b, number) {
			t.Fatal("a fresh payload is not taken for intact")
		}
		if Intact(b, number+1) || intactLines(b, number+1) {
			t.Fatal("a payload passes for that of the next message")
		}
		i := rapid.IntRange(0, n-1).Draw(t, "damaged")
		b[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if Intact(b, number) {
			t.Fatalf("a flipped bit in byte %d goes unnoticed", i)
		}
		if i%cacheLine == 0 && intactLines(b, number) {
			t.Fatalf("a flipped bit in byte %d goes unnoticed by lines", i)
		}
	})
}

func BenchmarkFill1MB(b *testing.B) {
	p := make([]byte, 1_000_000)
	b.SetBytes(int64(len(p)))
	for i := range b.N {
		Fill(p, uint32(i))
	}
}

func BenchmarkIntact1MB(b *testing.B) {
	p := make([]byte, 1_000_000)
	Fill(p, 7)
	b.SetBytes(int64(len(p)))
	for range b.N {
		if !Intact(p, 7) {
			b.Fatal()
		}
	}
}
