package smc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// retarget makes stage the target of st and returns log π_k(θ_j) − log π_{k−1}(θ_j), nil if nothing changes. The
// particles have not moved since they were evaluated, so nothing is paid for twice: another power costs no evaluation, a
// block that is appended costs the block, and a block that settles costs the one that takes its place.
func (s *Sampler) retarget(ctx context.Context, st *State, target *mcmc.Target, stage Stage) ([]float64, error) {
	last := st.Stage
	st.Stage = stage
	if stage.Rows == last.Rows && stage.Settled == last.Settled {
		if stage.Lambda == last.Lambda {
			return nil, nil
		}
		for j, l := range st.LL {
			s.change[j] = mcmc.Power(stage.Lambda-last.Lambda, l)
		}
		return s.change, nil
	}
	for j := range s.change {
		s.change[j] = st.LogLik(last.Lambda, j)
	}
	if err := s.evaluate(ctx, st, target, last); err != nil {
		return nil, err
	}
	for j, before := range s.change {
		if !math.IsInf(before, -1) { // else the particle is dead, and stays so
			s.change[j] = st.LogLik(stage.Lambda, j) - before
		}
	}
	return s.change, nil
}

// evaluate brings what is known of the particles from the last stage's examples to those of st.
func (s *Sampler) evaluate(ctx context.Context, st *State, target *mcmc.Target, last Stage) error {
	some := last.Rows != (Rows{}) && st.Rows != (Rows{})
	switch {
	case some && st.Settled == last.Settled && st.Rows.From == last.Rows.From && st.Rows.To > last.Rows.To: // appended
		block, q := s.rows(Rows{last.Rows.To, st.Rows.To}), &s.work.Proposal
		if err := s.Model.LogLik(ctx, block, st.Theta, q.LL, q.GradLL); err != nil {
			return err
		}
		s.countEvaluation(st, len(block))
		add(st.LL, q.LL)
		add(st.GradLL, q.GradLL)
		return nil
	case some && st.Settled == last.Rows.To && st.Rows.From == last.Rows.To: // settled
		add(st.SettledLL, st.LL)
		add(st.SettledGrad, st.GradLL)
		s.countEvaluation(st, len(target.Rows))
		return s.Model.LogLik(ctx, target.Rows, st.Theta, st.LL, st.GradLL)
	}
	s.countEvaluation(st, target.Examples())
	return target.Evaluate(ctx, &st.Population)
}

func add(to, x []float64) {
	for i, v := range x {
		to[i] += v
	}
}

// countEvaluation counts one of the whole population, outside a move.
func (s *Sampler) countEvaluation(st *State, examples int) {
	if s.Move.NeedsGradient() {
		st.Gradients += st.J * examples
	} else {
		st.Values += st.J * examples
	}
}

// examples is the number that the target sees.
func (s Stage) examples(all int) int {
	if s.Rows == (Rows{}) {
		return all
	}
	return s.Settled + s.Rows.To - s.Rows.From
}
