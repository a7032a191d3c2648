package smc

import (
	"errors"
	"math"
)

// Warm leads from the prior to the first target of another path by adaptive tempering, and then follows it: the power of
// the first target's likelihood rises from 0 as Tempering says. Draws from the prior that meet a whole batch at once
// leave one of them alive (data-annealing-smc, section 6); tempering shares the fall out. The living count alike in the
// choice of a step: weights that differ much are about to be made equal by resampling, as soon as the ESS is below its
// bound, and one particle that has nearly all the weight would find a step of any size harmless.
type Warm struct {
	ESS  float64 // as in Tempering
	Then Path
}

// Start is the prior.
func (p Warm) Start(n int) (Stage, bool) {
	stage, _ := p.Then.Start(n)
	stage.Lambda, stage.Warm = 0, true
	return stage, true
}

// Next is the next temperature, and the other path when it is at its first target.
func (p Warm) Next(st *State) (Stage, error) {
	first, _ := p.Then.Start(st.Examples)
	if st.K > st.Warmed || st.Lambda >= first.Lambda {
		return p.Then.Next(st)
	}
	var err error
	alike, living := make([]float64, st.J), 0.0
	for j, l := range st.LogW {
		alike[j] = l
		if !math.IsInf(l, -1) {
			alike[j] = 0
			living++
		}
	}
	if _, _, err := Normalise(alike); err != nil {
		return first, err
	}
	share := Tempering{ESS: p.ESS}
	if share.ratio()*living <= 1 { // one alone would do: take halfway between what it leaves and all
		share.ESS = (1 + 1/living) / 2
	}
	first.Lambda, err = share.next(st.Lambda, first.Lambda, alike, st.LL)
	first.Warm = true
	return first, err
}

// Done is that of the other path.
func (p Warm) Done(st *State) bool { return p.Then.Done(st) }

// Progress is that of the other path.
func (p Warm) Progress(st *State) float64 { return p.Then.Progress(st) }

// Budget is that of the other path.
func (p Warm) Budget(st *State) int { return p.Then.Budget(st) }

// Settles is that of the other path.
func (p Warm) Settles() bool { return p.Then.Settles() }

func (p Warm) check(particles int) error {
	if p.Then == nil {
		return errors.New("path: tempering that leads to no path")
	}
	then := checkPath(p.Then, particles)
	if then == nil {
		if first, _ := p.Then.Start(1); first.Lambda == 0 || p.Then.Budget(&State{Examples: 1}) > 0 {
			then = errors.New("path: tempering leads to a first batch; what follows it begins at the prior, or has a budget that tempering would spend")
		}
	}
	return errors.Join(Tempering{ESS: p.ESS}.check(particles), then)
}
