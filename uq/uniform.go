package uq

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Uniform tests whether n independent numbers are draws of the uniform law on [0, 1], by their empirical distribution function at the points
// z_i = i/K (Säilynoja, Bürkner and Vehtari 2022, "Graphical test for discrete uniformity and its applications in goodness-of-fit evaluation
// and multiple sample comparison", sections 2 and 3). R_i, how many of the numbers are at most z_i, is Binomial(n, z_i), and
//
//	γ = min_i min(1, 2 P(B_i ≤ R_i), 2 P(B_i ≥ R_i)),   B_i ~ Binomial(n, z_i),
//
// is how far the farthest point is out by itself. The p-value is the probability that uniform numbers have a γ as small, over all points at
// once. It is exact: numbers in the K cells of equal length are independent Poisson counts of mean n/K, given that they add up to n, so
//
//	q_i(r) = Σ_s q_{i−1}(s) Pois(r − s; n/K),   over the r that are inside at z_i,
//	P(γ ≤ g) = Σ_i Σ_{r outside at z_i} [Σ_s q_{i−1}(s) Pois(r − s; n/K)] Pois(n − r; n(1 − z_i)) / Pois(n; n).
//
// All terms are positive, so that small p-values have as many right digits as large ones. Where a law is not uniform, γ finds a shift, a
// spread and heavy ends alike.
type Uniform struct {
	n, k   int
	tails  [][]float64 // of z_1 … z_{K−1}: min(1, 2 P(B ≤ r), 2 P(B ≥ r)), r = 0 … n
	cell   []float64   // Pois(r; n/K), as far as it is a number
	factor []float64   // log r!
}

// mostPoints is the largest K.
const mostPoints = 200

// NewUniform returns the test of n numbers, at least 1, at min(n, 200) points.
func NewUniform(n int) *Uniform { return newUniform(n, min(n, mostPoints)) }

func newUniform(n, k int) *Uniform {
	u := &Uniform{n: n, k: k, factor: make([]float64, n+1)}
	for r := 2; r <= n; r++ {
		u.factor[r] = u.factor[r-1] + rng.Log(float64(r))
	}
	for r := range n + 1 {
		p := u.poisson(r, float64(n)/float64(k))
		if p == 0 && r > n/k {
			break
		}
		u.cell = append(u.cell, p)
	}
	for i := 1; i < k; i++ {
		u.tails = append(u.tails, u.binomialTails(float64(i)/float64(k)))
	}
	return u
}

// poisson is Pois(r; mean).
func (u *Uniform) poisson(r int, mean float64) float64 {
	return rng.Exp(float64(float64(r)*rng.Log(mean)) - mean - u.factor[r])
}

// binomialTails are min(1, 2 P(B ≤ r), 2 P(B ≥ r)) of B ~ Binomial(n, z).
func (u *Uniform) binomialTails(z float64) []float64 {
	p, tails := make([]float64, u.n+1), make([]float64, u.n+1)
	in, out := rng.Log(z), rng.Log1p(-z)
	for r := range p {
		p[r] = rng.Exp(u.factor[u.n] - u.factor[r] - u.factor[u.n-r] + float64(float64(r)*in) + float64(float64(u.n-r)*out))
	}
	below := 0.0
	for r, x := range p {
		below += x
		tails[r] = min(1, 2*below)
	}
	above := 0.0
	for r := u.n; r >= 0; r-- {
		above += p[r]
		tails[r] = min(tails[r], 2*above)
	}
	return tails
}

// P is the p-value of n numbers: the probability that so many uniform ones have a γ as small. A number that is none counts as above 1.
func (u *Uniform) P(x []float64) float64 {
	if len(x) != u.n {
		panic("uq: another number of values than the test is of")
	}
	gamma := 1.0
	for i, tails := range u.tails {
		z, r := float64(i+1)/float64(u.k), 0
		for _, v := range x {
			if v <= z {
				r++
			}
		}
		gamma = min(gamma, tails[r])
	}
	return u.leaves(gamma)
}

// apart is by how much a γ is larger that is not the same one with other rounding.
const apart = 1 + 1e-9

// leaves is P(γ ≤ g) of uniform numbers.
func (u *Uniform) leaves(g float64) float64 {
	if g *= apart; g >= 1 {
		return 1
	}
	q, next := make([]float64, u.n+1), make([]float64, u.n+1)
	q[0] = 1
	low, high, out := 0, 0, 0.0
	for i, tails := range u.tails {
		clear(next)
		for s := low; s <= high; s++ {
			if q[s] == 0 {
				continue
			}
			for d := 0; d < len(u.cell) && s+d <= u.n; d++ {
				next[s+d] += float64(q[s] * u.cell[d])
			}
		}
		left := float64(u.n) * float64(u.k-1-i) / float64(u.k)
		low, high = u.n, 0
		for r, p := range next {
			switch {
			case p == 0:
			case tails[r] > g:
				low, high = min(low, r), max(high, r)
			default:
				out += float64(p * u.poisson(u.n-r, left))
				next[r] = 0
			}
		}
		q, next = next, q
	}
	return min(1, out/u.poisson(u.n, float64(u.n)))
}

// Band is the widest band that uniform numbers leave at some point with a probability of at most alpha: at z_i, between how few and how many of
// the n numbers lie below, as shares. It begins at 0 and ends at 1. Numbers leave it where their p-value is at most alpha.
func (u *Uniform) Band(alpha float64) (z, low, high []float64) {
	// The steps of γ are those of the tails. The largest that is not left too often is found by halving.
	var steps []float64
	for _, tails := range u.tails {
		steps = append(steps, tails...)
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	from, to := -1, len(steps) // leaves(steps[from]) ≤ alpha < leaves(steps[to])
	for to-from > 1 {
		if m := (from + to) / 2; u.leaves(steps[m]) <= alpha {
			from = m
		} else {
			to = m
		}
	}
	g := math.Inf(-1)
	if from >= 0 {
		g = steps[from] * apart
	}
	z, low, high = []float64{0}, []float64{0}, []float64{0}
	for i, tails := range u.tails {
		first := slices.IndexFunc(tails, func(t float64) bool { return t > g })
		last := len(tails) - 1
		for last > first && !(tails[last] > g) {
			last--
		}
		z = append(z, float64(i+1)/float64(u.k))
		low, high = append(low, float64(first)/float64(u.n)), append(high, float64(last)/float64(u.n))
	}
	return append(z, 1), append(low, 1), append(high, 1)
}

// Rank is the randomised rank of a value among weighted draws of the law that it is from, by the weights W of n draws, which sum to 1, and
// a uniform number v:
//
//	u = (m·Σ_{x_j < x} W_j + v·(m·Σ_{x_j = x} W_j + 1)) / (m + 1),   m = 1/Σ W².
//
// With equal weights, m = n and the rank is uniform on the n + 1 places: exactly, if the draws are independent (Talts, Betancourt, Simpson,
// Vehtari and Gelman 2018, theorem 1), and v spreads it over the length of its place. Weights make of F(x) an estimate with variance F(1 − F)/m,
// so that an estimate by itself has a density of 1 − 1/m, to first order, between 0 and 1, and the rest is at both ends. The rank has what an estimate
// by m equal weights has.
func Rank(x float64, draws, weights []float64, v float64) float64 {
	var below, same, squares float64
	for j, d := range draws {
		w := weights[j]
		squares += float64(w * w)
		switch {
		case d < x:
			below += w
		case d == x:
			same += w
		}
	}
	m := 1 / squares
	return min(1, (float64(m*below)+float64(v*(float64(m*same)+1)))/(m+1))
}
