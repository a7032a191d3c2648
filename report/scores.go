package report

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/uq"
)

// judged is an ensemble's name and scores.
type judged struct {
	name string
	*starling.Evaluation
}

// ensembles are all that the run was judged by, the posterior first.
func (v *view) ensembles() []judged {
	m, spec := v.j.Metrics, &v.run.Spec
	all := []judged{{"posterior", &m.Evaluation}}
	if c := m.Combined; c != nil && spec.Method.SMC != nil && spec.Method.SMC.Islands > 1 {
		if spec.Method.SMC.Combine == "evidence" {
			all = append(all, judged{"islands weighed equally", &c.Equal})
		} else {
			all = append(all, judged{"islands weighed by evidence", &c.Evidence})
		}
	}
	if m.MAP != nil {
		all = append(all, judged{"best MAP", m.MAP})
	}
	if m.DeepEnsemble != nil {
		all = append(all, judged{fmt.Sprintf("deep ensemble of %d", v.restarts()), m.DeepEnsemble})
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
	all := v.ensembles()
	t := table{Caption: fmt.Sprintf("On %s %s. Arrows say what is better; the best of a row is bold.", count(v.j.Metrics.N), v.test()), Head: []string{""}}
	for _, e := range all {
		t.Head = append(t.Head, e.name)
	}
	compare(&t, all)
	return section{ID: "figures", Title: "Figures", Tables: []table{t}}
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

// compare fills a table with a column an ensemble. Rows that none of them has are left out.
func compare(t *table, all []judged) {
	addMetrics(t, all, []metric{
		{"accuracy ↑", 1, func(e *starling.Evaluation) float64 { return number(e.Accuracy) }, percent},
		{"RMSE ↓", -1, func(e *starling.Evaluation) float64 { return number(e.RMSE) }, significant[float64]},
		{"NLL, nats ↓", -1, func(e *starling.Evaluation) float64 { return float64(e.NLL) }, decimals(3)},
		{"Brier score ↓", -1, func(e *starling.Evaluation) float64 { return number(e.Brier) }, decimals(3)},
		{"ECE, 15 bins ↓", -1, func(e *starling.Evaluation) float64 { return number(e.ECE) }, decimals(3)},
	})
	var auroc, entropy []metric
	for _, g := range all[0].Groups {
		name := g.Name
		if name != "correct" {
			auroc = append(auroc, metric{groupName(name), 1, func(e *starling.Evaluation) float64 {
				return number(groupOf(e, name).AUROC)
			}, decimals(2)})
		}
		entropy = append(entropy, metric{groupName(name), 0, func(e *starling.Evaluation) float64 {
			return float64(groupOf(e, name).Epistemic)
		}, decimals(2)})
	}
	if auroc != nil {
		t.Rows = append(t.Rows, row{Name: "AUROC of epistemic entropy: how well doubt finds them ↑"})
		addMetrics(t, all, auroc)
		t.Rows = append(t.Rows, row{Name: "mean epistemic entropy, nats"})
		addMetrics(t, all, entropy)
	}
}

func addMetrics(t *table, all []judged, metrics []metric) {
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
		cards = append(cards, card{"accuracy", percent(number(m.Accuracy)), "95 % interval " + fixed(100*low, 1) + " to " + fixed(100*high, 1)})
	} else {
		cards = append(cards, card{"RMSE", significant(number(m.RMSE)), "in the target's units"})
	}
	cards = append(cards, card{"NLL", fixed(float64(m.NLL), 3), "nats an example"})
	if v.classes() {
		cards = append(cards, card{"ECE", fixed(number(m.ECE), 3), "calibration error"})
		if found := v.foreignAUROC(); len(found) > 0 {
			cards = append(cards, card{"AUROC, foreign", fixed(mean(found), 2), "mean of " + several(len(found), "group")})
		}
	} else {
		cards = append(cards, card{"90 % intervals", percent(covered(v.j.Values.PIT, .9)), "hold the truth"})
	}
	if m.LogEvidence != nil {
		note := "nats"
		if m.LogEvidenceSD != nil && !math.IsNaN(number(m.LogEvidenceSD)) && len(v.islands) > 1 {
			note = "± " + fixed(number(m.LogEvidenceSD), 1) + " over islands"
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
