package uq

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// Normals is a mixture of normal distributions, Σ_j W_j N(Mean_j, SD_j²): the prediction of an ensemble of weighted
// particles for one target. The weights sum to 1. A particle with an SD of 0 has no noise. If all SDs are 0, the mixture is an
// empirical distribution, which has no density.
type Normals struct {
	Weights, Mean, SD []float64
	DF                []float64 // of components that are Student-t distributions of scale SD, their degrees of freedom, above 2; 0: normal. nil: all are
}

// Moments returns the mixture's mean m, the standard deviation √(Σ W σ²) of the noise, and the standard deviation
// √(Σ W (μ − m)²) of the particles' means. The mixture's variance is the sum of the squares of the last two.
func (n *Normals) Moments() (mean, aleatoric, epistemic float64) {
	for j, w := range n.Weights {
		mean += float64(w * n.Mean[j])
		sd := n.SD[j]
		if df := n.df(j); df > 0 {
			sd *= stretch(df)
		}
		aleatoric += float64(w * float64(sd*sd))
	}
	same := true
	for j, w := range n.Weights {
		d := n.Mean[j] - mean
		epistemic += float64(w * float64(d*d))
		same = same && n.Mean[j] == n.Mean[0]
	}
	if same && len(n.Mean) > 0 { // particles that agree have a spread of exactly 0, without rounding errors
		mean, epistemic = n.Mean[0], 0
	}
	return mean, math.Sqrt(aleatoric), math.Sqrt(epistemic)
}

// Clone is a copy; the weights, which mixtures may share, are the same.
func (n *Normals) Clone() Normals {
	return Normals{Weights: n.Weights, Mean: slices.Clone(n.Mean), SD: slices.Clone(n.SD), DF: slices.Clone(n.DF)}
}

// Stretch makes the mixture c times as wide about its mean, in place: it becomes the law of m + c·(Y − m). The weights, which mixtures may
// share, stay.
func (n *Normals) Stretch(c float64) {
	mean, _, _ := n.Moments()
	for j := range n.Mean {
		n.Mean[j], n.SD[j] = mean+float64(c*(n.Mean[j]-mean)), c*n.SD[j]
	}
}

// CDF is the probability of a target at most y.
func (n *Normals) CDF(y float64) float64 {
	p := 0.0
	for j, w := range n.Weights {
		logB := 0.0
		if df := n.df(j); df > 0 {
			logB = logBeta(0.5*df, 0.5)
		}
		p += float64(w * n.cdf(j, y, logB))
	}
	return p
}

// cdf is the probability of at most y under component j. logB is log B(ν/2, ½) of a Student-t.
func (n *Normals) cdf(j int, y, logB float64) float64 {
	if df := n.df(j); df > 0 {
		return studentCDF(y-n.Mean[j], n.SD[j], df, logB)
	}
	return cdf(y-n.Mean[j], n.SD[j])
}

// logDensity is the log density of component j at y.
func (n *Normals) logDensity(j int, y float64) float64 {
	if df := n.df(j); df > 0 {
		return logStudent(y-n.Mean[j], n.SD[j], df)
	}
	return logNormal(y-n.Mean[j], n.SD[j])
}

// cdf is Φ(x/sd).
func cdf(x, sd float64) float64 {
	if sd == 0 && x == 0 {
		return 1
	}
	return 0.5 * rng.Erfc(-x/(sd*math.Sqrt2))
}

// LogDensity is ln Σ_j W_j N(y; Mean_j, SD_j²), in nats.
func (n *Normals) LogDensity(y float64) float64 {
	return logSumExp(len(n.Weights), func(j int) float64 {
		return rng.Log(n.Weights[j]) + n.logDensity(j, y)
	})
}

// LogDensities is the joint log density of several targets under mixtures of the same particles. marginals[k] has the means
// and standard deviations of target k; the weights are those of marginals[0].
func LogDensities(marginals []Normals, y []float64) float64 {
	return logSumExp(len(marginals[0].Weights), func(j int) float64 {
		l := rng.Log(marginals[0].Weights[j])
		for k := range marginals {
			d := marginals[k].logDensity(j, y[k])
			if math.IsInf(d, -1) { // the other targets cannot change the sum
				return d
			}
			l += d
		}
		return l
	})
}

// logNormal is the log density of N(0, sd²) at x. With sd 0 it is +∞ at 0 and −∞ elsewhere.
func logNormal(x, sd float64) float64 {
	const halfLog2Pi = 0.918938533204672741780329736406
	if sd == 0 && !math.IsNaN(x) {
		if x == 0 {
			return math.Inf(1)
		}
		return math.Inf(-1)
	}
	z := x / sd
	return float64(-0.5*float64(z*z)) - rng.Log(sd) - halfLog2Pi
}

// logSumExp is ln Σ_j e^{l_j}, in one pass.
func logSumExp(n int, term func(j int) float64) float64 {
	top, sum := math.Inf(-1), 0.0 // Σ = e^top · sum
	for j := range n {
		switch l := term(j); {
		case l > top:
			sum = float64(sum*rng.Exp(top-l)) + 1
			top = l
		case math.IsInf(l, -1):
		case l == top: // which may be infinite
			sum++
		default:
			sum += rng.Exp(l - top)
		}
	}
	return top + rng.Log(sum)
}

// CRPS is the continuous ranked probability score of the mixture at y, ∫ (F(x) − 1{x ≥ y})² dx, in the unit of y. It
// generalises the absolute error to distributions. In closed form (Grimit et al. 2006, eq. (4)) it is
//
//	Σ_j W_j A(y − μ_j, σ_j²) − ½ Σ_j Σ_k W_j W_k A(μ_j − μ_k, σ_j² + σ_k²),   A(m, s²) = E|N(m, s²)|
//
// For particles without noise this is the CRPS of an ensemble, and |y − μ| for a single particle. The time grows with the
// square of the number of particles. With an SD of ∞ the CRPS is infinite. With a Student-t among the components it is integrated.
func (n *Normals) CRPS(y float64) float64 {
	if n.tailed() {
		return n.integrated(y)
	}
	near, apart := 0.0, 0.0
	for j, w := range n.Weights {
		mu, sd := n.Mean[j], n.SD[j]
		near += float64(w * absolute(y-mu, sd))
		row := float64(0.5 * w * absolute(0, both(sd, sd)))
		for k := range j {
			row += float64(n.Weights[k] * absolute(mu-n.Mean[k], both(sd, n.SD[k])))
		}
		apart += float64(w * row)
	}
	if math.IsInf(near, 1) {
		return near
	}
	return near - apart
}

// both is √(a² + b²), the standard deviation of a difference. It is also correct where the squares overflow.
func both(a, b float64) float64 {
	const large = 0x1p600
	if s := math.Sqrt(float64(a*a) + float64(b*b)); !math.IsInf(s, 1) || math.IsInf(max(a, b), 1) {
		return s
	}
	a, b = a/large, b/large
	return large * math.Sqrt(float64(a*a)+float64(b*b))
}

// absolute is E|X| for X ~ N(m, s²): m erf(m/(s√2)) + s √(2/π) e^{−m²/2s²}.
func absolute(m, s float64) float64 {
	if s == 0 {
		return math.Abs(m)
	}
	const sqrt2OverPi = 0.797884560802865355879892119869
	t := m / (s * math.Sqrt2)
	if math.Abs(t) >= 28 { // e^{−t²} is 0
		return math.Abs(m)
	}
	return float64(m*rng.Erf(t)) + float64(sqrt2OverPi*s*rng.Exp(float64(-t*t)))
}

// Quantile is the y at which the mixture's CDF is q, to 2⁻⁵⁰ of q, which is about the precision of the CDF. It panics unless 0 < q < 1.
//
// By Cantelli's inequality y lies within [m − s√((1−q)/q), m + s√(q/(1−q))] of the mixture's mean and standard deviation.
// Newton's steps shrink that bracket, from the quantile of the normal distribution with that mean and standard deviation. After a step
// that does not halve the error, the next step is a bisection, so the search always ends.
func (n *Normals) Quantile(q float64) float64 {
	if !(0 < q && q < 1) {
		panic("uq: the level of a quantile must lie between 0 and 1")
	}
	mean, aleatoric, epistemic := n.Moments()
	sd := math.Sqrt(float64(aleatoric*aleatoric) + float64(epistemic*epistemic))
	lo := mean - float64(1.0000001*sd*math.Sqrt((1-q)/q)) // a margin for rounding
	hi := mean + float64(1.0000001*sd*math.Sqrt(q/(1-q)))
	z := rng.NormalQuantile(q)
	x, last := mean+float64(sd*z), math.Inf(1)
	if math.IsInf(sd, 0) { // its square overflows: y lies between the quantiles of the components
		lo, hi = math.Inf(1), math.Inf(-1)
		for j, m := range n.Mean {
			y := m + float64(n.SD[j]*z)
			lo, hi = min(lo, y), max(hi, y)
			if df := n.df(j); df > 0 {
				s := n.SD[j] * stretch(df)
				lo, hi = min(lo, m-float64(s*math.Sqrt((1-q)/q))), max(hi, m+float64(s*math.Sqrt(q/(1-q))))
			}
		}
		x = min(max(mean, lo), hi)
		lo, hi = math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))
	}
	for math.Nextafter(lo, hi) < hi {
		excess := n.CDF(x) - q
		switch {
		case math.IsNaN(excess):
			return excess
		case math.Abs(excess) <= 0x1p-50*q:
			return x
		case excess < 0:
			lo = x
		default:
			hi = x
		}
		next := x - excess/n.density(x)
		if !(lo < next && next < hi) || 2*math.Abs(excess) > last {
			next = lo + float64(0.5*(hi-lo))
		}
		x, last = next, math.Abs(excess)
	}
	return hi
}

// density is the mixture's density at y.
func (n *Normals) density(y float64) float64 {
	const sqrt2Pi = 2.50662827463100050241576528481
	p := 0.0
	for j, w := range n.Weights {
		if df := n.df(j); df > 0 {
			p += float64(w * rng.Exp(n.logDensity(j, y)))
			continue
		}
		z := (y - n.Mean[j]) / n.SD[j]
		p += float64(w*rng.Exp(float64(-0.5*float64(z*z)))) / (n.SD[j] * sqrt2Pi)
	}
	return p
}
