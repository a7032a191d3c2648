package smc

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// notUniform says where ranks on 0…L are not uniform: "" for ranks of a right sampler, but for one in 10⁶/tests.
//
// Of n independent uniform ranks the number below k is binomial, with probability k/(L+1), for every k: an envelope of their
// empirical distribution. The distance from the nearer end, min(r, L−r), is uniform too, and has an envelope of its own: it shows
// posteriors that are too narrow or too wide at both sides. The tails are those of the binomial distribution, exactly, and the
// false-failure rate is shared by all of them.
func notUniform(ranks []int, tests int) (fault string) {
	const half = (ranked + 1) / 2
	rate := 1e-6 / float64(2*tests*(ranked+half-1)) // of one tail
	least := rate
	check := func(what string, below func(rank, k int) bool, cuts int) {
		for k := 1; k < cuts; k++ {
			count, p := 0, float64(k)/float64(cuts)
			for _, r := range ranks {
				if below(r, k) {
					count++
				}
			}
			if tail := binomialTail(count, len(ranks), p); !(tail >= least) {
				least = tail
				fault = fmt.Sprintf("%s %d lie %d of %d ranks, expected %.1f; chance has a tail of %.2g there, want %.2g",
					what, k, count, len(ranks), p*float64(len(ranks)), tail, rate)
			}
		}
	}
	check("below", func(r, k int) bool { return r < k }, ranked+1)
	check("nearer to an end than", func(r, k int) bool { return min(r, ranked-r) < k }, half)
	return fault
}

// binomialTail is the smaller of P(X ≤ k) and P(X ≥ k) of a binomial X.
func binomialTail(k, n int, p float64) float64 {
	log := func(i int) float64 { l, _ := math.Lgamma(float64(i) + 1); return l }
	low, high := 0.0, 0.0
	for i := range n + 1 {
		mass := math.Exp(log(n) - log(i) - log(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if i <= k {
			low += mass
		}
		if i >= k {
			high += mass
		}
	}
	return min(low, high)
}

// Of a normal posterior that is known, exact draws have uniform ranks. Draws of .7 or 1.5 times its standard deviation, and draws
// that are off by .5 of it, are found among 400.
func TestRanksShowWrongPosteriors(t *testing.T) {
	for _, c := range []struct {
		shift, width float64
		wrong        bool
	}{{0, 1, false}, {0, 0.7, true}, {0, 1.5, true}, {0.5, 1, true}, {-0.5, 1, true}} {
		var ranks []int
		stream := rng.Key{Seed: 2, Purpose: rng.Synthetic}.Stream()
		for range 400 {
			truth, rank := stream.Normal(), 0
			for range ranked {
				if c.shift+c.width*stream.Normal() < truth {
					rank++
				}
			}
			ranks = append(ranks, rank)
		}
		if fault := notUniform(ranks, 18); fault != "" != c.wrong {
			t.Errorf("shift %v, width %v: %q", c.shift, c.width, fault)
		}
	}
	// From tables: ten tosses of a coin have at most two heads with probability 56/1024.
	for _, k := range []int{2, 8} {
		if tail := binomialTail(k, 10, 0.5); !(math.Abs(tail-56./1024) < 1e-12) {
			t.Errorf("tail %v, want %v", tail, 56./1024)
		}
	}
}
