package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	pages "github.com/starling-smc/starling/report"
	"github.com/starling-smc/starling/uq"
)

// header is the line that says what is learnt, and with what.
func header(l *starling.Loaded) string {
	p := l.Data
	validate, test := 0, 0
	if p.Validate != nil {
		validate = p.Validate.Len()
	}
	if p.Test != nil {
		test = p.Test.Len()
	}
	examples := sizes(p.Train.Len(), validate, test, len(p.Groups))
	if l.Spec.Method.AsIs { // nothing is learnt
		judged := p.Train.Len()
		if test > 0 {
			judged = test
		}
		examples = thousands(judged) + " examples"
	}
	return fmt.Sprintf("%s: %s · %s, %s parameters", l.Spec.Name, examples, pages.Architecture(l.Net), thousands(l.Net.Dim()))
}

// showMetrics writes what a run's ensembles are worth; groups says whether the doubt about each group of examples is
// shown in full.
func showMetrics(w io.Writer, spec *starling.Spec, trace []starling.TraceLine, m *starling.Metrics, problem *data.Problem, groups bool) {
	rows := pages.Ensembles(spec, m)
	for i, r := range rows {
		if r.Name == pages.DeepEnsemble { // names are short, so that the table fits 80 columns
			rows[i].Name = fmt.Sprintf("%d MAPs", spec.MAP.Restarts)
		}
	}
	if m.RMSE != nil {
		valuesTable(rows).Write(w)
	} else {
		shown := len(m.Groups)
		t := classesTable(rows, shown)
		for ; t.Width() > 80 && shown > 0; shown-- {
			t = classesTable(rows, shown-1)
		}
		t.Write(w)
	}
	if groups {
		showGroups(w, m.Groups)
		showSpread(w, m.Spread)
	} else if line := found(m.Groups, spec.Method.AsIs); line != "" {
		wrap(w, line)
	}
	if d := m.DeepEnsemble; d != nil && d.NLL < m.NLL {
		format := func(v uq.Number) string { return fmt.Sprintf("%.3f", v) }
		if m.RMSE != nil {
			format = significant
		}
		if better, worse := format(d.NLL), format(m.NLL); better != worse {
			wrap(w, fmt.Sprintf("the deep ensemble of the %d MAPs does better here: NLL %s against %s", spec.MAP.Restarts, better, worse))
		}
	}
	switch {
	case m.On == "train" && spec.Method.AsIs:
		wrap(w, fmt.Sprintf("judged on all %s examples of %s, whether it was trained on them or not", thousands(m.N), problem.Name))
	case m.On == "train":
		wrap(w, fmt.Sprintf("judged on the %s training examples of %s: nothing is held out", thousands(m.N), problem.Name))
	}
	if m.LogEvidence != nil {
		optimised, _ := spec.Optimised(trace)
		wrap(w, evidence(spec.Method.SMC, m, optimised))
	}
}

// classesTable compares classifications, and their doubt about the first of the groups.
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
		cells := []string{r.Name, percent(*r.Accuracy), fmt.Sprintf("%.3f", r.NLL), fmt.Sprintf("%.3f", *r.ECE)}
		for _, g := range r.Groups[:groups] {
			cells = append(cells, entropy(g))
		}
		t.Add(cells...)
	}
	return &t
}

// valuesTable compares regressions, in the target's units.
func valuesTable(rows []pages.Scored) *table.Table {
	t := table.Table{Headings: []table.Heading{{Above: 5, Text: "targets in the central"}}}
	t.Add("", "RMSE", "R²", "NLL", "CRPS", "50 %", "90 %", "95 %")
	for _, r := range rows {
		c := r.Coverage
		t.Add(r.Name, significant(*r.RMSE), minus(fmt.Sprintf("%.3f", *r.R2)), significant(r.NLL), significant(*r.CRPS),
			percent(c.In50), percent(c.In90), percent(c.In95))
	}
	return &t
}

// tell writes what a reader should know beside the figures; on a terminal it stands back.
func tell(w io.Writer, notes []string) {
	before, after := "", ""
	if o, ok := w.(*output); ok {
		w = o.w
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" {
		before, after = "\x1b[2m", "\x1b[0m"
	}
	for _, note := range notes {
		fmt.Fprintln(w, before+strings.Join(lines(note, columns), after+"\n"+before)+after)
	}
}

func percent(share uq.Number) string { return fmt.Sprintf("%.1f %%", 100*share) }

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
	return fmt.Sprintf("%.2f", g.Epistemic)
}

// found says how well epistemic entropy tells the foreign from the known, and wrong answers from right ones. A network
// alone has none: there it is the highest probability.
func found(groups uq.Groups, alone bool) string {
	var foreign []string
	wrong, by := "", "AUROC"
	if alone {
		by = "AUROC of the highest probability"
	}
	for _, g := range groups {
		if alone {
			g.AUROC = g.AUROCMaxProb
		}
		switch {
		case g.AUROC == nil || g.N == 0 || math.IsNaN(float64(*g.AUROC)):
		case g.Name == "incorrect":
			wrong = fmt.Sprintf("wrong answers %.2f", *g.AUROC)
		default:
			foreign = append(foreign, fmt.Sprintf("%s %.2f", g.Name, *g.AUROC))
		}
	}
	switch {
	case len(foreign) > 0 && wrong != "":
		return "foreign inputs found (" + by + "): " + strings.Join(foreign, ", ") + "; " + wrong
	case len(foreign) > 0:
		return "foreign inputs found (" + by + "): " + strings.Join(foreign, ", ")
	case wrong != "":
		return "doubt found (" + by + "): " + wrong
	}
	return ""
}

// evidence is the line of log Z, with the reason for how islands are weighed.
func evidence(method *starling.SMC, m *starling.Metrics, optimised bool) string {
	line := fmt.Sprintf("log Z %s", minus(fmt.Sprintf("%.1f", *m.LogEvidence)))
	if method.Islands > 1 {
		line += fmt.Sprintf(" ± %.1f", *m.LogEvidenceSD)
	}
	if optimised {
		line += ", which is no estimate: the run behaved as an optimiser"
	}
	if method.Islands == 1 {
		return line
	}
	line += "; "
	effective := float64(*m.EffectiveIslands)
	switch {
	case method.Combine == "evidence":
		return line + fmt.Sprintf("islands are weighed by their evidence, which leaves %.1f of %d", effective, method.Islands)
	case effective < float64(method.Islands)/2:
		return line + fmt.Sprintf("evidence would leave %.1f of %d islands: its spread is noise at %d particles, so islands are weighed equally (--set method.smc.combine=evidence)",
			effective, method.Islands, method.Particles)
	}
	return line + fmt.Sprintf("islands are weighed equally; evidence would leave %.1f of %d (--set method.smc.combine=evidence)", effective, method.Islands)
}

// thousands writes 1,200.
func thousands(n int) string { return numeral.Fixed(float64(n), 0) }

// significant writes a number of unknown size.
func significant(v uq.Number) string {
	return minus(strings.TrimSuffix(fmt.Sprintf("%#.4g", v), "."))
}

// minus is the sign as it is printed.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }
