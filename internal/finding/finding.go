// Package finding says what was found out about a run: a kind and its numbers, to be kept, and the words for them, to be
// read. A finding is made by the function named after its kind, so that nobody else spells kinds and keys. Its words stand
// in one table, and serve the terminal and the pages.
package finding

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// The kinds that others look for among findings.
const (
	KindOptimiser = "optimiser"
	KindMerged    = "merged"
)

// Finding is one thing that was found out. Files of other versions may hold kinds that this one does not know.
type Finding struct {
	Kind    string                    `json:"kind"`
	Numbers map[string]numeral.Number `json:"numbers,omitempty"`
	Names   map[string]string         `json:"names,omitempty"`
}

// Population is what the weights on a path of batches show, over all iterations of all islands.
type Population struct {
	Islands, Particles int     // particles: of one island
	Iterations         int     // of all islands together
	Single, Resampled  int     // iterations with a single ancestor, and with a resampling
	ESS, LogWeightVar  float64 // medians; the variance is in nats²
}

func (p Population) numbers() map[string]numeral.Number {
	return numbers{
		"islands": float64(p.Islands), "particles": float64(p.Particles), "iterations": float64(p.Iterations),
		"single": float64(p.Single), "resampled": float64(p.Resampled), "ess": p.ESS, "log_weight_var": p.LogWeightVar,
	}.safe()
}

// Optimiser says that the log-weights differ by more than the particles can carry.
func Optimiser(p Population) Finding { return Finding{Kind: KindOptimiser, Numbers: p.numbers()} }

// Merged says that one ancestor is left in most iterations, though the weights are even enough.
func Merged(p Population) Finding { return Finding{Kind: KindMerged, Numbers: p.numbers()} }

// NoEvidence says that islands that begin at point estimates estimate none; start is the config's word for the place.
func NoEvidence(start string) Finding {
	return Finding{Kind: "no-evidence", Names: map[string]string{"start": start}}
}

// LiteralWeights says that weight: literal gives no evidence.
func LiteralWeights() Finding { return Finding{Kind: "literal-weights"} }

// Target says which target's evidence a log evidence is an estimate of.
type Target string

// The targets that a path of batches can end at.
const (
	EveryTarget   Target = "every-target"   // the model's: every target is the posterior
	LastTarget    Target = "last-target"    // the model's: the last target is the posterior
	LastBatch     Target = "last-batch"     // not the model's: a batch, scaled to all examples
	PartialTarget Target = "partial-target" // not the model's: some examples are not in, or not in full
)

// Trust says whether a log evidence can pass for an estimate.
type Trust string

// What the weights say of a log evidence.
const (
	Estimate Trust = "evidence"           // nothing against it
	OneDraw  Trust = "evidence-merged"    // all particles descend from one start
	NoTrust  Trust = "evidence-optimised" // the run behaved as an optimiser
)

// Evidence says what the log evidence is an estimate of. traced says that it stands in the trace alone, not in the metrics.
func Evidence(of Target, trust Trust, traced bool) Finding {
	place := "metrics"
	if traced {
		place = "trace"
	}
	return Finding{Kind: string(trust), Names: map[string]string{"target": string(of), "place": place}}
}

// ChainsEnd gives the ranges of the chains' last log-likelihoods, in nats, and of their acceptance in the second half.
func ChainsEnd(lowest, highest, least, most float64) Finding {
	return Finding{Kind: "chains-end", Numbers: numbers{"lowest": lowest, "highest": highest, "least": least, "most": most}.safe()}
}

// ChainStuck says that a chain, counted from 0, accepted hardly any move in the second half.
func ChainStuck(chain int, acceptance, logLikelihood float64) Finding {
	return Finding{Kind: "chain-stuck", Numbers: numbers{"chain": float64(chain), "acceptance": acceptance, "log_likelihood": logLikelihood}.safe()}
}

// AsIs says that the posterior is the network of model.init.
func AsIs() Finding { return Finding{Kind: "as-is"} }

// PointAtMAP says that s = 0 left the best point estimate alone.
func PointAtMAP() Finding { return Finding{Kind: "point", Names: map[string]string{"at": "map"}} }

// PointAtInit says that s = 0 left the network of model.init alone.
func PointAtInit() Finding { return Finding{Kind: "point", Names: map[string]string{"at": "init"}} }

// BeganAtInit says that all particles began at model.init. tempering: under a path of temperatures, which is one step then.
func BeganAtInit(tempering bool) Finding {
	if tempering {
		return Finding{Kind: "began-at-init-tempering"}
	}
	return Finding{Kind: "began-at-init"}
}

// InitUnused says that nothing begins at model.init, and no prior is anchored there.
func InitUnused() Finding { return Finding{Kind: "init-unused"} }

// ConstantColumns names the columns of a table that were dropped.
func ConstantColumns(names []string) Finding {
	return Finding{Kind: "constant-columns", Numbers: numbers{"count": float64(len(names))}.safe(), Names: map[string]string{"columns": strings.Join(names, ", ")}}
}

// ZeroFeatures lists the features of arrays that a network sees as 0 everywhere, counted from 0.
func ZeroFeatures(features []int) Finding {
	const few = 20
	var names []string
	for _, j := range features[:min(few, len(features))] {
		names = append(names, fmt.Sprint(j))
	}
	if len(features) > few {
		names = append(names, "…")
	}
	return Finding{Kind: "zero-features", Numbers: numbers{"count": float64(len(features))}.safe(), Names: map[string]string{"features": strings.Join(names, ", ")}}
}

// ChannelsLast says that a file of images seems to have its channels last: it was taken as channels × height × width.
func ChannelsLast(file string, channels, height, width int) Finding {
	return Finding{
		Kind:    "channels-last",
		Numbers: numbers{"channels": float64(channels), "height": float64(height), "width": float64(width)}.safe(),
		Names:   map[string]string{"file": file},
	}
}

// StoppedEarly says that an island, counted from 0, ended its tempering at a power of the likelihood below 1.
func StoppedEarly(island int, temperature float64) Finding {
	return Finding{Kind: "stopped-early", Numbers: numbers{"island": float64(island), "temperature": temperature}.safe()}
}

// IslandsStuck names islands that accepted a smaller share of their last moves than bound.
func IslandsStuck(islands []int, bound float64) Finding {
	return Finding{
		Kind:    "islands-stuck",
		Numbers: numbers{"count": float64(len(islands)), "bound": bound}.safe(),
		Names:   map[string]string{"islands": numbered(islands)},
	}
}

// Divergent counts moves whose energy was infinite or undefined. refused: they were proposals, and the particles stayed.
func Divergent(moves int, refused bool) Finding {
	kind := "divergent"
	if refused {
		kind = "divergent-refused"
	}
	return Finding{Kind: kind, Numbers: numbers{"moves": float64(moves)}.safe()}
}

// SingleAncestor says that on single of so many islands all particles descend, at the end, from one particle of the start.
func SingleAncestor(single, islands int) Finding {
	return Finding{Kind: "single-ancestor", Numbers: numbers{"single": float64(single), "islands": float64(islands)}.safe()}
}

// IslandsEnd gives the ranges, over the islands, of the number of iterations and of the acceptance of the last moves. batches:
// the path is one of batches; stand: moves have no accept or reject, so that acceptance only says what it would have been.
func IslandsEnd(fewest, most int, least, highest float64, batches, stand bool) Finding {
	names := map[string]string{"path": "tempering", "moves": "accepted"}
	if batches {
		names["path"] = "batches"
	}
	if stand {
		names["moves"] = "stand"
	}
	return Finding{
		Kind: "islands-end", Names: names,
		Numbers: numbers{"fewest": float64(fewest), "most": float64(most), "least": least, "highest": highest}.safe(),
	}
}

// Ancestors gives the range, over the islands, of the particles of the start that have descendants at the end.
func Ancestors(fewest, most, particles int) Finding {
	return Finding{Kind: "ancestors", Numbers: numbers{"fewest": float64(fewest), "most": float64(most), "particles": float64(particles)}.safe()}
}

// ChainsOutlying names chains, counted from 0, that ended at a log-likelihood far from that of the others.
func ChainsOutlying(chains []int) Finding {
	return Finding{
		Kind: "chains-outlying", Numbers: numbers{"count": float64(len(chains))}.safe(), Names: map[string]string{"chains": numbered(chains)},
	}
}

// ChainsAgree gives the split R-hat of the chains' log-likelihoods, which says that they agree.
func ChainsAgree(rHat float64) Finding {
	return Finding{Kind: "chains-agree", Numbers: numbers{"r_hat": rHat}.safe()}
}

// ChainsDisagree gives a split R-hat which says that they do not.
func ChainsDisagree(rHat float64) Finding {
	return Finding{Kind: "chains-disagree", Numbers: numbers{"r_hat": rHat}.safe()}
}

// EvidenceAgrees gives the log evidence and its standard deviation over the islands, where that is small.
func EvidenceAgrees(logZ, sd float64) Finding {
	return Finding{Kind: "evidence-agrees", Numbers: numbers{"log_evidence": logZ, "sd": sd}.safe()}
}

// EvidenceScatters is EvidenceAgrees where the standard deviation is large: weights by evidence would leave so many effective
// islands of all.
func EvidenceScatters(logZ, sd, effective float64, islands int) Finding {
	return Finding{Kind: "evidence-scatters", Numbers: numbers{
		"log_evidence": logZ, "sd": sd, "effective": effective, "islands": float64(islands),
	}.safe()}
}

// EvidenceOfOne gives the log evidence of a single island.
func EvidenceOfOne(logZ float64) Finding {
	return Finding{Kind: "evidence-of-one", Numbers: numbers{"log_evidence": logZ}.safe()}
}

// UnevenWeights says that the weights of so many networks are worth those of only a few equal ones.
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

// raw shows a finding for which there are no words: its kind, and what belongs to it.
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
