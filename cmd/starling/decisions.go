package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	pages "github.com/starling-smc/starling/report"
)

// Tables of what a run decides by: a temperature, sets or intervals, a rule to abstain.

// tempered names the row of tempered scores, which stands under that of the ensemble as it is.
func tempered(v *eval.Tempered) string {
	if v.Factor != nil {
		return "  c = " + fixed(*v.Factor, 2)
	}
	return "  T = " + fixed(*v.Temperature, 2)
}

// explained says what these rows are.
func explained(v *eval.Tempered) string {
	if v.Factor != nil {
		return "rows c: the same ensemble, its laws c times as wide about their means; c was learnt from examples that did not train it"
	}
	return "rows T: the same ensemble at a temperature, p ∝ p^(1/T); T was learnt from examples that did not train it"
}

// showDecisions writes how sets or intervals keep their promise, and what the rule to abstain does: in full, or in a line each.
func showDecisions(w io.Writer, a *eval.Assessment, full bool) {
	m := a.Metrics
	if s := m.Sets; s != nil {
		if full {
			showSets(w, s, m.N)
		} else {
			wrap(w, setsLine(s, m.N))
		}
	}
	if m.Abstention != nil {
		if full {
			showAbstention(w, a)
		} else {
			wrap(w, abstentionLine(a))
		}
	}
}

// setsLine says in a sentence how sets of n examples keep their promise.
func setsLine(s *eval.SetScores, n int) string {
	what, size := "sets of classes", ""
	switch {
	case s.Width != nil:
		what, size = "intervals", "mean width "+significant(*s.Width)
	case s.Size != nil:
		size = fixed(*s.Size, 2) + " classes on average"
	}
	return fmt.Sprintf("%s: %s hold the truth, %s are promised; %s (learnt from %s)",
		what, shareOf(s.Coverage, n), numeral.Rate(s.Rate), size, numeral.Several(s.Examples, "example"))
}

// showSets compares coverage and promise, also at rates that the run did not ask for.
func showSets(w io.Writer, s *eval.SetScores, n int) {
	var t table.Table
	what := "sets of classes"
	if s.Width != nil {
		what = "intervals"
		t.Add("promised", "hold the truth", "mean width", "interval score")
	} else {
		t.Add("promised", "hold the truth", "classes, mean")
	}
	add := func(p eval.Promise) {
		cells := []string{numeral.Rate(p.Rate), shareOf(p.Coverage, n)}
		if p.Width != nil {
			cells = append(cells, significant(*p.Width), significant(*p.Score))
		} else {
			cells = append(cells, fixed(*p.Size, 2))
		}
		t.Add(cells...)
	}
	add(s.Promise)
	other := "at other rates"
	for _, p := range s.Others {
		if p.Rate == s.Rate {
			continue
		}
		if other != "" {
			t.Add(other)
			other = ""
		}
		add(p)
	}
	wrap(w, fmt.Sprintf("%s, learnt from %s", what, numeral.Several(s.Examples, "example")))
	t.Write(w)
	if least := s.Least(); least != nil {
		wrap(w, fmt.Sprintf("least of a class: %s of %s of class %s", shareOf(least.Coverage, least.N), numeral.Several(least.N, "example"), least.Class))
	}
}

// abstentionLine says in a sentence how many rows the rule answers, and how many of these answers are wrong.
func abstentionLine(a *eval.Assessment) string {
	m := a.Metrics.Abstention
	line := fmt.Sprintf("abstains %v: %s of %s are answered", a.Rule, shareOf(m.Share, m.N), numeral.Several(m.N, "example"))
	if !math.IsNaN(float64(m.Error)) {
		line += fmt.Sprintf(", %s of these answers are wrong", shareOf(m.Error, m.Answered.Right+m.Answered.Wrong))
		if m.Tolerance != 0 {
			line += fmt.Sprintf(" by more than %v", m.Tolerance)
		}
	}
	if m.Foreign > 0 {
		line += fmt.Sprintf("; of %s %s abstain", numeral.Several(m.Foreign, "foreign input"), numeral.Count(m.Refused.Foreign))
	}
	return line
}

// showAbstention writes the matrix of answered and refused rows, and the scores of the rule.
func showAbstention(w io.Writer, a *eval.Assessment) {
	m := a.Metrics.Abstention
	rule := fmt.Sprintf("abstains %v", a.Rule)
	if m.Tolerance != 0 {
		rule += fmt.Sprintf("; an answer is wrong if it is off by more than %v", m.Tolerance)
	}
	wrap(w, rule)
	kinds := pages.Kinds(a.Metrics)
	rows := [3][]string{{""}, {"answered"}, {"refused"}}
	for _, k := range kinds {
		for i, cell := range []string{k.Name, numeral.Count(k.Answered), numeral.Count(k.Refused)} {
			rows[i] = append(rows[i], cell)
		}
	}
	var matrix, scores table.Table
	for _, r := range rows {
		matrix.Add(r...)
	}
	matrix.Write(w)
	for _, s := range pages.RuleScores(a.Metrics) {
		scores.Add(s.Name, strings.ReplaceAll(s.Value, "\u00a0", " "))
	}
	scores.Write(w)
}
