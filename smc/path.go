package smc

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Stage is one target of a path: the likelihood of the examples in Rows to the power Lambda, times that of the examples
// that have settled to the power Mu, times the prior.
type Stage struct {
	Lambda  float64 // λ: an inverse temperature 0…1, or the scale N/n of a batch
	Mu      float64 // μ: 1, or the scale of a batch; 0 switches settled examples off
	Rows    Rows
	Settled int  // examples 0…Settled−1 of the order count with power Mu; none of them is in Rows
	Warm    bool // the stage leads to the path's first target, and is not counted among its iterations
}

// logLik is the logarithm of particle j's likelihood to the powers of the stage, from the cache of p.
func (s Stage) logLik(p *mcmc.Population, j int) float64 { return p.LogLik(s.Lambda, s.Mu, j) }

// Rows are the examples at positions From to To−1 of the run's order: one random permutation of all examples after
// another, without end. The zero value is all examples as they stand.
type Rows struct{ From, To int }

// Path answers which target comes next. It is a plain value: what it needs to know is in the State.
type Path interface {
	// Start is the target of the first particles, for n examples, and whether draws from the prior are to be weighted
	// for it; if not, their distribution does not matter, as with chains. Particles are evaluated on it.
	Start(n int) (stage Stage, weigh bool)
	// Next is the target of the iteration after st.
	Next(st *State) (Stage, error)
	// Done says whether st is the end.
	Done(st *State) bool
	// Progress is how far st is on the path, 0…1.
	Progress(st *State) float64
	// Budget is the number of examples that moves may evaluate for a particle in the whole run; 0: no such limit.
	Budget(st *State) int
	// Settles says whether examples settle on the way (Stage.Settled): particles then carry what those contribute.
	Settles() bool
}

// Fixed is the path of chains: one target, the posterior, until every particle has spent its budget.
type Fixed struct {
	Epochs int // passes over all examples, a particle
}

// Start is the posterior, whatever the first states.
func (Fixed) Start(int) (Stage, bool) { return Stage{Lambda: 1}, false }

// Next is the posterior.
func (Fixed) Next(*State) (Stage, error) { return Stage{Lambda: 1}, nil }

// Done is true when the budget is spent.
func (f Fixed) Done(st *State) bool { return st.Spent >= f.Budget(st) }

// Progress is the share of the budget that is spent.
func (f Fixed) Progress(st *State) float64 { return min(1, float64(st.Spent)/float64(f.Budget(st))) }

// Budget is the number of epochs times the number of examples.
func (f Fixed) Budget(st *State) int { return f.Epochs * st.Examples }

// Settles is false.
func (Fixed) Settles() bool { return false }

func (f Fixed) check(int) error {
	if f.Epochs < 1 {
		return fmt.Errorf("path: %d epochs; chains need at least one", f.Epochs)
	}
	return nil
}

// Ladder is tempering by fixed inverse temperatures, rising, the last of them 1. The estimate of the evidence is then
// unbiased, if the moves are fixed as well.
type Ladder []float64

// Start is the prior.
func (Ladder) Start(int) (Stage, bool) { return Stage{}, true }

// Next is the next rung.
func (l Ladder) Next(st *State) (Stage, error) { return Stage{Lambda: l[st.K]}, nil }

// Done is true on the last rung.
func (l Ladder) Done(st *State) bool { return st.K >= len(l) }

// Progress is λ.
func (Ladder) Progress(st *State) float64 { return st.Lambda }

// Budget is 0.
func (Ladder) Budget(*State) int { return 0 }

// Settles is false.
func (Ladder) Settles() bool { return false }

func (l Ladder) check(int) error {
	last := 0.0
	for i, lambda := range l {
		if !(lambda > last && lambda <= 1) {
			return fmt.Errorf("path: inverse temperature %d is %v, not above %v and at most 1", i, lambda, last)
		}
		last = lambda
	}
	if last != 1 {
		return fmt.Errorf("path: the last inverse temperature is %v, not 1", last)
	}
	return nil
}

// Tempering is the adaptive path from prior to posterior (scalable-bayesian-monte-carlo, section 3.2, Example D.1):
// λ rises by the h at which the population has lost as much as it may,
//
//	ESS(h) = J (Σ_j W_j e^{h l_j})² / Σ_j W_j e^{2 h l_j} = ESS·J,
//
// found by 60 halvings, or all the way to 1 if it may. For equal weights, as after resampling in every iteration,
// ESS(h) is the effective sample size; else it is the conditional one (Zhou, Johansen, Aston 2016), which asks what
// this step costs and not what was lost before.
type Tempering struct {
	ESS float64 // ρ, share of the particles that a step leaves effective, between 1/J and 1; 0: .5
}

// Start is the prior.
func (Tempering) Start(int) (Stage, bool) { return Stage{}, true }

// Next is the next temperature.
func (t Tempering) Next(st *State) (Stage, error) {
	lambda, err := t.next(st.Lambda, 1, st.LogW, st.LL)
	return Stage{Lambda: lambda}, err
}

// Done is true at λ = 1.
func (Tempering) Done(st *State) bool { return st.Lambda >= 1 }

// Progress is λ.
func (Tempering) Progress(st *State) float64 { return st.Lambda }

// Budget is 0.
func (Tempering) Budget(*State) int { return 0 }

// Settles is false.
func (Tempering) Settles() bool { return false }

func (t Tempering) check(particles int) error {
	switch {
	case !(t.ESS >= 0 && t.ESS < 1):
		return fmt.Errorf("path: tempering at ESS %v; it must lie between 0 and 1", t.ESS)
	case t.ratio()*float64(particles) <= 1: // one always is effective
		return fmt.Errorf("path: tempering at ESS %v of %d particles is content with one: take more particles or a larger ESS", t.ratio(), particles)
	}
	return nil
}

// ratio is ρ.
func (t Tempering) ratio() float64 {
	if t.ESS == 0 {
		return 0.5
	}
	return t.ESS
}

// next returns the λ that follows on the way to the last, for normalised log-weights and log-likelihoods.
func (t Tempering) next(lambda, last float64, logw, ll []float64) (float64, error) {
	for j, l := range ll {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return 0, fmt.Errorf("particle %d has log-likelihood %v", j, l)
		}
	}
	aim := t.ratio() * float64(len(ll))
	w := make([]float64, len(ll))
	weights(logw, w)
	if conditionalESS(last-lambda, w, ll) >= aim {
		return last, nil
	}
	var alive float64 // ESS(h → 0): the weight of the particles whose likelihood does not vanish
	for j, l := range ll {
		if !math.IsInf(l, -1) {
			alive += w[j]
		}
	}
	if alive *= float64(len(ll)); alive <= aim*(1+1e-9) {
		return 0, fmt.Errorf("particles worth %.4g of %d have a positive likelihood, a step of the path must leave more than %.4g: "+
			"take more particles or a smaller ESS", alive, len(ll), aim)
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
		return 0, errors.New("log-likelihoods are too far apart: no step in temperature leaves enough particles; take more particles or a smaller ESS")
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
