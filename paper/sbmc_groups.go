package paper

import (
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// The prefixes of the cells of a set, and of those that decide.
const onMNIST7, onIMDb, onAnswers = "mnist7-", "imdb-", "answers-"

// ownMAP is a measure of the best restart that a run began with, on the test examples. A run that had no search has none.
func ownMAP(name, title string, digits int, most float64, f func(*eval.Evaluation) uq.Number) Measure {
	return Measure{Name: name, Title: title, Digits: digits, Most: most, Of: func(d Done) (Values, error) {
		if own, ok := d.(*fitDone); ok && own.Metrics.MAP != nil {
			return Values{f(own.Metrics.MAP)}, nil
		}
		return nil, nil
	}}
}

// stuckChains is what a run itself says of its chains.
var stuckChains = Measure{
	Name: "stuck", Title: "stuck chains", Short: "stuck", Unit: "%", Digits: 0, Most: 100,
	Legend: "they accepted hardly any move in the second half, so that their states are not draws of the posterior",
	Of:     countStuck,
}

func countStuck(d Done) (Values, error) {
	own, ok := d.(*fitDone)
	if !ok || own.Metrics.Chains == nil {
		return nil, nil
	}
	n := 0
	for _, f := range finding.All[finding.ChainStuck](own.Metrics.Findings) {
		n += f.Chains.Count
	}
	return Values{uq.Number(100 * float64(n) / float64(own.Metrics.Chains.Chains))}, nil
}

// The groups of test examples, and the foreign inputs of the sets, in the order in which the paper has them.
const right, wrong = "right", "wrong"

var (
	imdbGroups   = []string{"review_text", "meta_description", "lipsum", "review_json", "meta_json"}
	mnist7Groups = []string{"eight", "nine", "noise", "perturbed"}
)

// The figures of a group: mean entropies, and how well two scores separate it from the test examples, or wrong answers from right ones.
const (
	epistemic = "epistemic_"
	total     = "total_"
	aurocBy   = "auroc_"
	aurocMax  = "auroc_max_probability_"
)

// groupMeasures are those figures. A run has them for its own groups.
func groupMeasures() (all []Measure) {
	for _, group := range slices.Concat([]string{right, wrong}, imdbGroups, mnist7Groups) {
		for _, m := range []struct {
			prefix string
			of     func(*uq.Group) *uq.Number
		}{
			{epistemic, func(g *uq.Group) *uq.Number { return &g.Epistemic }}, {total, func(g *uq.Group) *uq.Number { return &g.Total }},
			{aurocBy, func(g *uq.Group) *uq.Number { return g.AUROC }}, {aurocMax, func(g *uq.Group) *uq.Number { return g.AUROCMaxProb }},
		} {
			all = append(all, beside(m.prefix+group, func(metrics *eval.Metrics) *uq.Number {
				if g := groupOf(metrics, inMetrics(group)); g != nil {
					return m.of(g)
				}
				return nil
			}))
		}
	}
	return all
}

// groupOf is a group of metrics; nil: they have none of that name.
func groupOf(m *eval.Metrics, name string) *uq.Group {
	i := slices.IndexFunc(m.Groups, func(g uq.Group) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Groups[i]
}

// inMetrics is the name that a group has in metrics.json.
func inMetrics(group string) string {
	switch group {
	case right:
		return "correct"
	case wrong:
		return "incorrect"
	}
	return group
}

// separation shows how well wrong answers and foreign inputs are told from the test examples. of is how the names of its cells begin.
func separation(title, of string, groups []string) sheet {
	s := sheet{title: title + "AUROC of the epistemic entropy / of the highest probability", first: "cell", of: of}
	for _, group := range slices.Concat([]string{wrong}, groups) {
		s.columns = append(s.columns, sheetColumn{group, []string{aurocBy + group, aurocMax + group}, []int{3, 3}})
	}
	return s
}
