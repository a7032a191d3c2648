package finding

import (
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about the weights, the ancestors and the paths of populations of particles.

// Population summarises weight degeneracy on a path of batches, over all iterations of all islands or, where a line of the trace has
// several, over all lines.
type Population struct {
	Islands, Particles int     // particles: of one island
	Iterations         int     // of all islands together
	Single, Resampled  int     // iterations with a single ancestor, and with a resampling
	ESS, LogWeightVar  float64 // medians; the variance is in nats²
	Lines              string  `kept:"?"` // what is counted in place of iterations: Epochs or Lines; empty: iterations
}

// What is counted where a line of the trace has several iterations: it is an epoch, or something else.
const (
	Epochs = "epochs"
	Lines  = "trace lines"
)

// lines are what the population's finding counts.
func (p Population) lines() string {
	return either(p.Lines == Epochs || p.Lines == Lines, p.Lines, "iterations")
}

// Optimiser says that the weights degenerate: the variance of the log-weights is too large for the number of particles.
type Optimiser struct{ Population }

// Merged says that in most iterations one ancestor is left, although the variance of the log-weights is not too large.
type Merged struct{ Population }

func (f Optimiser) words() words {
	return words{
		look: warning, says: "the run behaved as an optimiser, not as a sampler of the posterior",
		means: say("it kept about the best of %v noisy optimisation runs%s, so the disagreement of its particles says little about uncertainty. "+
			"Of %v %s%s, %v had a single surviving ancestor and %v resampled. The median effective sample size was %.1f of %v. "+
			"The median variance of the log-weights was %.1f nats², where %v particles carry about %.1f",
			f.Particles, plural(f.Islands, "", " on each island"), f.Iterations, f.lines(), together(f.Islands), f.Single, f.Resampled,
			f.ESS, f.Particles, f.LogWeightVar, f.Particles, math.Log(float64(f.Particles))),
		cure: "for uncertainty take method: mcmc, tempering, smaller steps or a smaller network", help: helpWeights,
		beside: "no estimate: the run behaved as an optimiser",
	}
}

func (f Merged) words() words {
	line := f.lines()[:len(f.lines())-1]
	return words{
		look: warning,
		says: say("all particles%s descend from one particle of the start in %v of %v %s%s",
			plural(f.Islands, "", " of an island"), f.Single, f.Iterations, f.lines(), together(f.Islands)),
		means: say("the log-weights differ by no more than %v particles carry (median effective sample size %.1f), "+
			"but %s resampled, and each resampling loses ancestors. The particles differ only by the moves since, so the run may understate uncertainty",
			f.Particles, f.ESS, numeral.Several(f.Resampled, line)),
		cure: "take more particles or more islands", help: helpWeights, beside: "rests on one draw of the start",
	}
}

// SingleAncestor says that at the end of Single of the islands, all particles descend from one initial particle.
type SingleAncestor struct{ Single, Islands int }

func (f SingleAncestor) words() words {
	of := either(f.Single == f.Islands, "of each island ", say("of %v of %v islands ", f.Single, f.Islands))
	return words{
		look: note | page, says: "at the end all particles " + plural(f.Islands, "", of) + "descend from one particle of the start",
		means: "they differ only by the moves since, so " + plural(f.Islands, "the run understates uncertainty",
			say("an island alone understates uncertainty; the %v islands together have as many independent ancestors", f.Islands)) +
			". More islands give more of them",
	}
}

// Ancestors gives the range, over the islands, of the number of initial particles that have descendants at the end.
type Ancestors struct{ Fewest, Most, Particles int }

func (f Ancestors) words() words {
	return words{look: note | page, says: say("of the %v particles that an island started with, %s still have descendants",
		f.Particles, between(float64(f.Fewest), float64(f.Most), 0))}
}

// Errors says what corrects the errors of moves. Findings are kept with these words.
type Errors string

const (
	Accepted    Errors = "accepted"    // accept or reject
	Weighted    Errors = "stand"       // the weights: the moves have no accept or reject
	Uncorrected Errors = "uncorrected" // nothing: neither the moves nor the weights do
	Alone       Errors = "alone"       // not known: nothing says what the acceptance would be
)

// IslandsEnd gives the ranges, over the islands, of the number of iterations and of the acceptance of the last moves. Where the moves have
// no accept or reject, acceptance is the probability that such a step would have had; nil where nothing says what it would be.
type IslandsEnd struct {
	Fewest, Most   int
	Least, Highest *numeral.Number
	Batches        bool   `kept:"path=batches|tempering"`
	Errors         Errors `kept:"moves"`
}

func (f IslandsEnd) words() words {
	shares := ""
	if f.Least != nil && f.Highest != nil {
		shares = between(float64(100**f.Least), float64(100**f.Highest), 0) + unit
	}
	steps := between(float64(f.Fewest), float64(f.Most), 0)
	says := either(f.Batches, "the path of batches took "+steps+" iterations", "the path from the prior to the posterior took "+steps+" steps")
	without := "; an accept/reject step would have accepted " + shares + " of the last moves, but these moves have none"
	switch f.Errors {
	case Alone:
		says += ", of moves without an accept step"
	case Weighted:
		says += without + ": their errors are in the weights"
	case Uncorrected:
		says += without + ", and nothing corrects their errors"
	default:
		says += "; at the end " + shares + " of the moves were accepted"
	}
	return words{look: note | page, says: says}
}

// StoppedEarly says that an island, counted from 0, ended its tempering at a power of the likelihood below 1.
type StoppedEarly struct {
	Island      int
	Temperature float64
}

func (f StoppedEarly) words() words {
	return words{
		look: warning, says: say("island %v ended at the power %.4f of the likelihood, before the posterior", f.Island, f.Temperature),
		means: "its particles have not taken in the data in full, and are too uncertain",
		cure:  "let the path go on to the power 1 (path)", help: helpWeights,
	}
}

// Stopped says that so many islands ended before their path, because their kept states together did not improve for so many iterations.
// They made First to Last of all iterations.
type Stopped struct{ Stopped, Islands, First, Last, All, Patience int }

func (f Stopped) words() words {
	return words{
		look: note,
		says: say("%s stopped after iteration %s of %v, as the validation NLL no longer fell (stop: {patience: %s})",
			plural(f.Islands, "the island", say("%v of %v islands", f.Stopped, f.Islands)), between(float64(f.First), float64(f.Last), 0), f.All, strconv.Itoa(f.Patience)),
		means: say("in %s the NLL of the states kept so far had not fallen by more than its standard error",
			plural(f.Patience, "an iteration", say("%v iterations", f.Patience))),
	}
}

// BeganAtInit says that all particles began at model.init.
type BeganAtInit struct{}

// BeganAtInitTempering is BeganAtInit on a path of temperatures, which then has one step.
type BeganAtInitTempering struct{}

func (BeganAtInit) words() words {
	return words{look: note, says: "all particles began at model.init, not at draws of the prior"}
}

func (BeganAtInitTempering) words() words {
	return words{
		look: warning, says: "all particles began at model.init, so tempering is one step and no evidence is estimated",
		cure: "take chains (method: mcmc) or prior.anchor", help: helpMixing,
	}
}

// UnevenWeights says that the effective number of networks is much smaller than their number.
type UnevenWeights struct {
	Networks  int
	Effective float64
}

func (f UnevenWeights) words() words {
	return words{
		look: warning, says: say("the weights are uneven, so the %v networks are worth %.1f of equal weight", f.Networks, f.Effective),
		cure: "take more particles, more moves in an iteration, or combine: equal", help: helpWeights,
	}
}

// DeadNetworks counts networks of the posterior that have no weight.
type DeadNetworks struct{ Dead int }

func (f DeadNetworks) words() words {
	return words{
		look: warning, says: say("%v %s weight 0", f.Dead, plural(f.Dead, "network has", "networks have")),
		means: plural(f.Dead, "its", "their") + " energy was not finite, or far above that of the others",
		cure:  "take a smaller step or more moves in an iteration", help: helpWeights,
	}
}

// OptimisedRuns names the runs of a comparison that behaved as optimisers.
type OptimisedRuns struct{ Runs Some }

func (f OptimisedRuns) words() words {
	return words{
		look: warning | page,
		says: say(f.Runs.plural("the run %s behaved as an optimiser, not as a sampler of the posterior",
			"the runs %s behaved as optimisers, not as samplers of the posterior"), f.Runs.Names),
		means: f.Runs.plural("the disagreement of its networks says little about uncertainty, and its log evidence is no estimate",
			"the disagreement of their networks says little about uncertainty, and their log evidences are no estimates"),
		cure: "compare the scores alone, or sample by chains or by tempering", help: helpWeights,
	}
}

// MergedRuns names the runs of a comparison whose log evidence rests on one draw of the start.
type MergedRuns struct{ Runs Some }

func (f MergedRuns) words() words {
	return words{
		look: warning | page, says: say("the log evidence of %s rests on one draw of the start", f.Runs.Names),
		means: "all particles of an island descend from it", cure: "take more islands before you compare log evidences", help: helpWeights,
	}
}
