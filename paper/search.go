package paper

import (
	"fmt"
	"math"
	"sync"
)

// GOHSMCSearch is the search for the settings of the baselines in GOHSMC and Uncertainty: every setting of a method's grid on every
// set, with noise of 1, that is learned and that is predicted, with seed 1, by the NLL of the posterior on the validation examples. It is a table like the others, so that its cells are run
// and resumed one by one and its record comes with the program; no test figure is in it. A setting that diverges has no run.
var GOHSMCSearch = Table{
	Name:    "gohsmc-search",
	Title:   "Settings of the baselines of tables gohsmc and gohsmc-uncertainty, by NLL on the validation examples",
	Reduced: fewEpochs,
	Kind:    Fits,
	Figures: []Measure{{Name: "validation_nll", Title: "validation NLL", Digits: 4, Least: math.Inf(-1), Most: math.Inf(1), Of: one(validationNLL)}},
	Cells:   searchCells(),
}

func searchCells() (cells []Cell) {
	var problems []problem
	for _, e := range experiments {
		problems = append(problems, e.problem())
	}
	for _, p := range append(problems, uncertain()...) {
		for _, m := range table1Methods {
			if m.axes == nil {
				continue
			}
			for i, at := range m.grid() {
				cells = append(cells, Cell{
					Name: trial(p, m, i), Reduced: m.reduced,
					Config: func(Place) Config { return Config{Text: m.text(p, at), Settings: m.words(at)} },
				})
			}
		}
	}
	return cells
}

// trial is the name of the cell that runs a setting of a method's grid.
func trial(p problem, m recipe, i int) string {
	return fmt.Sprintf("%s-%s-%d", p.searched, m.name, i+1)
}

// searched are the recorded runs of the search that count, by cell.
var searched = sync.OnceValue(func() map[string]Run {
	runs := map[string]Run{}
	for _, r := range GOHSMCSearch.Recorded() {
		if r.Seed == 1 && !isReduced(r.Protocol) {
			runs[r.Cell] = r
		}
	}
	return runs
})

// tuned is the config of a method with the setting that the search found, or with the usual one as long as it has not been run.
func tuned(m recipe, p problem) func(Place) Config {
	return func(Place) Config {
		if m.axes == nil {
			return Config{m.text(p, nil), "1 setting"}
		}
		at, how := m.choose(p, searched())
		return Config{m.text(p, at), m.words(at) + ", " + how}
	}
}

// choose returns the setting of lowest validation NLL among the runs, and of how many it is the best.
func (m recipe) choose(p problem, runs map[string]Run) (at []float64, how string) {
	grid := m.grid()
	best, n, lowest := m.usual, 0, math.Inf(1)
	for i := range grid {
		r, ok := runs[trial(p, m, i)]
		if !ok {
			continue
		}
		n++
		if nll := figure("validation_nll")(r); nll < lowest {
			best, lowest = i, nll
		}
	}
	if n == 0 {
		return grid[best], "not searched"
	}
	return grid[best], fmt.Sprintf("best of %d", n)
}
