package mcmc

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// dualAveraging adapts a step size h to an acceptance (Hoffman and Gelman 2014, section 3.2.1). After move t since it began, of
// acceptance a,
//
//	H̄ ← (1 − 1/(t+10)) H̄ + (aim − a)/(t+10)
//	log h = μ − √t/γ · H̄
//	x̄ ← t^−.75 log h + (1 − t^−.75) x̄
//
// where μ is near the logarithm of the step size that it began with. While it learns, moves use h; later ones use exp x̄, which is
// less noisy. It is a view of the first numbers that a move keeps.
type dualAveraging []float64

const (
	logStep          = iota // log h
	logStepMean             // x̄
	meanError               // H̄
	centre                  // μ
	movesLearned            // t
	averagingNumbers        // their number

	steady     = 10 // t₀
	forgetting = 0.75
)

// restart begins at log h with a given μ.
func (a dualAveraging) restart(logSize, mu float64) {
	a[logStep], a[logStepMean], a[centre] = logSize, logSize, mu
	a[meanError], a[movesLearned] = 0, 0
}

// learn adapts the step size to the acceptance of a move. relaxation is γ.
func (a dualAveraging) learn(acceptance, aim, relaxation float64) {
	a[movesLearned]++
	t := a[movesLearned]
	a[meanError] += (aim - acceptance - a[meanError]) / (t + steady)
	a[logStep] = a[centre] - float64(math.Sqrt(t)/relaxation*a[meanError])
	a[logStepMean] += float64(rng.Exp(-forgetting*rng.Log(t)) * (a[logStep] - a[logStepMean]))
}

// size is the step size of the next move.
func (a dualAveraging) size(learns bool) float64 {
	if learns {
		return rng.Exp(a[logStep])
	}
	return rng.Exp(a[logStepMean])
}
