package paper

import (
	"fmt"
	"math"
	"sync"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/ssm"
)

// Sequential is what De Freitas, Septier and Mihaylova show of their filters, "Sequential Markov chain Monte Carlo for Bayesian filtering
// with massive data": Example 1, where a Kalman filter is exact, and Example 2, targets in clutter. A run with a seed simulates its 20
// scans from the seed, so that all cells of an example see the same scans.
//
// The paper's own settings are the cells without a word behind the algorithm. What the paper leaves open is chosen here: a burn-in of a
// quarter of the particles, and the start (see docs/results/sequential-mcmc.md).
var Sequential = Table{
	Name:    "sequential-mcmc",
	Title:   "Sequential MCMC: Tables I to VI of De Freitas, Septier, Mihaylova, Sequential Markov chain Monte Carlo for Bayesian filtering with massive data",
	Kind:    Filters,
	Reduced: "5 scans, 400 particles",
	Figures: []Measure{
		{Name: "ks", Title: "KS", Legend: "two-sided distance from the Kalman filter's law, mean over the scans", Digits: 4, Most: 1,
			Of: distance(func(two, _ float64) float64 { return two })},
		{Name: "ks_one", Title: "KS as printed", Legend: "max (F − G), one-sided", Digits: 4, Most: 1, Aside: true,
			Of: distance(func(_, one float64) float64 { return one })},
		acceptance("joint", "joint", "acceptance of the joint draw: least, median, mean and largest of the scans, each the mean over the runs; so are the next two", func(a *filtering.Accept) *filtering.Number { return a.Joint }),
		acceptance("index", "previous state", "", func(a *filtering.Accept) *filtering.Number { return a.Index }),
		acceptance("refine", "current state", "", func(a *filtering.Accept) *filtering.Number { return a.Refine }),
		{Name: "rmse", Title: "RMSE", Legend: "of the positions, or of Example 1's state, over the runs: least, median, mean and largest of the scans", Digits: 4,
			Most: math.Inf(1), Aside: true, Of: several(rootErrors), Join: rootsOverScans},
		{Name: "tracks", Title: "tracks", Least: math.Inf(-1), Most: math.Inf(1), Beside: true, Of: several(tracks)},
	},
	Cells: sequentialCells(),
	More:  writeGains, Pictures: drawSequential,
}

// acceptance is the acceptance of a kind of decision.
func acceptance(name, title, legend string, of func(*filtering.Accept) *filtering.Number) Measure {
	return Measure{
		Name: name, Title: title, Unit: "%", Legend: legend, Digits: 2,
		Most: 100, Aside: name == "joint", Of: accepted(of), Join: overScans,
	}
}

// algorithm is a way to filter the scans of an example.
type algorithm struct {
	name    string
	method  string // of the config
	reduced []string
}

// chain is the block smcmc of a config with 4,000 particles and one filter, as in the paper.
func chain(moves string) string {
	return "{smcmc: {particles: 4000, repeat: 1, burn: 1000, " + moves + "}}"
}

var reducedChain = []string{"scans.simulate=5", "method.smcmc.particles=400", "method.smcmc.burn=100"}

// Example 1 refines the previous state by uniform draws, and the current state by draws of the prediction. Table II has the acceptance of
// a uniform index, although the text says that it is drawn exactly (sequential-mcmc-massive-data, section 5, A4).
var gaussianAlgorithms = []algorithm{
	{"smcmc", chain("joint: none, index: uniform, refine: prior"), reducedChain},
}

// Example 2 draws state and index together, and never refines the previous state (A7).
var clutterAlgorithms = []algorithm{
	{"smcmc", chain("ancestors: joint, joint: prior, index: none, refine: {walk: {sd: 0.1}}"), reducedChain},
	{"smcmc-adapted", "{smcmc: {particles: 4000}}", []string{"scans.simulate=5"}},
}

func sequentialCells() (cells []Cell) {
	for _, m := range []int{500, 5000} {
		for _, a := range gaussianAlgorithms {
			c := filterCell(fmt.Sprint("gaussian", m), fmt.Sprint("gaussian-m", m), a, "against=kalman", "keep=samples")
			if p, ok := publishedGaussian[a.name]; ok && m == 500 {
				c.Published = Figures{"index": p.first, "refine": p.refine}
			}
			cells = append(cells, c)
		}
	}
	for _, a := range clutterAlgorithms {
		c := filterCell("clutter3", "clutter3", a)
		if p, ok := publishedClutter[a.name]; ok {
			c.Published = Figures{"joint": p.first, "refine": p.refine}
		}
		cells = append(cells, c)
	}
	return cells
}

// filterCell is a cell that runs a preset with another method.
func filterCell(example, preset string, a algorithm, sets ...string) Cell {
	config := sync.OnceValue(func() Config {
		s, err := starling.PresetFiltering(preset, append(sets, "method="+a.method)...)
		if err != nil {
			panic(err) // a test asks for all
		}
		return Config{Text: s.YAML()}
	})
	return Cell{Name: example + "-" + a.name, Config: func(Place) Config { return config() }, Reduced: a.reduced}
}

// tracks are the estimated positions of the targets in the plane, of the run with seed 1: the one that Figure 3 shows.
func tracks(d *filterDone) (all []float64, err error) {
	if _, ok := d.Spec.Model.(ssm.Tracker); !ok || d.Spec.Seed != 1 {
		return nil, nil
	}
	for _, s := range d.steps {
		for _, t := range s.Tracks {
			all = append(all, float64(t.Mean[0]), float64(t.Mean[1]))
		}
	}
	return all, nil
}
