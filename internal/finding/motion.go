package finding

import (
	"math"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about moves that did not move, or that are biased or too long. Step is the path of the step size in the config: the setting to
// change.

// Biased says that the move of chains, given by its title, has no accept step.
type Biased struct{ Move, Step string }

func (f Biased) words() words {
	return words{
		look: note, says: f.Move + " has no accept step, so its draws are biased", means: "the step and the noise of the mini-batches make the bias",
		cure: say("halve the step (%s), and see whether predictions change", f.Step),
	}
}

// ChainStuck names chains that accepted hardly any move in the second half: at most a share. In runs of older versions it is of one chain.
type ChainStuck struct {
	Chains     Some
	Acceptance float64
	Step       string
	Adapted    bool    `kept:"size=adapted|written?"` // the config does not give the step size
	Aim        float64 `kept:"?"`                     // the acceptance that it adapts to; 0: not known, in runs of older versions
	Failed     bool    `kept:"?"`                     // most chains of the run did not leave their place at all
}

func (f ChainStuck) words() words {
	step := say("a smaller step (%s)", f.Step)
	return failed(f.Failed, words{
		look: warning, says: say(f.Chains.plural("chain %s is stuck", "chains %s are stuck"), f.Chains.Names),
		means: say(f.Chains.plural("it accepted %.2f of its moves in the second half, so its states are not draws of the posterior",
			"they accepted at most %.2f of their moves in the second half, so their states are not draws of the posterior"), f.Acceptance),
		cure: "take " + either(f.Adapted, higherAccept(f.Aim), step+unlessNeeded(f.Step, ", or leave the step out")), help: helpMoves,
	})
}

// higherAccept is advice to aim at an acceptance above the present one.
func higherAccept(aim float64) string {
	higher := .9
	if aim >= .85 {
		higher = (1 + math.Round(aim*100)/100) / 2
	}
	return "a higher accept, as " + short(higher) + either(aim > 0, say(" (it was %s)", short(aim)), "")
}

func (f ChainStuck) allowed() Kind {
	f.Failed = false
	return f
}

// ChainsStill names chains whose moves in the second half led less far than Bound, a share of the chain's length |θ|.
type ChainsStill struct {
	Chains Some
	Bound  float64
	Step   string
	Failed bool `kept:"?"` // most chains of the run did not leave their place at all
}

func (f ChainsStill) words() words {
	return failed(f.Failed, words{
		look: warning, says: f.Chains.plural("chain ", "chains ") + f.Chains.Names + " stood still",
		means: say(f.Chains.plural("the moves of the second half carried it by less than %.3f of its length, so its states are not draws of the posterior",
			"the moves of the second half carried each by less than %.3f of its length, so their states are not draws of the posterior"), f.Bound),
		cure: say("take a larger step (%s) or more epochs", f.Step), help: helpMoves,
	})
}

func (f ChainsStill) allowed() Kind {
	f.Failed = false
	return f
}

// IslandsStuck names islands that accepted a smaller share than Bound of the moves of their last iterations, which did not carry the
// particles.
type IslandsStuck struct {
	Islands Some
	Bound   float64
	Step    string
	Adapted bool `kept:"size=adapted|written?"` // the config does not give the step size
}

// IslandsStill names islands whose moves led less far, between two resamplings, than Bound, a share of the particles' spread.
type IslandsStill struct {
	Islands Some
	Bound   float64
	Step    string
}

const distrust = ", so neither the posterior nor a log evidence is to be trusted"

func (f IslandsStuck) words() words {
	return words{
		look: warning, says: say(f.Islands.plural("island %s is stuck", "islands %s are stuck"), f.Islands.Names),
		means: say("in the last quarter of the iterations less than %s of the moves were accepted, "+
			"and they carried the particles by less than half of their spread between two resamplings", percent(f.Bound, 0)) + distrust,
		cure: say(either(f.Adapted, "take more moves in an iteration, or write a smaller step (%s)",
			"take a smaller step (%s) or more moves in an iteration"+unlessNeeded(f.Step, ", or leave the step out")), f.Step),
		help: helpMoves, beside: "not to be trusted: moves were refused",
	}
}

func (f IslandsStill) words() words {
	return words{
		look: warning, says: f.Islands.plural("island ", "islands ") + f.Islands.Names + " stood still",
		means: say("the moves between two resamplings carried the particles by less than %s of their spread", percent(f.Bound, 0)) + distrust,
		cure:  say("take a larger step (%s) or more moves in an iteration", f.Step),
		help:  helpMoves, beside: "not to be trusted: the particles hardly moved",
	}
}

// Stuck describes the stages of islands whose moves did not carry the particles.
type Stuck struct {
	Stages       int             `kept:"stuck"`  // that are stuck
	Of           int             `kept:"stages"` // all stages of all islands
	Islands      int             //
	Copies       int             `kept:"?"` // of those that are stuck, the ones that began with copies of one particle
	Temperature  float64         // of the first that is stuck
	Acceptance   float64         // of its moves
	Mutations    int             `kept:"moves"` // moves that it made
	Displacement *numeral.Number // how far they carried the particles, in spreads of the particles; nil where it began with copies of one
	Refused      bool            `kept:"why=refused|short"`    // too few of them were accepted; else they were too short
	Written      bool            `kept:"size=written|adapted"` // the config gives the step size
	Step         string          //
	Moves        string          `kept:"mutations"` // the setting of the number of moves
}

// MovesStuck says that the moves did not carry the particles in some stages, and what to change.
type MovesStuck struct{ Stuck }

// SamplingFailed is MovesStuck where the moves failed in most stages. It fails the run.
type SamplingFailed struct{ Stuck }

func (f MovesStuck) words() words {
	copied := f.Copies > 0 && f.Copies == f.Stages
	says := say("in %v of %v stages%s ", f.Stages, f.Of, together(f.Islands)) +
		either(copied, "all particles began as copies of one, and may not have parted", "the particles did not move far enough")
	by := either(f.Copies > 0 && !copied, ", from copies of one particle", "")
	if f.Displacement != nil {
		by = say(", by %.2f of their spread", *f.Displacement)
	}
	means := say("the first such stage was at λ %.2g (acceptance %.2f, %v %s%s), so log Z and the posterior cannot be trusted",
		f.Temperature, f.Acceptance, f.Mutations, plural(f.Mutations, "move", "moves"), by)
	cure := ""
	switch {
	case f.Refused && f.Written:
		cure = say("take a smaller step (%s)", f.Step) + unlessNeeded(f.Step, " or leave it out")
	case f.Refused:
		cure = say("take more moves in a stage (%s) or more particles", f.Moves)
	case f.Written:
		cure = say("take a larger step (%s)", f.Step) + unlessNeeded(f.Step, " or leave it out,") + " or more moves"
	default:
		cure = say("take more or longer moves (%s), or more particles", f.Moves)
	}
	return words{
		look: warning, says: says, means: means, cure: cure, help: helpMoves,
		beside: "not to be trusted: the particles did not move in some stages",
	}
}

func (f SamplingFailed) words() words {
	w := failed(true, MovesStuck(f).words())
	w.beside = "not to be trusted: the particles did not move"
	return w
}

func (f SamplingFailed) allowed() Kind { return MovesStuck(f) }

// failed are the words of a finding that fails the run, if it does.
func failed(is bool, w words) words {
	if is {
		w.look, w.says = w.look|failure, "the run failed, as "+w.says
	}
	return w
}

// ScaleKept counts the stages, of all stages of all islands, in which the particles could teach no scale.
type ScaleKept struct{ Kept, Stages, Islands int }

func (f ScaleKept) words() words {
	return words{look: note | page, says: say("in %v of %v stages%s the moves kept their last scale of the coordinates, "+
		"as too few particles of different descent were left to learn it from", f.Kept, f.Stages, together(f.Islands))}
}

// Exploded says that the particles of so many islands ended far from the posterior, because the steps are too long: their mean training
// NLL, of the worst island, is above that of its start and that of a guess without the inputs.
type Exploded struct {
	Exploded, Islands int
	End, Start, Guess float64
	Step              string
}

func (f Exploded) words() words {
	return words{
		look: warning, says: say("the steps are too long (training NLL %.2f at the end, %.2f at the start)", f.End, f.Start),
		means: say("the particles%s ended above the %.2f of a guess without the inputs, so their networks are not draws of the posterior",
			plural(f.Islands, "", say(" of %v of %v islands", f.Exploded, f.Islands)), f.Guess),
		cure: say("take a smaller step (%s)", f.Step), help: helpMoves,
	}
}

// UnmovedRuns names the runs of a comparison with islands whose particles hardly moved.
type UnmovedRuns struct{ Runs Some }

func (f UnmovedRuns) words() words {
	return words{
		look: warning | page, says: f.Runs.plural("the run ", "the runs ") + f.Runs.Names + " had islands whose particles hardly moved",
		means: f.Runs.plural("neither its posterior nor its log evidence is to be trusted", "neither their posteriors nor their log evidences are to be trusted"),
		cure:  "look at the warnings of " + f.Runs.plural("this run", "these runs") + " first", help: helpMoves,
	}
}

// unlessNeeded is advice to leave out a step size, whose path is given: empty for one of another name than step, such as the sd of a walk,
// which a config must give.
func unlessNeeded(path, advice string) string {
	return either(strings.HasSuffix(path, ".step"), advice, "")
}
