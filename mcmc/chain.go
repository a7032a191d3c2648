package mcmc

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
func (l learner) advance(t *Target, aim, progress float64) {
	for i := int(l.tuning[atWindow]); i < len(windows) && progress >= windows[i]; i++ {
		l.tuning[atWindow]++
		learned := l.kind != None && l.tuning[atPoints] >= fewPoints && l.fromPoints(t, aim > 0)
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
		l.steps().learn(accepted, aim, relaxation)
	}
	if int(l.tuning[atWindow]) < len(windows) {
		l.visit(w, p)
	}
}
