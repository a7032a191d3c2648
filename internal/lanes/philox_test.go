package lanes

import (
	"math"
	"slices"
	"testing"
)

// Every number is that of its block, computed alone: at all lengths, in calls that are cut, and where the counter wraps around. Nothing
// is written behind the last whole block.
func TestPhiloxBlocks(t *testing.T) {
	counter, key := [3]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e}, [2]uint32{0xa4093822, 0x299f31d0}
	lengths := []int{1<<14 + 70, 3<<14 + 130}
	for n := range 200 {
		lengths = append(lengths, n)
	}
	eachKernel(t, func(t *testing.T) {
		for _, n := range lengths {
			first := uint32(math.MaxUint32 - n/3)
			out := guard(make([]uint64, n), n%5, 0xfeed)
			Philox(counter, first, key, out.words)
			for i, have := range out.words[:n&^1] {
				if want, _ := PhiloxPair(counter, first+uint32(i/2), 0, key); have != want[i%2] {
					t.Fatalf("number %d of %d is %#x, want %#x", i, n, have, want[i%2])
				}
			}
			if n%2 == 1 && out.words[n-1] != 0 {
				t.Fatalf("the last of %d numbers has no block, but is %#x", n, out.words[n-1])
			}
			out.check(t, "Philox")
		}
	})
}

// The two blocks of a pair do not mix.
func TestPhiloxPair(t *testing.T) {
	counter, key := [3]uint32{1, 2, 3}, [2]uint32{4, 5}
	a, b := PhiloxPair(counter, 6, 7, key)
	c, d := PhiloxPair(counter, 7, 6, key)
	if a != d || b != c || slices.Equal(a[:], b[:]) {
		t.Errorf("blocks 6 and 7: %x %x; 7 and 6: %x %x", a, b, c, d)
	}
}
