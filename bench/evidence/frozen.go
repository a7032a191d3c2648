package main

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// firstScale is where the scales of the folds begin among the values that HMC tunes, after the seven numbers of its header and the
// moments of a chain's points, D and D×D. Each fold has D standard deviations and a factor, D×D.
func firstScale(d int) int { return 7 + d + d*d }

// exact is HMC with the covariance of each target as its scale.
type exact struct {
	mcmc.HMC
	p problem
}

// Begin writes the exact scale in place of the one that particles teach, and finds the step.
func (m exact) Begin(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, weights, tuning []float64, now mcmc.StepContext) (mcmc.Trials, error) {
	d := m.p.d
	factor := m.p.scale(t.Lambda)
	for fold := tuning[firstScale(d):]; len(fold) > 0; fold = fold[d+d*d:] {
		for i := range d {
			var v float64
			for _, x := range factor[i*d : (i+1)*d] {
				v += float64(x * x)
			}
			fold[i] = math.Sqrt(v)
		}
		copy(fold[d:], factor)
	}
	now.Related = true // the scale is kept
	return m.HMC.Begin(ctx, w, t, p, weights, tuning, now)
}

// frozen says what a stage does not learn from the particles that it moves.
type frozen struct {
	scale bool
	step  bool // and the number of leapfrogs, which follows from it
	moves bool // the number of them
}

// course is what a run learned: for each stage the tuned values, once it had begun, and the number of moves.
type course struct {
	tuning [][]float64
	moves  []int
}

// learning is a move that notes what it learns.
type learning struct {
	mcmc.Move
	learned *course
}

// Begin learns and notes it.
func (m learning) Begin(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, weights, tuning []float64, now mcmc.StepContext) (mcmc.Trials, error) {
	trials, err := m.Move.(mcmc.Beginner).Begin(ctx, w, t, p, weights, tuning, now)
	m.learned.tuning = append(m.learned.tuning, slices.Clone(tuning))
	return trials, err
}

// freezing is a move that takes some of what it would learn from another run's course. It is for one run.
type freezing struct {
	mcmc.Move
	frozen
	pilot *course
	stage int
}

// Traits are those of the move, with the other run's number of moves where it is frozen.
func (m *freezing) Traits() mcmc.Traits {
	t := m.Move.Traits()
	if m.moves && m.stage >= 0 {
		t.Repeats = mcmc.Mutations{Count: m.pilot.moves[m.stage]}
	}
	return t
}

// Begin learns what is not frozen.
func (m *freezing) Begin(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, weights, tuning []float64, now mcmc.StepContext) (mcmc.Trials, error) {
	m.stage++
	learned := m.pilot.tuning[m.stage]
	if m.scale {
		copy(tuning[firstScale(t.Prior.Dim()):], learned[firstScale(t.Prior.Dim()):])
		now.Related = true // the scale is kept
	}
	if m.moves && !m.scale {
		now.Related = false // as in the other run, whose moves have parted the particles
	}
	if m.step {
		tuning[0] = learned[0]
	}
	return m.fixed().(mcmc.Beginner).Begin(ctx, w, t, p, weights, tuning, now)
}

// Mutate moves by a step that is not adapted, where it is frozen.
func (m *freezing) Mutate(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	return m.fixed().Mutate(ctx, w, t, p, tuning, now)
}

// fixed is the move of the stage.
func (m *freezing) fixed() mcmc.Kernel {
	if !m.step || m.stage < 0 {
		return m.Move
	}
	at := m.pilot.tuning[m.stage][0] // log h, or logit b
	switch move := m.Move.(type) {
	case mcmc.HMC:
		move.Step, move.Scale = rng.Exp(at), mcmc.Dense
		return move
	case mcmc.PCN:
		move.Step = 1 / (1 + rng.Exp(-at))
		return move
	}
	panic("a move whose step cannot be frozen")
}
