package paper

import (
	"fmt"
	"math"
	"sync"

	"github.com/starling-smc/starling"
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
	Reduced: "5 scans, a tenth of the particles",
	Figures: []Measure{
		{Name: "ks", Title: "KS", Legend: "two-sided distance from the Kalman filter's law, mean over the scans", Digits: 4, Most: 1,
			Of: distance(func(two, _ float64) float64 { return two })},
		{Name: "ks_one", Title: "KS as printed", Legend: "max (F − G), one-sided", Digits: 4, Most: 1, Aside: true,
			Of: distance(func(_, one float64) float64 { return one })},
		aside(explained(accepted.measure(joint), "acceptance of joint draws. Four numbers are the least, median, mean and largest of the scans, over the runs")),
		accepted.measure(previous), accepted.measure(current),
		aside(explained(acceptedFirst.measure(joint), "of nodes in the first pass, when they know nothing of one another; so are the next two")),
		aside(acceptedFirst.measure(previous)), aside(acceptedFirst.measure(current)),
		aside(explained(seen.measure(joint), "share of the measurements that a decision looks at; all, where the sum over them decides")), aside(seen.measure(current)),
		{Name: "rmse", Title: "RMSE", Legend: "of the positions, over the targets and the runs", Digits: 4,
			Most: math.Inf(1), Aside: true, Of: several(rootErrors), Join: rootsOverScans},
		{Name: "tracks", Title: "tracks", Least: math.Inf(-1), Most: math.Inf(1), Beside: true, Of: several(tracks)},
	},
	Cells: sequentialCells(),
	More:  writeGains, Pictures: drawSequential,
}

// algorithm is a way to filter the scans of an example.
type algorithm struct {
	name     string
	printed  string // the row of the paper's tables; empty: it has none
	nodes    int    // D; 0: smcmc, whose measurements lie in one place
	each     int    // N, of a node
	burn     int    // steps of a chain before; 0: by default
	settings string // and the others, of the config
}

// key is the name of the method in a config.
func (a algorithm) key() string {
	if a.nodes > 0 {
		return "ep"
	}
	return "smcmc"
}

// method is the method of a config, with a share of the particles and of the burn-in.
func (a algorithm) method(share int) string {
	text := fmt.Sprint("particles: ", max(1, a.nodes)*a.each/share)
	if a.nodes > 0 {
		text += fmt.Sprint(", passes: 2, nodes: ", a.nodes)
	}
	if a.burn > 0 {
		text += fmt.Sprint(", burn: ", a.burn/share)
	}
	return fmt.Sprintf("{%s: {%s, %s}}", a.key(), text, a.settings)
}

// gaussianMoves are those of Example 1: the previous state by uniform draws, then the current state by draws of the prediction. Table II has
// the acceptance of a uniform index, although the text says that it is drawn exactly (sequential-mcmc-massive-data, section 5, A4).
const gaussianMoves = "joint: none, index: uniform, refine: prior"

var gaussianAlgorithms = []algorithm{
	{"smcmc", "smcmc", 0, 4000, 1000, "repeat: 1, " + gaussianMoves},
	{"as", "as", 0, 4000, 1000, "decide: {subsample: {order: 1, rows: all, give_up: 1}}, repeat: 1, " + gaussianMoves},
	{"as-ours", "", 0, 4000, 1000, "decide: subsample, repeat: 1, " + gaussianMoves},
	{"ep4x500", "ep", 4, 500, 125, gaussianMoves},
	{"ep8x250", "", 8, 250, 62, gaussianMoves},
	{"ep4x1000", "", 4, 1000, 250, gaussianMoves},
}

// clutterMoves are those of Example 2: state and index are drawn together, then a walk moves one target after another. The previous state is
// never refined (sequential-mcmc-massive-data, section 5, A7).
const clutterMoves = "ancestors: joint, joint: prior, index: none, refine: {walk: {sd: 0.1}}"

var clutterAlgorithms = []algorithm{
	{"smcmc", "smcmc", 0, 4000, 1000, "repeat: 1, " + clutterMoves},
	{"smcmc-adapted", "", 0, 4000, 0, "repeat: 8, joint: prior"},
	{"smcmc-guided", "", 0, 4000, 0, "repeat: 8, joint: guided, decide: subsample"},
	{"as", "as", 0, 4000, 1000, "decide: {subsample: {order: 1, rows: all}}, repeat: 1, " + clutterMoves},
	{"as-literal", "as", 0, 4000, 1000, "decide: {subsample: {order: 1, rows: all, give_up: 1}}, repeat: 1, " + clutterMoves},
	{"as-ours", "", 0, 4000, 1000, "decide: subsample, repeat: 1, " + clutterMoves},
	{"ep4x500", "ep", 4, 500, 125, "normaliser: false, " + clutterMoves},
	{"ep4x500-guided", "", 4, 500, 125, "joint: guided"},
}

// example is one of the paper's examples.
type example struct {
	name, preset string
	sets         []string // changes of the preset, beside the method
	algorithms   []algorithm
	first        decision             // the first of the two decisions of a step
	printed      map[string][]accepts // by algorithm; nil: none
	times        publishedTimes
}

var sequentialExamples = []example{
	{"gaussian500", "gaussian-m500", []string{"against=kalman", "keep=samples"}, gaussianAlgorithms, previous, publishedGaussian, publishedTimes500},
	{"gaussian5000", "gaussian-m5000", []string{"against=kalman", "keep=samples"}, gaussianAlgorithms, previous, nil, publishedTimes5000},
	{"clutter3", "clutter3", nil, clutterAlgorithms, joint, publishedClutter, publishedTimesClutter},
}

func sequentialCells() (cells []Cell) {
	for _, e := range sequentialExamples {
		for _, a := range e.algorithms {
			cells = append(cells, Cell{
				Name: e.name + "-" + a.name, Config: e.config(a), Reduced: []string{"scans.simulate=5", "method=" + a.method(10)},
				Published: acceptances(e.printed[a.printed], e.first),
			})
		}
	}
	return cells
}

// config is the config of a cell: the preset with another method.
func (e example) config(a algorithm) func(Place) Config {
	text := sync.OnceValue(func() []byte {
		s, err := starling.PresetFiltering(e.preset, append(e.sets[:len(e.sets):len(e.sets)], "method="+a.method(1))...)
		if err != nil {
			panic(err) // a test asks for all
		}
		return s.YAML()
	})
	return func(Place) Config { return Config{Text: text()} }
}

// acceptances are the published figures of a row, whose first step is such a decision; nil: there is no such row.
func acceptances(passes []accepts, first decision) Figures {
	if passes == nil {
		return nil
	}
	last := passes[len(passes)-1]
	f := Figures{first.name: last.first, current.name: last.refine}
	if len(passes) > 1 {
		f[first.name+acceptedFirst.name], f[current.name+acceptedFirst.name] = passes[0].first, passes[0].refine
	}
	return f
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
