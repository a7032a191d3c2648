package lanes

import (
	"math/rand/v2"
	"testing"
)

// vectorCounts are numbers of vectors with all tails, and more than one call.
func vectorCounts() []int {
	counts := []int{1<<16 + 7}
	if testing.Short() {
		counts = nil
	}
	for n := range 20 {
		counts = append(counts, n)
	}
	return counts
}

func TestReduceAdd(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for _, n := range vectorCounts() {
			for _, odd := range []int{0, 30} {
				acc, start := numbers(r, n*Lanes, odd), numbers(r, n, odd)
				want := append([]float32{}, start...)
				for k := range want {
					v := acc[k*Lanes:]
					pair := func(i int) float32 { // lanes i and i+8, with those 4 after them
						return float32(v[i]+v[i+8]) + float32(v[i+4]+v[i+12])
					}
					want[k] += float32(pair(0)+pair(2)) + float32(pair(1)+pair(3))
				}
				a, s := guard(acc, n%4, 3), guard(start, n%3, 3)
				ReduceAdd(a.words, s.words)
				a.check(t, "acc")
				s.check(t, "sums")
				sameBits(t, "acc", a.words, acc)
				sameBits(t, "sums", s.words, want)
			}
		}
	})
}

// Every lane's position must be that of the first maximum.
func TestPoolMasks(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for _, n := range vectorCounts() {
			masks := guard(make([]uint16, 4*n), n%5, 0x1234)
			want := make([]uint16, 4*n)
			for k := range n {
				for l := range Lanes {
					var v [4]int
					for q := range v {
						v[q] = r.IntN(3)
					}
					best := 0
					for q := range v {
						if v[q] > v[best] {
							best = q
						}
					}
					for i, greater := range []bool{v[1] > v[0], v[3] > v[2], max(v[2], v[3]) > max(v[0], v[1])} {
						if greater {
							masks.words[4*k+i] |= 1 << l
						}
					}
					want[4*k+best] |= 1 << l
				}
			}
			PoolMasks(masks.words)
			masks.check(t, "masks")
			for i, w := range want {
				if masks.words[i] != w {
					t.Fatalf("%d vectors: word %d is %#x, want %#x", n, i, masks.words[i], w)
				}
			}
		}
	})
}

func TestPeakFMACounts(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		if one, two := PeakFMA(1), PeakFMA(1<<9); !(one > 0) || two != 2*one {
			t.Errorf("%g operations in one call, %g in two", one, two)
		}
	})
}
