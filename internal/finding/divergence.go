package finding

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about moves whose energy was infinite, undefined or very large.

// Divergence counts such moves.
type Divergence struct {
	Moves, Of int     // of all moves
	Aim       float64 // the acceptance that the step size is adapted to; 0: the step is fixed
	Step      string  // the path of the step size
	Short     bool    // of chains: they made too few moves to find their step
}

// fewDiverge is the share of divergent moves up to which nothing need be done, where they were refused: a particle then stays where it
// is, which the law of the moves allows for.
const fewDiverge = 0.01

// Lost says that moves without an accept step diverged: their particles have no weight.
func (d Divergence) Lost() Finding { return d.finding("divergent") }

// Refused says that proposals of a population diverged, and the particles stayed.
func (d Divergence) Refused() Finding { return d.finding(d.often("divergent-refused")) }

// OfChains says that trajectories of chains diverged after the warm-up.
func (d Divergence) OfChains() Finding { return d.finding(d.often("chains-diverged")) }

// often is the kind of many divergent moves, or that of few.
func (d Divergence) often(kind string) string {
	if float64(d.Moves) < fewDiverge*float64(d.Of) {
		return kind + "-few"
	}
	return kind
}

func (d Divergence) finding(kind string) Finding {
	f := Finding{
		Kind:    kind,
		Numbers: numbers{"moves": float64(d.Moves), "of": float64(d.Of)}.safe(),
		Names:   map[string]string{"step": d.Step, "budget": "enough"},
	}
	if d.Short {
		f.Names["budget"] = "short"
	}
	const rounding = 1e-9
	if higher := 1 - math.Ceil(float64(50*(1-d.Aim))-rounding)/100; d.Aim > 0 && higher > d.Aim { // half as many refusals, in hundredths
		f.Numbers["aim"], f.Numbers["higher"] = numeral.Number(d.Aim), numeral.Number(higher)
	}
	return f
}
