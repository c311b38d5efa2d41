package pool

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClassesGrow(t *testing.T) {
	last := 0
	for i := range Classes {
		size := ClassSize(i)
		if size <= last {
			t.Fatalf("class %d has %d bytes, the one before %d", i, size, last)
		}
		if size%64 != 0 || size >= 4096 && size%4096 != 0 {
			t.Errorf("class %d has %d bytes, which breaks the alignment of its neighbours", i, size)
		}
		if Class(size) != i || Class(size-1) != i || i+1 < Classes && Class(size+1) != i+1 {
			t.Errorf("size %d: classes of size-1, size, size+1 are %d %d %d, want %d %d %d",
				size, Class(size-1), Class(size), Class(size+1), i, i, i+1)
		}
		last = size
	}
	if last != MaxSize {
		t.Errorf("largest class has %d bytes, want %d", last, MaxSize)
	}
	if got := Class(MaxSize + 1); got != Classes {
		t.Errorf("Class(MaxSize+1) = %d, want %d", got, Classes)
	}
}

func TestClassBoundaries(t *testing.T) {
	for _, c := range []struct{ n, size int }{
		{-1, 128}, {0, 128}, {1, 128}, {128, 128}, {129, 256}, {4097, 8192},
		{65536, 65536}, {65537, 80 << 10}, {100 << 10, 112 << 10}, {128 << 10, 128 << 10},
		{1 << 20, 1 << 20}, {1<<20 + 64, 5 << 18}, {8_000_064, 8 << 20}, {20 << 20, 20 << 20},
	} {
		if got := ClassSize(Class(c.n)); got != c.size {
			t.Errorf("%d bytes get a slot of %d, want %d", c.n, got, c.size)
		}
	}
}

func TestClassWastesLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(MinSize+1, MaxSize).Draw(t, "n")
		size := ClassSize(Class(n))
		if size < n {
			t.Fatalf("%d bytes do not fit into their class of %d", n, size)
		}
		most := 2 * n
		if n > 64<<10 {
			most = n + n/4
		}
		if size > most {
			t.Fatalf("%d bytes get %d", n, size)
		}
	})
}
