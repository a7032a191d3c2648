package paper

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/uq"
)

// SBMCHeads is the part of Liang et al., "Scalable Bayesian Monte Carlo: fast uncertainty estimation beyond deep ensembles", that puts a
// posterior on the last layer of a trained network: IMDb (Tables 5, 6, 9, 10, 13, 14 and 17 to 20), CIFAR10 (Table 11) and GPT-2 (Table 3), and with
// them its Laplace approximation of MNIST7 (Table 1). The paper's encoders and weights are not to be had here. Each cell says what stands for them,
// or that it is not run.
var SBMCHeads = Table{
	Name: "sbmc-heads",
	Title: "Heads of trained networks: Tables 1, 3, 5, 6, 9 to 11, 13, 14 and 17 to 20 of Liang et al., Scalable Bayesian Monte Carlo: fast uncertainty " +
		"estimation beyond deep ensembles",
	Reduced:   "a few epochs, chains, islands and particles",
	Errors:    ofMeans,
	Kind:      Fits,
	Figures:   sbmcMeasures(),
	Misprints: []Misprint{misprintA6, misprintA7},
	Cells:     withPublished(slices.Concat(mnist7Heads(), imdbCells(), cifar10Heads(), gpt2Heads(), shakespeareCells()), headsPrinted, imdbMisprints()),
	More:      writeSheets(headSheets()),
}

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

// headSheets show the figures of the groups.
func headSheets() (all []sheet) {
	for _, set := range []struct {
		of, title string
		groups    []string
		paper     string // behind the titles of entropies; empty: the paper has none
	}{{"mnist7-", "MNIST7", mnist7Groups, ""}, {"imdb-", "IMDb", imdbGroups, ", in parentheses the paper's"}, {"shakespeare-", "Shakespeare", nil, ""}} {
		both := slices.Concat([]string{right, wrong}, set.groups)
		all = append(all,
			sheet{title: set.title + ": epistemic entropy in nats" + set.paper, first: "cell", of: set.of, paper: set.paper != "", columns: single(epistemic, []int{4}, both, both...)},
			sheet{title: set.title + ": total entropy in nats" + set.paper, first: "cell", of: set.of, paper: set.paper != "", columns: single(total, []int{4}, both, both...)},
			separation(set.title+": ", set.of, set.groups))
	}
	of := func(title string, columns ...sheetColumn) sheet {
		return sheet{title: "IMDb" + title + ", in parentheses the paper's", first: "cell", of: onIMDb, paper: true, printed: true, columns: columns}
	}
	all = append(all, of(": calibration", sheetColumn{"Brier of one probability", []string{brierOne}, []int{4}}, sheetColumn{"ECE", []string{"ece"}, []int{3}},
		sheetColumn{"ECE of P(positive)", []string{eceClass1}, []int{3}}))
	for _, kind := range []struct {
		prefix string
		groups []string
	}{{total, nil}, {aleatoric, imdbGroups}, {epistemic, nil}} {
		groups := slices.Concat(imdbClasses, kind.groups, []string{allClasses})
		all = append(all, of(" by class (Tables 13 and 14): "+kind.prefix[:len(kind.prefix)-1]+" entropy in nats", single(kind.prefix, []int{4}, groups, groups...)...))
	}
	return append(all, decisionSheet("IMDb: wrong answers and foreign inputs (Tables 5 and 6), in parentheses the paper's"))
}

// separation shows how well wrong answers and foreign inputs are told from the test examples. of is how the names of its cells begin.
func separation(title, of string, groups []string) sheet {
	s := sheet{title: title + "AUROC of the epistemic entropy / of the highest probability", first: "cell", of: of}
	for _, group := range slices.Concat([]string{wrong}, groups) {
		s.columns = append(s.columns, sheetColumn{group, []string{aurocBy + group, aurocMax + group}, []int{3, 3}})
	}
	return s
}

// mnist7Heads are the rows of Table 1 that a head's method stands beside.
func mnist7Heads() []Cell {
	few := []string{"map.restarts=2", "map.epochs=3"}
	cells := []Cell{{Name: "mnist7-map", Config: preset("mnist7-map"), Reduced: few, Published: Figures{"accuracy": Mean{92.3, .366}, "nll": Mean{.253, .012}}}}
	for _, m := range []struct{ name, settings string }{
		{"laplace", "draws: 10"}, // the defaults: linearised, and a width that validation chooses
		{"laplace-prior", "draws: 10, precision: prior"},
		{"laplace-draws", "draws: 10, precision: prior, predict: draws"}, // the paper's
	} {
		cells = append(cells, Cell{
			Name: "mnist7-" + m.name, Reduced: few, Published: Figures{"accuracy": Mean{88.2, .235}, "nll": Mean{.539, .022}},
			Config: func(at Place) Config { // the MAP's, and a Gaussian about its best restart
				c := preset("mnist7-map")(at)
				c.Text = bytes.Replace(c.Text, []byte("method: map"), fmt.Appendf(nil, "method: {laplace: {%s}}", m.settings), 1)
				return c
			},
		})
	}
	return cells
}

// cifar10Heads are the rows of Table 11, for which the features of a ResNet-50 are missing.
func cifar10Heads() []Cell {
	return headsNotRun("11", "features of a ResNet-50 that was trained on ImageNet are missing")
}

// gpt2Heads are the rows of Table 3, for which the network is missing.
func gpt2Heads() []Cell { return headsNotRun("3", "weights of GPT-2 are missing") }

// headsNotRun are the rows of one of the paper's tables that nobody can run here.
func headsNotRun(table, why string) (cells []Cell) {
	for _, t := range headsPrinted {
		if t.tables == table {
			for _, name := range t.names() {
				cells = append(cells, Cell{Name: name, NotRun: why})
			}
		}
	}
	return cells
}
