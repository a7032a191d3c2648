package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/method"
	pages "github.com/starling-smc/starling/report"
	"github.com/starling-smc/starling/uq"
)

// showMetrics writes the scores of a run's ensembles. With groups it also writes the uncertainty about each group of
// examples.
func showMetrics(w io.Writer, spec *starling.Spec, e *eval.Ensembles, a *eval.Assessment, groups bool) {
	m := a.Metrics
	rows := pages.Ensembles(spec, m)
	for i, r := range rows {
		if r.Name == pages.DeepEnsemble { // short names, so that the table fits 80 columns
			rows[i].Name = numeral.Several(e.Restarts.Size(), "MAP")
		}
	}
	if m.RMSE != nil {
		regressionTable(rows).Write(w)
	} else {
		shown := len(m.Groups)
		t := classesTable(rows, shown)
		for ; t.Width() > columns && shown > 0; shown-- {
			t = classesTable(rows, shown-1)
		}
		t.Write(w)
	}
	if groups {
		showGroups(w, m.Groups)
		showSpread(w, m.Spread)
	} else if line := found(m.Groups, e.Posterior.Size() == 1); line != "" {
		wrap(w, line)
	}
	for _, f := range a.Findings(e, spec.Method.Needs().Whole) {
		wrap(w, f.Words())
	}
	switch {
	case m.On == "train" && spec.Method.Needs().Whole:
		wrap(w, fmt.Sprintf("evaluated on all %s examples of %s, whether the network was trained on them or not", numeral.Count(m.N), a.Problem.Name))
	case m.On == "train":
		wrap(w, fmt.Sprintf("evaluated on the %s training examples of %s: nothing is held out", numeral.Count(m.N), a.Problem.Name))
	case m.TrainedOn > 0:
		wrap(w, fmt.Sprintf("the run learnt from %s of the %s: its scores on them are too good", numeral.Count(m.TrainedOn), numeral.Several(m.N, "example")))
	case m.Untold != "":
		wrap(w, "whether the run learnt from some of these examples is not known: "+m.Untold)
	}
	if s := spec.Way().Sampling(); s != nil && m.LogEvidence != nil {
		wrap(w, evidence(s, "method."+method.Methods.Name(spec.Method), m))
	}
}

// classesTable compares classifications, and their uncertainty about the first of the groups.
func classesTable(rows []pages.Scored, groups int) *table.Table {
	var t table.Table
	head := []string{"", "accuracy", "NLL", "ECE"}
	if groups > 0 {
		t.Headings = []table.Heading{{Above: len(head), Text: "epistemic entropy, nats"}}
	}
	for _, g := range rows[0].Groups[:groups] {
		head = append(head, groupTitle(g.Name))
	}
	t.Add(head...)
	for _, r := range rows {
		cells := []string{r.Name, percent(*r.Accuracy), fixed(r.NLL, 3), fixed(*r.ECE, 3)}
		for _, g := range r.Groups[:groups] {
			cells = append(cells, entropy(g))
		}
		t.Add(cells...)
	}
	return &t
}

// showAllClasses writes the scores that count examples of classes which the network does not have as wrong.
func showAllClasses(w io.Writer, m *eval.Metrics) {
	if s := m.AllClasses; s != nil {
		wrap(w, fmt.Sprintf("the figures are of the %s of classes that the network has; over all %s, where those of other classes count as wrong: accuracy %s, NLL %s, ECE %s",
			numeral.Several(m.N, "example"), numeral.Count(s.N), percent(s.Accuracy), fixed(s.NLL, 3), fixed(s.ECE, 3)))
	}
}

// showByClass writes the posterior's scores for each class, or for the weakest of many.
func showByClass(w io.Writer, m *eval.Metrics) {
	const most = 20
	if m.ByClass == nil {
		return
	}
	var t table.Table
	t.Add("class", "n", "precision", "recall", "F1")
	for _, c := range m.Weakest(most) {
		t.Add(shortened(c.Class), numeral.Count(c.N), percent(c.Precision), percent(c.Recall), fixed(c.F1, 2))
	}
	if more := len(m.ByClass) - most; more > 0 {
		t.Add(fmt.Sprintf("… %s more, whose F1 is higher", numeral.Count(more)))
	}
	t.Write(w)
}

// showMembers writes what fewer members of the posterior score.
func showMembers(w io.Writer, rows []eval.Members) {
	var t table.Table
	t.Add("members", "accuracy", "NLL", "ECE")
	for _, r := range rows {
		t.Add(numeral.Count(r.M), percent(r.Accuracy), fixed(r.NLL, 4), fixed(r.ECE, 4))
	}
	t.Write(w)
}

// regressionTable compares regressions, in the target's units.
func regressionTable(rows []pages.Scored) *table.Table {
	t := table.Table{Headings: []table.Heading{{Above: 5, Text: "targets in the central"}}}
	t.Add("", "RMSE", "R²", "NLL", "CRPS", "50 %", "90 %", "95 %")
	for _, r := range rows {
		c := r.Coverage
		t.Add(r.Name, significant(*r.RMSE), fixed(*r.R2, 3), significant(r.NLL), significant(*r.CRPS),
			percent(c.In50), percent(c.In90), percent(c.In95))
	}
	return &t
}

// found says how well epistemic entropy separates out-of-distribution inputs from the test examples, and wrong answers from
// right ones. The epistemic entropy of a single network is 0; for a single network the highest probability is used instead.
func found(groups uq.Groups, single bool) string {
	var ood []string
	wrong, by := "", "AUROC"
	if single {
		by = "AUROC of the highest probability"
	}
	for _, g := range groups {
		if single {
			g.AUROC = g.AUROCMaxProb
		}
		switch {
		case g.AUROC == nil || g.N == 0 || math.IsNaN(float64(*g.AUROC)):
		case g.Name == "incorrect":
			wrong = fixed(*g.AUROC, 2)
		default:
			ood = append(ood, g.Name+" "+fixed(*g.AUROC, 2))
		}
	}
	switch {
	case len(ood) > 0 && wrong != "":
		return "out-of-distribution inputs found (" + by + "): " + strings.Join(ood, ", ") + "; wrong answers " + wrong
	case len(ood) > 0:
		return "out-of-distribution inputs found (" + by + "): " + strings.Join(ood, ", ")
	case wrong != "":
		return "wrong answers found (" + by + "): " + wrong
	}
	return ""
}

// evidence writes the line about log Z and the weights of islands. at is the method's key in the config.
func evidence(s *method.Sampling, at string, m *eval.Metrics) string {
	words := finding.Beside(m.Findings)
	line := "log Z " + fixed(*m.LogEvidence, 1)
	switch {
	case s.Islands > 1:
		if m.LogEvidenceError != nil { // metrics of older versions have none
			line += " ± " + fixed(*m.LogEvidenceError, 1)
		}
		if m.LogEvidenceSD != nil {
			line += ", of islands that scatter by " + fixed(*m.LogEvidenceSD, 1)
		}
	case words == "" && m.LogEvidenceError != nil:
		line += " ± " + fixed(*m.LogEvidenceError, 1) + ", estimated within the one island"
	case words == "":
		line += fmt.Sprintf("; its error is not known: several islands tell it (--set %s.islands=4)", at)
	}
	if words != "" {
		line += ", " + words
	}
	for _, f := range m.Findings {
		if finding.Is(f, finding.LadderBias{}) {
			line += "; " + f.Words()
		}
	}
	if s.Islands == 1 {
		return line
	}
	effective := float64(*m.EffectiveIslands)
	if s.Combine.NeedsEvidence() {
		return line + fmt.Sprintf("; islands are weighted by evidence, which leaves %.1f of %d effective", effective, s.Islands)
	}
	change := fmt.Sprintf("(--set %s.combine=%s)", at, bnn.Combinations.Name(bnn.Evidence{}))
	if effective < float64(s.Islands)/2 {
		return line + fmt.Sprintf("; evidence weights would leave %.1f of %d effective: the spread is noise at %d particles, so islands are weighted %v %s",
			effective, s.Islands, s.Particles, s.Combine, change)
	}
	return line + fmt.Sprintf("; islands are weighted %v; evidence weights would leave %.1f of %d effective %s", s.Combine, effective, s.Islands, change)
}
