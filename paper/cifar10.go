package paper

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// CIFAR10 is the CIFAR-10 part of Tables 1, 5 and 6 of Millard et al., for ResNet-20 with filter response normalisation, as far as two cores
// reach: a tenth of the epochs, fewer particles and iterations. Beside it stands a posterior that others computed (docs/results/cifar10.md).
// What is of CIFAR-100, of STL-10 and of VGG16 is not run.
var CIFAR10 = Table{
	Name: "smc-sghmc-cifar10",
	Title: "SMC with SGHMC moves: CIFAR-10 of Tables 1, 5 and 6 of Millard et al., Humble your overconfident networks: unlearning " +
		"overfitting via sequential Monte Carlo tempered deep ensembles",
	Reduced: "2,000 training images, 2 epochs or 4 iterations, J = 2, 4 draws",
	Kind:    Fits,
	Figures: slices.Concat([]Measure{
		{Name: "accuracy", Title: "accuracy", Unit: "%", Digits: 2, Most: 100, Of: one(accuracy)},
		{Name: "nll", Title: "NLL", Digits: 4, Most: math.Inf(1), Of: one(of(func(m *eval.Metrics) *uq.Number { return &m.NLL }))},
		{Name: "ece", Title: "ECE", Digits: 4, Most: 1, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.ECE }))},
		aside(Measure{Name: "brier", Title: "Brier", Digits: 4, Most: 2, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.Brier }))}),
	}, besides(colourImages), besides10()),
	Cells: cifarCells(),
	More:  writeSheets(slices.Concat(sghmcSheets(colourImages.groups, true), sheets10())),
}

// The networks that the cells begin at.
const cifarNetwork, cifarReference = "network", "reference"

// cifarRate is that of network, the best of the cells rates-* by validation NLL.
const cifarRate = "0.005"

// cifarNet is a network on CIFAR-10, its prior, and how its images are changed while it is trained.
type cifarNet struct {
	layers  func() string
	prior   string
	augment string
}

// cifarPlain is the network of the preset cifar10-resnet20, and cifarGold that of the reference predictions.
var (
	cifarPlain = cifarNet{resnet20, "decay: 0.01", "\n  augment: {crop: 4, flip: true}"}
	cifarGold  = cifarNet{referenceNet, "variance: 0.2", ""}
)

// cifarCell is a recipe for a network on CIFAR-10.
type cifarCell struct {
	name    string
	net     cifarNet
	short   string // how it is shorter than the paper's
	from    string // the cell whose network it begins at
	search  string // the block map; empty: none
	method  string
	reduced []string
	of      string // the column of the published figures; empty: none

	three, threeOf string // the cell of three such networks together, and its column; empty: none
}

// cifarRecipes begin with networks of ResNet-20, and then have those of the reference. All runs hold the same images out, whatever their
// seed: so networks of several seeds are an ensemble, and no image to validate has trained any of them.
var cifarRecipes = []cifarCell{
	cifarRates("0.01"), cifarRates("0.005"), cifarRates("0.002"),
	{
		name: cifarNetwork, net: cifarPlain, short: "20 of 200 epochs", search: cifarDescent("{adamw: {decay: 0.01}}", cifarRate, 20), method: "map",
		reduced: cifarFew, of: "sgd", three: "ensemble", threeOf: "ensemble",
	},
	cifarRefined("refined", cifarPlain, cifarNetwork, "examples", "smc"),
	cifarRefined("untempered", cifarPlain, cifarNetwork, "1", "untempered"),
	cifarSWAG("swag", "rank: 10", "swag", "method.swag.rank=2"),
	cifarSWAG("swag-diagonal", "diagonal: true", "swag-diagonal"),
	{
		name: "continued", net: cifarPlain, short: "12 epochs", from: cifarNetwork, search: cifarDescent("{adamw: {decay: 0.01}}", "0.001", 12), method: "map",
		reduced: cifarFew,
	},
	{
		name: cifarReference, net: cifarGold, short: "16 epochs", search: cifarDescent("adam", "0.002", 16), method: "map",
		reduced: cifarFew, three: "reference-ensemble",
	},
	cifarRefined("reference-refined", cifarGold, cifarReference, "examples", ""),
}

// The changes of the reduced protocol.
var (
	cifarData = "data.split={train: 0.04, validate: 0.01}"
	cifarFew  = []string{cifarData, "map.epochs=2"}
)

// cifarDescent is a descent that keeps the network of its last epoch, overfitted or not.
func cifarDescent(optimiser, rate string, epochs int) string {
	return fmt.Sprintf("map: {restarts: 1, epochs: %d, batch: 128, optimiser: %s, rate: %s, schedule: cosine, keep: last}\n", epochs, optimiser, rate)
}

// cifarRates is a short descent, which tells a rate.
func cifarRates(rate string) cifarCell {
	return cifarCell{
		name: "rates-" + rate, net: cifarPlain, short: "3 epochs, to choose the rate", search: cifarDescent("{adamw: {decay: 0.01}}", rate, 3), method: "map",
		reduced: cifarFew,
	}
}

// cifarRefined is SMC-SGHMC from a network, with the paper's step and batches.
func cifarRefined(name string, net cifarNet, from, temperature, of string) cifarCell {
	return cifarCell{name: name, net: net, short: "J = 4, 6 iterations", from: from, of: of, method: fmt.Sprintf(`
  smc:
    particles: 4
    start: init
    path: {full: {iterations: 6}}
    move: {epoch: {step: 2.0e-5, batch: 500}}
    weight: {bootstrap: {temperature: %s}}
    resample: {when: {ess: 0.5}}
    keep: {after: 3}
    trace: {unlearning: true, every: 2}`, temperature),
		reduced: []string{cifarData, "method.smc.particles=2", "method.smc.path.full.iterations=4", "method.smc.keep.after=2"}}
}

// cifarSWAG is SWAG from the network as it is.
func cifarSWAG(name, covariance, of string, reduced ...string) cifarCell {
	return cifarCell{
		name: name, net: cifarPlain, short: "10 snapshots", from: cifarNetwork, search: "map: {restarts: 1, epochs: 0, batch: 128, keep: last}\n",
		method:  "{swag: {members: 1, rate: 0.001, warmup: 1, snapshots: 10, " + covariance + ", draws: 30}}",
		reduced: slices.Concat([]string{cifarData, "method.swag.snapshots=2", "method.swag.draws=4"}, reduced), of: of,
	}
}

// cifarCells are the recipes, the ensembles of networks that are there, and what is not run.
func cifarCells() (cells []Cell) {
	for _, r := range cifarRecipes {
		c := Cell{Name: r.name, Short: r.short, Reduced: r.reduced, Published: cifarPublished["cifar10"][r.of], Config: func(at Place) Config { return Config{Text: r.text(at)} }}
		if r.from != "" {
			c.Needs = []Need{{Cell: r.from}}
		}
		cells = append(cells, c)
		if r.three != "" {
			cells = append(cells, cifarEnsemble(r.three, r.name, r.threeOf))
		}
	}
	return append(cells, cifarNotRun()...)
}

// cifarEnsemble is a cell of three networks of another cell together, with a column of the published figures; empty: none.
func cifarEnsemble(name, network, of string) Cell {
	needs := []Need{{Cell: network}, {Cell: network, Later: 1}, {Cell: network, Later: 2}}
	return Cell{Name: name, Short: "3 of 5 networks", Kind: Together, Needs: needs, Published: cifarPublished["cifar10"][of], Config: func(at Place) Config {
		runs := make([]string, 2) // of a config that is only looked at
		if at.Needs != nil {
			runs = at.Needs
		}
		return Config{Text: fmt.Appendf(nil, "runs: [%s]\n", quoted(runs))}
	}}
}

// quoted lists texts as YAML has them.
func quoted(texts []string) string {
	var all []string
	for _, s := range texts {
		all = append(all, fmt.Sprintf("%q", s))
	}
	return strings.Join(all, ", ")
}

// text is the config of the recipe.
func (r cifarCell) text(at Place) []byte {
	init := ""
	if r.from != "" {
		init = fmt.Sprintf("\n  init: %q", filepath.Join(at.network(), networksFile))
	}
	return fmt.Appendf(nil, `data:
  set: %s
  seed: 1
  standardise: channels%s
model:
  input: [3, 32, 32]%s
  layers:
%s  likelihood: categorical
prior: {normal: {%s}}
%smethod: %s
`, colours, r.net.augment, init, r.net.layers(), r.net.prior, r.search, r.method)
}

// resnet20 is ResNet-20 with filter response normalisation, its thresholds for activations, and shortcuts without parameters: that of the
// preset cifar10-resnet20.
func resnet20() string {
	return residualNet(func(filters, stride int) []string {
		return []string{fmt.Sprintf("{conv: {filters: %d, kernel: 3, pad: 1, stride: %d, bias: false}}", filters, stride), "{frn: {tlu: true}}"}
	}, func(int) string { return "pad" })
}

// referenceNet is the network of the reference predictions (Izmailov et al. 2021): convolutions with biases, swish behind the first
// normalisation of a block and behind the sum, and shortcuts of 1×1 where the image is made smaller. Its strided convolutions pad below
// and to the right alone; here they pad on all sides, and so they see the neighbouring pixels.
func referenceNet() string {
	return residualNet(func(filters, stride int) []string {
		return []string{fmt.Sprintf("{conv: {filters: %d, kernel: 3, pad: 1, stride: %d}}", filters, stride), "{frn: {tlu: true}}"}
	}, func(filters int) string {
		return fmt.Sprintf("[{conv: {filters: %d, kernel: 1, stride: 2}}, {frn: {tlu: true}}]", filters)
	}, "swish")
}

// residualNet are the layers of a residual network of 20 layers. conv is a convolution with its normalisation. Activations follow the stem, the
// first convolution of each block, and each sum.
func residualNet(conv func(filters, stride int) []string, shortcut func(filters int) string, activations ...string) string {
	var b strings.Builder
	list := func(layers ...string) {
		for _, layer := range layers {
			fmt.Fprintf(&b, "    - %s\n", layer)
		}
	}
	list(slices.Concat(conv(16, 1), activations)...)
	for stage, filters := range []int{16, 32, 64} {
		for block := range 3 {
			stride, by := 1, ""
			if stage > 0 && block == 0 {
				stride, by = 2, ", shortcut: "+shortcut(filters)
			}
			body := slices.Concat(conv(filters, stride), activations, conv(filters, 1))
			list(fmt.Sprintf("residual: {body: [%s]%s}", strings.Join(body, ", "), by))
			list(activations...)
		}
	}
	list("global_avgpool", "{dense: 10}")
	return b.String()
}
