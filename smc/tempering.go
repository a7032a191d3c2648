package smc

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Tempering is the adaptive path from prior to posterior (scalable-bayesian-monte-carlo, section 3.2, Example D.1):
// λ rises by the h at which the effective sample size falls to its bound,
//
//	ESS(h) = J (Σ_j W_j e^{h l_j})² / Σ_j W_j e^{2 h l_j} = ESS·J,
//
// found by 60 bisections, or to 1 if the effective sample size stays above the bound. For equal weights, as after resampling
// in every iteration, ESS(h) is the effective sample size; else it is the conditional one (Zhou, Johansen, Aston 2016), which
// measures the loss of this step alone.
type Tempering struct {
	ESS   float64 `yaml:"ess"` // ρ, share of the particles that a step leaves effective, between 1/J and 1; 0: .5
	Power float64 `yaml:"-"`   // λ at the end: 0 or 1, the posterior, or that of a cold posterior (Cooled)
}

func (Tempering) String() string { return "tempered SMC" }

// Defaults sets ρ to .5.
func (t *Tempering) Defaults() { t.ESS = t.share() }

// Check notes impossible settings.
func (t Tempering) Check(f *config.Faults) {
	f.If(!(t.ESS >= 0 && t.ESS < 1), "ess", "want a number above 0 and below 1, have %.12g", t.ESS)
	checkPower(t.Power, f)
}

// LeavesOne reports whether tempering that leaves a share of n particles effective may leave only one. ESS is always at least
// 1, so such a path would go to its end in one step.
func LeavesOne(share float64, n int) bool { return share > 0 && share*float64(n) <= 1 }

// Start is the prior.
func (Tempering) Start(int) (Stage, bool) { return Stage{}, true }

// Next is the next temperature. Particles of weight 0 have no say, so it refuses to go on by the likelihood of those few
// that would be left.
func (t Tempering) Next(st *State) (Stage, error) {
	if living := st.J - dead(st.LogW); LeavesOne(t.share(), living) {
		return Stage{}, fmt.Errorf("only %d of %d particles have a positive weight, and a step of the path would leave one of them: %w",
			living, st.J, ErrFew)
	}
	lambda, err := t.next(st.Lambda, powerOf(t.Power), st.LogW, st.LL)
	return Stage{Lambda: lambda}, err
}

// Cooled ends at the cold posterior.
func (t Tempering) Cooled(temperature float64) Path {
	t.Power = 1 / temperature
	return t
}

// Done is true at λ = 1, or at that of the cold posterior.
func (t Tempering) Done(st *State) bool { return st.Lambda >= powerOf(t.Power) }

// Progress is λ, as a share of the last.
func (t Tempering) Progress(st *State) float64 { return st.Lambda / powerOf(t.Power) }

// Traits say that particles are resampled in every iteration, because each step is as large as the effective sample size allows, and that moves
// are made until the particles have travelled: a step in temperature leaves copies that must part.
func (t Tempering) Traits() PathTraits {
	traits := PathTraits{Gradual: true, Share: t.share(), Resampling: Always{}, Mutations: mcmc.UntilTravelled}
	if powerOf(t.Power) != 1 {
		traits.Evidence = Evidence{Unsure: "leads to a cold posterior, whose normaliser is no evidence", Cold: true}
	}
	return traits
}

// Curves is λ.
func (t Tempering) Curves(int) []Curve {
	end := "the posterior at 1"
	if last := powerOf(t.Power); last != 1 {
		end = fmt.Sprintf("the cold posterior at %.4g", last)
	}
	return []Curve{{
		ID: "tempering", Title: "Tempering", Axis: "power of the likelihood (log scale)", Log: true, Decimals: 5,
		Of:      func(info Info) float64 { return info.Lambda },
		Caption: fmt.Sprintf("The power rises from the prior, near 0, to %s, each time as far as the effective sample size allows.", end),
	}}
}

// Work counts iterations. The number of later iterations is estimated: temperatures grow about geometrically, and an island
// at λ_k has log(1/λ_k) left at the mean pace since λ_1.
func (t Tempering) Work(info Info, first float64, _ int) (done, all float64) {
	done = float64(info.K)
	switch last := powerOf(t.Power); {
	case info.K > 1:
		return done, done + (done-1)*math.Log(last/info.Lambda)/math.Log(info.Lambda/first)
	case info.Lambda < last:
		return done, done + 9 // a guess that the next iteration corrects
	}
	return done, done
}

// share is ρ.
func (t Tempering) share() float64 {
	if t.ESS == 0 {
		return 0.5
	}
	return t.ESS
}

// ErrFew is the error of a path whose next step would leave too few particles: their likelihoods are too different.
var ErrFew = errors.New("take more particles or a smaller ESS")

// next returns the next λ, at most last, for normalised log-weights and log-likelihoods, which are finite or −Inf.
func (t Tempering) next(lambda, last float64, logw, ll []float64) (float64, error) {
	aim := t.share() * float64(len(ll))
	w := make([]float64, len(ll))
	weights.Exp(logw, w)
	if conditionalESS(last-lambda, w, ll) >= aim {
		return last, nil
	}
	var alive float64 // ESS(h → 0): the weight of the particles with positive likelihood
	for j, l := range ll {
		if !math.IsInf(l, -1) {
			alive += w[j]
		}
	}
	if alive *= float64(len(ll)); alive <= aim*(1+1e-9) {
		return 0, fmt.Errorf("particles worth %.4g of %d have a positive likelihood, a step of the path must leave more than %.4g: %w",
			alive, len(ll), aim, ErrFew)
	}
	lo, hi := 0.0, last-lambda
	for range 60 {
		if mid := lo + float64((hi-lo)/2); conditionalESS(mid, w, ll) >= aim {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lambda+lo == lambda {
		return 0, fmt.Errorf("log-likelihoods are too far apart: no step in temperature leaves enough particles; %w", ErrFew)
	}
	return lambda + lo, nil
}

// conditionalESS is ESS(h) of Tempering, for h > 0 and normalised weights. It does not increase with h.
func conditionalESS(h float64, w, ll []float64) float64 {
	top := math.Inf(-1)
	for j, l := range ll {
		if w[j] > 0 {
			top = max(top, l)
		}
	}
	if math.IsInf(top, -1) {
		return 0
	}
	var first, second float64
	for j, l := range ll {
		if w[j] == 0 { // it may lie so far above top that 0·e^∞ would be NaN
			continue
		}
		g := rng.Exp(float64(h * (l - top)))
		first += float64(w[j] * g)
		second += float64(float64(w[j]*g) * g)
	}
	return float64(len(ll)) * float64(first*first) / second
}
