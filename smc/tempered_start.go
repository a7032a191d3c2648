package smc

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/weights"
)

// TemperedStart wraps another path: adaptive tempering leads from the prior to the other path's first target, and then the
// other path follows. The power of the first target's likelihood rises from 0 as in Tempering. If draws from the prior were
// weighted by a whole batch at once, one particle would get nearly all the weight (data-annealing-smc, section 6); tempering
// spreads this loss over several steps. A step is chosen with equal weights for the particles alive. Uneven weights will soon
// be made equal by resampling, and with one particle that has nearly all the weight, a step of any size would seem to lose
// nothing.
//
// It keeps one number in State.Memory: the iteration that reached the first target, 0 until then. The other path sees a state
// whose iterations are counted from that iteration.
type TemperedStart struct {
	ESS  float64 // as in Tempering
	Then Path
}

var _ Path = TemperedStart{}

// Start is the prior.
func (p TemperedStart) Start(n int) (Stage, bool) {
	stage, _ := p.Then.Start(n)
	stage.Lambda = 0
	return stage, true
}

// Next is the next temperature or, once the first target is reached, the other path's next target.
func (p TemperedStart) Next(st *State) (Stage, error) {
	if reached(st) > 0 {
		return p.Then.Next(view(st))
	}
	first, _ := p.Then.Start(st.Examples)
	tempering, alike, err := p.tempering(st)
	if err != nil {
		return first, err
	}
	first.Lambda, err = tempering.next(st.Lambda, first.Lambda, alike, st.LL)
	return first, err
}

// tempering is what chooses the steps, and the equal log-weights of the particles alive that it chooses them by.
func (p TemperedStart) tempering(st *State) (t Tempering, alike []float64, err error) {
	living := 0
	alike = make([]float64, st.J)
	for j, l := range st.LogW {
		alike[j] = l
		if !math.IsInf(l, -1) {
			alike[j] = 0
			living++
		}
	}
	t = Tempering{ESS: p.ESS}
	if LeavesOne(t.share(), living) { // aim halfway between 1 and the number alive
		t.ESS = (1 + 1/float64(living)) / 2
	}
	_, _, err = weights.Normalise(alike, "particle")
	return t, alike, err
}

// LadderBias is that of the tempering, and 0 on the other path.
func (p TemperedStart) LadderBias(st *State, next Stage) float64 {
	first, _ := p.Then.Start(st.Examples)
	tempering, alike, err := p.tempering(st)
	if reached(st) > 0 || err != nil {
		return 0
	}
	return tempering.stepBias(next.Lambda-st.Lambda, first.Lambda-st.Lambda, alike, st.LL)
}

// Remember returns the iteration that reached the first target, followed by the memory of the other path.
func (p TemperedStart) Remember(st *State) []int {
	at := reached(st)
	if at == 0 {
		if first, _ := p.Then.Start(st.Examples); st.Lambda < first.Lambda {
			return nil
		}
		return []int{st.K}
	}
	memory := []int{at}
	if then, ok := p.Then.(Rememberer); ok {
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

// PerEpoch asks the other path.
func (p TemperedStart) PerEpoch(n int) int { return PerEpoch(p.Then, n) }

// Count asks the other path, which has made none until its first target is reached.
func (p TemperedStart) Count(st *State) (made, all int) { return counted(p.Then, view(st)) }

// String is the other path's title.
func (p TemperedStart) String() string { return p.Then.String() }

// Traits are the other path's, but for what tempering changes. Particles may start anywhere.
func (p TemperedStart) Traits() (t PathTraits) {
	if p.Then != nil {
		t = p.Then.Traits()
	}
	t.Batches, t.Prepares, t.Share = true, true, Tempering{ESS: p.ESS}.share()
	if t.Evidence.Scaled {
		t.Caption = ownTarget + " Its likelihood is scaled to all examples once tempering has reached the first batch."
	}
	return t
}

// Curves are the other path's.
func (p TemperedStart) Curves(n int) []Curve { return p.Then.Curves(n) }

// Work is the other path's: tempering counts for nothing.
func (p TemperedStart) Work(info Info, first float64, n int) (done, all float64) {
	return p.Then.Work(info, first, n)
}

// Check notes impossible settings, also of the other path.
func (p TemperedStart) Check(f *config.Faults) {
	Tempering{ESS: p.ESS}.Check(f)
	if p.Then == nil {
		f.Add("", "a tempered start needs a path to lead to")
		return
	}
	if err := config.Check(p.Then); err != nil {
		f.Add("", "%v", err)
		return
	}
	first, _ := p.Then.Start(1)
	f.If(first.Lambda == 0 || p.Then.Traits().Epochs > 0, "",
		"a tempered start needs a path that starts with a batch and has no budget, which tempering would spend")
}
