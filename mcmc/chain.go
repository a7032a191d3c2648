package mcmc

import (
	"context"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// WarmUp is the share of a chain's budget in which its move learns. After it step sizes, scales and lengths are frozen, and the states
// are draws.
const WarmUp = 0.5

// Chains have a budget of evaluations, and learn in its first half. After that all that they have learned is frozen, because a
// kernel that adapts to its past leaves no distribution invariant. Three windows of the first half end with a new scale:
//
//	0 to .1     moves of at most 5 leapfrogs, many and short, find the step, and leave where the chain began
//	.1 to .25   moves of full length
//	.25 to .45  moves of full length, most of the points for the final scale
//
// Where the scale is dense, the first window ends with an ascent (ascent.go) instead, whose curvature is the scale: its points are those of the way.
//
// The step is found by dual averaging, anew after each window. After the half the chain takes its average, not its last value,
// which is as noisy as one acceptance.
var windows = [...]float64{0.1, 0.25, 0.45}

const (
	briefMoves = 5  // leapfrogs of a move in the first window
	fewPoints  = 10 // points that a window must have to teach a scale; else they count for the next one
)

// brief reports whether a chain makes brief moves.
func brief(progress float64) bool { return progress < windows[0] }

// advance ends windows. aim is the acceptance that the step is adapted to; 0: the step is fixed.
func (l learner) advance(t *Target, chains int, aim, progress float64) {
	for i := int(l.tuning[atWindow]); i < len(windows) && progress >= windows[i]; i++ {
		l.tuning[atWindow]++
		learned := l.kind != None && l.tuning[atPoints] >= float64(fewPoints*chains) && l.fromPoints(t, aim > 0)
		if learned {
			l.forget()
		}
		if aim > 0 && (learned || i == 0) {
			l.restart(l.tuning[logStepMean])
		}
	}
	if aim > 0 && progress >= WarmUp {
		l.tuning[logStep] = l.tuning[logStepMean]
	}
}

// observe learns from a move that was made at a progress. aim is as in advance.
func (l learner) observe(w *Work, p *Population, accepted, aim, progress float64) {
	if progress >= WarmUp {
		return
	}
	if aim > 0 {
		l.steps().learn(accepted, aim, relaxationOf(p.J))
	}
	if int(l.tuning[atWindow]) < len(windows) {
		l.visit(w, p)
	}
}

// shareOf is what chain j pays of n evaluations that several chains made together: the first chain the most, and all of them n.
func shareOf(n, j, chains int) int { return (n + chains - 1 - j) / chains }

// ascend ends the first window of a chain whose scale is dense, where the step is adapted: the chain climbs to the bulk of its target, and the
// step is searched there, in the scale that it found. It takes from what is left in now what a chain pays of the evaluations, and
// returns how many the ascents and the search made.
func (m HMC) ascend(ctx context.Context, w *Work, t *Target, p *Population, l learner, now *StepContext) (made, searched int, err error) {
	if m.Step != 0 || l.kind != Dense || l.tuning[atWindow] > 0 || brief(now.Progress) || now.Progress >= WarmUp {
		return 0, 0, nil
	}
	made, learned, err := l.ascend(ctx, t, p, now.Left)
	if err != nil || made == 0 {
		return 0, 0, err
	}
	if now.Left -= shareOf(made, 0, p.J); learned {
		l.restart(rng.Log(l.firstStep(t, m.Steps == 1)))
	}
	var trials Trials
	if err := m.find(ctx, w, t, p, slices.Repeat([]float64{1 / float64(p.J)}, p.J), l, *now, &trials); err != nil {
		return 0, 0, err
	}
	searched = trials.Gradients / t.Examples()
	now.Left -= shareOf(searched, 0, p.J)
	return made, searched, nil
}
