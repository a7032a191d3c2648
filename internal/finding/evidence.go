package finding

import (
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about the log evidence of populations.

// NoEvidence says that islands that do not start at draws of the prior give no evidence; Start is the value of the config's key start.
type NoEvidence struct{ Start string }

func (f NoEvidence) words() words {
	return words{look: note | ofEvidence, says: say("no evidence: start %s leaves the weights of the first particles unknown", f.Start)}
}

// NoPathOfTargets says that a weighting gives no evidence; Weight is its name in a config.
type NoPathOfTargets struct{ Weight string }

func (f NoPathOfTargets) words() words {
	return words{look: note | ofEvidence, says: say("no evidence: weight %s leaves out the change of target, so the weights follow no path of targets", f.Weight)}
}

// NoEvidenceByFresh says that a path of fresh batches gives no evidence; Path is its name in a config, Others lists those of the paths that
// give one.
type NoEvidenceByFresh struct {
	Path   string
	Others string `kept:"?"`
}

func (f NoEvidenceByFresh) words() words {
	others := either(f.Others == "", "", say(". Paths %s have one", f.Others))
	return words{look: note | ofEvidence, says: say("no evidence: path %s takes fresh batches, which make log Z far too low", f.Path) + others}
}

// NoWeights says that a method whose particles have no weights gives no evidence; Move is its title.
type NoWeights struct{ Move string }

func (f NoWeights) words() words {
	return words{look: note | ofEvidence, says: say("no evidence: %s gives its particles no weights", f.Move)}
}

// NoFixedModel says that a model that is learned while the particles move has no evidence.
type NoFixedModel struct{}

func (NoFixedModel) words() words {
	return words{
		look: note | ofEvidence,
		says: "no evidence: the layers that are not random change while the particles move, so the weights are of no one model",
	}
}

// Target names the target distribution whose evidence is estimated.
type Target string

// The targets that a path of batches can end at.
const (
	EveryTarget   Target = "every-target"   // the model's: every target is the posterior
	LastTarget    Target = "last-target"    // the model's: the last target is the posterior
	PartialTarget Target = "partial-target" // not the model's: some examples have a power below 1, or 0
)

func (t Target) words() string {
	switch t {
	case EveryTarget:
		return "the model's evidence, as every target is the posterior, with all examples"
	case LastTarget:
		return "the model's evidence, as the last target is the posterior, with all examples in full"
	case PartialTarget:
		return "the evidence of the last target, in which some examples do not count in full yet"
	}
	return "the evidence of " + string(t)
}

// Estimated is which evidence a log evidence estimates.
type Estimated struct {
	Target Target
	Traced bool `kept:"place=trace|metrics"` // it is in the trace alone, not in the metrics
}

func (e Estimated) name() string { return "the log evidence" + either(e.Traced, " in the trace", "") }

// Evidence says which evidence is estimated, by weights that show no problem.
type Evidence struct{ Estimated }

// EvidenceMerged is Evidence where all particles descend from one start.
type EvidenceMerged struct{ Estimated }

// EvidenceUnmoved is Evidence where the particles hardly moved.
type EvidenceUnmoved struct{ Estimated }

// EvidenceOptimised is Evidence where the run behaved as an optimiser.
type EvidenceOptimised struct{ Estimated }

func (f Evidence) words() words {
	return words{look: note | ofEvidence, says: f.name() + " is an estimate of " + f.Target.words()}
}

func (f EvidenceMerged) words() words {
	return words{
		look: warning | ofEvidence, says: f.name() + " rests on one draw of the start", means: "it is an estimate of " + f.Target.words(),
		cure: "take more islands before you compare log evidences", help: helpEvidence,
	}
}

func (f EvidenceUnmoved) words() words {
	return words{
		look: warning | ofEvidence, says: f.name() + " is not to be trusted, as the particles hardly moved",
		means: "it would be an estimate of " + f.Target.words(), cure: "follow the warning about the moves first", help: helpEvidence,
	}
}

func (f EvidenceOptimised) words() words {
	return words{
		look: warning | ofEvidence, says: f.name() + " is no estimate, as the run behaved as an optimiser",
		means: "a run that samples would give an estimate of " + f.Target.words(), cure: "do not compare it with others", help: helpEvidence,
	}
}

// EvidenceAgrees gives the log evidence and its standard deviation over the islands, which is small. Islands and Effective, the number of
// effective islands under weights by evidence, are there where it is so small that these weights are right.
type EvidenceAgrees struct {
	LogEvidence, SD float64
	Islands         int `kept:"?"`
	Effective       *numeral.Number
}

func (f EvidenceAgrees) words() words {
	says := say("the log evidence is %.1f; those of the islands have a standard deviation of %.1f", f.LogEvidence, f.SD)
	if f.Right() {
		says += say(", so that weights by evidence are right: they leave %.1f of %v islands effective", *f.Effective, f.Islands)
	}
	return words{look: note | page, says: says}
}

// Right reports whether weights by evidence are right.
func (f EvidenceAgrees) Right() bool { return f.Islands > 0 && f.Effective != nil }

// EvidenceScatters says that weights by evidence are mostly noise. Effective is the number of effective islands under them. Runs of older
// versions lack what is behind it.
type EvidenceScatters struct {
	LogEvidence, SD, Effective float64
	Islands                    int
	Particles                  int  `kept:"?"` // of an island
	Used                       bool `kept:"?"` // islands are weighted by evidence all the same
	WasteFree                  bool `kept:"?"` // the sampler could be waste-free, and is not
	Anchored                   bool `kept:"?"` // the prior has an anchor, whose s can be smaller
}

func (f EvidenceScatters) words() words {
	return words{
		look:  warning | page,
		says:  say("the islands disagree about the log evidence, which is %.1f with a standard deviation of %.1f over the islands", f.LogEvidence, f.SD),
		means: "it decides between two models only if they differ by much more, and " + f.Instead(),
		cure:  f.Cure() + ", or compare models by the validation NLL", help: helpEvidence,
	}
}

// Instead says what weights by evidence are worth, and what was used.
func (f EvidenceScatters) Instead() string {
	if f.Used {
		return say("the islands' weights by evidence are mostly noise, and leave %.1f of %v effective", f.Effective, f.Islands)
	}
	return say("weights by evidence would be mostly noise, and leave %.1f of %v islands effective: so islands are weighted equally", f.Effective, f.Islands)
}

// Needed is the number of particles of an island at which the islands should scatter by 1 nat. The variance of log Z is in proportion to 1/J, for J
// particles and the same moves, as soon as J is large (Del Moral 2004, proposition 9.4.1; Chopin and Papaspiliopoulos 2020, section 11.4):
// σ²(J') = σ²(J)·J/J' = 1 where J' = J·σ²(J). It has two digits.
func (f EvidenceScatters) Needed() int {
	n := math.Ceil(float64(f.Particles) * float64(f.SD*f.SD))
	unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-1))
	return int(math.Ceil(n/unit) * unit)
}

// Cure says what makes the scatter smaller.
func (f EvidenceScatters) Cure() string {
	ways := []string{"more particles", "more moves in an iteration"}
	if f.Particles > 0 {
		ways[0] = say("about %v particles an island instead of %v (there the scatter should fall to 1)", f.Needed(), f.Particles)
	}
	if f.WasteFree {
		ways = append(ways, "waste_free")
	}
	if f.Anchored {
		ways = append(ways, "a smaller s of the prior's anchor")
	}
	last := len(ways) - 1
	return "take " + strings.Join(ways[:last], ", ") + " or " + ways[last]
}

// EvidenceOfOne gives the log evidence of a single island that cannot tell its error.
type EvidenceOfOne struct{ LogEvidence float64 }

func (f EvidenceOfOne) words() words {
	return words{
		look: note | page, says: say("the log evidence is %.1f; this one island cannot tell its error", f.LogEvidence),
		cure: "take several islands: their scatter is the error", help: helpEvidence,
	}
}

// EvidenceWithin gives the log evidence of a single island, and the standard deviation that it has over runs, as the families of its
// particles tell it.
type EvidenceWithin struct{ LogEvidence, SD float64 }

// EvidenceRough is EvidenceWithin where the standard deviation is large.
type EvidenceRough struct{ LogEvidence, SD float64 }

func (f EvidenceWithin) words() words {
	return words{
		look: note | page, says: say("the log evidence is %.1f ± %.1f, an error that is estimated within the one island", f.LogEvidence, f.SD),
	}
}

func (f EvidenceRough) words() words {
	return words{
		look: warning | page, says: EvidenceWithin(f).words().says, means: "it decides between two models only if they differ by much more",
		cure: "take more particles, or several islands, or compare models by the validation NLL", help: helpEvidence,
	}
}

// LadderBias gives by how much the adaptation of the ladder has moved the log evidence.
type LadderBias struct {
	By     float64 // without a sign
	Raises bool    `kept:"side=raises|lowers"`
}

func (f LadderBias) words() words {
	return words{
		look: note | page,
		says: say("the ladder adapts to the particles, which %s the log evidence by about %.1f", either(f.Raises, "raises", "lowers"), f.By),
		cure: "take more particles, or pilot: true (method.smc.pilot), which lets a separate run choose the temperatures", help: helpEvidence,
	}
}
