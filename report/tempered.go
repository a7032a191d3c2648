package report

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// withTempered puts the scores of the ensembles that have a temperature, or a factor, after the first table, which has those of the
// ensembles as they are.
func withTempered(tables []table, all []Scored) []table {
	t := table{Caption: "Scores at a temperature T, p ∝ p^(1/T), learnt from examples that did not train", Head: []string{""}}
	what, first := "temperature T", func(v *eval.Tempered) *uq.Number { return v.Temperature }
	var tempered []Scored
	taught := row{}
	for _, e := range all {
		v := e.Tempered
		if v == nil {
			continue
		}
		if v.Factor != nil {
			what, first = "factor c", func(v *eval.Tempered) *uq.Number { return v.Factor }
			t.Caption = "Scores of laws c times as wide about their means, learnt from examples that did not train"
		}
		t.Head = append(t.Head, e.Name)
		taught.Cells = append(taught.Cells, cell{Text: fixed(number(first(v)), 2)})
		tempered = append(tempered, Scored{e.Name, &eval.Evaluation{NLL: v.NLL, Brier: v.Brier, ECE: v.ECE, CRPS: v.CRPS, Coverage: v.Coverage}})
	}
	if tempered == nil {
		return tables
	}
	taught.Name = what
	t.Rows = []row{taught}
	addMetrics(&t, tempered, means)
	return slices.Insert(tables, 1, t)
}

// temperature is that of the posterior's probabilities; NaN without one.
func (v *view) temperature() float64 {
	if t := v.a.Metrics.Tempered; t != nil {
		return number(t.Temperature)
	}
	return math.NaN()
}
