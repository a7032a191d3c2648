package decide

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// Spread is the standard deviation of ln T before any example is seen: a temperature is learnt against the law ln T ~ N(0, Spread²).
// Without it a temperature of few examples does more harm than good.
const Spread = 0.25

// WidthSpread is likewise that of ln c, for the width of predicted laws of numbers. It is smaller: the noise of a law was learnt already, or chosen by the same
// validation examples, so that c starts near 1, and on the tables of docs/results/abstention.md a spread of .25 does harm.
const WidthSpread = 0.1

// penalty is minus the log density of such a law at u, up to a constant: u²/(2·spread²).
func penalty(u, spread float64) float64 { return float64(u*u) / (2 * spread * spread) }

// Temperature is the T of p ∝ p̄^(1/T) at which n·NLL(T) + (ln T)²/(2·Spread²) is least, for probabilities p̄ [n, classes] and labels [n]
// (temperature scaling: Guo et al. 2017, with a penalty). Rows that are NaN do not count. A probability of 0 counts as the
// smallest number that there is, since no temperature changes it. T lies between 1/64 and 64. Errors: labels that are no
// classes, no row that is a number.
func Temperature(probs []float64, classes int, labels []int32) (float64, error) {
	if err := checkLabels(probs, classes, labels); err != nil {
		return 0, err
	}
	const least = -744.4400719213812 // ln 2⁻¹⁰⁷⁴
	var logs []float64               // of the rows that are numbers
	var known []int32
	for i, y := range labels {
		p := probs[i*classes : (i+1)*classes]
		if unknown(p) {
			continue
		}
		known = append(known, y)
		for _, v := range p {
			logs = append(logs, max(rng.Log(v), least))
		}
	}
	if len(known) == 0 {
		return 0, errors.New("a temperature needs labelled examples whose probabilities are numbers, there is none")
	}
	return Factor(len(known), Spread, func(t float64) float64 {
		beta, sum := 1/t, 0.0
		for i, y := range known {
			l := logs[i*classes : (i+1)*classes]
			sum += logSum(l, beta) - float64(beta*l[y])
		}
		return sum / float64(len(known))
	})
}

// logSum is ln Σ_c e^{β l_c}.
func logSum(l []float64, beta float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range l {
		top = max(top, v)
	}
	for _, v := range l {
		sum += rng.Exp(beta * (v - top))
	}
	return float64(beta*top) + rng.Log(sum)
}

// Temper returns the probabilities p ∝ p̄^(1/T) of rows [n, classes]. T = 1 returns them as they are; a row that is NaN stays so. The
// order of the classes stays, but for those that rounding makes equal.
func Temper(probs []float64, classes int, t float64) []float64 {
	out := append([]float64(nil), probs...)
	if t == 1 {
		return out
	}
	for at := 0; at < len(out); at += classes {
		p := out[at : at+classes]
		top, sum := 0.0, 0.0
		for _, v := range p {
			top = max(top, v)
		}
		for c, v := range p {
			p[c] = rng.Exp((rng.Log(v) - rng.Log(top)) / t)
			sum += p[c]
		}
		for c := range p {
			p[c] /= sum
		}
	}
	return out
}

// Factor is the c at which n·nll(c) + (ln c)²/(2·spread²) is least, c between 1/64 and 64: of a temperature, or of the width of a predictive law
// about its mean. nll is the mean over n examples of the negative log-likelihood at c, in nats. Where it has several minima the deepest is found,
// if it is wider than .13 in ln c. The result is right to about 1e-7. Errors: an nll that is infinite or NaN at every c.
//
// The search is the same on every machine: the best of 65 points of equal distance in ln c, then golden sections between its neighbours.
func Factor(n int, spread float64, nll func(c float64) float64) (float64, error) {
	const points, golden = 32, 0.6180339887498949 // on each side of 0
	loss := func(u float64) float64 {
		l := float64(float64(n)*nll(rng.Exp(u))) + float64(penalty(u, spread))
		if l != l {
			return math.Inf(1)
		}
		return l
	}
	end := rng.Log(64)
	step := float64(end / points)
	best, least := 0.0, loss(0)
	for i := 1; i <= points; i++ {
		for _, u := range [...]float64{float64(-float64(i) * step), float64(float64(i) * step)} {
			if l := loss(u); l < least {
				best, least = u, l
			}
		}
	}
	if math.IsInf(least, 0) {
		return 0, errors.New("the negative log-likelihood is not finite at any factor: a law without a density has none, and so has a target that it excludes")
	}
	lo, hi := max(best-step, -end), min(best+step, end)
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	fa, fb := loss(a), loss(b)
	for range 42 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(golden*(hi-lo))
			fa = loss(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(golden*(hi-lo))
			fb = loss(b)
		}
	}
	if middle := float64((lo + hi) / 2); loss(middle) <= least {
		best = middle
	}
	return rng.Exp(best), nil
}
