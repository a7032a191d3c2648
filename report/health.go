package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/chart"
	"github.com/starling-smc/starling/uq"
)

// healthy says whether what was sampled can pass for the posterior.
func (v *view) healthy() topic {
	t := topic{Title: "Whether the posterior is healthy"}
	switch {
	case len(v.islands) == 0:
		t.say("Nothing was sampled: there is no sampler whose health could be judged.")
	case v.run.Spec.Method.MCMC != nil:
		t.chains(v)
	default:
		t.population(v)
	}
	t.weights(v)
	broken, moves := 0, 0
	for _, i := range v.islands {
		for _, l := range i.lines {
			broken += l.Broken
			moves += l.Mutations
		}
	}
	m := v.move()
	switch {
	case broken == 0:
	case m != nil && m.Leapfrog != nil:
		t.warn("%s had infinite or undefined energy, and left no weight: the step may be too large.", several(broken, "move"))
	default:
		t.warn("%s had infinite or undefined energy and were refused: the step may be too large.", several(broken, "proposal"))
	}
	return t
}

// population is about islands of particles.
func (t *topic) population(v *view) {
	m := v.run.Spec.Method.SMC
	var steps, ancestors, accepted []float64
	single, stuck := 0, []string{}
	for _, i := range v.islands {
		l := i.last()
		steps = append(steps, float64(l.K))
		ancestors = append(ancestors, float64(l.Ancestors))
		a := l.Acceptance
		accepted = append(accepted, a)
		if l.Ancestors <= 1 && m.Particles > 1 {
			single++
		}
		if a < lowMoves && m.Move.Leapfrog == nil {
			stuck = append(stuck, fmt.Sprint(i.name))
		}
		if l.Temperature < 1 && m.Path.Tempering != nil {
			t.warn("Island %d ended at the power %s of the likelihood, before the posterior.", i.name, fixed(l.Temperature, 4))
		}
	}
	if optimised, _ := v.run.Spec.Optimised(v.run.Trace); optimised {
		each := ""
		if len(v.islands) > 1 {
			each = " on each island"
		}
		t.warn("It behaved as an optimiser, not as a sampler of the posterior: the log-weights differ by more than %d particles can carry, "+
			"so it kept little more than the best of %d noisy descents%s, and how far its networks disagree says little.",
			m.Particles, m.Particles, each)
	}
	low, high := slices.Min(steps), slices.Max(steps)
	took, moves := "From prior to posterior took %s steps", "%s of the moves were accepted"
	if m.Path.Tempering == nil {
		took = "The path of batches took %s iterations"
	}
	if m.Move.Leapfrog != nil {
		moves = "accept or reject would have let %s of the moves pass, but all stand, and their errors are in the weights"
	}
	t.say(took+"; at the end "+moves+".", span(low, high, 0), span(100*slices.Min(accepted), 100*slices.Max(accepted), 0)+"\u00a0%")
	if n := len(v.islands); single > 0 {
		who := fmt.Sprintf("In %d of %d islands all particles descend", single, n)
		rest := fmt.Sprintf("; the %d islands together are as many independent lines", n)
		switch {
		case n == 1:
			who, rest = "All particles descend", "; more islands would give independent lines"
		case single == n:
			who = fmt.Sprintf("In each of the %d islands all particles descend", n)
		}
		t.warn("%s from one particle of the start: within an island they differ only by the moves since, so an island alone doubts too little%s.",
			who, rest)
	} else {
		t.say("Of the %d particles that an island started with, %s still have descendants.",
			m.Particles, span(slices.Min(ancestors), slices.Max(ancestors), 0))
	}
	if len(stuck) > 0 {
		t.warn("At the end less than %s of the moves were accepted on island %s: its particles hardly moved.", percentRound(lowMoves), list(stuck))
	}
	t.scatter(v)
}

// scatter is about the evidence.
func (t *topic) scatter(v *view) {
	m := v.j.Metrics
	z, sd, effective := number(m.LogEvidence), number(m.LogEvidenceSD), number(m.EffectiveIslands)
	where := " in the trace"
	if m.LogEvidence != nil {
		where = ", " + fixed(z, 1) + ","
	}
	optimised, merged := v.run.Spec.Optimised(v.run.Trace)
	if about := v.aboutEvidence(); about != "" && (optimised || merged) {
		t.warn("The log evidence%s %s.", where, about)
	} else if about != "" {
		t.say("The log evidence%s %s.", where, about)
	}
	if m.LogEvidence == nil || optimised {
		return
	}
	n := len(v.run.Posterior.LogEvidence)
	if n < 2 {
		t.say("The log evidence is %s; a single island cannot say how sure that is.", fixed(z, 1))
		return
	}
	if sd > evidenceSD {
		rest := ""
		if v.run.Spec.Method.SMC.Combine == "evidence" {
			rest = fmt.Sprintf(", and weighing the islands by it leaves %s of %d", fixed(effective, 1), n)
		}
		t.warn("The log evidence, %s, scatters by %s nats over the islands: it decides between models only if they differ by much more%s.",
			fixed(z, 1), fixed(sd, 1), rest)
	} else {
		t.say("The log evidence is %s, with a standard deviation of %s over the islands.", fixed(z, 1), fixed(sd, 1))
	}
}

func (v *view) aboutEvidence() string {
	return v.run.Spec.AboutEvidence(v.run.Trace, v.j.Problem.Train.Len())
}

// weights is about the ensemble that was kept.
func (t *topic) weights(v *view) {
	n := v.run.Posterior.Size()
	if n == 1 {
		return
	}
	squares, dead := 0.0, 0
	for _, l := range v.run.Posterior.LogWeights {
		squares += math.Exp(2 * l)
		if math.IsInf(l, -1) {
			dead++
		}
	}
	ess := 1 / squares
	if ess < float64(n)/4 {
		t.warn("The weights are uneven: %d networks count for %s.", n, fixed(ess, 1))
	}
	if dead > 0 {
		t.warn("%s no weight at all.", has(dead))
	}
}

func has(n int) string {
	if n == 1 {
		return "1 network has"
	}
	return count(n) + " networks have"
}

// chains is about independent chains.
func (t *topic) chains(v *view) {
	epochs := float64(v.run.Spec.Method.MCMC.Epochs)
	var accepted, ends []float64
	var stuck []string
	var halves [][]float64
	for _, i := range v.islands {
		var a, ll []float64
		for _, l := range i.lines {
			if 2*l.Epochs > epochs {
				a = append(a, l.Acceptance)
				ll = append(ll, float64(l.LogLikelihood))
			}
		}
		if len(a) == 0 {
			continue
		}
		accepted = append(accepted, uq.Mean(a))
		if uq.Mean(a) < lowMoves {
			stuck = append(stuck, fmt.Sprint(i.name))
		}
		halves = append(halves, ll)
		ends = append(ends, float64(i.last().LogLikelihood))
	}
	if accepted == nil {
		t.warn("No chain came to its second half.")
		return
	}
	t.say("In the second half of the run, whose states count, the chains accepted %s\u00a0%% of their moves and ended at log-likelihoods from %s.",
		span(100*slices.Min(accepted), 100*slices.Max(accepted), 0), span(slices.Min(ends), slices.Max(ends), 1))
	if len(stuck) > 0 {
		what := "Chain " + stuck[0] + " is stuck: it"
		if len(stuck) > 1 {
			what = "Chains " + list(stuck) + " are stuck: each"
		}
		t.warn("%s accepted less than %s of its moves, and its states are one place rather than the posterior.", what, percentRound(lowMoves))
	}
	if odd := v.outliers(ends); odd != nil {
		t.warn("Chain %s ended at a log-likelihood far from that of the others: see the figure below.", list(odd))
	}
	switch r := rHat(halves); {
	case math.IsNaN(r):
	case r > mixedRHat:
		t.warn("The chains' log-likelihoods do not agree yet (split R-hat %s, where 1 is agreement): longer chains would tell.", fixed(r, 2))
	default:
		t.say("Their log-likelihoods agree (split R-hat %s).", fixed(r, 2))
	}
}

// outliers are the chains whose end is more than ten median deviations away from the median of all.
func (v *view) outliers(ends []float64) (odd []string) {
	if len(ends) < 4 {
		return nil
	}
	middle := chart.Median(ends)
	away := make([]float64, len(ends))
	for i, e := range ends {
		away[i] = math.Abs(e - middle)
	}
	for i, d := range away {
		if d > 10*chart.Median(away) {
			odd = append(odd, fmt.Sprint(v.islands[i].name))
		}
	}
	return odd
}

// rHat is the potential scale reduction of chains cut in half (Gelman et al., Bayesian Data Analysis, 3rd ed., section
// 11.4): √(((n−1)/n W + B/n) / W). It is NaN for chains of fewer than 8 values or of different lengths.
func rHat(chains [][]float64) float64 {
	var halves [][]float64
	for _, c := range chains {
		n := len(c) / 2
		if n < 4 || len(c) != len(chains[0]) {
			return math.NaN()
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	if len(halves) == 0 {
		return math.NaN()
	}
	n := float64(len(halves[0]))
	var means []float64
	within := 0.0
	for _, h := range halves {
		within += variance(h) / float64(len(halves))
		means = append(means, uq.Mean(h))
	}
	return math.Sqrt(((n-1)/n*within + variance(means)) / within)
}

// variance divides by n − 1.
func variance(x []float64) float64 {
	m, sum := uq.Mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(x)-1)
}
