package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
)

// course is a quantity over the run of the sampler.
type course struct {
	id, title, caption string
	axis               chart.Axis // its values', with its name
	of                 func(*starling.TraceLine) float64
	decimals           int
	step               bool  // it keeps a value until the next
	smooth             bool  // of chains it is noise from one line to the next: means over stretches are drawn
	tested             bool  // only lines after which the test examples were looked at have it
	rule               *rule // nil: nothing to compare with
}

// rule is a value to compare with, and what it is.
type rule struct {
	at   float64
	note string
}

// courses are all that the sampler has, in the order of the page; none if nothing was sampled.
func (v *view) courses() (all []course) {
	m := v.run.Spec.Method.SMC
	switch {
	case len(v.islands) == 0:
		return nil
	case m == nil:
		all = []course{v.likelihood(), v.acceptance()}
	case m.Path.Tempering != nil:
		all = append([]course{{
			id: "tempering", title: "Tempering", axis: chart.Axis{Label: "power of the likelihood (log scale)", Log: true}, decimals: 5,
			of:      func(l *starling.TraceLine) float64 { return l.Temperature },
			caption: "From the prior, near 0, to the posterior at 1, each time as far as the effective sample size allows.",
		}}, v.population(m)...)
	default:
		all = append(v.batches(m), v.population(m)...)
	}
	all = append(all, v.validation(), course{
		id: "step", title: "Step size", axis: chart.Axis{Label: "step size (log scale)", Log: true}, decimals: 5, smooth: true,
		of:      func(l *starling.TraceLine) float64 { return l.Step },
		caption: "Of the last move of an iteration.",
	})
	return append(all, tests()...)
}

// population are the courses of particles, whatever the path.
func (v *view) population(m *starling.SMC) []course {
	particles := float64(m.Particles)
	ess := course{
		id: "ess", title: "Effective sample size", decimals: 2, caption: "Before resampling.",
		axis: chart.Axis{Label: "share of the particles", Min: 0, Max: 1, Percent: true},
		of:   func(l *starling.TraceLine) float64 { return l.ESS / particles },
	}
	if t := m.Path.Tempering; t != nil {
		ess.rule = &rule{t.ESS, "what tempering keeps"}
	} else if at := m.Resample.When.ESS; at != 0 {
		ess.rule = &rule{at, "below it particles are resampled"}
	}
	ancestors := course{
		id: "ancestors", title: "Ancestors", step: true,
		axis:    chart.Axis{Label: "particles of the start with descendants", Whole: true, Min: 0, Max: particles},
		of:      func(l *starling.TraceLine) float64 { return float64(l.Ancestors) },
		caption: "Resampling drops lines for good; only moves make up for it.",
	}
	return []course{ess, v.acceptance(), ancestors, v.likelihood()}
}

func (v *view) acceptance() course {
	c := course{
		id: "acceptance", title: "Acceptance", decimals: 2, smooth: true,
		axis:    chart.Axis{Label: "mean acceptance probability", Min: 0, Max: 1, Percent: true},
		of:      func(l *starling.TraceLine) float64 { return l.Acceptance },
		caption: "Moves that are refused leave a particle where it is.",
	}
	const aim = "what the step aims at"
	switch m := v.move(); {
	case m.Leapfrog != nil:
		c.caption = "What accept or reject would have done. Here every move stands, and its error goes into the weight."
	case m.HMC != nil && m.HMC.Step == 0:
		c.rule = &rule{m.HMC.Accept, aim}
	case m.PCN != nil && m.PCN.Step == 0:
		c.rule = &rule{m.PCN.Accept, aim}
	}
	return c
}

// likelihood is the sum over all training examples or, on a path of batches, the mean over those of the batch: batches
// differ in size.
func (v *view) likelihood() course {
	c := course{
		id: "likelihood", title: "Log-likelihood", axis: chart.Axis{Label: "mean log-likelihood of a particle, nats"}, decimals: 1,
		of:      func(l *starling.TraceLine) float64 { return float64(l.LogLikelihood) },
		caption: "Of the training examples. It should have come to rest, and all at the same height.",
	}
	m := v.run.Spec.Method.SMC
	if m == nil || m.Path.Tempering != nil {
		return c
	}
	c.axis.Label, c.decimals = "mean over particles and examples, nats", 3
	c.of = func(l *starling.TraceLine) float64 { return float64(l.LogLikelihood) / float64(l.Examples-l.Settled) }
	c.caption = "Of an example of the iteration's own batch: it goes up and down with what the batch holds."
	if m.Path.SDA != nil {
		c.caption = "Of an example of the newest block: it falls when a block comes in, which nobody has learnt from."
	}
	return c
}

func (v *view) validation() course {
	c := course{
		id: "validation", title: "Validation", axis: chart.Axis{Label: "NLL on the validation examples, nats"}, decimals: 3,
		of:      func(l *starling.TraceLine) float64 { return number(l.ValNLL) },
		caption: "Of the particles as they stand, together: not of what is kept in the end.",
	}
	if best := v.bestMAP(); !math.IsNaN(best) {
		c.rule = &rule{best, "best MAP"}
	}
	return c
}

// tests are what particles were worth on the test examples.
func tests() []course {
	caption := fmt.Sprintf("Of an island's particles together, by their weights, every %d iterations and at the end. "+
		"For looking only: nothing was decided by it.", starling.TestedEvery)
	return []course{
		{
			id: "testnll", title: "Test NLL", axis: chart.Axis{Label: "NLL on the test examples, nats"}, decimals: 3, tested: true, caption: caption,
			of: func(l *starling.TraceLine) float64 { return number(l.TestNLL) },
		}, {
			id: "testaccuracy", title: "Test accuracy", decimals: 4, tested: true, caption: caption,
			axis: chart.Axis{Label: "share of the test examples that is right", Percent: true},
			of:   func(l *starling.TraceLine) float64 { return number(l.TestAccuracy) },
		},
	}
}

// batches are the courses of a path of batches: how many examples it sees, what their likelihood counts, and what the
// moves' errors do to the weights.
func (v *view) batches(m *starling.SMC) []course {
	most := 0.0 // with an axis from 0 a batch that keeps its size is drawn, too
	for _, l := range v.run.Trace {
		most = max(most, float64(l.Examples))
	}
	all := []course{{
		id: "examples", title: "Batch size", step: true, caption: "The schedule of the batches.",
		axis: chart.Axis{Label: "examples that the target sees", Whole: true, Min: 0, Max: most},
		of:   func(l *starling.TraceLine) float64 { return float64(l.Examples) },
	}}
	if m.Path.SDA != nil {
		all = append(all, v.blocks(m.Path.SDA)...)
	}
	if m.Move.Leapfrog != nil {
		all = append(all, course{
			id: "energy", title: "Energy error", axis: chart.Axis{Label: "sd over the particles, nats (log scale)", Log: true}, decimals: 2,
			of:      func(l *starling.TraceLine) float64 { return l.EnergySD },
			caption: "Goes into the log-weights as it is: above a few nats one particle takes all.",
		})
	}
	all = append(all, course{
		id: "logweights", title: "Variance of the log-weights", axis: chart.Axis{Label: "nats² (log scale)", Log: true}, decimals: 2,
		of:   func(l *starling.TraceLine) float64 { return float64(l.LogWeightVar) },
		rule: &rule{math.Log(float64(m.Particles)), fmt.Sprintf("what %d particles carry", m.Particles)},
		caption: "Before resampling, of living particles. The share of them that is effective is about exp(−variance): above log J, " +
			"less than one.",
	})
	if slices.ContainsFunc(v.run.Trace, func(l starling.TraceLine) bool { return l.LogEvidence != 0 }) {
		all = append(all, v.evidenceSoFar(m))
	}
	return all
}

// blocks are the courses of smooth annealing: the power of the block that comes in, and how many have come.
func (v *view) blocks(sda *starling.Schedule) []course {
	came := func(l *starling.TraceLine) float64 {
		if l.Settled == 0 {
			return 1
		}
		return 2 + math.Ceil(float64(l.Settled-sda.Batch)/float64(sda.Grow))
	}
	power := func(l *starling.TraceLine) float64 {
		if !sda.Scale {
			return l.Temperature
		}
		return l.Temperature * float64(l.Examples) / float64(v.j.Problem.Train.Len())
	}
	return []course{
		{
			id: "power", title: "Power of the newest block", axis: chart.Axis{Label: "β", Min: 0, Max: 1}, decimals: 2, step: true,
			of: power,
			caption: "Rises with what a nat of entropy allows; at 1 the block settles and the next comes in. " +
				"With one ancestor it jumps to 1 at once.",
		}, {
			id: "blocks", title: "Number of batches", axis: chart.Axis{Label: "batches that have come in", Whole: true, Zero: true}, step: true,
			of: came, caption: "The last of them has the power above, the others 1.",
		},
	}
}

func (v *view) evidenceSoFar(m *starling.SMC) course {
	c := course{
		id: "logz", title: "Log evidence so far", axis: chart.Axis{Label: "nats"}, decimals: 1,
		of:      func(l *starling.TraceLine) float64 { return float64(l.LogEvidence) },
		caption: "Of the iteration's own target, its likelihood scaled to all examples.",
	}
	switch {
	case m.Path.SDA != nil && !m.Path.SDA.Scale:
		c.caption = "Of the iteration's own target: the examples that have come in, those of the newest block to its power."
	case m.Start == "tempered":
		c.caption = "Of the iteration's own target, its likelihood scaled to all examples once tempering has led to the first batch."
	}
	if m.Weight == "literal" {
		c.caption = "It " + v.aboutEvidence() + "."
	} else {
		c.caption += " At the end it " + v.aboutEvidence() + "."
	}
	return c
}
