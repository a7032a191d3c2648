package rng

import (
	"fmt"
	"math"
	"math/bits"
	"testing"
)

// Each of the 64 bits is 1 with probability p, independently of the next: counts over n words are within 6.2 standard deviations
// of their means, and 8 more for the skewness of the rare ones. One of the 8 × (64 + 63) counts is beyond with probability 6e-7.
// An error of .013 in a p near ½ is found.
func TestBernoulli(t *testing.T) {
	n := 60000
	if testing.Short() {
		n = 20000
	}
	for i, p := range []float64{0.5, 0.25, 0.3, 0.7, 0.1, 1. / 3, 0x1p-9, 0.999} {
		s := Key{Seed: 3, Purpose: Synthetic, Iteration: i}.Stream()
		var ones [64]int
		var pairs [63]int // of neighbours that are both 1
		for range n {
			w := s.Bernoulli(p)
			for b := range ones {
				ones[b] += int(w >> b & 1)
			}
			both := w & (w >> 1)
			for b := range pairs {
				pairs[b] += int(both >> b & 1)
			}
		}
		within := func(what string, count int, p float64) {
			if sd := math.Sqrt(float64(n) * p * (1 - p)); !(math.Abs(float64(count)-float64(n)*p) <= 6.2*sd+8) {
				t.Errorf("p = %v: %s is 1 in %d of %d words, want %.0f ± %.0f", p, what, count, n, float64(n)*p, sd)
			}
		}
		for b, count := range ones {
			within(fmt.Sprintf("bit %d", b), count, p)
		}
		for b, count := range pairs {
			within(fmt.Sprintf("bit %d, with the next,", b), count, p*p)
		}
	}
}

// The bits are those of a comparison of p with a number whose digits are the words', so that they can be computed in another
// way; words are drawn until all bits are decided, and not beyond the last digit of p.
func TestBernoulliIsAComparison(t *testing.T) {
	key := Key{Seed: 2, Purpose: Synthetic}
	for p, most := range map[float64]int{0: 0, 0.5: 1, 0.25: 2, 0.75: 2, 0.3: 30, 0.999: 30, 0x1.fffp-1: 13, 0x1p-64: 64, 0x1p-65: 0} {
		s, words := key.Stream(), key.Stream()
		got := s.Bernoulli(p)
		var numbers [64]float64
		drawn := 0
		for next := s.Uint64(); ; drawn++ { // the number after those that were used
			w := words.Uint64()
			if w == next {
				break
			}
			for b := range numbers {
				numbers[b] += math.Ldexp(float64(w>>b&1), -1-drawn)
			}
		}
		var want uint64
		for b, u := range numbers {
			if u < p && p >= 0x1p-64 {
				want |= 1 << b
			}
		}
		if got != want || drawn > most {
			t.Errorf("p = %v: %016x from %d words, want %016x from at most %d; they differ in %d bits", p, got, drawn, want, most, bits.OnesCount64(got^want))
		}
	}
}

// Outputs are frozen, as those of TestStreamsAreFrozen.
func TestBernoulliIsFrozen(t *testing.T) {
	s := Key{Seed: 1, Purpose: Dropout, Island: 2, Iteration: 3, Mutation: 4, Particle: 5}.Stream()
	for i, c := range []struct {
		p    float64
		want uint64
	}{{0.3, 0x100a357a300270d}, {0.5, 0x76db01c89906cc6f}, {0.1, 0x1081082000810880}} {
		if got := s.Bernoulli(c.p); got != c.want {
			t.Errorf("word %d: %#x", i, got)
		}
	}
}

func TestBernoulliRefuses(t *testing.T) {
	for _, p := range []float64{-0.1, 1, 2, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("p = %v did not panic", p)
				}
			}()
			Key{}.Stream().Bernoulli(p)
		}()
	}
}
