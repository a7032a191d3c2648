package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/eval"
)

// Gradients counts the gradients that a run took in all its phases: of single examples, over all parameter vectors. ok is false
// for a run that did not count them.
func Gradients(run *starling.Run) (n int, ok bool) {
	if run.Cost == nil {
		return 0, false
	}
	return run.Cost.Gradients, true
}

// ByCost orders runs by the gradients that they took, the fewest first. Runs that did not count them are last.
func ByCost(runs []Evaluated) {
	cost := func(e Evaluated) int {
		if n, ok := Gradients(e.Run); ok {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(runs, func(a, b Evaluated) int { return cmp.Compare(cost(a), cost(b)) })
}

// phases lists the names of the phases of runs, in the order in which they are carried out.
func phases(views []*view) (names []string) {
	for _, v := range views {
		if v.run.Cost == nil {
			continue
		}
		for _, p := range v.run.Cost.Phases {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// gradientsOf writes the gradients of a run in one phase, or in all of them if the name is empty.
func (v *view) gradientsOf(phase string) string {
	if v.run.Cost == nil {
		return "–"
	}
	if phase == "" {
		return count(v.run.Cost.Gradients)
	}
	if i := slices.IndexFunc(v.run.Cost.Phases, func(p eval.PhaseCost) bool { return p.Name == phase }); i >= 0 {
		return count(v.run.Cost.Phases[i].Gradients)
	}
	return "–"
}
