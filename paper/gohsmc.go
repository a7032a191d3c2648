package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// GOHSMC is Table 1 of Millard, Murphy, Zhao and Maskell, "Utilising gradient-based proposals within sequential Monte Carlo samplers
// for training of partial Bayesian neural networks": six methods on six regressions, with the first layer random. Figures are in
// the units of the network: standardised for concrete and yacht, as the published table implies, else raw. NLL and CRPS are of
// unit variance, so that they are functions of the errors alone; Uncertainty is the table for more than errors.
var GOHSMC = Table{
	Name: "gohsmc",
	Title: "GOHSMC: Table 1 of Millard et al., Utilising gradient-based proposals within sequential Monte Carlo samplers for training of " +
		"partial Bayesian neural networks",
	Reduced: fewEpochs,
	Left:    "as NLL and RMSE of this cell contradict each other in the paper",
	Kind:    Fits,
	Figures: []Measure{
		{Name: "rmse", Title: "RMSE", Digits: 4, Most: math.Inf(1), Compared: true, Of: one(unscaled(uq.RMSE))},
		{Name: "r2", Title: "R²", Digits: 4, Least: math.Inf(-1), Most: 1, Aside: true, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.R2 }))},
		{Name: "bias", Title: "bias", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(bias(0))},
		{Name: "bias_over_sd", Title: "bias/sd", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(bias(1))},
		{Name: "bias2_over_variance", Title: "bias²/variance", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(bias(2))},
		{Name: "unit_nll", Title: "NLL (sd 1)", Digits: 4, Most: math.Inf(1), Of: one(unscaled(uq.UnitNLL))},
		{Name: "unit_crps", Title: "CRPS (sd 1)", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(unscaled(uq.UnitCRPS))},
	},
	Cells: gohsmcCells(),
	More:  pairedCells,
}

// bias is the reading-th reading of the paper's column "bias".
func bias(reading int) func(*fitDone) (float64, error) {
	return unscaled(func(predicted, truth []float64) float64 {
		absolute, overSD, overVariance := uq.BiasReadings(predicted, truth)
		return [...]float64{absolute, overSD, overVariance}[reading]
	})
}

// experiment is a set of the paper's experiment: the width of the first layer, and whether the published figures are of
// standardised targets.
type experiment struct {
	set          string
	batch, width int
	standardise  string
}

var experiments = []experiment{
	{"california", 100, 450, "inputs"}, {"concrete", 50, 450, "both"}, {"yacht", 50, 350, "both"},
	{"wine-red", 50, 600, "inputs"}, {"wine-white", 50, 600, "inputs"}, {"naval", 50, 900, "inputs"},
}

// problem is the paper's: a network W → 20 → 1 with GELU, noise of standard deviation 1, and 60, 30 and 10 % of the rows.
func (e experiment) problem() problem {
	n := examples(e.set)
	return problem{
		set: e.set, searched: e.set, batch: e.batch, train: n - n*3/10 - n/10,
		data:       split(e.set, e.standardise),
		layers:     fmt.Sprintf("[{dense: %d}, gelu, {dense: 20}, gelu, {dense: 1}]", e.width),
		likelihood: "{sd: 1}",
	}
}

func split(set, standardise string) string {
	return fmt.Sprintf("{set: %s, split: {train: 0.6, validate: 0.3, test: 0.1}, standardise: %s}", set, standardise)
}

// table1Methods are the rows of Table 1, in its order.
var table1Methods = []recipe{gohsmc, ohsmc, sghmc, swag, vi, svgd}

func gohsmcCells() (cells []Cell) {
	for k, e := range experiments {
		p := e.problem()
		for i, m := range table1Methods {
			name := e.set + "-" + m.name
			cells = append(cells, Cell{
				Name: name, Config: tuned(m, p), Reduced: m.reduced, Published: published(i, k), Excluded: slices.Contains(inconsistent, name),
			})
		}
		for _, m := range companions() {
			if m.sets != nil && !slices.Contains(m.sets, e.set) {
				continue
			}
			c := Cell{Name: e.set + "-" + m.name, Config: tuned(m.recipe, p), Reduced: m.reduced}
			if m.against != "" {
				c.Against = e.set + "-" + m.against
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// companion is a method that the paper's table lacks.
type companion struct {
	recipe
	against string   // the method that it is compared with seed by seed; empty: none
	sets    []string // nil: all
}

func companions() []companion {
	seconds := []string{"yacht", "concrete"} // sets on which a run takes seconds
	all := []companion{{ohsmcMetropolis, "", seconds[:1]}, {langevinBootstrap, gohsmc.name, nil}}
	for _, last := range []int{1, 3, 10} {
		all = append(all,
			companion{langevin(gohsmc.name, "", last), gohsmc.name, seconds},
			companion{langevin(langevinBootstrap.name, bootstrapped, last), gohsmc.name, seconds})
	}
	return all
}
