package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// sbmcMeasures are those of SBMC and SBMCHeads: beside accuracy and NLL the evidences of islands, entropies by group and by class, calibration as
// IMDb's tables have it, and what a classifier of wrong answers finds.
func sbmcMeasures() []Measure {
	return slices.Concat([]Measure{
		explained(Measure{Name: "accuracy", Title: "accuracy", Unit: "%", Digits: 2, Most: 100, Of: one(accuracy)},
			"regrouped cells (their settings say so) are means over disjoint groups of the islands of a run of 8. The groups share its cost"),
		{Name: "nll", Title: "NLL", Digits: 4, Most: math.Inf(1), Of: one(of(func(m *eval.Metrics) *uq.Number { return &m.NLL }))},
		aside(Measure{Name: "brier", Title: "Brier", Digits: 4, Most: 2, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.Brier }))}),
		aside(Measure{Name: "ece", Title: "ECE", Digits: 3, Most: 1, Of: one(of(func(m *eval.Metrics) *uq.Number { return m.ECE }))}),
		aside(ownMAP("map_accuracy", "its MAP: accuracy", 2, 100, func(e *eval.Evaluation) uq.Number { return 100 * *e.Accuracy })),
		aside(ownMAP("map_nll", "its MAP: NLL", 4, math.Inf(1), func(e *eval.Evaluation) uq.Number { return e.NLL })),
		aside(stuckChains),
	}, evidenceMeasures(), groupMeasures(), byClass(), oneProbability(), decisionMeasures())
}

// evidenceMeasures say how far evidence weights can be trusted.
func evidenceMeasures() []Measure {
	var all []Measure
	for _, m := range []struct {
		measure Measure
		of      func(*eval.Metrics) *uq.Number
	}{
		{Measure{Name: "log_evidence_sd", Title: "sd of log Z", Digits: 1, Legend: "over the islands, in nats"}, func(m *eval.Metrics) *uq.Number { return m.LogEvidenceSD }},
		{Measure{Name: "effective_islands", Title: "effective islands", Digits: 1, Legend: "of the evidence weights, 1/Σω²"}, func(m *eval.Metrics) *uq.Number { return m.EffectiveIslands }},
	} {
		m.measure.Most, m.measure.Aside, m.measure.Of = math.Inf(1), true, optional(m.of)
		all = append(all, m.measure)
	}
	return all
}

// aleatoric are figures of a group, as epistemic and total.
const aleatoric = "aleatoric_"

// The groups of all test examples together, and the mean over the four groups of MNIST7's foreign inputs, as Table 1 has it.
const allClasses, foreign = "all", "foreign"

func digit(c int) string { return fmt.Sprint("digit", c) }

// digits are those of MNIST7 that the network knows, and imdbClasses the signs of reviews.
func digits() (names []string) {
	for c := range 8 {
		names = append(names, digit(c))
	}
	return names
}

var imdbClasses = []string{"negative", "positive"}

// byClass are the entropies of Tables 12 (digits), 13 and 14 (IMDb), and the mean of MNIST7's foreign ones.
func byClass() (measures []Measure) {
	kinds := []struct {
		prefix string
		of     func(*uq.Group) uq.Number
	}{
		{total, func(g *uq.Group) uq.Number { return g.Total }}, {aleatoric, func(g *uq.Group) uq.Number { return g.Aleatoric }},
		{epistemic, func(g *uq.Group) uq.Number { return g.Epistemic }},
	}
	for _, k := range kinds {
		for _, names := range [][]string{digits(), imdbClasses} {
			for c, name := range names {
				measures = append(measures, beside(k.prefix+name, func(m *eval.Metrics) *uq.Number {
					if len(m.GroupsByClass) != len(names) {
						return nil
					}
					return new(k.of(&m.GroupsByClass[c]))
				}))
			}
		}
		measures = append(measures, beside(k.prefix+allClasses, func(m *eval.Metrics) *uq.Number {
			sum, n := uq.Number(0), 0
			for i := range m.GroupsByClass {
				if g := &m.GroupsByClass[i]; g.N > 0 {
					sum, n = sum+uq.Number(uq.Number(g.N)*k.of(g)), n+g.N
				}
			}
			if n == 0 {
				return nil
			}
			return new(sum / uq.Number(n))
		}))
	}
	for _, name := range slices.Concat(mnist7Groups, imdbGroups) {
		measures = append(measures, beside(aleatoric+name, func(m *eval.Metrics) *uq.Number {
			if g := groupOf(m, name); g != nil {
				return &g.Aleatoric
			}
			return nil
		}))
	}
	return append(measures, beside(epistemic+foreign, func(m *eval.Metrics) *uq.Number {
		mean := uq.Number(0)
		for _, name := range mnist7Groups {
			g := groupOf(m, name)
			if g == nil {
				return nil
			}
			mean += g.Epistemic / uq.Number(len(mnist7Groups))
		}
		return &mean
	}))
}

// decisionFigures are the figures of Tables 4 to 7, the two-level accuracy at the same threshold, and of each kind of rows the share that abstains.
var decisionFigures = []string{"precision", "recall", "f1", "auc", "two_level", abstains + right, abstains + wrong, abstains + foreign}

// decisionMeasures are those figures, and the two-level accuracy over the thresholds. Runs without a rule to abstain have none.
func decisionMeasures() (measures []Measure) {
	share := func(of func(*decide.Outcome) int) func(*eval.Abstention) uq.Number {
		return func(a *eval.Abstention) uq.Number {
			refused := uq.Number(of(&a.Refused))
			return refused / (refused + uq.Number(of(&a.Answered)))
		}
	}
	for i, of := range []func(*eval.Abstention) uq.Number{
		func(a *eval.Abstention) uq.Number { return a.Precision }, func(a *eval.Abstention) uq.Number { return a.Recall },
		func(a *eval.Abstention) uq.Number { return a.F1 }, func(a *eval.Abstention) uq.Number { return a.AUC },
		func(a *eval.Abstention) uq.Number { return a.TwoLevel },
		share(func(o *decide.Outcome) int { return o.Right }), share(func(o *decide.Outcome) int { return o.Wrong }), share(func(o *decide.Outcome) int { return o.Foreign }),
	} {
		measures = append(measures, beside(decisionFigures[i], func(m *eval.Metrics) *uq.Number {
			if m.Abstention == nil {
				return nil
			}
			return new(of(m.Abstention))
		}))
	}
	return append(measures, twoLevelMeasure)
}

// sbmcSheets show those figures.
func sbmcSheets() (sheets []sheet) {
	add := func(title string, columns ...[]sheetColumn) {
		sheets = append(sheets, sheet{title: title + "; in parentheses the paper's", first: "cell", of: onMNIST7, paper: true, columns: slices.Concat(columns...)})
	}
	groups := slices.Concat([]string{right, wrong}, mnist7Groups)
	add("Epistemic entropy in nats", single(epistemic, []int{3}, append(groups[:len(groups):len(groups)], foreign), append(groups[:len(groups):len(groups)], "foreign, mean of four")...))
	add("Total entropy in nats", single(total, []int{3}, groups, groups...))
	sheets = append(sheets, separation("", onMNIST7, mnist7Groups))
	names := append(digits(), allClasses)
	for _, kind := range []string{total, aleatoric, epistemic} {
		added := len(sheets)
		add("By digit (Table 12): "+kind[:len(kind)-1]+" entropy in nats", single(kind, []int{3}, names, names...))
		sheets[added].printed = true
	}
	return append(sheets, decisionSheet("Wrong answers and foreign inputs (Tables 4a to 6); in parentheses the paper's"))
}

// decisionSheet shows the cells that decide.
func decisionSheet(title string) sheet {
	return sheet{title: title, first: "cell", of: onAnswers, paper: true, columns: single("", []int{3}, decisionFigures,
		"precision", "recall", "F1", "AUC", "two-level accuracy", "right answers that abstain", "wrong answers", "foreign inputs")}
}
