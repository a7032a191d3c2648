package mcmc

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
)

// Scaling says which scale of the coordinates a move learns: a population from its particles, a chain from its early states.
type Scaling string

// The scalings. The empty one is Dense for at most 64 coordinates; beyond, it is Diagonal for populations and Tensor for chains.
// Where the step is given it is None: a step in units of θ.
const (
	None     Scaling = "none"     // all coordinates have scale 1
	Tensor   Scaling = "tensor"   // one scale for each weight or bias tensor of the model (Blocks)
	Diagonal Scaling = "diagonal" // one scale for each coordinate
	Dense    Scaling = "dense"    // the Cholesky factor of a covariance, for at most 500 coordinates
)

var scalings = []Scaling{None, Tensor, Diagonal, Dense}

// ScalingNames lists the names of the scalings.
func ScalingNames() (names []string) {
	for _, s := range scalings {
		names = append(names, string(s))
	}
	return names
}

// Check refuses names that are none.
func (s Scaling) Check(f *config.Faults) {
	if s != "" {
		f.OneOf("", string(s), ScalingNames()...)
	}
}

const (
	mostDense  = 500 // coordinates of a dense scale
	usualDense = 64  // coordinates for which the scale is dense unless another is asked for
)

// Blocks is a model whose parameters form blocks, such as the tensors of a network. It returns the index behind each block's
// last coordinate.
type Blocks interface{ Blocks() []int }

// blocks returns the blocks of a target's coordinates: one of all where the model names none.
func blocks(t *Target) []int {
	if m, ok := t.Model.(Blocks); ok {
		return m.Blocks()
	}
	return []int{t.Prior.Dim()}
}

// resolve returns the scaling of a target with D coordinates; given: the step is given.
func (s Scaling) resolve(d int, given bool) (Scaling, error) {
	switch {
	case s == "" && given:
		return None, nil
	case s == "" && d <= usualDense:
		return Dense, nil
	case s == "":
		return Diagonal, nil
	case s == Dense && d > mostDense:
		return s, fmt.Errorf("a dense scale is for at most %d parameters: of %d it takes %d MB for each chain and %d MB for each island, and "+
			"%d multiplications a leapfrog; take scale: diagonal or tensor", mostDense, d, 8*sizeOf(Dense, d, 1)/1e6, 8*sizeOf(Dense, d, mostFolds)/1e6, d*d)
	}
	return s, nil
}

// sample describes weighted points by their moments.
type sample struct {
	n    float64   // how many independent points it is worth
	mean []float64 // D
	m2   []float64 // D variances or, for a dense scale, D×D covariances of which the lower triangle is set
}

// moments returns the moments of weighted particles. Copies of one particle, which moves have not parted, are worth one.
func moments(t *Target, p *Population, weights []float64, kind Scaling) sample {
	d := p.D
	s := sample{mean: make([]float64, d)}
	var squares float64
	var places []float64 // their log-likelihoods: those of copies are equal
	for j := range p.J {
		if weights[j] == 0 {
			continue
		}
		places = append(places, p.LL[j])
		squares += float64(weights[j] * weights[j])
		for i, x := range p.row(p.Theta, j) {
			s.mean[i] += float64(weights[j] * x)
		}
	}
	of := float64(len(places))
	slices.Sort(places)
	s.n = 1 / squares * float64(len(slices.Compact(places))) / of
	if kind == Dense {
		s.m2 = make([]float64, d*d)
	} else {
		s.m2 = make([]float64, d)
	}
	away := make([]float64, d)
	for j := range p.J {
		w := weights[j]
		if w == 0 {
			continue
		}
		for i, x := range p.row(p.Theta, j) {
			away[i] = x - s.mean[i]
		}
		s.add(away, w/max(1-squares, 0x1p-52), kind)
	}
	return s
}

// add adds the products of deviations from the mean, times a weight.
func (s *sample) add(away []float64, w float64, kind Scaling) {
	d := len(away)
	if kind != Dense {
		for i, a := range away {
			s.m2[i] += float64(float64(w*a) * a)
		}
		return
	}
	for i, a := range away {
		row, wa := s.m2[i*d:i*d+i+1], float64(w*a)
		for k := range row {
			row[k] += float64(wa * away[k])
		}
	}
}

// variance is that of coordinate i of d.
func (s *sample) variance(i, d int) float64 {
	if len(s.m2) > d {
		return s.m2[i*d+i]
	}
	return s.m2[i]
}

// fewest is the number of independent points below which a sample teaches no scale.
const fewest = 3

// learn sets sd, the scale of each coordinate, and factor, if it is not nil, by a sample, and reports whether the sample was
// large enough. Variances v_i are shrunk by 5 points, as in Stan, but towards the last scale times a factor that is common to the
// coordinate's block: with few points a block changes as one, and with many each coordinate has its own scale. Tensor shrinks
// all the way. Logarithms are averaged, since the last scale may be wrong by powers of ten:
//
//	u_i = log(v_i/sd_i²),   ū = their mean in the block,   log sd_i² ← log sd_i² + (n u_i + 5 ū)/(n + 5)
//
// A coordinate that did not vary changes as its block.
//
// Correlations are shrunk towards 0 by the share that minimises their expected squared error (Schäfer and Strimmer 2005), with
// (1 − r²)²/n for the variance of a correlation r.
func (s *sample) learn(kind Scaling, blocks []int, sd, factor []float64) bool {
	if !(s.n >= fewest) {
		return false
	}
	d, begin := len(sd), 0
	share := s.n / (s.n + 5)
	if kind == Tensor {
		share = 0
	}
	next := make([]float64, d)
	for _, end := range blocks {
		var common, n float64
		for i := begin; i < end; i++ {
			if next[i] = rng.Log(s.variance(i, d) / float64(sd[i]*sd[i])); isFinite(next[i]) {
				common += next[i]
				n++
			}
		}
		if n == 0 {
			return false
		}
		common /= n
		for i := begin; i < end; i++ {
			u := common
			if isFinite(next[i]) {
				u = float64(share*next[i]) + float64((1-share)*common)
			}
			next[i] = float64(sd[i] * rng.Exp(u/2))
		}
		begin = end
	}
	copy(sd, next)
	if factor == nil {
		return true
	}
	correlation := func(i, k int) float64 {
		r := s.m2[i*d+k] / math.Sqrt(float64(s.m2[i*d+i]*s.m2[k*d+k]))
		if !isFinite(r) { // a coordinate that did not vary
			return 0
		}
		return r
	}
	var noise, signal float64
	for i := range d {
		for k := range i {
			r := correlation(i, k)
			noise += float64((1-float64(r*r))*(1-float64(r*r))) / s.n
			signal += float64(r * r)
		}
	}
	keep := 1 - 1e-9
	if signal > 0 {
		keep = min(keep, max(0, 1-noise/signal))
	}
	for i := range d {
		for k := range i {
			factor[i*d+k] = float64(float64(keep*correlation(i, k)) * float64(sd[i]*sd[k]))
		}
		factor[i*d+i] = float64(sd[i] * sd[i])
	}
	if !dense.Cholesky(factor, d) { // only where rounding spoils correlations of almost 1
		scale{sd, factor}.diagonal()
	}
	return true
}

// logVolume is the mean logarithm of the scales.
func logVolume(sd []float64) (mean float64) {
	for _, x := range sd {
		mean += rng.Log(x) / float64(len(sd))
	}
	return mean
}

// relearn sets a dense scale L, of which sd are the lengths of its rows, as learn does, but in the coordinates L⁻¹θ: variances and correlations
// are both shrunk towards L. So a sample that says little leaves a scale that is right as it is, however narrow it is in some direction,
// while correlations shrunk towards 0 would make it as wide there as the sample is small.
func (s *sample) relearn(sd, factor []float64) bool {
	d := len(sd)
	z := sample{n: s.n, m2: make([]float64, d*d)} // L⁻¹ C L⁻ᵀ
	column := make([]float64, d)
	for k := range d {
		for i := range d {
			column[i] = s.m2[max(i, k)*d+min(i, k)]
		}
		dense.Forward(factor, column)
		copy(z.m2[k*d:(k+1)*d], column) // row k of (L⁻¹ C)ᵀ
	}
	for i := range d {
		for k := range d {
			column[k] = z.m2[k*d+i]
		}
		dense.Forward(factor, column)
		for k := range d {
			z.m2[k*d+i] = column[k]
		}
	}
	ones, change, next := slices.Repeat([]float64{1}, d), make([]float64, d*d), make([]float64, d*d)
	if !z.learn(Dense, []int{d}, ones, change) {
		return false
	}
	dense.Mul(next, factor, change, d)
	copy(factor, next)
	for i := range sd {
		sd[i] = math.Sqrt(dot(next[i*d:i*d+i+1], next[i*d:i*d+i+1]))
	}
	return true
}
