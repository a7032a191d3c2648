package smc

import (
	"errors"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/weights"
)

// TemperedStart is a path around a path: it leads from the prior to the first target of another path by adaptive tempering,
// and then follows that path. The power of the first target's likelihood rises from 0 as Tempering says. Draws from the prior
// that meet a whole batch at once leave one of them alive (data-annealing-smc, section 6); tempering spreads that fall over
// several steps. A step is chosen with equal weights for the particles alive: weights that differ much are about to be made
// equal by resampling, as soon as the ESS is below its bound, and one particle that has nearly all the weight would find a
// step of any size harmless.
//
// It remembers one number, the iteration that reached the first target; 0 until then. The other path sees a state whose
// iterations are counted from there.
type TemperedStart struct {
	ESS  float64 // as in Tempering
	Then Targets
}

// Start is the prior.
func (p TemperedStart) Start(n int) (Stage, bool) {
	stage, _ := p.Then.Start(n)
	stage.Lambda = 0
	return stage, true
}

// Next is the next temperature, and the other path's next target once its first is reached.
func (p TemperedStart) Next(st *State) (Stage, error) {
	if reached(st) > 0 {
		return p.Then.Next(view(st))
	}
	first, _ := p.Then.Start(st.Examples)
	var err error
	alike, living := make([]float64, st.J), 0.0
	for j, l := range st.LogW {
		alike[j] = l
		if !math.IsInf(l, -1) {
			alike[j] = 0
			living++
		}
	}
	if _, _, err := weights.Normalise(alike, "particle"); err != nil {
		return first, err
	}
	tempering := Tempering{ESS: p.ESS}
	if tempering.Share()*living <= 1 { // ESS is always at least 1: aim halfway between 1 and all of them
		tempering.ESS = (1 + 1/living) / 2
	}
	first.Lambda, err = tempering.next(st.Lambda, first.Lambda, alike, st.LL)
	return first, err
}

// Remember is the iteration that reached the first target, and what the other path remembers behind it.
func (p TemperedStart) Remember(st *State) []int {
	at := reached(st)
	if at == 0 {
		if first, _ := p.Then.Start(st.Examples); st.Lambda < first.Lambda {
			return nil
		}
		return []int{st.K}
	}
	memory := []int{at}
	if then, ok := p.Then.(rememberer); ok {
		memory = append(memory, then.Remember(view(st))...)
	}
	return memory
}

// reached is the iteration that reached the first target; 0 if none has.
func reached(st *State) int {
	if len(st.Memory) == 0 {
		return 0
	}
	return st.Memory[0]
}

// view is the state that the other path sees.
func view(st *State) *State {
	inner := *st
	if at := reached(st); at == 0 {
		inner.K, inner.Memory = 0, nil
	} else {
		inner.K, inner.Memory = st.K-at, st.Memory[1:]
	}
	return &inner
}

// Done asks the other path.
func (p TemperedStart) Done(st *State) bool { return p.Then.Done(view(st)) }

// Progress asks the other path: 0 until its first target is reached.
func (p TemperedStart) Progress(st *State) float64 { return p.Then.Progress(view(st)) }

// Budget asks the other path.
func (p TemperedStart) Budget(st *State) int { return p.Then.Budget(view(st)) }

// AnnealsIn asks the other path.
func (p TemperedStart) AnnealsIn() bool { return p.Then.AnnealsIn() }

// Share is ρ, as in Tempering.
func (p TemperedStart) Share() float64 { return Tempering{ESS: p.ESS}.Share() }

// SuitsWeighting refuses weights that leave changes of target out.
func (TemperedStart) SuitsWeighting(w Weigher) error {
	if w, ok := w.(interface{ FollowsTargets() bool }); ok && !w.FollowsTargets() {
		return errors.New("weighting: it leaves out changes of target, and a tempered start is nothing else: " +
			"no likelihood would ever be weighed; want a path without it")
	}
	return nil
}

// Check notes impossible settings, also of the other path.
func (p TemperedStart) Check(f *config.Faults) {
	Tempering{ESS: p.ESS}.Check(f)
	if p.Then == nil {
		f.Add("", "a tempered start that leads to no path")
		return
	}
	if err := config.Check(p.Then); err != nil {
		f.Add("", "%v", err)
		return
	}
	first, _ := p.Then.Start(1)
	f.If(first.Lambda == 0 || p.Then.Budget(&State{Examples: 1}) > 0, "",
		"a tempered start leads to a first batch; the path behind it begins at the prior, or has a budget that tempering would spend")
}
