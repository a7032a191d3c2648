package uq

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// The p-value of a few numbers in a few cells is the sum of the multinomial probabilities of all divisions that are as far out.
func TestUniformByEnumeration(t *testing.T) {
	for _, c := range []struct{ n, k int }{{1, 2}, {3, 2}, {4, 4}, {6, 3}, {7, 5}} {
		u := newUniform(c.n, c.k)
		binomial := func(z float64, r int) float64 {
			p := 1.0
			for i := range r {
				p *= float64(c.n-i) / float64(i+1)
			}
			return p * math.Pow(z, float64(r)) * math.Pow(1-z, float64(c.n-r))
		}
		gamma := func(counts []int) float64 {
			g, r := 1.0, 0
			for i := range c.k - 1 {
				r += counts[i]
				below, above := 0.0, 0.0
				for s := range c.n + 1 {
					if p := binomial(float64(i+1)/float64(c.k), s); true {
						if s <= r {
							below += p
						}
						if s >= r {
							above += p
						}
					}
				}
				g = min(g, 2*below, 2*above)
			}
			return g
		}
		type division struct {
			x        []float64
			gamma, p float64
		}
		var all []division
		var divide func(counts []int, left int, p float64)
		divide = func(counts []int, left int, p float64) {
			i := len(counts)
			if i == c.k-1 {
				counts = append(slices.Clone(counts), left)
				for m := 2; m <= left; m++ {
					p /= float64(m)
				}
				var x []float64
				for cell, m := range counts {
					for range m {
						x = append(x, (float64(cell)+0.5)/float64(c.k))
					}
				}
				all = append(all, division{x, gamma(counts), p})
				return
			}
			for m := 0; m <= left; m++ {
				divide(append(slices.Clone(counts), m), left-m, p)
				p /= float64(m + 1)
			}
		}
		whole := 1.0
		for m := 1; m <= c.n; m++ {
			whole *= float64(m) / float64(c.k)
		}
		divide(nil, c.n, whole)
		for _, d := range all {
			want := 0.0
			for _, e := range all {
				if e.gamma <= d.gamma*(1+1e-9) {
					want += e.p
				}
			}
			if got := u.P(d.x); !(math.Abs(got-min(1, want)) <= 1e-9) {
				t.Errorf("%d numbers in %d cells: p of %v is %v, want %v", c.n, c.k, d.x, got, want)
			}
		}
	}
}

// Of 4,000 samples of 50 uniform numbers a share of alpha has a p-value of at most alpha, or somewhat less, as γ has steps: within 5 standard errors
// (false failures: 1e-6). So has the band: numbers leave it where their p-value is at most alpha.
func TestUniformLevel(t *testing.T) {
	const n, samples = 50, 4000
	u := NewUniform(n)
	s := rng.Key{Seed: 45, Purpose: rng.Synthetic}.Stream()
	z, low, high := u.Band(0.05)
	small, left, x := map[float64]int{}, 0, make([]float64, n)
	for range samples {
		for i := range x {
			x[i] = s.Float64()
		}
		p := u.P(x)
		for _, alpha := range []float64{0.5, 0.05, 0.01} {
			if p <= alpha {
				small[alpha]++
			}
		}
		out := false
		for i := range z {
			r := 0.0
			for _, v := range x {
				if v <= z[i] {
					r += 1.0 / n
				}
			}
			out = out || r < low[i]-1e-9 || r > high[i]+1e-9
		}
		if out {
			left++
		}
		if out != (p <= 0.05) {
			t.Fatalf("p is %v, and outside of the band: %v", p, out)
		}
	}
	for alpha, count := range small {
		share, se := float64(count)/samples, math.Sqrt(alpha*(1-alpha)/samples)
		if !(share <= alpha+5*se) || !(share >= 0.7*alpha-5*se) {
			t.Errorf("a share of %v has p ≤ %v", share, alpha)
		}
	}
	if len(small) != 3 || left == 0 {
		t.Errorf("%v, %d left the band", small, left)
	}
}

// Numbers that are not uniform have small p-values: heaped at both ends, in the middle, shifted, and all the same.
func TestUniformFinds(t *testing.T) {
	const n = 200
	u := NewUniform(n)
	for name, law := range map[string]func(v float64) float64{
		"shifted": func(v float64) float64 { return v * v * math.Sqrt(v) }, "at the end": func(float64) float64 { return 1 }, "none": func(float64) float64 { return math.NaN() },
		"in the middle": func(v float64) float64 { return 0.25 + v/2 }, "at the ends": func(v float64) float64 { return 0.5 + 0.5*math.Copysign(math.Sqrt(math.Abs(2*v-1)), 2*v-1) },
	} {
		x := make([]float64, n)
		for i := range x {
			x[i] = law((float64(i) + 0.5) / n)
		}
		if p := u.P(x); !(p < 2e-3) {
			t.Errorf("%s: p is %v", name, p)
		}
	}
	for i, x := 0, make([]float64, n); i < 1; i++ {
		for j := range x {
			x[j] = (float64(j) + 0.5) / n
		}
		if p := u.P(x); !(p > 0.99) {
			t.Errorf("evenly spread numbers: p is %v", p)
		}
	}
}

// By hand: equal weights, unequal ones and ties.
func TestRankByHand(t *testing.T) {
	for _, c := range []struct {
		x              float64
		draws, weights []float64
		v, want        float64
	}{
		{2, []float64{1, 3, 5}, []float64{1. / 3, 1. / 3, 1. / 3}, 0.5, 1.5 / 4},
		{0, []float64{1, 3, 5}, []float64{1. / 3, 1. / 3, 1. / 3}, 0.25, 0.25 / 4},
		{9, []float64{1, 3, 5}, []float64{1. / 3, 1. / 3, 1. / 3}, 1, 1},
		{3, []float64{1, 3, 3, 5}, []float64{0.25, 0.25, 0.25, 0.25}, 0.5, (1 + 0.5*3) / 5},
		{2, []float64{1, 3}, []float64{0.8, 0.2}, 0.5, (0.8/0.68 + 0.5) / (1/0.68 + 1)},
		{2, []float64{1, 3}, []float64{1, 0}, 0.5, 0.75},
	} {
		if got := Rank(c.x, c.draws, c.weights, c.v); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("rank of %v in %v by %v is %v, want %v", c.x, c.draws, c.weights, got, c.want)
		}
	}
}

// Ranks among weighted draws are uniform where their weights correct the law that they are from: 1,000 ranks of a normal number among 200 draws of
// one of variance 2 have a p-value of at least 1e-4, of each of six seeds (false failures: 6e-4, and the seeds are fixed); without the weights it is
// below 1e-9.
func TestRankOfWeighted(t *testing.T) {
	const n, draws = 1000, 200
	u := NewUniform(n)
	for seed := range uint64(6) {
		s := rng.Key{Seed: 100 + seed, Purpose: rng.Synthetic}.Stream()
		right, wrong := make([]float64, n), make([]float64, n)
		x, w, equal := make([]float64, draws), make([]float64, draws), make([]float64, draws)
		for i := range n {
			sum := 0.0
			for j := range x {
				x[j], equal[j] = math.Sqrt2*s.Normal(), 1.0/draws
				w[j] = math.Exp(-x[j] * x[j] / 4) // exp(−x²/2)/exp(−x²/4)
				sum += w[j]
			}
			for j := range w {
				w[j] /= sum
			}
			value, v := s.Normal(), s.Float64()
			right[i], wrong[i] = Rank(value, x, w, v), Rank(value, x, equal, v)
		}
		if p := u.P(right); !(p >= 1e-4) {
			t.Errorf("weighted ranks: p is %v", p)
		}
		if p := u.P(wrong); !(p < 1e-9) {
			t.Errorf("ranks without the weights: p is %v", p)
		}
	}
}
