package smc

import (
	"math"
	"sort"

	"github.com/starling-smc/starling/internal/rng"
)

// Resampler multiplies the fit and drops the unfit, so that all weights are equal afterwards. Every scheme gives
// particle j on average J·W_j copies; they differ in the scatter of that number (Douc, Cappé, Moulines 2005).
type Resampler struct {
	Scheme Scheme
	When   When
	Ratio  float64 // for BelowRatio; 0: .5
}

// Scheme is the way of drawing ancestors.
type Scheme int

const (
	Multinomial Scheme = iota // J independent draws
	Systematic                // one uniform number u: positions (i+u)/J
	Stratified                // a uniform number for each: positions (i+u_i)/J
	Residual                  // ⌊J·W_j⌋ copies for certain, the rest multinomial
)

func (s Scheme) String() string {
	return [...]string{"multinomial", "systematic", "stratified", "residual"}[s]
}

// When says at which iterations resampling takes place.
type When int

const (
	BelowRatio When = iota // if ESS < Ratio·J, strictly
	Always
	Never
)

func (r Resampler) due(ess float64, particles int) bool {
	ratio := r.Ratio
	if ratio == 0 {
		ratio = 0.5
	}
	return r.When == Always || r.When == BelowRatio && ess < ratio*float64(particles)
}

// Ancestors fills ancestors, of any length n, with the indices of parents, drawn with normalised weights w. uniform
// returns numbers in [0, 1). A position u belongs to the smallest j with W_0 + … + W_j > u, so that a particle of
// weight 0 never has children; multinomial ancestors are in the order of the draws.
func (s Scheme) Ancestors(w []float64, uniform func() float64, ancestors []int32) {
	n := float64(len(ancestors))
	switch s {
	case Multinomial:
		draw(w, uniform, ancestors)
	case Systematic:
		u := uniform()
		find := newFinder(w)
		for i := range ancestors {
			ancestors[i] = find.at((float64(i) + u) / n)
		}
	case Stratified:
		find := newFinder(w)
		for i := range ancestors {
			ancestors[i] = find.at((float64(i) + uniform()) / n)
		}
	case Residual:
		certain, rest := residual(w, len(ancestors))
		i := 0
		for j, copies := range certain {
			for range copies {
				ancestors[i] = int32(j)
				i++
			}
		}
		draw(rest, uniform, ancestors[i:])
	default:
		panic("smc: unknown resampling scheme")
	}
}

// draw takes independent ancestors.
func draw(w []float64, uniform func() float64, ancestors []int32) {
	find := newFinder(w)
	for i := range ancestors {
		ancestors[i] = find.at(uniform())
	}
}

// residual splits n·w into whole copies and the probabilities of the draws that remain.
func residual(w []float64, n int) (copies []int, rest []float64) {
	copies, rest = make([]int, len(w)), make([]float64, len(w))
	left := n
	for j, v := range w {
		whole := math.Floor(float64(n) * v)
		copies[j] = min(int(whole), left) // weights that add up to a little more than 1 must not give n+1 copies
		left -= copies[j]
		rest[j] = max(0, float64(float64(n)*v)-whole)
	}
	for j := range rest {
		rest[j] /= float64(max(1, left))
	}
	return copies, rest
}

// finder looks positions up in cumulated weights.
type finder struct {
	cumulated []float64
	last      int // the last particle that is alive: for positions beyond a sum that rounding left below 1
}

func newFinder(w []float64) finder {
	f := finder{cumulated: make([]float64, len(w))}
	var sum float64
	for j, v := range w {
		sum += v
		f.cumulated[j] = sum
		if v > 0 {
			f.last = j
		}
	}
	return f
}

func (f finder) at(position float64) int32 {
	j := sort.Search(len(f.cumulated), func(j int) bool { return f.cumulated[j] > position })
	return int32(min(j, f.last))
}

// weights writes exp of normalised log-weights.
func weights(logw, w []float64) {
	for j, l := range logw {
		w[j] = rng.Exp(l)
	}
}
