// Package finding holds findings about a run: diagnoses and warnings, stored as a kind and numbers, and shown in words. Each
// kind has a function that makes its findings, so that no other package spells kinds and keys. The words stand in one table,
// for the terminal and the pages.
package finding

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// The kinds that other packages look for.
const (
	KindOptimiser = "optimiser"
	KindMerged    = "merged"
	KindStuck     = "islands-stuck"
	KindStill     = "islands-still"
	KindUnmoved   = "moves-stuck"
	KindFailed    = "sampling-failed"
	KindApart     = "chains-apart"
	KindNarrow    = "intervals-narrow"
	KindWide      = "intervals-wide"

	KindFewDraws = "few-draws"

	KindLadder = "ladder-bias"

	KindUnscored       = "unscored"
	KindUnderconfident = "underconfident"
	KindOverconfident  = "overconfident"
	KindMiscalibrated  = "miscalibrated"

	KindFew = "few-trajectories"

	KindUncompared  = "chains-uncompared"
	KindChainsStuck = "chain-stuck" // in runs of older versions it is of one chain
	KindChainsStill = "chains-still"
)

// Finding is one diagnosis or warning. A run's folder may hold kinds that this version does not know, written by another one.
type Finding struct {
	Kind    string                    `json:"kind"`
	Numbers map[string]numeral.Number `json:"numbers,omitempty"`
	Names   map[string]string         `json:"names,omitempty"`
}

// Population summarises weight degeneracy on a path of batches, over all iterations of all islands or, where a line of the trace has
// several, over all lines.
type Population struct {
	Islands, Particles int     // particles: of one island
	Iterations         int     // of all islands together
	Single, Resampled  int     // iterations with a single ancestor, and with a resampling
	ESS, LogWeightVar  float64 // medians; the variance is in nats²
	Lines              string  // what is counted in place of iterations: Epochs or Lines; empty: iterations
}

// What is counted where a line of the trace has several iterations: it is an epoch, or something else.
const (
	Epochs = "epochs"
	Lines  = "trace lines"
)

func (p Population) of(kind string) Finding {
	f := Finding{Kind: kind, Numbers: p.numbers()}
	if p.Lines != "" {
		f.Names = map[string]string{"lines": p.Lines}
	}
	return f
}

func (p Population) numbers() map[string]numeral.Number {
	return numbers{
		"islands": float64(p.Islands), "particles": float64(p.Particles), "iterations": float64(p.Iterations),
		"single": float64(p.Single), "resampled": float64(p.Resampled), "ess": p.ESS, "log_weight_var": p.LogWeightVar,
	}.safe()
}

// Optimiser says that the weights degenerate: the variance of the log-weights is too large for the number of particles.
func Optimiser(p Population) Finding { return p.of(KindOptimiser) }

// Merged says that in most iterations one ancestor is left, although the variance of the log-weights is not too large.
func Merged(p Population) Finding { return p.of(KindMerged) }

// OptimisedRuns names the runs of a comparison that behaved as optimisers.
func OptimisedRuns(runs []string) Finding { return ofRuns("optimised-runs", runs) }

// MergedRuns names the runs of a comparison whose log evidence rests on one draw of the start.
func MergedRuns(runs []string) Finding { return ofRuns("merged-runs", runs) }

func ofRuns(kind string, runs []string) Finding {
	return Finding{Kind: kind, Numbers: numbers{"count": float64(len(runs))}.safe(), Names: map[string]string{"runs": numeral.List(runs)}}
}

// NoEvidence says that islands that start at point estimates give no evidence; start is the value of the config's key start.
func NoEvidence(start string) Finding {
	return Finding{Kind: "no-evidence", Names: map[string]string{"start": start}}
}

// NoPathOfTargets says that a weighting gives no evidence; weight is its name in a config.
func NoPathOfTargets(weight string) Finding {
	return Finding{Kind: "no-path-of-targets", Names: map[string]string{"weight": weight}}
}

// NoEvidenceByFresh says that a path of fresh batches gives no evidence; path is its name in a config, others are those of the paths that
// give one.
func NoEvidenceByFresh(path string, others []string) Finding {
	return Finding{Kind: "no-evidence-by-fresh", Names: map[string]string{"path": path, "others": numeral.List(others)}}
}

// NoWeights says that a method whose particles have no weights gives no evidence; move is its title.
func NoWeights(move string) Finding {
	return Finding{Kind: "no-weights", Names: map[string]string{"move": move}}
}

// NoFixedModel says that a model that is learned while the particles move has no evidence.
func NoFixedModel() Finding { return Finding{Kind: "no-fixed-model"} }

// Target names the target distribution whose evidence is estimated.
type Target string

// The targets that a path of batches can end at.
const (
	EveryTarget   Target = "every-target"   // the model's: every target is the posterior
	LastTarget    Target = "last-target"    // the model's: the last target is the posterior
	PartialTarget Target = "partial-target" // not the model's: some examples have a power below 1, or 0
)

// Trust says how far a log evidence can be trusted.
type Trust string

// The degrees of trust.
const (
	Estimate Trust = "evidence"           // the weights show no problem
	OneDraw  Trust = "evidence-merged"    // all particles descend from one start
	NoTrust  Trust = "evidence-optimised" // the run behaved as an optimiser
	Unmoved  Trust = "evidence-unmoved"   // the particles hardly moved
)

// Evidence says which evidence the log evidence estimates. traced: it is in the trace alone, not in the metrics.
func Evidence(of Target, trust Trust, traced bool) Finding {
	place := "metrics"
	if traced {
		place = "trace"
	}
	return Finding{Kind: string(trust), Names: map[string]string{"target": string(of), "place": place}}
}

// ChainsEnd gives the number of chains, and the ranges of their last log-likelihoods, in nats, and of their acceptance in the second
// half.
func ChainsEnd(chains int, lowest, highest, least, most float64) Finding {
	f := BiasedChainsEnd(chains, lowest, highest)
	f.Numbers["least"], f.Numbers["most"] = numeral.Number(least), numeral.Number(most)
	return f
}

// BiasedChainsEnd is ChainsEnd for moves without an accept step.
func BiasedChainsEnd(chains int, lowest, highest float64) Finding {
	return Finding{Kind: "chains-end", Numbers: numbers{"chains": float64(chains), "lowest": lowest, "highest": highest}.safe()}
}

// Biased says that the move of chains, given by its title, has no accept step. step is the path of its step size.
func Biased(move, step string) Finding {
	return Finding{Kind: "biased", Names: map[string]string{"move": move, "step": step}}
}

// SVGDSpread says what the spread of the particles of SVGD is.
func SVGDSpread() Finding { return Finding{Kind: "svgd"} }

// MeanField says what the spread of the draws of VI is.
func MeanField() Finding { return Finding{Kind: "mean-field"} }

// AsIs says that the posterior is the network of model.init.
func AsIs() Finding { return Finding{Kind: "as-is"} }

// PointAtMAP says that with s = 0 the posterior is the best point estimate alone.
func PointAtMAP() Finding { return Finding{Kind: "point", Names: map[string]string{"at": "map"}} }

// PointAtInit says that with s = 0 the posterior is the network of model.init alone.
func PointAtInit() Finding { return Finding{Kind: "point", Names: map[string]string{"at": "init"}} }

// OneBatch says that a mini-batch has all examples that an iteration sees, so that an epoch is one leapfrog.
func OneBatch(examples int) Finding {
	return Finding{Kind: "one-batch", Numbers: numbers{"examples": float64(examples)}.safe()}
}

// PriorOfDecay says which variance of the prior belongs to a weight decay.
func PriorOfDecay(decay float64, examples int, variance float64) Finding {
	return Finding{
		Kind: "prior-of-decay", Numbers: numbers{"examples": float64(examples)}.safe(),
		Names: map[string]string{"decay": fmt.Sprintf("%.4g", decay), "variance": fmt.Sprintf("%.4g", variance)},
	}
}

// BeganAtInit says that all particles began at model.init. tempering: the path is one of temperatures, which then has one
// step.
func BeganAtInit(tempering bool) Finding {
	if tempering {
		return Finding{Kind: "began-at-init-tempering"}
	}
	return Finding{Kind: "began-at-init"}
}

// Stopped says that so many islands ended before their path, because their kept states together did not improve for so many iterations.
// They made first to last of all iterations.
func Stopped(stopped, islands, first, last, all, patience int) Finding {
	return Finding{Kind: "stopped", Numbers: numbers{
		"stopped": float64(stopped), "islands": float64(islands), "first": float64(first), "last": float64(last), "all": float64(all), "patience": float64(patience),
	}.safe()}
}

// InitUnused says that model.init was given, but no particle begins there and the prior's mean is 0.
func InitUnused() Finding { return Finding{Kind: "init-unused"} }

// NoThreshold says that a run keeps no threshold of the energy, because that of some of the validation examples is not finite.
func NoThreshold(undefined, examples int) Finding {
	return Finding{Kind: "no-threshold", Numbers: numbers{"count": float64(undefined), "examples": float64(examples)}.safe()}
}

// StoppedEarly says that an island, counted from 0, ended its tempering at a power of the likelihood below 1.
func StoppedEarly(island int, temperature float64) Finding {
	return Finding{Kind: "stopped-early", Numbers: numbers{"island": float64(island), "temperature": temperature}.safe()}
}

// Exploded says that the particles of so many islands ended far from the posterior, because the steps are too long: their mean training
// NLL, of the worst island, is above that of its start and that of a guess without the inputs. step is the path of the step size.
func Exploded(exploded, islands int, end, start, guess float64, step string) Finding {
	return Finding{
		Kind:    "exploded",
		Numbers: numbers{"exploded": float64(exploded), "islands": float64(islands), "end": end, "start": start, "guess": guess}.safe(),
		Names:   map[string]string{"step": step},
	}
}

// SingleAncestor says that at the end of single of the islands, all particles descend from one initial particle.
func SingleAncestor(single, islands int) Finding {
	return Finding{Kind: "single-ancestor", Numbers: numbers{"single": float64(single), "islands": float64(islands)}.safe()}
}

// Errors says what corrects the errors of moves. Findings are kept with these words.
type Errors string

const (
	Accepted    Errors = "accepted"    // accept or reject
	Weighed     Errors = "stand"       // the weights: the moves have no accept or reject
	Uncorrected Errors = "uncorrected" // nothing: neither the moves nor the weights do
)

// IslandsEnd gives the ranges, over the islands, of the number of iterations and of the acceptance of the last moves.
// batches: the path is one of batches. Where the moves have no accept or reject, acceptance is the probability that such
// a step would have had; NaN where nothing says what it would be.
func IslandsEnd(fewest, most int, least, highest float64, batches bool, errors Errors) Finding {
	names := map[string]string{"path": "tempering", "moves": string(errors)}
	if batches {
		names["path"] = "batches"
	}
	all := numbers{"fewest": float64(fewest), "most": float64(most)}
	if math.IsNaN(least) {
		names["moves"] = "alone"
	} else {
		all["least"], all["highest"] = least, highest
	}
	return Finding{Kind: "islands-end", Names: names, Numbers: all.safe()}
}

// Ancestors gives the range, over the islands, of the number of initial particles that have descendants at the end.
func Ancestors(fewest, most, particles int) Finding {
	return Finding{Kind: "ancestors", Numbers: numbers{"fewest": float64(fewest), "most": float64(most), "particles": float64(particles)}.safe()}
}

// ChainsOutlying names chains, counted from 0, whose last log-likelihood is far from the other chains'.
func ChainsOutlying(chains []int) Finding {
	return Finding{
		Kind: "chains-outlying", Numbers: numbers{"count": float64(len(chains))}.safe(), Names: map[string]string{"chains": numbered(chains)},
	}
}

// EvidenceAgrees gives the log evidence and its standard deviation over the islands, which is small.
func EvidenceAgrees(logZ, sd float64) Finding {
	return Finding{Kind: "evidence-agrees", Numbers: numbers{"log_evidence": logZ, "sd": sd}.safe()}
}

// EvidenceScatters gives the same where the standard deviation is large. effective is the number of effective islands under
// weights by evidence.
func EvidenceScatters(logZ, sd, effective float64, islands int) Finding {
	return Finding{Kind: "evidence-scatters", Numbers: numbers{
		"log_evidence": logZ, "sd": sd, "effective": effective, "islands": float64(islands),
	}.safe()}
}

// EvidenceWithin gives the log evidence of a single island, and the standard deviation that it has over runs, as the families of its
// particles tell it. rough: that is large.
func EvidenceWithin(logZ, sd float64, rough bool) Finding {
	kind := "evidence-within"
	if rough {
		kind = "evidence-rough"
	}
	return Finding{Kind: kind, Numbers: numbers{"log_evidence": logZ, "sd": sd}.safe()}
}

// LadderBias gives by how much the adaptation of the ladder has moved the log evidence.
func LadderBias(by float64) Finding {
	side := "lowers"
	if by > 0 {
		side = "raises"
	}
	return Finding{Kind: KindLadder, Numbers: numbers{"by": math.Abs(by)}.safe(), Names: map[string]string{"side": side}}
}

// EvidenceOfOne gives the log evidence of a single island that cannot tell its error.
func EvidenceOfOne(logZ float64) Finding {
	return Finding{Kind: "evidence-of-one", Numbers: numbers{"log_evidence": logZ}.safe()}
}

// UnevenWeights says that the effective number of networks is much smaller than their number.
func UnevenWeights(networks int, effective float64) Finding {
	return Finding{Kind: "uneven-weights", Numbers: numbers{"networks": float64(networks), "effective": effective}.safe()}
}

// DeadNetworks counts networks of the posterior that have no weight.
func DeadNetworks(dead int) Finding {
	return Finding{Kind: "dead-networks", Numbers: numbers{"dead": float64(dead)}.safe()}
}

// numbered lists islands or chains in words.
func numbered(parts []int) string {
	names := make([]string, len(parts))
	for i, n := range parts {
		names[i] = fmt.Sprint(n)
	}
	return numeral.List(names)
}

type numbers map[string]float64

func (n numbers) safe() map[string]numeral.Number {
	out := make(map[string]numeral.Number, len(n))
	for k, v := range n {
		out[k] = numeral.Number(v)
	}
	return out
}

// raw shows a finding for which there are no words: its kind, numbers and names.
func (f Finding) raw() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(f.Numbers)) {
		parts = append(parts, fmt.Sprintf("%s %g", k, float64(f.Numbers[k])))
	}
	for _, k := range slices.Sorted(maps.Keys(f.Names)) {
		parts = append(parts, k+" "+f.Names[k])
	}
	if parts == nil {
		return f.Kind
	}
	return f.Kind + ": " + strings.Join(parts, ", ")
}
