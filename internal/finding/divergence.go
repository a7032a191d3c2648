package finding

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about moves whose energy was infinite, undefined or very large.

// Divergence counts such moves.
type Divergence struct {
	Moves, Of   int             // of all moves
	Aim, Higher *numeral.Number // the acceptance that the step size is adapted to, and a higher one to try; nil: the step is fixed, or there is none
	Step        string          // the path of the step size
	Short       bool            `kept:"budget=short|enough"` // of chains: they made too few moves to find their step
}

// CountDivergence is a Divergence of so many moves of all. aim is 0 where the step is fixed.
func CountDivergence(moves, of int, aim float64, step string) Divergence {
	const rounding = 1e-9
	higher := 1 - math.Ceil(float64(50*(1-aim))-rounding)/100 // half as many refusals, in hundredths
	d := Divergence{Moves: moves, Of: of, Step: step}
	if aim > 0 && higher > aim {
		d.Aim, d.Higher = Known(aim), Known(higher)
	}
	return d
}

// Few reports whether so few moves diverged that nothing need be done, where they were refused: a particle then stays where it is, which
// the law of the moves allows for.
func (d Divergence) Few() bool { return float64(d.Moves) < 0.01*float64(d.Of) }

// Refused says that proposals of a population diverged, and the particles stayed.
func (d Divergence) Refused() Kind {
	if d.Few() {
		return DivergentRefusedFew{d}
	}
	return DivergentRefused{d}
}

// OfChains says that trajectories of chains diverged after the warm-up.
func (d Divergence) OfChains() Kind {
	if d.Few() {
		return ChainsDivergedFew{d}
	}
	return ChainsDiverged{d}
}

// shorter is what to take for fewer of them.
func (d Divergence) shorter() string {
	accept := ""
	if d.Higher != nil && d.Aim != nil {
		accept = say("a higher accept (%.2f; it was %.2f) or ", *d.Higher, *d.Aim)
	}
	return say("take %sa smaller step (%s)", accept, d.Step)
}

// Divergent says that moves without an accept step diverged: their particles have no weight.
type Divergent struct{ Divergence }

// DivergentRefused says that many proposals of a population diverged, and the particles stayed.
type DivergentRefused struct{ Divergence }

// DivergentRefusedFew says that few did.
type DivergentRefusedFew struct{ Divergence }

// ChainsDiverged says that many trajectories of chains diverged after the warm-up.
type ChainsDiverged struct{ Divergence }

// ChainsDivergedFew says that few did.
type ChainsDivergedFew struct{ Divergence }

func (f Divergent) words() words {
	return words{
		look: warning, says: say("%v %s had infinite or undefined energy and left no weight", f.Moves, plural(f.Moves, "move", "moves")),
		means: "the step may be too large", cure: say("take a smaller step (%s)", f.Step), help: helpMoves,
	}
}

func (f DivergentRefused) words() words {
	return words{
		look: note | page, says: DivergentRefusedFew(f).words().says, means: "the step may be too large",
	}
}

func (f DivergentRefusedFew) words() words {
	return words{
		look:  note | page,
		says:  say("%v of %v proposals had infinite or undefined energy and %s refused", f.Moves, f.Of, plural(f.Moves, "was", "were")),
		means: "so few cost next to nothing",
	}
}

func (f ChainsDiverged) words() words {
	w := words{
		look:  note | page,
		says:  say("%v of %v %s of the second half diverged", f.Moves, f.Of, plural(f.Of, "trajectory", "trajectories")),
		means: "they were refused. Parts of the posterior are too narrow for this step size, and the chains may miss them",
	}
	if 2*f.Moves >= f.Of {
		w.look, w.cure, w.help = warning, f.shorter(), helpMoves
		w.means = "most moves are lost: parts of the posterior are too narrow for this step size, and the chains may miss them"
		if f.Short {
			w.means, w.cure = "so few trajectories find no step size that suits", "take more epochs first"
		}
	}
	return w
}

func (f ChainsDivergedFew) words() words {
	return words{
		look: note | page, says: say("%v of %v trajectories of the second half diverged", f.Moves, f.Of),
		means: "so few say little against the chains. If 1 % or more diverge, the chains may miss narrow parts of the posterior",
	}
}
