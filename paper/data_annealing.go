package paper

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// DataAnnealing is Table 1 of Millard et al., "Investigating batch inference in a sequential Monte Carlo framework for
// neural networks": six schedules, two data sets, Langevin and Hamiltonian dynamics, mean ± standard deviation of five
// seeds. The paper's "test loss" is the mean log-likelihood of the test examples; times are of one A100. It states no
// number of particles and no start. A cell whose name begins with jax begins at the start jax, by the prior of the others.
var DataAnnealing = Table{
	Name:    "data-annealing",
	Title:   "Data annealing: Table 1 of Millard et al., Investigating batch inference in a sequential Monte Carlo framework for neural networks",
	Reduced: "50 iterations, J = 4",
	Kind:    Fits,
	Figures: []Measure{
		{Name: "accuracy", Title: "accuracy", Unit: "%", Digits: 2, Least: 0, Most: 100, Of: one(accuracy)},
		{Name: "log_likelihood", Title: "log-likelihood", Digits: 3, Least: math.Inf(-1), Most: math.Inf(1), Of: one(logLikelihood)},
	},
	Cells: dataAnnealing(),
}

// accuracy is in percent.
func accuracy(d *fitDone) (float64, error) {
	share, err := of(func(m *eval.Metrics) *uq.Number { return m.Accuracy })(d)
	return 100 * share, err
}

// logLikelihood is the mean over the test examples, in nats.
func logLikelihood(d *fitDone) (float64, error) { return -float64(d.Metrics.NLL), nil }

// scheme is a row of Table 1: log-likelihood, accuracy in percent and seconds, each with its standard deviation.
type scheme struct {
	name, data      string
	langevin, hamil [6]float64
}

var table1 = []scheme{
	{"constant", "mnist", [6]float64{-0.2726, .003, 92.46, .01, 502.76, 20.28}, [6]float64{-0.081, .004, 97.55, .11, 453.33, 16.74}},
	{"full", "mnist", [6]float64{-0.248, .002, 93.14, .01, 8985.56, 24.08}, [6]float64{-0.065, .003, 98.00, .15, 10658.68, 15.28}},
	{"ctr", "mnist", [6]float64{-0.268, .003, 92.61, .10, 1297.93, 19.09}, [6]float64{-0.071, .002, 97.84, .02, 1535.95, 20.27}},
	{"linear", "mnist", [6]float64{-0.249, .004, 93.14, .12, 7904.98, 22.95}, [6]float64{-0.067, .003, 97.90, .13, 9507.66, 14.32}},
	{"automated", "mnist", [6]float64{-0.260, .003, 92.79, .13, 4801.25, 23.69}, [6]float64{-0.067, .002, 97.94, .05, 5666.36, 45.31}},
	{"sda", "mnist", [6]float64{-0.279, .005, 92.28, .20, 6872.41, 114.60}, [6]float64{-0.074, .006, 97.70, .17, 7683.07, 83.69}},
	{"constant", "fashion", [6]float64{-0.489, .010, 82.79, .41, 392.11, 11.93}, [6]float64{-0.345, .011, 88.09, .26, 443.58, 12.70}},
	{"full", "fashion", [6]float64{-0.468, .011, 83.46, .42, 8749.95, 25.22}, [6]float64{-0.293, .006, 89.60, .20, 10864.92, 33.06}},
	{"ctr", "fashion", [6]float64{-0.483, .010, 82.99, .55, 1265.94, 13.71}, [6]float64{-0.291, .005, 89.62, .30, 1531.53, 12.13}},
	{"linear", "fashion", [6]float64{-0.470, .010, 83.47, .41, 7575.59, 24.90}, [6]float64{-0.293, .004, 89.62, .26, 9578.16, 21.47}},
	{"automated", "fashion", [6]float64{-0.478, .010, 83.16, .52, 4700.58, 7.02}, [6]float64{-0.293, .005, 89.51, .30, 5891.13, 26.41}},
	{"sda", "fashion", [6]float64{-0.493, .005, 82.50, .23, 6594.19, 32.74}, [6]float64{-0.298, .005, 89.35, .10, 7897.29, 98.47}},
}

// choice is another one than the presets' where the paper is silent: cells of a data set with changes. The published figures are the same.
type choice struct {
	name, data string   // that cells begin with, and of the rows of table1
	changes    []string // of the presets, as KEY=VALUE
	cells      []string // as they are named without the data set; nil: all
}

var choices = []choice{
	{name: "mnist", data: "mnist"},
	{name: "fashion", data: "fashion"},
	{
		"jax", "mnist", []string{"method.smc.start=jax"},
		[]string{"hmc-constant", "ld-constant", "ld-full", "ld-ctr", "ld-linear", "ld-automated", "ld-sda"},
	},
	{
		"fashion-max", "fashion", []string{"model.layers.2={maxpool: 2}", "model.layers.5={maxpool: 2}", "data.standardise=inputs"},
		[]string{"ld-ctr", "hmc-sda", "ld-sda"},
	},
}

func dataAnnealing() (cells []Cell) {
	presets := map[string]string{"mnist": "mnist-lenet5", "fashion": "fashion-cnn"}
	for _, made := range choices {
		for _, row := range table1 {
			for _, move := range []struct {
				name, suffix string
				figures      [6]float64
			}{{"hmc", "", row.hamil}, {"ld", "-ld", row.langevin}} {
				name := move.name + "-" + row.name
				if row.data != made.data || made.cells != nil && !slices.Contains(made.cells, name) {
					continue
				}
				f := move.figures
				cells = append(cells, Cell{
					Name:      made.name + "-" + name,
					Config:    preset(presets[row.data] + "-" + row.name + move.suffix),
					Changes:   made.changes,
					Reduced:   []string{"method.smc.particles=4", "method.smc.path." + row.name + ".iterations=50"},
					Published: Figures{"log_likelihood": Mean{f[0], uq.Number(f[1])}, "accuracy": Mean{f[2], uq.Number(f[3])}, seconds: Mean{f[4], uq.Number(f[5])}},
				})
			}
		}
	}
	return cells
}
