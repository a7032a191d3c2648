package paper

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// SMCSGHMC is the MNIST and FashionMNIST part of Table 1 of Millard, Zhao, Murphy and Maskell, "Humble your overconfident networks:
// unlearning overfitting via sequential Monte Carlo tempered deep ensembles", with what stands beside it there for larger networks:
// weights at T = 1 (Table 6), the network that is refined, deep ensembles and SWAG. The paper states neither the batch size and the
// warm-up of these two sets, nor the prior, the activations and the pooling: see docs/results/smc-sghmc.md.
var SMCSGHMC = Table{
	Name: "smc-sghmc",
	Title: "SMC with SGHMC moves: MNIST and FashionMNIST of Table 1 of Millard et al., Humble your overconfident networks: unlearning " +
		"overfitting via sequential Monte Carlo tempered deep ensembles",
	Reduced: "8 iterations or 4 epochs, J = 4",
	Kind:    Fits,
	Figures: append([]Measure{
		{Name: "accuracy", Title: "accuracy", Unit: "%", Digits: 2, Most: 100, Of: one(accuracy)},
		{Name: "nll", Title: "NLL", Digits: 4, Most: math.Inf(1), Of: one(of(func(m *eval.Metrics) *uq.Number { return &m.NLL }))},
		{Name: "ece", Title: "ECE", Digits: 4, Most: 1, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.ECE }))},
	}, besides(greyImages)...),
	Cells: sghmcCells(),
	More:  writeSheets(sghmcSheets(greyImages.groups, false)),
}

// images is a set of the paper's with its network, and the published figures of the method, each with its standard deviation.
type images struct {
	name, set     string
	layers        string
	accuracy, nll [2]float64
	ece           [2]float64
}

var imageSets = []images{
	{"mnist", "mnist", `
    - conv: {filters: 6, kernel: 5, pad: 2}
    - relu
    - maxpool: 2
    - conv: {filters: 16, kernel: 5}
    - relu
    - maxpool: 2
    - dense: 120
    - relu
    - dense: 84
    - relu
    - dense: 10`, [2]float64{99.22, .04}, [2]float64{.0216, .0002}, [2]float64{.0083, .0001}},
	{"fashion", "fashion-mnist", `
    - conv: {filters: 8, kernel: 3, pad: 1}
    - relu
    - maxpool: 2
    - conv: {filters: 16, kernel: 3, pad: 1}
    - relu
    - maxpool: 2
    - dense: 120
    - relu
    - dense: 10`, [2]float64{92.23, .06}, [2]float64{.2426, .0017}, [2]float64{.0614, .0008}},
}

// sghmcRecipe is a way to networks, the same for both sets.
type sghmcRecipe struct {
	name    string
	config  string // the blocks method and, where it needs one, map
	changes []string
	reduced []string
	from    string // the recipe whose network it begins at; empty: none
}

// sghmcRecipes have the paper's settings: 10 particles, h = 2e-5, 200 iterations, of which a half warms up. In 200 trajectories of that
// step and 97 kicks, the networks do not get far from the prior: longer has ten times the step, so trajectories of the length that batches
// of 50 have (see docs/results/smc-sghmc.md).
//
// standardised is longer with pixels of mean 0 and variance 1, and biases that start at 0: of four starts, the one of least validation NLL on
// FashionMNIST.
//
// Descents are those of a user of PyTorch: AdamW with a cosine rate. A deep ensemble of 10 with 200 epochs each takes as many
// gradients as the 200 epochs of 10 particles.
//
// overfit is the last network of 200 epochs. The unlearned ones begin at it, with three steps, and retrained is AdamW from it, with as many
// gradients.
var sghmcRecipes = []sghmcRecipe{
	{name: "smc", config: sghmcConfig("", 10, "prior", "2.0e-5", 200, tempered), reduced: reducedSGHMC},
	{name: "longer", config: sghmcConfig("", 10, "prior", "2.0e-4", 200, tempered), reduced: reducedSGHMC},
	{
		name: "standardised", config: sghmcConfig("", 10, "he", "2.0e-4", 200, tempered), changes: []string{"data.standardise=inputs"}, reduced: reducedSGHMC,
	},
	{name: "untempered", config: sghmcConfig("", 10, "prior", "2.0e-4", 200, "{bootstrap: {temperature: 1}}"), reduced: reducedSGHMC},
	{name: "momentum", config: sghmcConfig("", 10, "prior", "2.0e-5", 200, "momentum"), reduced: reducedSGHMC},
	{name: "adamw", config: adamW(1, 20) + "\nmethod: map", reduced: reducedDescent},
	{name: "refined", config: sghmcConfig(adamW(1, 20), 10, "map", "2.0e-5", 50, tempered) + traced, reduced: slices.Concat(reducedSGHMC, reducedDescent)},
	{name: "continued", config: adamW(1, 70) + "\nmethod: map", reduced: reducedDescent},
	{name: "ensemble", config: adamW(10, 20) + "\nmethod: {ensemble: {members: 10}}", reduced: reducedDescent},
	{name: "ensemble-equal", config: adamW(10, 200) + "\nmethod: {ensemble: {members: 10}}", reduced: reducedDescent},
	{name: "swag", config: swagConfig("rank: 20"), reduced: append([]string{"method.swag.rank=4"}, reducedSWAG...)},
	{name: "swag-diagonal", config: swagConfig("diagonal: true"), reduced: reducedSWAG},
	{name: overfit, config: overfitted(200), reduced: reducedDescent},
	unlearnedBy("2.0e-5"), unlearnedBy("1.0e-4"), unlearnedBy("4.0e-4"),
	{name: "retrained", config: overfitted(150), reduced: reducedDescent, from: overfit},
}

// overfit is the recipe of the network that is to unlearn.
const overfit = "overfit"

// tempered are weights at T = N, and traced adds the scores of unlearning to the trace.
const tempered, traced = "{bootstrap: {temperature: examples}}", "\n    trace: {unlearning: true}"

var (
	reducedSGHMC   = []string{"method.smc.particles=4", "method.smc.path.full.iterations=8", "method.smc.keep.after=4"}
	reducedDescent = []string{"map.epochs=4"}
	reducedSWAG    = append([]string{"method.swag.snapshots=4"}, reducedDescent...)
)

// adamW is a search for point estimates whose rate falls to 0 at its end. It keeps the epoch of least validation NLL.
func adamW(restarts, epochs int) string {
	return descent(restarts, epochs, fmt.Sprint("patience: ", epochs))
}

// overfitted is one descent that keeps its last epoch, however high the validation NLL is there.
func overfitted(epochs int) string { return descent(1, epochs, "keep: last") + "\nmethod: map" }

func descent(restarts, epochs int, keeps string) string {
	return fmt.Sprintf("map: {restarts: %d, optimiser: adamw, schedule: cosine, rate: 0.002, batch: 128, epochs: %d, %s}", restarts, epochs, keeps)
}

func swagConfig(covariance string) string {
	return adamW(1, 20) + "\nmethod: {swag: {members: 1, rate: 0.001, warmup: 1, snapshots: 30, " + covariance + ", draws: 30}}"
}

// unlearnedBy has five particles leave the overfitted network with a step, for 30 iterations.
func unlearnedBy(step string) sghmcRecipe {
	name := "unlearned-" + strings.Replace(step, ".0", "", 1)
	return sghmcRecipe{name: name, config: sghmcConfig("", 5, "init", step, 30, tempered) + traced, reduced: reducedSGHMC, from: overfit}
}

func sghmcConfig(search string, particles int, start, step string, iterations int, weight string) string {
	return fmt.Sprintf(`%s
method:
  smc:
    particles: %d
    start: %s
    path: {full: {iterations: %d}}
    move: {epoch: {step: %s, batch: 500}}
    weight: %s
    resample: {when: {ess: 0.5}}
    keep: {after: %d}`, search, particles, start, iterations, step, weight, iterations/2)
}

func sghmcCells() (cells []Cell) {
	for _, s := range imageSets {
		cells = append(cells, s.cells()...)
	}
	return cells
}

// cells are all recipes for the set.
func (s images) cells() (cells []Cell) {
	for _, r := range sghmcRecipes {
		c := Cell{Name: s.name + "-" + r.name, Changes: r.changes, Reduced: r.reduced, Config: func(at Place) Config { return Config{Text: s.text(r, at)} }}
		if r.from != "" {
			c.Needs = []Need{{Cell: s.name + "-" + r.from}}
		}
		if r.name == "smc" || r.name == "longer" {
			c.Published = Figures{
				"accuracy": Mean{s.accuracy[0], uq.Number(s.accuracy[1])}, "nll": Mean{s.nll[0], uq.Number(s.nll[1])}, "ece": Mean{s.ece[0], uq.Number(s.ece[1])},
			}
		}
		cells = append(cells, c)
	}
	return cells
}

// text is the config of a recipe for the set.
func (s images) text(r sghmcRecipe, at Place) []byte {
	init := ""
	if r.from != "" {
		init = fmt.Sprintf("\n  init: %q", filepath.Join(at.network(), posteriorFile))
	}
	return fmt.Appendf(nil, `data: {set: %s, split: {validate: 0.2}}
model:
  input: [1, 28, 28]%s
  layers:%s
  likelihood: categorical
prior: {normal: {fan_in: 2}}
%s
`, s.set, init, s.layers, r.config)
}

// greyImages have as foreign inputs the other set, white noise, and the run's own test images with noise added.
var greyImages = imagery{
	groups: []group{
		{"other", "FashionMNIST for MNIST and MNIST for FashionMNIST"}, {"noise", "white noise"}, {"perturbed", "test images with normal noise of sd 0.5"},
	},
	read: (*fitDone).inGrey,
}

// inGrey reads the groups of greyImages.
func (d *fitDone) inGrey(p *data.Problem, _ map[string]float64) error {
	for _, s := range imageSets {
		if s.set != p.Name {
			if err := p.ReadGroups(d.options.DataDir, s.set); err != nil {
				return &starling.DataError{Err: err}
			}
		}
	}
	p.Groups[0].Name = "other"
	p.Groups = append(p.Groups, data.WhiteNoise(p.Test.Shape, p.Test.Len()), data.Perturbed(p.Test))
	return nil
}
