package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/smc"
)

// curve is a quantity over the iterations of a run.
type curve struct {
	id, title, caption string
	axis               chart.Axis // the y axis
	of                 func(*starling.TraceLine) float64
	decimals           int
	step               bool       // drawn as steps
	smooth             bool       // noisy for chains: means over stretches of the run are drawn
	reference          *reference // nil: none
	beside             []beside   // drawn in the same picture
	islands            []island   // the traces, restricted to lines that have the quantity
}

// beside is a further quantity, of which the median of the islands is drawn from where there is one.
type beside struct {
	name string
	of   func(*starling.TraceLine) float64
}

// reference is a value to compare with, and its description.
type reference struct {
	at   float64
	note string
}

// curves lists the curves of the sampler, in the order of the page; none if nothing was sampled.
func (v *view) curves() (all []curve) {
	if len(v.islands) == 0 {
		return nil
	}
	for _, c := range v.sampling.Path.Curves(v.trainedOn()) {
		all = append(all, v.ofPath(c))
	}
	if v.sampling.Path.Traits().Batches {
		all = append(all, v.batchCurves()...)
	}
	if v.sampling.Particles > 1 && !v.sampling.Chains() {
		all = append(all, v.ess(), v.acceptance(), v.ancestors(), v.likelihood())
	} else {
		all = append(all, v.likelihood(), v.acceptance())
	}
	all = append(all, v.validation(), curve{
		id: "step", title: "Step size", axis: chart.Axis{Label: "step size (log scale)", Log: true}, decimals: 5, smooth: true,
		of:      func(l *starling.TraceLine) float64 { return l.Step },
		caption: "The step size of the last move of an iteration.",
	})
	if v.sampling.Move.Traits().Varies && slices.ContainsFunc(v.run.Trace, func(l starling.TraceLine) bool { return l.Leapfrogs > 0 }) {
		caption := "The leapfrogs of the last move of an iteration: the length of a trajectory divided by the step size."
		if v.sampling.Chains() {
			caption += " The budget shortens a chain's last move."
		}
		all = append(all, curve{
			id: "leapfrogs", title: "Leapfrogs", axis: chart.Axis{Label: "leapfrogs of a move"}, smooth: true,
			of:      func(l *starling.TraceLine) float64 { return float64(l.Leapfrogs) },
			caption: caption,
		})
	}
	for i := range all {
		all[i].islands = v.islands
	}
	return append(all, v.testCurves()...)
}

// trainedOn is the number of examples that the run learnt from; 0 where it was evaluated on other data, so that it is not known.
func (v *view) trainedOn() int {
	if train := v.a.Problem.Train; train != nil {
		return train.Len()
	}
	return 0
}

// ofPath returns a curve as the path describes it.
func (v *view) ofPath(c smc.Curve) curve {
	axis := chart.Axis{Label: c.Axis, Log: c.Log, Whole: c.Whole}
	of := func(l *starling.TraceLine) float64 { return c.Of(l.Info) }
	if c.Share {
		axis.Max = 1
	}
	if v.sampling.Pilot {
		c.Caption += " A pilot run chose the temperatures, and all islands follow them."
	}
	if c.Zero { // the axis ends at the largest value, so that a constant is drawn too
		for i := range v.run.Trace {
			axis.Max = max(axis.Max, of(&v.run.Trace[i]))
		}
	}
	return curve{id: c.ID, title: c.Title, caption: c.Caption, axis: axis, of: of, decimals: c.Decimals, step: c.Step}
}

// ess is the effective sample size, as a share of the particles.
func (v *view) ess() curve {
	particles := float64(v.sampling.Particles)
	c := curve{
		id: "ess", title: "Effective sample size", decimals: 2, caption: "Before resampling.",
		axis: chart.Axis{Label: "share of the particles", Min: 0, Max: 1, Percent: true},
		of:   func(l *starling.TraceLine) float64 { return l.ESS / particles },
	}
	if share := v.sampling.Path.Traits().Share; share > 0 {
		c.reference = &reference{share, "left effective by each step of the path"}
		if v.sampling.Pilot {
			c.reference.note = "left effective by each step of the pilot"
		}
	} else if ratio := v.sampling.Resample.When.Ratio(); ratio > 0 {
		c.reference = &reference{ratio, "resampling below it"}
	}
	return c
}

// ancestors is the number of initial particles that have descendants.
func (v *view) ancestors() curve {
	return curve{
		id: "ancestors", title: "Surviving ancestors", step: true,
		axis:    chart.Axis{Label: "initial particles with descendants", Whole: true, Min: 0, Max: float64(v.sampling.Particles)},
		of:      func(l *starling.TraceLine) float64 { return float64(l.Ancestors) },
		caption: "Resampling loses ancestors for good. Only moves make their descendants differ again.",
	}
}

func (v *view) acceptance() curve {
	c := curve{
		id: "acceptance", title: "Acceptance", decimals: 2, smooth: true,
		axis:    chart.Axis{Label: "mean acceptance probability", Min: 0, Max: 1, Percent: true},
		of:      func(l *starling.TraceLine) float64 { return float64(l.Acceptance) },
		caption: "A particle stays where it is when its move is rejected.",
	}
	if n := v.run.Trace[0].Mutations; v.sampling.Chains() && n > 1 {
		c.caption += fmt.Sprintf(" A line of the trace holds the mean of %d moves.", n)
	}
	if !v.sampling.Move.Traits().Invariant() {
		c.caption = "The share that an accept/reject step would have accepted. These moves have no such step: every move is made, and "
		if v.sampling.Weighted {
			c.caption += "its energy error goes into the weight."
		} else {
			c.caption += "nothing corrects its energy error."
		}
	}
	if aim := v.sampling.Move.Traits().Aim; aim > 0 {
		c.reference = &reference{aim, "the step size is adapted to it"}
	}
	return c
}

const likelihoodID = "likelihood"

// likelihood is the sum over all training examples or, on a path of batches, the mean over those of the batch: batches
// differ in size.
func (v *view) likelihood() curve {
	c := curve{
		id: likelihoodID, title: "Log-likelihood", axis: chart.Axis{Label: "mean log-likelihood of a particle, nats"}, decimals: 1,
		of:      func(l *starling.TraceLine) float64 { return float64(l.LogLikelihood) },
		caption: fmt.Sprintf("On the training examples. At the end it should be stationary, and equal for all %ss.", v.sampling.Unit),
	}
	if !v.sampling.Path.Traits().Batches {
		return c
	}
	c.axis.Label, c.decimals = "mean over particles and examples, nats", 3
	c.of = func(l *starling.TraceLine) float64 { return float64(l.LogLikelihood) / float64(l.Examples-l.Annealed) }
	c.caption = "Per example of the iteration's own batch: it varies with the examples in the batch."
	if v.sampling.Path.Traits().Evidence.Every {
		c.caption = "Per example, of all training examples in every iteration."
	}
	if v.sampling.Path.Traits().AnnealsIn {
		c.caption = "Per example of the newest block: it falls at each new block, whose examples no particle has learnt from yet."
	}
	return c
}

func (v *view) validation() curve {
	c := curve{
		id: "validation", title: "Validation", axis: chart.Axis{Label: "NLL on the validation examples, nats"}, decimals: 3,
		of: func(l *starling.TraceLine) float64 { return number(l.ValNLL) },
		caption: fmt.Sprintf("Of the particles of an %s together, after the iteration. The posterior at the end may hold other states.",
			v.sampling.Unit),
	}
	if v.sampling.Chains() && v.sampling.Particles == 1 {
		c.caption = "Of the chain's present state alone, not of the states that are kept."
	}
	if slices.ContainsFunc(v.run.Trace, func(l starling.TraceLine) bool { return l.KeptNLL != nil }) {
		c.beside = []beside{
			{"all that is kept so far", func(l *starling.TraceLine) float64 { return number(l.KeptNLL) }},
			{"the best of that so far", func(l *starling.TraceLine) float64 { return number(l.BestKeptNLL) }},
		}
		c.caption += " The rule that stops early judges all that is kept so far: a new best is lower by more than its standard error over the examples."
	}
	if best := v.bestMAP(); !math.IsNaN(best) {
		c.reference = &reference{best, "best MAP"}
	}
	return c
}

// bestMAP is the chosen restart's NLL on the validation examples; NaN without validation examples.
func (v *view) bestMAP() float64 {
	if v.run.Chosen >= len(v.run.NLL) {
		return math.NaN()
	}
	return v.run.NLL[v.run.Chosen]
}

// testCurves are the scores on the test examples, at the iterations after which they were computed.
func (v *view) testCurves() []curve {
	islands := tested(v.islands)
	caption := fmt.Sprintf("Of an island's particles together, by their weights, every %d iterations and at the end. "+
		"No decision depends on it.", method.TestedEvery)
	return []curve{
		{
			id: "testnll", title: "Test NLL", axis: chart.Axis{Label: "NLL on the test examples, nats"}, decimals: 3, caption: caption, islands: islands,
			of: func(l *starling.TraceLine) float64 { return number(l.TestNLL) },
		}, {
			id: "testaccuracy", title: "Test accuracy", decimals: 4, caption: caption, islands: islands,
			axis: chart.Axis{Label: "accuracy on the test examples", Percent: true},
			of:   func(l *starling.TraceLine) float64 { return number(l.TestAccuracy) },
		},
	}
}

// batchCurves are curves that all paths of batches have: the energy errors of the moves, and the variance of the log-weights.
func (v *view) batchCurves() (all []curve) {
	if !v.sampling.Move.Traits().Invariant() {
		caption := "It is added to the log-weights: above a few nats one particle gets nearly all the weight."
		if !v.sampling.Weighted {
			caption = "The weights leave it out, and nothing corrects it: where it is large, the particles follow another law than the posterior."
		}
		all = append(all, curve{
			id: "energy", title: "Energy error", axis: chart.Axis{Label: "sd over the particles, nats (log scale)", Log: true}, decimals: 2,
			of:      func(l *starling.TraceLine) float64 { return l.EnergySD },
			caption: caption,
		})
	}
	particles := v.sampling.Particles
	all = append(all, curve{
		id: "logweights", title: "Variance of the log-weights", axis: chart.Axis{Label: "nats² (log scale)", Log: true}, decimals: 2,
		of:        func(l *starling.TraceLine) float64 { return float64(l.LogWeightVar) },
		reference: &reference{math.Log(float64(particles)), fmt.Sprintf("log J: what %d particles carry", particles)},
		caption: "Before resampling, over the living particles. The effective share of the particles is about exp(−variance): above log J " +
			"less than one particle is effective.",
	})
	if slices.ContainsFunc(v.run.Trace, func(l starling.TraceLine) bool { return l.LogZ != 0 }) {
		all = append(all, v.evidenceSoFar())
	}
	return all
}

func (v *view) evidenceSoFar() curve {
	c := curve{
		id: "logz", title: "Log evidence so far", axis: chart.Axis{Label: "nats"}, decimals: 1,
		of:      func(l *starling.TraceLine) float64 { return float64(l.LogZ) },
		caption: v.sampling.Whole.Traits().Captioned(),
	}
	if v.sampling.NoPath != "" {
		c.caption = ""
	}
	if i := slices.IndexFunc(v.run.Findings, finding.Finding.OfEvidence); i >= 0 {
		c.caption = strings.TrimSpace(c.caption + " " + v.run.Findings[i].Sentence())
	}
	return c
}
