package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/internal/visible"
	"github.com/starling-smc/starling/uq"
)

// showGroups writes the posterior's uncertainty about each group of examples, and how well each score separates the group from the
// others: wrong answers from right ones, out-of-distribution inputs from the test examples.
func showGroups(w io.Writer, groups uq.Groups) {
	if len(groups) == 0 {
		return
	}
	t := table.Table{Headings: []table.Heading{{Above: 2, Text: "entropy, nats"}, {Above: 4, Text: "AUROC (FPR95) by"}}}
	head := []string{"group", "n", "epistemic", "total", "epistemic", "probability"}
	energies := slices.ContainsFunc(groups, func(g uq.Group) bool { return g.AUROCEnergy != nil })
	if energies {
		head = append(head, "energy")
	}
	t.Add(head...)
	for _, g := range groups {
		total := "–"
		if g.N > 0 {
			total = fixed(g.Total, 2)
		}
		cells := []string{shortened(groupTitle(g.Name)), numeral.Count(g.N), entropy(g), total, separation(g.AUROC, g.FPR95), separation(g.AUROCMaxProb, g.FPR95MaxProb)}
		if energies {
			cells = append(cells, separation(g.AUROCEnergy, g.FPR95Energy))
		}
		t.Add(cells...)
	}
	t.Write(w)
}

// showDetection writes which inputs the run's threshold of the energy declares out of distribution (OOD); nothing where it has no
// threshold or there is no such group. members is the number of those that were evaluated; 0: all.
func showDetection(w io.Writer, groups uq.Groups, members int, meanLogits bool) {
	of, by := func(g uq.Group) *uq.Detection { return g.ByEnergy }, "energy"
	if meanLogits {
		of, by = func(g uq.Group) *uq.Detection { return g.ByMeanLogits }, "energy of mean logits"
	}
	var t table.Table
	var tau uq.Number
	t.Add("group", "accuracy", "precision", "recall", "F1", "specificity", "AUROC (FPR95)")
	for _, g := range groups {
		if d := of(g); d != nil {
			tau = d.Threshold
			t.Add(shortened(g.Name), percent(d.Accuracy), percent(d.Precision), percent(d.Recall), fixed(d.F1, 2), percent(d.Specificity), separation(&d.AUROC, &d.FPR95))
		}
	}
	if len(t.Rows) < 2 {
		return
	}
	owner := "the run"
	if members > 0 {
		owner = numeral.Several(members, "member")
	}
	fmt.Fprintf(w, "declared out of distribution: %s above %s, the threshold of %s\n", by, significant(tau), owner)
	t.Write(w)
}

// showSpread is showGroups of a regression.
func showSpread(w io.Writer, groups uq.Spreads) {
	if len(groups) < 2 { // there is nothing to compare
		return
	}
	t := table.Table{Headings: []table.Heading{{Above: 2, Text: "standard deviation"}}}
	t.Add("group", "n", "epistemic", "noise", "AUROC (FPR95)")
	for _, g := range groups {
		t.Add(shortened(g.Name), numeral.Count(g.N), significant(g.Epistemic), significant(g.Aleatoric), separation(g.AUROC, g.FPR95))
	}
	t.Write(w)
}

// separation writes how well a group is separated from others.
func separation(auroc, fpr95 *uq.Number) string {
	switch {
	case auroc == nil:
		return ""
	case math.IsNaN(float64(*auroc)):
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f)", *auroc, *fpr95)
}

// groupTitle is the heading of a group.
func groupTitle(name string) string {
	switch name {
	case "correct":
		return "right"
	case "incorrect":
		return "wrong"
	}
	return name
}

func entropy(g uq.Group) string {
	if g.N == 0 {
		return "–"
	}
	return fixed(g.Epistemic, 2)
}

// shortened shortens a name to the width of its column.
func shortened(name string) string {
	if r := []rune(visible.Text(name)); len(r) > 15 {
		return string(r[:7]) + "…" + string(r[len(r)-7:])
	}
	return visible.Text(name)
}

// showScores writes the scores of another program's predictions.
func showScores(w io.Writer, s *eval.Scores) {
	of := fmt.Sprintf("%s, %d classes", numeral.Several(s.N, "example"), s.Classes)
	if s.Particles > 0 {
		of += ", " + numeral.Several(s.Particles, "particle")
	}
	fmt.Fprintln(w, of)
	number := func(v uq.Number) string { return fixed(v, 4) }
	var t table.Table
	t.Add("accuracy", percent(s.Accuracy))
	t.Add("NLL", number(s.NLL))
	t.Add("Brier", number(s.Brier))
	t.Add("ECE", number(s.ECE))
	t.Add("AURC", number(s.AURC))
	if s.Total != nil {
		t.Add("entropy, total", number(*s.Total))
		t.Add("  aleatoric", number(*s.Aleatoric))
		t.Add("  epistemic", number(*s.Epistemic))
	}
	t.Write(w)
	if s.Against != nil {
		fmt.Fprintln(w)
		showAgainst(w, s.Against)
	}
	if len(s.Groups) > 0 {
		fmt.Fprintln(w)
		showGroups(w, s.Groups)
	}
}
