package paper

import (
	"fmt"
	"math"
	"strconv"
)

// SBMCSearch is the search for the settings that SBMC calls chosen: eighteen of each method, with seed 0 and one restart, by the NLL of the 200
// validation images of MNIST7. No test figure is in it. A setting that diverges has no run.
var SBMCSearch = Table{
	Name:    "sbmc-search",
	Title:   "Settings of table sbmc, by NLL on the validation examples: seed 0",
	Reduced: "three epochs",
	Kind:    Fits,
	Figures: []Measure{{Name: "validation_nll", Title: "validation NLL", Digits: 4, Most: math.Inf(1), Of: one(validationNLL)}},
	Cells:   sbmcTrials(),
}

// sbmcGrids are the settings of each method: every value of the first with every value of the second.
var sbmcGrids = []struct {
	method, first string
	values        []float64
	second        string
	others        []int
	reduced       []string
}{
	{"map", "map.rate", []float64{.01, .02, .03, .06, .1, .2}, "map.batch", []int{16, 32, 64}, nil},
	{"swa", "method.swa.rate", slowRates, "method.swa.snapshots", []int{25, 75, 135}, []string{"method.swa.snapshots=3"}},
	{"swag", "method.swag.rate", slowRates, "method.swag.snapshots", []int{25, 75, 135}, []string{"method.swag.snapshots=3"}},
	{"dropout", "map.rate", []float64{.02, .03, .04, .06, .08, .1}, "map.patience", []int{10, 20, 50}, nil},
}

var slowRates = []float64{5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2}

func sbmcTrials() (cells []Cell) {
	for _, g := range sbmcGrids {
		for i, a := range g.values {
			for k, b := range g.others {
				at := []string{g.first + "=" + strconv.FormatFloat(a, 'g', -1, 64), fmt.Sprint(g.second, "=", b)}
				cells = append(cells, Cell{
					Name: fmt.Sprint(g.method, "-", i*len(g.others)+k+1), Changes: append([]string{"map.restarts=1"}, at...), Reduced: append([]string{"map.epochs=3"}, g.reduced...),
					Config: func(Place) Config {
						c := preset(onMNIST7 + g.method)(Place{})
						c.Settings = at[0] + ", " + at[1]
						return c
					},
				})
			}
		}
	}
	return cells
}
