package paper

import (
	"bytes"
	"fmt"
	"slices"
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
	Errors:    ofMeansByCount,
	Kind:      Fits,
	Figures:   sbmcMeasures(),
	Misprints: []Misprint{misprintA6, misprintA7},
	Cells:     withPublished(slices.Concat(mnist7Heads(), imdbCells(), cifar10Heads(), gpt2Heads(), shakespeareCells()), headsPrinted, imdbMisprints()),
	More:      writeSheets(headSheets()),
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
