package mcmc

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
)

// warmUp is all that NUTS remembers from move to move, as the numbers that a sampler keeps: a view of them. In the first half of
// the budget it learns the step size by dual averaging, and the scale of each coordinate, which is the root of its regularised
// variance over the n states of a window:
//
//	n/(n+5) s² + 5/(n+5) 10⁻³
//
// Windows are Stan's (Stan Reference Manual, "Automatic parameter tuning"): a buffer of 75 moves for the way to the bulk of the
// target, windows of 25, 50, 100, … moves, and a buffer at the end, in which the step size alone is adapted. At the end of a window
// the scale is that of its states alone, and the step size begins anew with a search.
//
// Stan knows the number of moves in its warm-up. Here the warm-up is the first half of a budget of evaluations, and moves cost
// what they cost. So the first buffer ends after 75 moves or at .075 of the budget, whichever is earlier; .075 is Stan's share for
// short runs. The last window ends at .45 of the budget, or from .35 on where at most 50 moves would follow in the warm-up: the
// average of a step size over fewer is poor. A window is the last one if, at the cost of a move in the stage before, it and the
// next one, twice as long, would not both be over by .45. A window of fewer than 10 states changes nothing. Without a
// budget there is no last window.
//
// HMC shares dual averaging alone (learner.go). Its scale must also be learned from few weighted particles, and may be dense, so
// it shrinks towards the scale before and not towards Stan's fixed variance; moments of either cannot stand for the other's.
type warmUp []float64

const (
	stage         = averagingNumbers + iota // firstBuffer, lastBuffer, or the length of the window in moves, +Inf for the last one
	stageMoves                              // moves made in the stage
	stageBegan                              // progress when it began
	windowStates                            // n
	warmUpNumbers                           // after them: sd, mean and sum of squared deviations of the D coordinates
)

const (
	firstBuffer = 0
	lastBuffer  = -1

	bufferShare  = 0.075 // largest share of the first buffer
	windowsShare = 0.45  // end of the last window,
	fewestShare  = 0.35  // or from here on, where fewer than lastBufferMoves would follow

	firstBufferMoves = 75
	windowMoves      = 25 // of the first window
	lastBufferMoves  = 50

	fewestStates  = 10
	shrinkTo      = 1e-3
	shrinkSamples = 5
)

func newWarmUp(step float64, d int) []float64 {
	u := make(warmUp, warmUpNumbers+3*d)
	u.begins(step)
	sd, _, _ := u.moments()
	for i := range sd {
		sd[i] = 1
	}
	return u
}

// begins restarts the step size at a given one. Stan's μ is ten times as large, and its γ .05: steps are tried that are too large
// rather than too small.
func (u warmUp) begins(size float64) { u.steps().restart(rng.Log(size), rng.Log(10*size)) }

const nutsRelaxation = 0.05

func (u warmUp) steps() dualAveraging { return dualAveraging(u[:averagingNumbers]) }

// moments returns the scale, and mean and sum of squared deviations of the window's states.
func (u warmUp) moments() (sd, mean, squares []float64) {
	v := u[warmUpNumbers:]
	d := len(v) / 3
	return v[:d], v[d : 2*d], v[2*d:]
}

// scale returns a copy: a move's scale stays as it is when the window ends.
func (u warmUp) scale() scale {
	sd, _, _ := u.moments()
	return scale{sd: slices.Clone(sd)}
}

// fresh reports whether no move has been made.
func (u warmUp) fresh() bool { return u[stage] == firstBuffer && u[stageMoves] == 0 }

// observe counts a move that ended at the given progress, adds its states to the window, and reports whether the scale changed.
func (u warmUp) observe(p *Population, progress float64) (changed bool) {
	if u[stage] == lastBuffer {
		return false
	}
	u[stageMoves]++
	if u[stage] == firstBuffer {
		if u[stageMoves] >= firstBufferMoves || progress >= bufferShare {
			u.begin(windowMoves, progress)
		}
		return false
	}
	sd, mean, squares := u.moments()
	for j := range p.J {
		u[windowStates]++
		for i, x := range p.row(p.Theta, j) {
			off := x - mean[i]
			mean[i] += off / u[windowStates]
			squares[i] += float64(off * (x - mean[i]))
		}
	}
	if u[stageMoves] < u[stage] && !u.ends(progress) {
		return false
	}
	if n := u[windowStates]; n >= fewestStates {
		for i, s := range squares {
			sd[i] = math.Sqrt(float64(n/(n+shrinkSamples)*(s/(n-1))) + shrinkTo*shrinkSamples/(n+shrinkSamples))
		}
		changed = true
	}
	u.begin(2*u[stage], progress)
	return changed
}

// ends reports whether the last buffer must begin.
func (u warmUp) ends(progress float64) bool {
	move := (progress - u[stageBegan]) / u[stageMoves] // share of the budget that a move took
	return progress >= windowsShare || progress >= fewestShare && WarmUp-progress <= float64(lastBufferMoves*move)
}

// begin begins a window of the given length, the last window, or the last buffer.
func (u warmUp) begin(length, progress float64) {
	move := (progress - u[stageBegan]) / u[stageMoves] // share of the budget that a move took
	switch {
	case u.ends(progress):
		length = lastBuffer
	case progress+float64(3*length*move) >= windowsShare:
		length = math.Inf(1)
	}
	_, mean, squares := u.moments()
	clear(mean)
	clear(squares)
	u[stage], u[stageMoves], u[stageBegan], u[windowStates] = length, 0, progress, 0
}
