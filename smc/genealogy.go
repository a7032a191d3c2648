package smc

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/rng"
)

// Genealogy estimates from a single run the variance that its log Z has over runs. Particles that share an ancestor share its chance,
// so the unit is the family: all particles with the same ancestor ℓ weightings ago (Chan and Lai 2013 and Lee and Whiteley 2018 take the
// ancestors at the start; Olsson and Douc 2019 those of a fixed lag, since all particles soon descend from one).
//
// Weighting k multiplies Z by r_k = Σ_j W_j e^{increment of j}. With F and F' the shares of family i of all weight before and after it,
// log r_k without the family differs from log r_k by log((1 − F'_i)/(1 − F_i)), the jackknife's view of what the family did. A family
// acts in all weightings since its ancestor, so
//
//	a_ki = Σ_{m = k−ℓ}^{k} log((1 − F_mi)/(1 − F'_mi)),   V_ℓ = Σ_k Σ_i (1 − F_ki) (a_ki² − a_{k−1,i}²),
//
// families by the ancestors at weighting k−ℓ (the first one, if k < ℓ). The difference of squares is the variance of log r_k and twice
// its covariance with the ℓ earlier ones. The factor 1 − F is the jackknife's (J−1)/J for families of unequal size. Nothing here asks
// whether particles were resampled, or whether weights are due to the target or to energy errors: F and F' are the weights' shares.
//
// Each V_ℓ is too small on the average: a short lag misses what moves do not forget, and at a long lag few families are left. The
// estimate is therefore the largest over the lags 0 … 8, as Mastrototaro and Olsson (2023) choose theirs. docs/scores.md says how far
// it can be relied on.
type Genealogy struct {
	Ancestors []int32   // lags×J, oldest first: each particle's ancestor, by its index at that weighting
	Acted     []float64 // lags×J, a of the family of each of these ancestors
	Variance  []float64 // V_0 … V_8; V_0 is infinite after a weighting that left all weight to one particle; empty: nothing was weighted
}

// longestLag is the longest lag. Of J particles with an effective share of one half, about J/2^8 would be left if moves forgot nothing.
const longestLag = 8

// lone is the share beyond which a family has all the weight.
const lone = 1 - 1e-9

// weighted counts a weighting of particles with normalised weights before and after it. Particles j, j+m, j+2m… are the states of one of m
// chains, and share its chance: they are the family of lag 0. chains is m; 0: each particle is a family.
func (g *Genealogy) weighted(before, after []float64, chains int) {
	n := len(before)
	if chains == 0 {
		chains = n
	}
	if g.Variance == nil {
		g.Variance = make([]float64, longestLag+1)
	}
	if len(g.Acted) == n*(longestLag+1) {
		copy(g.Ancestors, g.Ancestors[n:])
		copy(g.Acted, g.Acted[n:])
		g.Ancestors, g.Acted = g.Ancestors[:n*longestLag], g.Acted[:n*longestLag]
	}
	g.Acted = append(g.Acted, make([]float64, n)...)
	for j := range n {
		g.Ancestors = append(g.Ancestors, int32(j%chains))
	}

	lags, share, next := len(g.Acted)/n, make([]float64, n), make([]float64, n)
	var rise float64
	for lag := range g.Variance {
		if lag < lags { // a longer lag is one to the start
			from := (lags - 1 - lag) * n
			clear(share)
			clear(next)
			for j, a := range g.Ancestors[from : from+n] {
				share[a] += before[j]
				next[a] += after[j]
			}
			rise = act(g.Acted[from:from+n], share, next, lag == 0)
		}
		g.Variance[lag] += rise
	}
}

// act adds to acted what families did in a weighting that changed their shares of the weight, and returns what this adds to the variance.
// A family with all the weight has no other to compare it with: of particles, the variance is then unknown.
func act(acted, share, next []float64, particles bool) (rise float64) {
	for i, a := range acted {
		switch {
		case share[i] < lone && next[i] < lone:
			acted[i] += rng.Log((1 - share[i]) / (1 - next[i]))
			rise += float64((1 - share[i]) * (float64(acted[i]*acted[i]) - float64(a*a)))
		case particles:
			return math.Inf(1)
		}
	}
	return rise
}

// resampled makes the particles copies of their parents.
func (g *Genealogy) resampled(parents []int32) {
	old := make([]int32, len(parents))
	for from := 0; from < len(g.Ancestors); from += len(parents) {
		row := g.Ancestors[from : from+len(parents)]
		copy(old, row)
		for j, p := range parents {
			row[j] = old[p]
		}
	}
}

// SD is the estimate of the standard deviation of log Z over runs; NaN where the run cannot tell.
func (g *Genealogy) SD() float64 {
	if len(g.Variance) == 0 || math.IsInf(g.Variance[0], 1) {
		return math.NaN()
	}
	largest := 0.0
	for _, v := range g.Variance {
		largest = max(largest, v)
	}
	if largest == 0 {
		return math.NaN()
	}
	return math.Sqrt(largest)
}

// copy makes g a deep copy of from.
func (g *Genealogy) copy(from *Genealogy) {
	g.Ancestors = append(g.Ancestors[:0], from.Ancestors...)
	g.Acted = append(g.Acted[:0], from.Acted...)
	g.Variance = append(g.Variance[:0], from.Variance...)
}

func (g *Genealogy) encode(e *ckpt.Encoder) {
	e.Int32s("genealogy", g.Ancestors)
	e.Float64s("acted", g.Acted)
	e.Float64s("variance", g.Variance)
}

func (g *Genealogy) decode(d *ckpt.Decoder) {
	g.Ancestors, g.Acted, g.Variance = d.Int32s("genealogy"), d.Float64s("acted"), d.Float64s("variance")
}

// check refuses a genealogy that is not one of n particles.
func (g *Genealogy) check(n int) error {
	lags := len(g.Acted) / n
	if len(g.Acted) != len(g.Ancestors) || len(g.Acted)%n != 0 || lags > longestLag+1 {
		return fmt.Errorf("genealogy of %d ancestors and %d numbers for %d particles", len(g.Ancestors), len(g.Acted), n)
	}
	if len(g.Variance) != 0 && len(g.Variance) != longestLag+1 || (len(g.Variance) == 0) != (lags == 0) {
		return fmt.Errorf("genealogy of %d lags with %d variances", lags, len(g.Variance))
	}
	for _, a := range g.Ancestors {
		if a < 0 || int(a) >= n {
			return errors.New("genealogy names an ancestor that is none of the particles")
		}
	}
	return nil
}
