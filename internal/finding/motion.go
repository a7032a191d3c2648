package finding

import (
	"math"

	"github.com/starling-smc/starling/internal/numeral"
)

// Findings about moves that did not move. step is the path of the step size in the config: the setting to change.

// ChainsStuck names chains that accepted hardly any move in the second half: at most the given share. written: the config gives the step
// size.
func ChainsStuck(chains []int, acceptance float64, step string, written bool) Finding {
	return Finding{
		Kind:    KindChainsStuck,
		Numbers: numbers{"count": float64(len(chains)), "acceptance": acceptance}.safe(),
		Names:   map[string]string{"chains": numbered(chains), "step": step, "size": sizeOf(written)},
	}
}

// ChainsStill names chains whose moves in the second half led less far than bound, a share of the chain's length |θ|.
func ChainsStill(chains []int, bound float64, step string) Finding {
	return Finding{
		Kind:    KindChainsStill,
		Numbers: numbers{"count": float64(len(chains)), "bound": bound}.safe(),
		Names:   map[string]string{"chains": numbered(chains), "step": step},
	}
}

// IslandsStuck names islands that accepted a smaller share than bound of the moves of their last iterations, which did not carry the
// particles. written: the config gives the step size.
func IslandsStuck(islands []int, bound float64, step string, written bool) Finding {
	f := ofMotion(KindStuck, islands, bound, step)
	f.Names["size"] = sizeOf(written)
	return f
}

// IslandsStill names islands whose moves led less far, between two resamplings, than bound, a share of the particles' spread.
func IslandsStill(islands []int, bound float64, step string) Finding {
	return ofMotion(KindStill, islands, bound, step)
}

func ofMotion(kind string, islands []int, bound float64, step string) Finding {
	return Finding{
		Kind:    kind,
		Numbers: numbers{"count": float64(len(islands)), "bound": bound}.safe(),
		Names:   map[string]string{"islands": numbered(islands), "step": step},
	}
}

// Stuck describes the stages of islands whose moves did not carry the particles.
type Stuck struct {
	Stages, Of, Islands     int     // stages that are stuck, of all stages of all islands
	Copies                  int     // of those that are stuck, the ones that began with copies of one particle
	Temperature, Acceptance float64 // of the first that is stuck
	Mutations               int     // moves that it made
	Displacement            float64 // how far they carried the particles, in spreads of the particles; NaN where it began with copies of one
	Refused                 bool    // too few of them were accepted; else they were too short
	Written                 bool    // the config gives the step size
	Step, Moves             string  // the settings of the step size and of the number of moves
	Failed                  bool    // most stages are stuck
}

// MovesStuck says that the moves did not carry the particles in some stages, and what to change. Where they failed in most, it fails the
// run.
func MovesStuck(s Stuck) Finding {
	f := Finding{
		Kind: KindUnmoved,
		Numbers: numbers{
			"stuck": float64(s.Stages), "stages": float64(s.Of), "islands": float64(s.Islands),
			"temperature": s.Temperature, "acceptance": s.Acceptance, "moves": float64(s.Mutations),
		}.safe(),
		Names: map[string]string{"step": s.Step, "mutations": s.Moves, "why": "short", "size": sizeOf(s.Written)},
	}
	if s.Copies > 0 {
		f.Numbers["copies"] = numeral.Number(s.Copies)
	}
	if !math.IsNaN(s.Displacement) {
		f.Numbers["displacement"] = numeral.Number(s.Displacement)
	}
	if s.Failed {
		f.Kind = KindFailed
	}
	if s.Refused {
		f.Names["why"] = "refused"
	}
	return f
}

// sizeOf says where a step size is from.
func sizeOf(written bool) string {
	if written {
		return "written"
	}
	return "adapted"
}

// ScaleKept counts the stages, of all stages of all islands, in which the particles could teach no scale.
func ScaleKept(kept, stages, islands int) Finding {
	return Finding{Kind: "scale-kept", Numbers: numbers{"kept": float64(kept), "stages": float64(stages), "islands": float64(islands)}.safe()}
}

// UnmovedRuns names the runs of a comparison with islands whose particles hardly moved.
func UnmovedRuns(runs []string) Finding { return ofRuns("unmoved-runs", runs) }
