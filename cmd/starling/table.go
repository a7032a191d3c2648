package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
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
		regressionTable(rows, a).Write(w)
	} else {
		shown := len(m.Groups)
		t := classesTable(rows, shown, a, groups)
		for ; t.Width() > columns && shown > 0; shown-- {
			t = classesTable(rows, shown-1, a, groups)
		}
		t.Write(w)
	}
	if m.Tempered != nil {
		wrap(w, explained(m.Tempered))
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
		wrap(w, evidence(s, "method."+method.Methods.Name(spec.Method), a.Islands, m))
	}
}

// classesTable compares classifications, and their uncertainty about the first of the groups. The Brier score is among them where it is
// compared with that of tempered probabilities, if there is room for it.
func classesTable(rows []pages.Scored, groups int, a *eval.Assessment, room bool) *table.Table {
	var t table.Table
	brier := room && a.Metrics.Tempered != nil
	scores := func(name, accuracy string, nll, score, ece uq.Number) []string {
		cells := []string{name, accuracy, fixed(nll, 3)}
		if brier {
			cells = append(cells, fixed(score, 3))
		}
		return append(cells, fixed(ece, 3))
	}
	head := []string{onExamples(a), "accuracy", "NLL", "ECE"}
	if brier {
		head = slices.Insert(head, 3, "Brier")
	}
	if groups > 0 {
		t.Headings = []table.Heading{{Above: len(head), Text: "epistemic entropy, nats"}}
	}
	for _, g := range rows[0].Groups[:groups] {
		head = append(head, groupTitle(g.Name))
	}
	t.Add(head...)
	for i, r := range rows {
		cells := scores(r.Name, percent(*r.Accuracy), r.NLL, *r.Brier, *r.ECE)
		for _, g := range r.Groups[:groups] {
			cells = append(cells, entropy(g))
		}
		t.Add(cells...)
		if i == 0 && pages.Small(a) { // the posterior
			t.Add(intervals, interval(a, pages.Accuracy, shares), interval(a, pages.NLL, decimals(2)))
		}
		if v := r.Tempered; v != nil {
			t.Add(scores(tempered(v), "", v.NLL, *v.Brier, *v.ECE)...)
		}
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
	t.Add("class", "n", "answers", "precision", "recall", "F1", "AUROC")
	for _, c := range m.Weakest(most) {
		t.Add(shortened(c.Class), numeral.Count(c.N), numeral.Count(c.Answered), shareOf(c.Precision, c.Answered), shareOf(c.Recall, c.N), fixed(c.F1, 2),
			pages.AreaOf(float64(c.AUROC), m.N-c.N, c.N, 2))
	}
	if more := len(m.ByClass) - most; more > 0 {
		t.Add(fmt.Sprintf("… %s more, whose F1 is higher", numeral.Count(more)))
	}
	t.Write(w)
}

// shareOf writes a share of n examples, and its interval if they are few.
func shareOf(v uq.Number, n int) string {
	if n == 0 || n >= uq.Small {
		return percent(v)
	}
	low, high := uq.Wilson(float64(v)*float64(n), float64(n))
	return numeral.Percent(float64(v), 0) + " (" + shares(low) + "–" + shares(high) + ")"
}

// showDecided writes the scores by a threshold.
func showDecided(w io.Writer, d *eval.Decided) {
	if d == nil {
		return
	}
	wrap(w, fmt.Sprintf("%s where its probability is at least %s: accuracy %s, precision %s, recall %s, F1 %s; %s, of which %s are %s and %s are declared so",
		d.Class, strconv.FormatFloat(float64(d.At), 'g', -1, 64), shareOf(d.Accuracy, d.N), shareOf(d.Precision, d.Declared), shareOf(d.Recall, d.Positive), fixed(d.F1, 2),
		numeral.Several(d.N, "example"), numeral.Count(d.Positive), d.Class, numeral.Count(d.Declared)))
}

// showAgainst writes how far a prediction is from that of a reference.
func showAgainst(w io.Writer, a *uq.Against) {
	if a == nil {
		return
	}
	var t table.Table
	t.Add("agreement with the reference", shareOf(a.Agreement, a.N))
	t.Add("total variation from it", fixed(a.TotalVariation, 4))
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
func regressionTable(rows []pages.Scored, a *eval.Assessment) *table.Table {
	t := table.Table{Headings: []table.Heading{{Above: 5, Text: "targets in the central"}}}
	t.Add(onExamples(a), "RMSE", "R²", "NLL", "CRPS", "50 %", "90 %", "95 %")
	for i, r := range rows {
		c, r2 := r.Coverage, "–"
		if !math.IsInf(float64(*r.R2), 0) { // targets that are all the same
			r2 = fixed(*r.R2, 3)
		}
		t.Add(r.Name, significant(*r.RMSE), r2, significant(r.NLL), significant(*r.CRPS), percent(c.In50), percent(c.In90), percent(c.In95))
		if i == 0 && pages.Small(a) { // the posterior
			t.Add(intervals, interval(a, pages.RMSE, threeDigits), "", interval(a, pages.NLL, threeDigits), "",
				interval(a, pages.In50, shares), interval(a, pages.In90, shares), interval(a, pages.In95, shares))
		}
		if v := r.Tempered; v != nil {
			t.Add(tempered(v), "", "", significant(v.NLL), significant(*v.CRPS), percent(v.Coverage.In50), percent(v.Coverage.In90), percent(v.Coverage.In95))
		}
	}
	return &t
}

// onExamples heads a table of figures: on how many examples they are.
func onExamples(a *eval.Assessment) string { return "n = " + numeral.Count(a.Metrics.N) }

// intervals names the row of the 95 % intervals of the posterior's figures, which few examples have.
const intervals = "95 % interval"

// interval writes the interval of a figure; a dash if it has none.
func interval(a *eval.Assessment, name string, write func(float64) string) string {
	low, high, ok := pages.Interval(a, name)
	if !ok {
		return "–"
	}
	return write(low) + " to " + write(high)
}

func shares(v float64) string { return numeral.Fixed(100*v, 0) }

func decimals(n int) func(float64) string {
	return func(v float64) string { return numeral.Fixed(v, n) }
}

// threeDigits writes a number with three digits.
func threeDigits(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "-", "−", 1)
}

// found says how well epistemic entropy separates out-of-distribution inputs from the test examples, and wrong answers from
// right ones. The epistemic entropy of a single network is 0; for a single network the highest probability is used instead.
func found(groups uq.Groups, single bool) string {
	var ood []string
	wrong, by := "", "AUROC"
	if single {
		by = "AUROC of the highest probability"
	}
	count := map[string]int{}
	for _, g := range groups {
		count[g.Name] = g.N
	}
	others := func(name string) int { // how many examples a group is told from
		if name == "incorrect" {
			return count["correct"]
		}
		return count["correct"] + count["incorrect"]
	}
	area := func(g uq.Group) string {
		return pages.AreaOf(float64(*g.AUROC), others(g.Name), g.N, 2) + " on " + numeral.Count(g.N)
	}
	for _, g := range groups {
		if single {
			g.AUROC = g.AUROCMaxProb
		}
		switch {
		case g.AUROC == nil || min(g.N, others(g.Name)) < uq.Few || math.IsNaN(float64(*g.AUROC)):
		case g.Name == "incorrect":
			wrong = area(g)
		default:
			ood = append(ood, g.Name+" "+area(g))
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

// evidence writes the line about log Z and the weights of the islands evaluated. at is the method's key in the config.
func evidence(s *method.Sampling, at string, islands int, m *eval.Metrics) string {
	words := finding.Beside(m.Findings)
	line := "log Z " + fixed(*m.LogEvidence, 1)
	switch {
	case islands > 1:
		if m.LogEvidenceError != nil { // metrics of older versions have none
			line += " ± " + fixed(*m.LogEvidenceError, 1)
		}
		if m.LogEvidenceJackknife != nil {
			line += ", jackknife ± " + fixed(*m.LogEvidenceJackknife, 1)
		}
		if m.LogEvidenceSD != nil {
			line += ", of islands that scatter by " + fixed(*m.LogEvidenceSD, 1)
			if m.LogEvidenceSingleSD != nil {
				line += " and say " + fixed(*m.LogEvidenceSingleSD, 1) + " of themselves"
			}
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
	if islands == 1 {
		return line
	}
	change := fmt.Sprintf("(--set %s.combine=%s)", at, bnn.Combinations.Name(bnn.Evidence{}))
	if scatters := finding.All[finding.EvidenceScatters](m.Findings); len(scatters) > 0 {
		f := scatters[0]
		if f.Used {
			change = fmt.Sprintf("(--set %s.combine=%s)", at, bnn.Combinations.Name(bnn.Equal{}))
		}
		return line + "; " + f.Instead() + " " + change + ". To lessen the scatter, " + f.Cure()
	}
	effective := float64(*m.EffectiveIslands)
	if s.Combine.NeedsEvidence() {
		return line + fmt.Sprintf("; islands are weighted by evidence, which leaves %.1f of %d effective", effective, islands)
	}
	right := ""
	if slices.ContainsFunc(finding.All[finding.EvidenceAgrees](m.Findings), finding.EvidenceAgrees.Right) {
		right = "are right as well: they "
	}
	return line + fmt.Sprintf("; islands are weighted %v; evidence weights %swould leave %.1f of %d effective %s", s.Combine, right, effective, islands, change)
}
