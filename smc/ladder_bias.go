package smc

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
)

// An adaptive ladder takes its step h from the particles that it then weighs. Particles that happen to lie well make h and the weight
// of the step err together, which moves the mean of Z by order 1/J a step (Beskos, Jasra, Kantas, Thiery 2016); for the effective sample
// size it lowers Z, unless there are few effective parameters. The last step ends at λ = 1, whatever the particles, and errs in nothing.
//
// The size follows from the particles themselves. Particle j is independent of h_{−j}, the step that the others would choose; there
// its weight e^{h l_j} over the target's own mean r(h) has mean 1, for any J. So the mean of Z is off by
//
//	b = −log Σ_j p_j exp((h_{−j} − h) l_j − log r(h_{−j}) + log r(h)),   p_j = W_j e^{h l_j} / Σ_i W_i e^{h l_i},
//
// with the particles' estimate of r. To first order in 1/J this is −Cov(φ, ψ)/(J s), φ the influence of a particle on log ESS, ψ that on
// the slope of log r and s < 0 the slope of log ESS, all in h. Moments of 50 particles give less than half of that covariance, since
// it rests on the few particles of large weight, whose influence is far from linear.

// nearStep is the change of log ESS, without a particle, below which one step of Newton's finds h_{−j}: its square is what that errs by.
const nearStep = 0.02

// LadderBias estimates by how much the step from st to next moves log Z, as the logarithm of its mean over exact. It is NaN for fewer
// particles than a step needs without one of them.
func (t Tempering) LadderBias(st *State, next Stage) float64 {
	return t.stepBias(next.Lambda-st.Lambda, powerOf(t.Power)-st.Lambda, st.LogW, st.LL)
}

// stepBias is b of a step h, of at most longest, for normalised log-weights and log-likelihoods.
func (t Tempering) stepBias(h, longest float64, logw, ll []float64) float64 {
	if h >= longest {
		return 0
	}
	if LeavesOne(t.share(), len(logw)-dead(logw)-1) {
		return math.NaN()
	}
	w := make([]float64, len(ll))
	weights.Exp(logw, w)
	now := newTilt(h, w, ll)
	var mean float64
	for j, l := range ll {
		if p := float64(w[j]*now.weight(l)) / now.first; p > 0 {
			mean += float64(p * rng.Exp(t.without(j, now, longest, w, ll)))
		}
	}
	return -rng.Log(mean)
}

// without is the logarithm of particle j's weight over its mean at h_{−j}, less that at h. It changes w and restores it.
func (t Tempering) without(j int, now tilt, longest float64, w, ll []float64) float64 {
	own, g := w[j], now.weight(ll[j])
	first, second := now.first-float64(own*g), now.second-float64(float64(own*g)*g)
	aim := float64(t.share() * (1 - own)) // (Σ W g)²/Σ W g² of the others at h_{−j}
	if off := rng.Log(float64(first*first) / float64(second*aim)); math.Abs(off) < nearStep {
		return float64(min(-off/now.slope(), longest-now.h) * (ll[j] - now.top - now.mean))
	}
	w[j] = 0
	h := stepOf(aim, now.h, longest, w, ll)
	w[j] = own
	return float64((h-now.h)*(ll[j]-now.top)) - rng.Log(newTilt(h, w, ll).first/now.first)
}

// stepOf is the h, at most longest, at which (Σ W g)²/Σ W g² falls to aim. It looks for it around a guess.
func stepOf(aim, guess, longest float64, w, ll []float64) float64 {
	large := func(h float64) bool { return conditionalESS(h, w, ll) >= float64(aim*float64(len(ll))) }
	lo, hi := guess, guess
	for range 60 {
		if large(lo) {
			break
		}
		lo, hi = lo/2, lo
	}
	for lo == hi {
		if hi = min(2*lo, longest); !large(hi) {
			break
		}
		if lo = hi; hi == longest {
			return longest
		}
	}
	for range 20 {
		if mid := lo + float64((hi-lo)/2); large(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// tilt holds sums over weighted particles, with g = e^{h (l − top)}.
type tilt struct {
	h, top        float64
	first, second float64 // Σ W g and Σ W g²
	mean, far     float64 // of l − top, under the weights W g and W g²
}

func newTilt(h float64, w, ll []float64) tilt {
	t := tilt{h: h, top: math.Inf(-1)}
	for j, l := range ll {
		if w[j] > 0 {
			t.top = max(t.top, l)
		}
	}
	for j, l := range ll {
		g := t.weight(l)
		if w[j] == 0 || g == 0 {
			continue
		}
		one := float64(w[j] * g)
		two := float64(one * g)
		t.first += one
		t.second += two
		t.mean += float64(one * (l - t.top))
		t.far += float64(two * (l - t.top))
	}
	t.mean, t.far = t.mean/t.first, t.far/t.second
	return t
}

// weight is g.
func (t tilt) weight(l float64) float64 { return rng.Exp(float64(t.h * (l - t.top))) }

// slope is d log ESS/dh, which is negative unless all l are equal.
func (t tilt) slope() float64 { return 2 * (t.mean - t.far) }
