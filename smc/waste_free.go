package smc

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/mcmc"
)

// A waste-free iteration (Dau and Chopin 2022, "Waste-free sequential Monte Carlo", Algorithm 2) draws m parents of the J weighted
// particles, moves each J/m − 1 times, and keeps the parents and every state on the way as the next population:
//
//	a_i ~ Σ_j W_j δ_j,   θ^{i} = θ_{a_i},   θ^{i + rm} ~ K_k(θ^{i + (r−1)m}, ·),   i < m,  r = 1 … J/m − 1.
//
// Where K_k leaves π_k invariant and the weights are known before the moves, each state is a draw of π_k as good as the last one. All J
// enter the next change of target: its sum, which multiplies Z, its effective sample size, and so the next temperature. An iteration
// costs J − m moves, and one of all particles, made as often, J(J/m − 1).
//
// With fixed targets and a fixed kernel Z stays unbiased: given the parents, which are drawn with the weights, each block of m states has
// the mean of its parents under K_k.

// moving is the population that an iteration moves: all particles or, of waste-free iterations, the m parents, and the move's memory.
func (s *Sampler) moving(st *State) (*mcmc.Population, *mcmc.Work) {
	if s.WasteFree == 0 {
		return &st.Population, &s.work
	}
	if s.few.J != s.WasteFree || s.few.D != st.D || s.few.Needs() != st.Needs() {
		s.few = mcmc.NewPopulation(s.WasteFree, st.D, st.Needs())
	}
	for i := range s.few.J {
		s.few.Set(i, &st.Population, i)
		s.few.Fold[i] = st.Fold[i]
	}
	s.fewWork.Shape(&s.few)
	return &s.few, &s.fewWork
}

// put puts the parents, after the r-th move, behind those of the moves before, and returns the index of the first. Otherwise the particles have
// moved where they stand, from 0 on.
func (s *Sampler) put(st *State, r int) (first int) {
	if s.WasteFree == 0 {
		return 0
	}
	first = r * s.WasteFree
	for i := range s.few.J {
		st.Set(first+i, &s.few, i)
	}
	return first
}

// parents is where resampling puts its draws, and multiply gives every particle the parent of its chain.
func (s *Sampler) parents() []int32 {
	if s.WasteFree == 0 {
		return s.ancestors
	}
	return s.ancestors[:s.WasteFree]
}

func (s *Sampler) multiply() {
	for j, n := 0, len(s.parents()); n+j < len(s.ancestors); j++ {
		s.ancestors[n+j] = s.ancestors[j]
	}
}

// chains is the number of chains whose states the particles of st are; 0: the particles are not of chains.
func (s *Sampler) chains(st *State) int {
	if st.K == 0 { // draws
		return 0
	}
	return s.WasteFree
}

// ends is the number of particles, the last ones, that an iteration's moves have carried all the way.
func (s *Sampler) ends(st *State) int {
	if s.WasteFree == 0 {
		return st.J
	}
	return s.WasteFree
}

// SuitsWasteFree says why the sampler's iterations cannot be waste-free, whatever its number of particles (WasteFreeParticles).
func (s *Sampler) SuitsWasteFree() error {
	if s.WasteFree == 0 {
		return nil
	}
	w, path, move := s.weighting().Traits(), s.Path.Traits(), s.Move.Traits()
	switch {
	case !w.Early || !move.Invariant():
		return errors.New("states on the way are draws of the target only by moves with accept or reject, and with weights that are known before them")
	case move.Repeats != (mcmc.Mutations{}):
		return errors.New("the number of particles says how often a move is made, J/m − 1 times: leave mutations out")
	case path.Batches || path.Epochs > 0:
		return errors.New("the path must be one of temperatures")
	case s.Learn != nil:
		return errors.New("layers that are learned change the target after the moves")
	case s.Resample.When != nil && s.Resample.When != Occasion(Always{}):
		return errors.New("the parents are drawn anew in every iteration: leave resample.when out")
	}
	return nil
}

// WasteFreeParticles says why a number of particles cannot come from m chains.
func WasteFreeParticles(particles, m int) error {
	switch {
	case m < 1:
		return fmt.Errorf("want at least 1 chain, have %d", m)
	case particles < 2*m:
		return fmt.Errorf("%d particles are fewer than twice the %d chains, whose parents alone would be the population", particles, m)
	case particles%m != 0:
		return fmt.Errorf("%d particles are no multiple of the %d chains, which are all equally long", particles, m)
	}
	return nil
}
