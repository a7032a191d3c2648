package paper

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// SBMCContest decides what starling fit mnist7 runs. No paper has this table. Each method has eight restarts and then about 12,800 epochs of
// one network, the cost of eight chains of 1,600, by gradients of single images; map and laplace have no use for them. What decides is the mean NLL
// over five seeds on the 2,000 calibration images, which no method sees in training: the 200 validation images are few, and have stopped
// the descents. Within one standard error of the paired difference the simpler method wins, and an exact one before a biased one. A winner takes
// no longer than contestBefore, and its epistemic entropy tells foreign inputs from the calibration images no worse. The figures of the test
// images decide nothing. The cells stand from simple to complicated. Dropout, SWAG and SGHMC, which are biased, stand last.
var SBMCContest = Table{
	Name:    "sbmc-contest",
	Title:   "Methods at the same cost on MNIST7: which one does fit mnist7 run?",
	Reduced: "two restarts of three epochs, and a few epochs of each method",
	Kind:    Fits,
	Figures: slices.Concat([]Measure{
		{
			Name: "calibration_nll", Title: "NLL, calibration images", Short: "NLL, calib.", Digits: 4, Most: math.Inf(1), Slow: true, Of: one(calibrationNLL),
			Legend: "mean over the 2,000 calibration images, which no network has seen",
		},
		{
			Name: "calibration_tempered", Title: "the same, tempered", Short: "tempered", Digits: 4, Most: math.Inf(1), Slow: true, Of: one(calibrationTempered),
			Legend: "with probabilities corrected by a temperature that the 200 validation images taught",
		},
		aside(Measure{
			Name: "validation_nll", Title: "NLL, validation images", Digits: 4, Most: math.Inf(1), Slow: true, Of: one(validationNLL),
			Legend: "by it one of the temperatures of the cold posteriors is chosen, and it alone competes",
		}),
		{Name: "accuracy", Title: "test: accuracy", Unit: "%", Short: "test acc.", Digits: 2, Most: 100, Of: one(accuracy)},
		{Name: "nll", Title: "test: NLL", Short: "test NLL", Digits: 4, Most: math.Inf(1), Of: one(of(func(m *eval.Metrics) *uq.Number { return &m.NLL }))},
		{Name: "tempered", Title: "test: NLL, tempered", Short: "tempered", Digits: 4, Most: math.Inf(1), Of: one(ofTempered(func(e *eval.Tempered) *uq.Number { return &e.NLL }))},
		aside(Measure{Name: "tempered_ece", Title: "test: ECE, tempered", Digits: 3, Most: 1, Of: one(ofTempered(func(e *eval.Tempered) *uq.Number { return e.ECE }))}),
		aside(Measure{Name: "ece", Title: "test: ECE", Digits: 3, Most: 1, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.ECE }))}),
	}, evidenceMeasures(), foundMeasures(), groupMeasures()),
	Cells: contestCells(),
	More: func(t *Table, dataDir string, runs []Run) (string, error) {
		paired, err := pairedCells(t, dataDir, runs)
		if err != nil {
			return "", err
		}
		separated, err := writeSheets([]sheet{
			{title: "Calibration images: AUROC of the epistemic entropy", first: "cell", columns: single(found, []int{3}, mnist7Groups, mnist7Groups...)},
			separation("Test images: ", "", mnist7Groups),
		})(t, dataDir, runs)
		return paired + "\n" + separated, err
	},
}

// contestBefore is the cell of what fit mnist7 ran before the contest, with which the others are compared.
const contestBefore = "chains"

// contestCells are the methods. All learn a temperature and nothing else to decide by.
func contestCells() (cells []Cell) {
	const (
		temperature = "decide={temperature: true}"
		more        = "map.restarts=61" // 53 more than the others have, of some 200 epochs each
		fewer       = "method.mcmc.epochs=40"
	)
	short := []string{"method.mcmc.chains=2", "method.mcmc.keep=4", "method.mcmc.epochs=500"}
	type entry struct {
		name, preset string
		changes      []string
		reduced      []string
	}
	byRule, byHand := entry{contestBefore, "mnist7-chains", nil, short}, entry{"chains-by-hand", "mnist7-chains", []string{"method.mcmc.move={hmc: {steps: 80}}"}, short}
	cold := func(of entry) (all []entry) {
		for _, t := range []string{"0.5", "0.25", "0.1"} {
			all = append(all, entry{of.name + "-cold-" + t, of.preset, append([]string{"method.mcmc.temperature=" + t}, of.changes...), of.reduced})
		}
		return all
	}
	for _, m := range slices.Concat([]entry{
		{"map", "mnist7-map", nil, nil},
		{"laplace", "mnist7-map", []string{"method={laplace: {draws: 80}}"}, nil},
		{"ensemble", "mnist7-ensemble", []string{more, "method.ensemble.members=61"}, []string{"method.ensemble.members=2"}},
		byRule, byHand,
	}, cold(byRule), cold(byHand), []entry{
		{"hmc-anchor", "mnist7-chains", []string{"prior.anchor.s=0.1", "method.mcmc={chains: 80, start: prior, epochs: 160, keep: last, move: {hmc: {steps: 1}}}"},
			[]string{"method.mcmc.chains=2", fewer}},
		{"smc-anchor", "mnist7-smc", nil, []string{"method.smc.islands=2"}},
		{"smc-anchor-each", "mnist7-smc", []string{"prior.anchor={s: 0.1, per: island}"}, []string{"method.smc.islands=2"}},
		{"smc-waste-free", "mnist7-smc", []string{"method.smc.particles=100", "method.smc.waste_free=10", "method.smc.move={hmc: {steps: 1}}"},
			[]string{"method.smc.islands=2"}},
		{"dropout", "mnist7-dropout", []string{more, "method.dropout.passes=80"}, nil},
		{"swag", "mnist7-swag", []string{"method.swag.members=8", "method.swag.snapshots=1575"}, []string{"method.swag.members=2", "method.swag.snapshots=3"}},
		{"sghmc", "mnist7-sghmc", []string{"method.mcmc.epochs=1600"}, []string{"method.mcmc.chains=2", "method.mcmc.keep=4", fewer}},
		// Steps by mini-batches take longer: these two have the time of chains, and fewer gradients.
		{"dropout-in-time", "mnist7-dropout", []string{"map.restarts=22", "method.dropout.passes=80"}, nil},
		{"sghmc-in-time", "mnist7-sghmc", []string{"method.mcmc.epochs=750"}, []string{"method.mcmc.chains=2", "method.mcmc.keep=4", fewer}},
	}) {
		c := Cell{Name: m.name, Config: preset(m.preset), Changes: append([]string{temperature}, m.changes...), Reduced: append([]string{"map.restarts=2", "map.epochs=3"}, m.reduced...)}
		if m.name != contestBefore {
			c.Against = contestBefore
		}
		cells = append(cells, c)
	}
	return cells
}
