package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// warmUp is all that NUTS remembers from move to move, as the numbers that a sampler keeps: a view of them. In the first half of the
// budget it learns the step size by dual averaging, and the scale of the coordinates, dense for as many as HMC's is (scaling.go), from
// the states of a window, shrunk towards the scale before. No size is good for all coordinates, so none is written into it: Stan shrinks
// variances towards 10⁻³.
//
// Windows are Stan's (Stan Reference Manual, "Automatic parameter tuning"): a buffer of 75 moves for the way to the bulk of the
// target, windows of 25, 50, 100, … moves, and a buffer at the end, in which the step size alone is adapted. The first buffer ends with an ascent
// (ascent.go) where the scale is dense. At the end of a window the scale is learned from its states alone. After each change of the scale the
// step size begins anew with a search.
//
// Stan knows the number of moves in its warm-up. Here the warm-up is the first half of a budget of evaluations, and moves cost
// what they cost. So the first buffer ends after 75 moves or at .075 of the budget, whichever is earlier; .075 is Stan's share for
// short runs. The last window ends at .45 of the budget, or from .35 on where at most 50 moves would follow in the warm-up: the
// average of a step size over fewer is poor. A window is the last one if, at the cost of a move in the stage before, it and the
// next one, twice as long, would not both be over by .45. A window of fewer than 10 states changes nothing. Without a
// budget there is no last window.
type warmUp struct {
	learner
	stages []float64
}

// The numbers of stages, behind those of the learner.
const (
	stage      = iota // firstBuffer, lastBuffer, or the length of the window in moves, +Inf for the last one
	stageMoves        // moves made in the stage
	stageBegan        // progress when it began
	stageNumbers
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
)

// newWarmUp makes the numbers for a target, with the scale of the prior.
func newWarmUp(t *Target, kind Scaling, step float64) []float64 {
	tuning := append(newLearner(t, kind, 1).tuning, make([]float64, stageNumbers)...)
	warmUpOf(tuning, kind, t.Prior.Dim()).begins(step)
	return tuning
}

func warmUpOf(tuning []float64, kind Scaling, d int) warmUp {
	n := sizeOf(kind, d, 1)
	return warmUp{learner: view(tuning[:n:n], kind, d), stages: tuning[n:]}
}

// begins restarts the step size at a given one. Stan's μ is ten times as large, and its γ .05: steps are tried that are too large
// rather than too small.
func (u warmUp) begins(size float64) { u.steps().restart(rng.Log(size), rng.Log(10*size)) }

const nutsRelaxation = 0.05

// fresh reports whether no move has been made.
func (u warmUp) fresh() bool { return u.buffering() && u.stages[stageMoves] == 0 }

// buffering reports whether the first buffer lasts.
func (u warmUp) buffering() bool { return u.stages[stage] == firstBuffer }

// observe counts a move that ended at the given progress, adds its states to the window, and reports whether the stage is over.
func (u warmUp) observe(w *Work, p *Population, progress float64) (over bool) {
	if u.stages[stage] == lastBuffer {
		return false
	}
	u.stages[stageMoves]++
	if u.buffering() {
		return u.stages[stageMoves] >= firstBufferMoves || progress >= bufferShare
	}
	u.visit(w, p)
	return u.stages[stageMoves] >= u.stages[stage] || u.ends(progress, u.moveShare(progress))
}

// fromWindow learns the scale from the states of the window, and reports whether it changed.
func (u warmUp) fromWindow(t *Target) bool {
	return u.kind != None && u.tuning[atPoints] >= fewPoints && u.fromPoints(t, false)
}

// moveShare is the share of the budget that a move of the stage took, until the given progress.
func (u warmUp) moveShare(progress float64) float64 {
	return (progress - u.stages[stageBegan]) / u.stages[stageMoves]
}

// ends reports whether the last buffer must begin, if a move takes so much of the budget.
func (u warmUp) ends(progress, move float64) bool {
	return progress >= windowsShare || progress >= fewestShare && WarmUp-progress <= float64(lastBufferMoves*move)
}

// next begins the next window, the last window, or the last buffer. The moves of the stage before were over at the progress moved. What came
// after them, an ascent and a search, is no cost of moves: the new stage begins at the progress began.
func (u warmUp) next(moved, began float64) {
	move, length := u.moveShare(moved), 2*u.stages[stage]
	if u.buffering() {
		length = windowMoves
	}
	switch {
	case u.ends(began, move):
		length = lastBuffer
	case began+float64(3*length*move) >= windowsShare:
		length = math.Inf(1)
	}
	u.forget()
	u.stages[stage], u.stages[stageMoves], u.stages[stageBegan] = length, 0, began
}
