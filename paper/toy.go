package paper

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// The toy of scalable-bayesian-monte-carlo, section 5, whose density the paper does not state. One number is observed, y = θ₂ + θ₁² with
// normal noise, and the prior is N(0, I):
//
//	l(θ) = −(y − θ₂ − θ₁²)²/(2σ²) − ½ log(2πσ²),   π₀ = N(0, v I),   y = 1.5, σ = .2, v = 1.
//
// The posterior is a banana with two arms and a maximum on each, since the sign of θ₁ makes no difference: so it is with the hidden units of
// a network.
const (
	toySeen  = 1.5 // y
	toyNoise = 0.2 // σ
	toyPrior = 1.0 // v
)

// toyMAP is the maximum of the posterior with θ₁ > 0. Where the gradient vanishes, (y − θ₂ − θ₁²)/σ² is 1/(2v) by the first coordinate and θ₂/v
// by the second.
func toyMAP() [2]float64 {
	const residual, second = toyNoise * toyNoise / (2 * toyPrior), 0.5
	return [2]float64{math.Sqrt(toySeen - second - residual), second}
}

// toyLog is l, and sets grad to its gradient, unless it is nil.
func toyLog(theta, grad []float64) float64 {
	const precision = 1 / (toyNoise * toyNoise)
	off := toySeen - theta[1] - float64(theta[0]*theta[0])
	if grad != nil {
		grad[0], grad[1] = 2*theta[0]*off*precision, off*precision
	}
	return toyConstant - float64(off*off*precision/2)
}

// toyConstant is −½ log(2πσ²).
var toyConstant = -0.5 * rng.Log(2*math.Pi*toyNoise*toyNoise)

// toyHessian is the Hessian of −l.
func toyHessian(theta [2]float64) [4]float64 {
	const precision = 1 / (toyNoise * toyNoise)
	off := toySeen - theta[1] - float64(theta[0]*theta[0])
	return [4]float64{
		(float64(4*theta[0]*theta[0]) - float64(2*off)) * precision, 2 * theta[0] * precision,
		2 * theta[0] * precision, precision,
	}
}

// toyTarget is L^Power × N(Mean, Variance I), a target that stands between the MAP and the posterior. All three kinds have this form:
//
//	anchored   L × N(α(s) θ_MAP, s v I), α(s) = 1 for s < ½, else 0
//	cold       (L π₀)^(1/T) ∝ L^(1/T) × N(0, T v I)
//	added      L π₀ × N(θ_MAP, s I) ∝ L × N(v/(s+v) θ_MAP, s v/(s+v) I)
type toyTarget struct {
	Kind     string    `json:"kind"`
	At       float64   `json:"at"` // s or T
	Power    float64   `json:"power"`
	Mean     []float64 `json:"prior_mean"`
	Variance float64   `json:"prior_variance"`
	constant float64   // of the normal's log-density
}

func newToy(kind string, at, power float64, mean []float64, variance float64) toyTarget {
	return toyTarget{kind, at, power, mean, variance, -0.5 * float64(len(mean)) * rng.Log(2*math.Pi*variance)}
}

// anchoredTarget has the anchored prior.
func anchoredTarget(s, v float64, top []float64) toyTarget {
	mean := make([]float64, len(top))
	if s < 0.5 {
		copy(mean, top)
	}
	return newToy("anchored", s, 1, mean, s*v)
}

// coldTarget is the posterior at a temperature.
func coldTarget(at, v float64, d int) toyTarget {
	return newToy("cold", at, 1/at, make([]float64, d), at*v)
}

// addedTarget is the posterior times a normal about the MAP.
func addedTarget(s, v float64, top []float64) toyTarget {
	mean := make([]float64, len(top))
	for i, m := range top {
		mean[i] = v / (s + v) * m
	}
	return newToy("added", s, 1, mean, s*v/(s+v))
}

// toyValues are those of s and of T.
var toyValues = []float64{1, 0.5, 0.25, 0.1, 0.01}

// toyTargets are all of them, kind by kind. The first one is the posterior, which is also the cold one of T = 1.
func toyTargets() (all []toyTarget) {
	top := toyMAP()
	for _, s := range toyValues {
		all = append(all, anchoredTarget(s, toyPrior, top[:]))
	}
	for _, at := range toyValues {
		all = append(all, coldTarget(at, toyPrior, len(top)))
	}
	for _, s := range toyValues {
		all = append(all, addedTarget(s, toyPrior, top[:]))
	}
	return all
}

// Dim implements mcmc.Model and mcmc.Prior.
func (t toyTarget) Dim() int { return len(t.Mean) }

// Examples implements mcmc.Model.
func (toyTarget) Examples() int { return 1 }

// LogLik implements mcmc.Model: Power times l.
func (t toyTarget) LogLik(ctx context.Context, _ []int32, theta, ll, grad []float64) error {
	for j := range ll {
		var slope []float64
		if grad != nil {
			slope = grad[2*j : 2*j+2]
		}
		ll[j] = t.Power * toyLog(theta[2*j:2*j+2], slope)
		for i := range slope {
			slope[i] *= t.Power
		}
	}
	return ctx.Err()
}

// Sample implements mcmc.Prior.
func (t toyTarget) Sample(s *mcmc.Stream, theta []float64) {
	s.Normals(theta)
	for i, m := range t.Mean {
		theta[i] = m + float64(math.Sqrt(t.Variance)*theta[i])
	}
}

// LogDensity implements mcmc.Prior.
func (t toyTarget) LogDensity(theta, grad []float64) (log float64) {
	log = t.constant
	for i, m := range t.Mean {
		off := theta[i] - m
		log -= float64(off * off / (2 * t.Variance))
		if grad != nil {
			grad[i] = -off / t.Variance
		}
	}
	return log
}

// condition is the condition number of the Hessian of −log of the target at θ, and what section 5 has for it: 1 + λ times the prior's variance,
// with the largest curvature λ of the target's likelihood there, if the smallest one were 0.
func (t toyTarget) condition(theta [2]float64) (here, formula float64) {
	hessian := toyHessian(theta)
	for i := range hessian {
		hessian[i] *= t.Power
	}
	values, _ := dense.Eigen(hessian[:], 2)
	p := 1 / t.Variance
	return (values[1] + p) / (values[0] + p), 1 + float64(values[1]*t.Variance)
}

// toyTruth is what quadrature says of a target.
type toyTruth struct {
	LogZ  float64    `json:"log_z"`
	Mean  [2]float64 `json:"mean"`
	SD    [2]float64 `json:"sd"`
	cells []float64  // shares of the cells of the picture's grid
}

// The picture's grid has squares of side toySide. Its lower left corner is (−toyEnd, −toyEnd).
const (
	toyEnd     = 2.4
	toySide    = 0.1
	toyColumns = int(2 * toyEnd / toySide)
)

// Quadrature takes the midpoints of squares of side toyStep, those of a cell of the picture together, from (−toyRight, −toyLow) to (toyRight,
// toyEnd). Outside of it the posterior has less than 10⁻⁷ of its mass, and the other targets have less than that.
const (
	toyStep  = 0.01
	toyRight = 3.2
	toyLow   = 5.6
)

// truth integrates. A target's width is .009 or more: to such a step, what the sum misses is e^−2π²(.9)², some 10⁻⁷.
func (t toyTarget) truth() (out toyTruth) {
	const columns, rows = int(2 * toyRight / toyStep), int((toyLow + toyEnd) / toyStep)
	out.cells = make([]float64, toyColumns*toyColumns)
	logs, top, theta := make([]float64, columns*rows), math.Inf(-1), make([]float64, 2)
	place := func(i int) {
		theta[0], theta[1] = float64(toyStep*(float64(i%columns)+0.5))-toyRight, float64(toyStep*(float64(i/columns)+0.5))-toyLow
	}
	for i := range logs {
		place(i)
		logs[i] = float64(t.Power*toyLog(theta, nil)) + t.LogDensity(theta, nil)
		top = max(top, logs[i])
	}
	var sum float64
	for i, l := range logs {
		const least = -50 // what is less does not add up to 10⁻¹⁵
		if l-top < least {
			continue
		}
		place(i)
		p := rng.Exp(l - top)
		sum += p
		for k, x := range theta {
			out.Mean[k] += float64(p * x)
			out.SD[k] += float64(p * x * x)
		}
		if column, row := toyCell(theta[0]), toyCell(theta[1]); column >= 0 && row >= 0 {
			out.cells[row*toyColumns+column] += p
		}
	}
	out.LogZ = top + rng.Log(sum) + float64(2*rng.Log(toyStep))
	for i := range out.cells {
		out.cells[i] /= sum
	}
	for k := range out.Mean {
		out.Mean[k] /= sum
		out.SD[k] = math.Sqrt(out.SD[k]/sum - float64(out.Mean[k]*out.Mean[k]))
	}
	return out
}

// toyCell is the column or row of a coordinate; −1: it lies outside.
func toyCell(x float64) int {
	i := math.Floor((x + toyEnd) / toySide)
	if !(0 <= i && i < float64(toyColumns)) {
		return -1
	}
	return int(i)
}
