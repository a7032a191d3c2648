package smc

import (
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
type wasteFree struct {
	m    int             // 0: iterations move all particles
	few  mcmc.Population // the m parents, where they move
	work mcmc.Work
}

// moving is the population that an iteration moves, and the move's memory: all particles or, of waste-free iterations, the m parents, which
// are the first particles.
func (w *wasteFree) moving(all *mcmc.Population, work *mcmc.Work) (*mcmc.Population, *mcmc.Work) {
	if w.m == 0 {
		return all, work
	}
	if w.few.J != w.m || w.few.D != all.D || w.few.Needs() != all.Needs() {
		w.few = mcmc.NewPopulation(w.m, all.D, all.Needs())
	}
	for i := range w.few.J {
		w.few.Set(i, all, i)
		w.few.Fold[i] = all.Fold[i]
	}
	w.work.Shape(&w.few)
	return &w.few, &w.work
}

// put puts the parents, after the r-th move, behind those of the moves before, and returns the index of the first. Where all particles move, they
// stand where they are, from 0 on.
func (w *wasteFree) put(all *mcmc.Population, r int) (first int) {
	if w.m == 0 {
		return 0
	}
	first = r * w.m
	for i := range w.few.J {
		all.Set(first+i, &w.few, i)
	}
	return first
}

// drawn is the part of the ancestors that resampling draws: all, or the parents'.
func (w *wasteFree) drawn(ancestors []int32) []int32 { return ancestors[:w.ends(len(ancestors))] }

// multiply gives the states of a chain the ancestor of its parent.
func (w *wasteFree) multiply(ancestors []int32) {
	for j, n := 0, w.ends(len(ancestors)); n+j < len(ancestors); j++ {
		ancestors[n+j] = ancestors[j]
	}
}

// ends is the number of particles, of so many the last ones, that an iteration's moves have carried all the way.
func (w *wasteFree) ends(particles int) int {
	if w.m == 0 {
		return particles
	}
	return w.m
}

// chains is the number of chains whose states the particles are after k iterations; 0: they are not of chains.
func (w *wasteFree) chains(k int) int {
	if k == 0 { // draws
		return 0
	}
	return w.m
}

// chainMoves is how often a waste-free iteration moves the m parents of so many particles.
func chainMoves(particles, m int) mcmc.Mutations { return mcmc.Mutations{Count: particles/m - 1} }

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
