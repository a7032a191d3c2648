package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/uq"
)

// Scored is an ensemble's name and scores.
type Scored struct {
	Name string
	*starling.Evaluation
}

// The posterior with its islands weighed in the way that was not chosen, and all MAP restarts.
const (
	equally      = "equally"
	byEvidence   = "by evidence"
	DeepEnsemble = "deep ensemble"
)

// Ensembles are all that a run was judged by, the posterior first.
func Ensembles(spec *starling.Spec, m *starling.Metrics) []Scored {
	all := []Scored{{"posterior", &m.Evaluation}}
	if c := m.Combined; c != nil && spec.Method.SMC != nil && spec.Method.SMC.Islands > 1 {
		if spec.Method.SMC.Combine == "evidence" {
			all = append(all, Scored{equally, &c.Equal})
		} else {
			all = append(all, Scored{byEvidence, &c.Evidence})
		}
	}
	if m.MAP != nil {
		all = append(all, Scored{"best MAP", m.MAP})
	}
	if m.DeepEnsemble != nil {
		all = append(all, Scored{DeepEnsemble, m.DeepEnsemble})
	}
	return all
}

func (v *view) restarts() int {
	if v.run.Restarts == nil {
		return 0
	}
	return v.run.Restarts.Size()
}

// scores is the table of all figures.
func (v *view) scores() section {
	all := Ensembles(&v.run.Spec, v.j.Metrics)
	var columns []string
	weighed := ""
	for _, e := range all {
		columns = append(columns, e.Name)
		if e.Name == byEvidence || e.Name == equally {
			weighed = fmt.Sprintf(" “%s” is the posterior with its islands weighed so.", e.Name)
		}
	}
	return section{ID: "figures", Title: "Figures", Tables: compare(columns, all),
		Text: []string{fmt.Sprintf("On %s %s. Arrows say what is better; the best of a row is bold.%s", count(v.j.Metrics.N), v.test(), weighed)}}
}

// metric is a row of the table of figures: higher is better if sign is 1, lower if −1, neither if 0.
type metric struct {
	name   string
	sign   float64
	value  func(*starling.Evaluation) float64
	format func(float64) string
}

func decimals(n int) func(float64) string {
	return func(v float64) string { return fixed(v, n) }
}

// compare makes tables with a column an ensemble: of scores, and of doubt. Rows that none of them has are left out.
func compare(columns []string, all []Scored) []table {
	head := append([]string{""}, columns...)
	t := table{Caption: "Scores", Head: head}
	addMetrics(&t, all, []metric{
		{"accuracy ↑", 1, func(e *starling.Evaluation) float64 { return number(e.Accuracy) }, percent},
		{"RMSE ↓", -1, func(e *starling.Evaluation) float64 { return number(e.RMSE) }, significant[float64]},
		{"mean absolute error ↓", -1, func(e *starling.Evaluation) float64 { return number(e.MAE) }, significant[float64]},
		{"mean error", 0, func(e *starling.Evaluation) float64 { return number(e.Bias) }, significant[float64]},
		{"R² ↑", 1, func(e *starling.Evaluation) float64 { return number(e.R2) }, decimals(3)},
		{"NLL, nats ↓", -1, func(e *starling.Evaluation) float64 { return float64(e.NLL) }, decimals(3)},
		{"CRPS ↓", -1, func(e *starling.Evaluation) float64 { return number(e.CRPS) }, significant[float64]},
		{"truth in 50\u00a0% intervals", 0, func(e *starling.Evaluation) float64 { return number(&inside(e).In50) }, percent},
		{"truth in 90\u00a0% intervals", 0, func(e *starling.Evaluation) float64 { return number(&inside(e).In90) }, percent},
		{"truth in 95\u00a0% intervals", 0, func(e *starling.Evaluation) float64 { return number(&inside(e).In95) }, percent},
		{"Brier score ↓", -1, func(e *starling.Evaluation) float64 { return number(e.Brier) }, decimals(3)},
		{"ECE, 15 bins ↓", -1, func(e *starling.Evaluation) float64 { return number(e.ECE) }, decimals(3)},
		{"AURC ↓", -1, func(e *starling.Evaluation) float64 { return number(e.AURC) }, decimals(4)},
	})
	var byEntropy, byProbability, entropy []metric
	for _, name := range groupNames(all) {
		if name != "correct" {
			byEntropy = append(byEntropy, metric{groupName(name), 1, func(e *starling.Evaluation) float64 {
				if agreed(e) {
					return math.NaN()
				}
				return number(groupOf(e, name).AUROC)
			}, decimals(2)})
			byProbability = append(byProbability, metric{groupName(name), 1, func(e *starling.Evaluation) float64 {
				return number(groupOf(e, name).AUROCMaxProb)
			}, decimals(2)})
		}
		entropy = append(entropy, metric{groupName(name), 0, func(e *starling.Evaluation) float64 {
			return float64(groupOf(e, name).Epistemic)
		}, decimals(2)})
	}
	tables := []table{t}
	if byEntropy == nil {
		return tables
	}
	caption := "Found by epistemic entropy: AUROC ↑"
	if slices.ContainsFunc(all, func(e Scored) bool { return agreed(e.Evaluation) }) {
		caption = "Found by epistemic entropy, which one network has not: AUROC ↑"
	}
	for _, doubt := range []struct {
		caption string
		metrics []metric
	}{{caption, byEntropy}, {"Found by highest probability: AUROC ↑", byProbability}, {"Mean epistemic entropy, nats", entropy}} {
		t := table{Caption: doubt.caption, Head: head}
		if addMetrics(&t, all, doubt.metrics); t.Rows != nil {
			tables = append(tables, t)
		}
	}
	return tables
}

// agreed says that nobody disagrees in an ensemble, as in one network: its epistemic entropy is 0 wherever it is asked.
func agreed(e *starling.Evaluation) bool {
	for _, g := range e.Groups {
		if g.N > 0 && g.Epistemic != 0 {
			return false
		}
	}
	return true
}

// groupNames are those of all evaluations, in the order of the first that has them.
func groupNames(all []Scored) (names []string) {
	for _, e := range all {
		for _, g := range e.Groups {
			if !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}

// inside is an evaluation's coverage; NaN where there is none.
func inside(e *starling.Evaluation) *starling.Coverage {
	if e.Coverage == nil {
		nan := uq.Number(math.NaN())
		return &starling.Coverage{In50: nan, In90: nan, In95: nan}
	}
	return e.Coverage
}

// doubts compares the kinds of doubt by how well the posterior's tells each group; nil if there is none to tell.
func (v *view) doubts() []table {
	t := table{
		Caption: "Found by each kind of doubt of the posterior: AUROC (FPR95)",
		Head:    []string{"group", "examples", "epistemic entropy", "highest probability", "energy"},
	}
	for _, g := range v.j.Metrics.Groups {
		if g.AUROC == nil {
			continue
		}
		told := func(auroc, fpr95 *uq.Number) string {
			if a := number(auroc); !math.IsNaN(a) {
				return fixed(a, 3) + " (" + fixed(number(fpr95), 2) + ")"
			}
			return "–"
		}
		t.add(groupName(g.Name), count(g.N), told(g.AUROC, g.FPR95), told(g.AUROCMaxProb, g.FPR95MaxProb), told(g.AUROCEnergy, g.FPR95Energy))
	}
	if t.Rows == nil {
		return nil
	}
	return []table{t}
}

func addMetrics(t *table, all []Scored, metrics []metric) {
	for _, m := range metrics {
		r := row{Name: m.name}
		best, some, differ := math.Inf(-1), false, false
		for _, e := range all {
			v := m.value(e.Evaluation)
			some = some || !math.IsNaN(v)
			best = max(best, worth(m.sign*v))
		}
		for _, e := range all {
			v := m.value(e.Evaluation)
			c := cell{Text: m.format(v)}
			c.Best = m.sign != 0 && c.Text == m.format(m.sign*best)
			differ = differ || !c.Best
			r.Cells = append(r.Cells, c)
		}
		if !differ { // nobody is better than the others
			for i := range r.Cells {
				r.Cells[i].Best = false
			}
		}
		if some {
			t.Rows = append(t.Rows, r)
		}
	}
}

// worth puts NaN behind all numbers.
func worth(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

func groupOf(e *starling.Evaluation, name string) uq.Group {
	for _, g := range e.Groups {
		if g.Name == name {
			return g
		}
	}
	nan := uq.Number(math.NaN())
	return uq.Group{Name: name, Total: nan, Aleatoric: nan, Epistemic: nan}
}

func groupName(name string) string {
	switch name {
	case "correct":
		return "right answers"
	case "incorrect":
		return "wrong answers"
	}
	return name
}

// cards are the figures at the top of the page.
func (v *view) cards() []card {
	m := v.j.Metrics
	var cards []card
	if v.classes() {
		low, high := wilson(number(m.Accuracy)*float64(m.N), float64(m.N))
		cards = append(cards, card{"accuracy", percent(number(m.Accuracy)), "95\u00a0% interval " + fixed(100*low, 1) + " to " + fixed(100*high, 1)})
	} else {
		cards = append(cards, card{"RMSE", significant(number(m.RMSE)), "in the target's units"})
	}
	cards = append(cards, card{"NLL", fixed(float64(m.NLL), 3), "nats an example"})
	if v.classes() {
		cards = append(cards, card{"ECE", fixed(number(m.ECE), 3), "calibration error"})
		if found := v.foreignAUROC(); len(found) > 0 {
			cards = append(cards, card{"AUROC, foreign", fixed(uq.Mean(found), 2), "mean of " + several(len(found), "group")})
		}
	} else {
		cards = append(cards, card{"90\u00a0% intervals", percent(uq.Coverage(v.j.Values.PIT, .9)), "hold the truth"})
	}
	if m.LogEvidence != nil {
		note := "nats"
		if m.LogEvidenceSD != nil && !math.IsNaN(number(m.LogEvidenceSD)) && len(v.islands) > 1 {
			note = "± " + fixed(number(m.LogEvidenceSD), 1) + " over islands"
		}
		if optimised, merged := v.run.Spec.Optimised(v.run.Trace); optimised {
			note = "no estimate: an optimiser's"
		} else if merged {
			note += ", from one draw of the start"
		}
		cards = append(cards, card{"log evidence", fixed(number(m.LogEvidence), 1), note})
	}
	return append(cards, card{"networks", count(v.run.Posterior.Size()), "of " + several(v.run.Net.Dim(), "parameter")})
}

// foreignAUROC are the areas of the groups never seen that can be judged.
func (v *view) foreignAUROC() (areas []float64) {
	if v.single() {
		return nil
	}
	for _, g := range v.j.Metrics.Groups {
		if g.Name != "correct" && g.Name != "incorrect" && g.AUROC != nil && !math.IsNaN(float64(*g.AUROC)) {
			areas = append(areas, float64(*g.AUROC))
		}
	}
	return areas
}
