package paper

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// Uncertainty is the table for which GOHSMC's has no room: noise that is learned, and noise that the network says for each example,
// so that NLL and coverage mean something. Splits and networks are those of GOHSMC; the settings of the baselines are searched with the
// noise itself. Targets are standardised on every set, figures are in the target's units. Deep ensembles and chains on all layers stand
// beside.
var Uncertainty = Table{
	Name:    "gohsmc-uncertainty",
	Title:   "Partly random networks with noise that is learned or predicted: what NLL, CRPS and coverage say",
	Reduced: fewEpochs,
	Kind:    Fits,
	Figures: []Measure{
		{Name: "nll", Title: "NLL", Digits: 3, Least: math.Inf(-1), Most: math.Inf(1), Of: one(of(func(m *eval.Metrics) *uq.Number { return &m.NLL }))},
		{Name: "crps", Title: "CRPS", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.CRPS }))},
		{Name: "rmse", Title: "RMSE", Digits: 4, Most: math.Inf(1), Of: one(rmse)},
		{Name: "coverage90", Title: "in 90 %", Unit: "%", Digits: 1, Most: 100, Of: one(coverage90)},
		{Name: "width90", Title: "width of 90 %", Digits: 4, Most: math.Inf(1), Aside: true, Of: one(width90)},
	},
	Cells: uncertaintyCells(),
}

func rmse(d *fitDone) (float64, error) {
	return of(func(m *eval.Metrics) *uq.Number { return m.RMSE })(d)
}

// coverage90 is the share of the test targets in the central intervals of 90 %, in percent.
func coverage90(d *fitDone) (float64, error) {
	if d.Metrics.Coverage == nil {
		return 0, errLacks
	}
	return 100 * float64(d.Metrics.Coverage.In90), nil
}

// uncertain are the problems of the table: each set with noise that is learned, and with noise that is predicted.
func uncertain() (problems []problem) {
	for _, e := range experiments {
		for _, noise := range []struct {
			sd      string
			outputs int
		}{{"learned", 1}, {"predicted", 2}} {
			p := e.problem()
			p.searched = e.set + "-" + noise.sd
			p.data = split(e.set, "both")
			p.layers = fmt.Sprintf("[{dense: %d}, gelu, {dense: 20}, gelu, {dense: %d}]", e.width, noise.outputs)
			p.likelihood = fmt.Sprintf("{sd: %s}", noise.sd)
			problems = append(problems, p)
		}
	}
	return problems
}

func uncertaintyCells() (cells []Cell) {
	methods := append(table1Methods[:len(table1Methods):len(table1Methods)], ensemble, hmc)
	for _, p := range uncertain() {
		for _, m := range methods {
			if p.likelihood == "{sd: predicted}" && m.name == gohsmc.name {
				m = gohsmcPredicted
			}
			cells = append(cells, Cell{Name: p.searched + "-" + m.name, Config: tuned(m, p), Reduced: m.reduced})
		}
	}
	return cells
}
