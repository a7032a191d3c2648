package smc

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/mcmc"
)

// retarget makes stage the target of st and returns log π_k(θ_j) − log π_{k−1}(θ_j), nil if nothing changes. The particles
// have not moved since they were evaluated, so only new examples are evaluated. A change of powers costs nothing; an appended
// block costs its own examples, and so does the next block after one is annealed in. Copies that resampling has just made of
// one parent are evaluated once. Where ψ has moved, all examples are evaluated anew, also those of the same target: the change is
// then log π_k(θ_j | ψ_{k−1}) − log π_{k−1}(θ_j | ψ_{k−2}). Where neither the weights nor the move ask for values there,
// none are evaluated.
func (s *Sampler) retarget(ctx context.Context, st *State, target *mcmc.Target, stage Stage) ([]float64, error) {
	last := st.Stage
	st.Stage = stage
	if s.weighting().Traits().Afresh && s.Move.Traits().Blind {
		return nil, nil
	}
	same := !st.stale() && stage.Rows == last.Rows && stage.Annealed == last.Annealed // only the powers may change
	if same && stage.Mu == last.Mu {
		if stage.Lambda == last.Lambda {
			return nil, nil
		}
		for j, l := range st.LL {
			if s.change[j] = mcmc.Power(stage.Lambda-last.Lambda, l); math.IsInf(l, -1) {
				s.change[j] = l // a dead particle stays dead, also where λ falls
			}
		}
		return s.change, nil
	}
	for j := range s.change {
		s.change[j] = last.logLik(&st.Population, j)
	}
	if !same {
		if err := s.evaluate(ctx, st, target, last); err != nil {
			return nil, err
		}
	}
	for j, before := range s.change {
		if s.change[j] = stage.logLik(&st.Population, j) - before; math.IsInf(before, -1) {
			s.change[j] = math.Inf(-1) // a dead particle stays dead
		}
	}
	return s.change, nil
}

// renews reports whether retarget comes after resampling and computes all gradients anew.
func (s *Sampler) renews(st *State) bool {
	w := s.weighting().Traits()
	return st.stale() && !w.Early && !(w.Afresh && s.Move.Traits().Blind)
}

// evaluate updates the particles' cached sums from the last stage's examples to those of st.
func (s *Sampler) evaluate(ctx context.Context, st *State, target *mcmc.Target, last Stage) error {
	some := last.Rows != (Rows{}) && st.Rows != (Rows{})
	switch {
	case st.stale(): // no path that learns anneals examples in
		return s.logLik(ctx, st, target, target.Rows, st.LL, st.GradLL)
	case some && st.Annealed == last.Annealed && st.Rows.From == last.Rows.From && st.Rows.To > last.Rows.To: // appended
		q := &s.work.Proposal
		if err := s.logLik(ctx, st, target, s.rows(Rows{last.Rows.To, st.Rows.To}), q.LL, q.GradLL); err != nil {
			return err
		}
		add(st.LL, q.LL)
		add(st.GradLL, q.GradLL)
		return nil
	case some && st.Annealed == last.Rows.To && st.Rows.From == last.Rows.To: // annealed in
		add(st.AnnealedLL, st.LL)
		add(st.AnnealedGrad, st.GradLL)
		return s.logLik(ctx, st, target, target.Rows, st.LL, st.GradLL)
	case st.Annealed > 0 || last.Annealed > 0:
		return fmt.Errorf("the path leads from examples %v with %d annealed in to %v with %d: examples that are annealed in stay, and only the newest block joins them",
			last.Rows, last.Annealed, st.Rows, st.Annealed)
	}
	return s.logLik(ctx, st, target, target.Rows, st.LL, st.GradLL)
}

// logLik sets ll and grad to every particle's log-likelihood of rows and, if the move needs it, its gradient. Copies of one
// parent have the same position until they move, so one of them is evaluated.
func (s *Sampler) logLik(ctx context.Context, st *State, target *mcmc.Target, rows []int32, ll, grad []float64) error {
	theta, n, d := st.Theta, s.places(s.ancestors), st.D
	if n < st.J {
		theta = s.work.Proposal.Theta[:n*d]
		for j, p := range s.place {
			copy(theta[int(p)*d:][:d], st.Theta[j*d:]) // all copies write the same
		}
	}
	own := grad
	if grad != nil {
		own = grad[:n*d]
	}
	if err := target.Model.LogLik(ctx, rows, theta, ll[:n], own); err != nil {
		return err
	}
	for i, l := range ll[:n] {
		if math.IsNaN(l) || math.IsInf(l, 1) { // the particle is dead, as mcmc.Model says
			ll[i] = math.Inf(-1)
		}
	}
	s.countEvaluation(st, n*s.examples(rows))
	for j := st.J - 1; j >= 0 && n < st.J; j-- { // backwards: a parent's number is never larger than its children's indices
		p := int(s.place[j])
		ll[j] = ll[p]
		if grad != nil {
			copy(grad[j*d:][:d], grad[p*d:])
		}
	}
	return nil
}

// places numbers the distinct ones of the particles' ancestors in the order of their first descendants, sets s.place to the number
// of each particle's, and returns how many there are.
func (s *Sampler) places(ancestors []int32) (n int) {
	clear(s.scratch)
	for j, a := range ancestors {
		if s.scratch[a] == 0 {
			n++
			s.scratch[a] = float64(n)
		}
		s.place[j] = int32(s.scratch[a]) - 1
	}
	return n
}

func add(to, x []float64) {
	for i, v := range x {
		to[i] += v
	}
}

// countEvaluation counts examples that were evaluated outside a move, over all particles.
func (s *Sampler) countEvaluation(st *State, examples int) {
	if s.Move.Traits().Needs.Gradient {
		st.Gradients += examples
	} else {
		st.Values += examples
	}
}

// examples is the number of rows, nil being all.
func (s *Sampler) examples(rows []int32) int {
	if rows == nil {
		return s.Model.Examples()
	}
	return len(rows)
}
