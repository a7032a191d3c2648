package smc

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// What a path says of itself holds in runs of 41 examples, of every row, of chains and of a tempered start. Each trait is tried in both
// directions, so that one that is left out is found as well as one too many.
func TestPathTraitsHold(t *testing.T) {
	paths := map[string]Path{"chains": Fixed{Epochs: 7}, "tempered start": TemperedStart{Then: Schedule[Linear]{Iterations: 12, Rule: Linear{7, 5}}}}
	for name, c := range pathCases {
		paths[name] = c.path(12)
	}
	m := newLocation(2)
	for name, path := range paths {
		says := path.Traits()
		s := &Sampler{Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.HMC{Steps: 1, Step: 0.1}, Particles: 30, Seed: 7}
		st, infos := run(t, s)
		var below, part, prepares bool // of powers, of examples, without progress
		every, scaled, annealed := true, true, false
		for _, info := range infos {
			below = below || info.Lambda < 1
			part = part || info.Examples < 41
			prepares = prepares || info.Progress == 0
			every = every && info.Lambda == 1 && info.Examples == 41
			annealed = annealed || info.Annealed > 0
			scaled = scaled && golden.Near(info.Lambda, 41/float64(info.Examples), 1e-12, 0)
		}
		_, adaptive := path.(Adaptive)
		last := infos[len(infos)-1]
		for what, holds := range map[string]bool{
			"AnnealsIn": says.AnnealsIn == annealed,
			"Batches":   says.Batches == (part || name == "full"), // the largest batch
			"Gradual":   says.Gradual == below || says.Prepares,
			"Prepares":  says.Prepares == prepares,
			"Share":     (says.Share > 0) == adaptive,
			"Epochs":    (says.Epochs > 0) == (name == "chains") && (says.Epochs == 0 || st.Spent >= 41*says.Epochs && st.Spent-41 < 41*says.Epochs),
			"Every":     says.Evidence.Every == every || name == "chains", // which estimate no evidence
			"Sure":      !says.Evidence.Sure() || last.Examples == 41 && last.Lambda == 1,
			"Scaled":    says.Prepares || says.AnnealsIn || says.Evidence.Scaled == (scaled && says.Batches),
			"Power":     says.AnnealsIn || says.Power(last, 41) == last.Lambda,
		} {
			if !holds {
				t.Errorf("%s: the trait %s does not hold: it says %+v", name, what, says)
			}
		}
	}
}

// What a weighting says of itself holds of its increments: what they depend on, for every row, in its own warm-up, and for equal weights.
func TestWeightTraitsHold(t *testing.T) {
	weightings := map[string]Weigher{
		"unweighted": Unweighted{}, "bootstrap, warm-up": Bootstrap{Temperature{Warmup: 2, Sampling: 3}}, "bootstrap, learning": Bootstrap{Temperature{Both: 1}},
	}
	for _, row := range Weightings {
		weightings[row.Name] = row.Part
	}
	for name, w := range weightings {
		after := func(change func(m *Moved)) string {
			p := mcmc.NewPopulation(3, 1, mcmc.Needs{})
			copy(p.LL, []float64{-1, -2, -4})
			m := Moved{Population: &p, Change: []float64{0.5, 0.25, 1}, Energy: []float64{0.125, 2, -1}, Iteration: 3, Warmup: 3, Examples: 7}
			change(&m)
			return fmt.Sprint(w.After(m))
		}
		plain := after(func(*Moved) {})
		changes := plain != after(func(m *Moved) { m.Change = []float64{0, 0, 0} })
		energy := plain != after(func(m *Moved) { m.Energy = []float64{0, 0, 0} })
		warms := plain != after(func(m *Moved) { m.Iteration = 4 })
		says := w.Traits()
		for what, holds := range map[string]bool{
			"Untargeted": changes == (!says.Early && !says.Untargeted),
			"Energy":     energy == says.Energy,
			"Afresh":     says.Afresh == (!says.Early && !changes && !energy),
			"Equal":      says.Equal == (!says.Early && plain == fmt.Sprint([]float64(nil))),
			"WarmsUp":    warms == says.WarmsUp,
		} {
			if !holds {
				t.Errorf("%s: the trait %s does not hold: it says %+v, and increments are %s", name, what, says, plain)
			}
		}
	}
}
