package mcmc

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// AutoLength is the length of trajectories by rule, in scaled coordinates: π/2 for populations, 2.2 for chains.
//
// In coordinates of standard deviation 1 a trajectory on a Gaussian target is a rotation of θ into its momentum: after π/2 the
// position is independent of where it began. Populations learn their scale from the particles. Chains learn it from their early
// states, beginning with the prior's standard deviations; states that are too alike make it too small, which a longer
// trajectory mends (docs/adr/0015-length-of-trajectories.md has what was tried). Where steps are tiny, such trajectories are so long that a
// budget has few of them, and the step is not adapted when states begin to count. HMC.Most cuts them.
const AutoLength = -1

const (
	stageLength   = math.Pi / 2
	chainLength   = 2.2
	mostLeapfrogs = 1000 // a length is divided into: a smaller step is one that found no acceptance
	mostInStage   = 64   // the same for a population, whose stages make moves until the particles have travelled
	longest       = 2    // length of a population's trajectories of given steps: longer ones come back to where they began
)

// given is S where the settings say it; 0: it follows from the step that is found.
func (m HMC) given() int {
	if m.Steps == 0 && m.Length > 0 && m.Step > 0 {
		return divide(m.Length, m.Step, math.MaxInt32)
	}
	return m.Steps
}

// divide is the number of leapfrogs of size h in a length, at most a given one.
func divide(length, h float64, most int) int {
	return int(min(float64(most), max(1, math.Ceil(length/h))))
}

// leapfrogs is S of a move.
func (m HMC) leapfrogs(h float64, now StepContext) int {
	steps := m.given()
	if steps == 0 {
		length, most := m.trajectory(now)
		steps = divide(length, h, most)
	}
	if now.Left > 0 {
		if m.Step == 0 && brief(now.Progress) {
			steps = min(steps, briefMoves)
		}
		steps = min(steps, now.Left)
	}
	return steps
}

// trajectory is the length of a trajectory whose S follows from it, and the largest S.
func (m HMC) trajectory(now StepContext) (length float64, most int) {
	switch {
	case m.Length > 0:
		return m.Length, mostLeapfrogs
	case now.Left > 0:
		return chainLength, cmp.Or(m.Most, mostLeapfrogs)
	}
	return stageLength, cmp.Or(m.Most, mostInStage)
}

// cut reports whether h is so small that trajectories end before their length.
func (m HMC) cut(h float64, now StepContext) bool {
	length, most := m.trajectory(now)
	return m.given() == 0 && length/h > float64(most)
}

// fits refuses a length for which a chain has too few leapfrogs left, or which takes more than any trajectory may have. A
// population, whose left is 0, cuts such trajectories.
func (m HMC) fits(h float64, left int) error {
	if most := min(left, mostLeapfrogs); left > 0 && m.Length/h > float64(most) {
		return fmt.Errorf("a trajectory of length %.4g takes %.0f leapfrogs of the step that was found, %.3g, and may have %d in this budget: "+
			"take length: %.2g or less, or auto", m.Length, math.Ceil(m.Length/h), h, most, h*float64(most))
	}
	return nil
}

// largest is log h of the largest step of a population that makes a given number of leapfrogs.
func (m HMC) largest(l learner) float64 {
	if m.Steps <= 1 || l.kind == None {
		return math.Inf(1)
	}
	return rng.Log(longest / float64(m.Steps))
}
