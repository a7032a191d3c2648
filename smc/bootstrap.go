package smc

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// Bootstrap is the weight of particles that move blindly (Gordon, Salmond, Smith 1993). It is the weight of OHSMC
// (guided-open-horizon-smc, section 3.3a) and of SMC-SGHMC (smc-sghmc-ensembles, section 2.2, eq. 16): the likelihood of the iteration's examples where they went, not scaled, to the power 1/T_k,
//
//	log w += (1/T_k) Σ_{i ∈ B_k} log p(y_i | x_i, θ', ψ_{k−1}).
//
// On path full B_k has all training examples. With T_k = N the increment is then the mean log-likelihood of an example (eq. 17), the
// weights are nearly equal, and resampling is rare.
//
// Draws from the prior begin with the weight of the first iteration, log w_0 = l(θ_0)/T_1; eq. (3) prints it with T = 1, which leaves
// about one ancestor. Where parameters are learned that all particles share, they begin with equal weights, since there the move comes
// first and every batch is new data.
//
// The weights follow no path of targets and estimate no evidence: every iteration multiplies by the likelihood once more. Their law
// tends to the quasi-stationary law of weight and move, not to the posterior (smc-sghmc-ensembles, section 5).
type Bootstrap struct {
	Temperature Temperature `yaml:"temperature,omitempty"`
}

// Temperature is T of the bootstrap weights: a number, examples (in Go Examples), or {warmup: T_B, sampling: T_M} for the iterations of
// the warm-up and those after it. The zero value is Examples or, where parameters are learned that all particles share, 1.
type Temperature struct {
	Both     float64 `yaml:",short,nonzero" words:"examples=-1"`             // 0: the other two count
	Warmup   float64 `yaml:"warmup,omitempty,nonzero" words:"examples=-1"`   // T of the iterations of the warm-up
	Sampling float64 `yaml:"sampling,omitempty,nonzero" words:"examples=-1"` // T of those after it
}

// Examples is the temperature N, the number of training examples.
const Examples = -1

// Defaults sets the temperature that is left out beside another.
func (t *Temperature) Defaults() {
	if t.Warmup == 0 && t.Sampling == 0 {
		return
	}
	for _, one := range []*float64{&t.Warmup, &t.Sampling} {
		if *one == 0 {
			*one = Examples
		}
	}
}

// Check notes impossible settings.
func (t Temperature) Check(f *config.Faults) {
	for _, one := range []struct {
		key string
		t   float64
	}{{"", t.Both}, {"warmup", t.Warmup}, {"sampling", t.Sampling}} {
		f.If(one.t != 0 && one.t != Examples && (!(one.t > 0) || math.IsInf(one.t, 1)), one.key, "want a number above 0 or examples, have %v", one.t)
	}
	f.If(t.Both != 0 && (t.Warmup != 0 || t.Sampling != 0), "", "want one temperature, or those of warmup and sampling")
}

// of is T_k.
func (t Temperature) of(m Moved) float64 {
	if t.Both == 0 {
		if t.Both = t.Sampling; m.Iteration <= m.Warmup {
			t.Both = t.Warmup
		}
	}
	if t.Both == 0 || t.Both == Examples {
		return float64(m.Examples)
	}
	return t.Both
}

// Traits say that particles are resampled in every iteration at temperature 1, so that one likelihood counts at a time, else below half of them.
func (w Bootstrap) Traits() WeightTraits {
	t := WeightTraits{
		Afresh: true, Untargeted: true, WarmsUp: w.Temperature.Warmup != 0, Resampling: BelowHalf,
		NotInvariant: "counts the likelihood that moves with accept or reject know already: use it with moves without",
	}
	if w.Temperature == (Temperature{Both: 1}) || w.Temperature == (Temperature{Warmup: 1, Sampling: 1}) {
		t.Resampling = Always{}
	}
	return t
}

// After returns the log-likelihoods over T_k. A particle that an infinite energy put back to its start gets weight 0.
func (w Bootstrap) After(m Moved) []float64 {
	increments, t := make([]float64, len(m.Energy)), w.Temperature.of(m)
	for j, e := range m.Energy {
		if increments[j] = m.Population.LL[j] / t; math.IsInf(e, 1) {
			increments[j] = math.Inf(-1)
		}
	}
	return increments
}

// ForPopulation sets the temperature.
func (w Bootstrap) ForPopulation(learns bool) Weighting {
	if w.Temperature != (Temperature{}) {
		return w
	}
	if w.Temperature.Both = Examples; learns {
		w.Temperature.Both = 1
	}
	return w
}
