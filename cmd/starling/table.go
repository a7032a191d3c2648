package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
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
	return fmt.Sprintf("%s: %s · %s, %s parameters", l.Spec.Name, examples, architecture(l.Net), thousands(l.Net.Dim()))
}

// architecture names the layers that change shapes: conv 4 → pool → dense 8.
func architecture(net *nn.Net) string {
	var parts []string
	for _, layer := range net.Layers() {
		switch l := layer.(type) {
		case nn.Dense:
			parts = append(parts, fmt.Sprintf("dense %d", l.Units))
		case nn.Conv:
			parts = append(parts, fmt.Sprintf("conv %d", l.Filters))
		case nn.MaxPool, nn.AvgPool, nn.GlobalAvgPool:
			parts = append(parts, "pool")
		}
	}
	return strings.Join(parts, " → ")
}

// table writes a table whose first column is left-aligned and the others right-aligned. A heading may stand above some
// of the columns, from the one that it is above on.
type table struct {
	rows    [][]string
	heading string
	above   int
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	if t.heading != "" {
		left := 0
		for _, width := range widths[:t.above] {
			left += width + 2
		}
		fmt.Fprintln(w, strings.Repeat(" ", left)+t.heading)
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// report writes what a run's ensembles are worth.
func report(w io.Writer, spec *starling.Spec, m *starling.Metrics, problem *data.Problem) {
	type row struct {
		name string
		*starling.Evaluation
	}
	rows := []row{{"posterior", &m.Evaluation}}
	if c := m.Combined; c != nil && spec.Method.SMC.Islands > 1 {
		other := row{"by evidence", &c.Evidence} // names are short, so that the table fits 80 columns
		if spec.Method.SMC.Combine == "evidence" {
			other = row{"equally", &c.Equal}
		}
		rows = append(rows, other)
	}
	if m.MAP != nil {
		rows = append(rows, row{"best MAP", m.MAP}, row{fmt.Sprintf("%d MAPs", spec.MAP.Restarts), m.DeepEnsemble})
	}
	var t table
	if m.RMSE != nil {
		t.add("", "RMSE", "NLL")
		for _, r := range rows {
			t.add(r.name, significant(*r.RMSE), significant(r.NLL))
		}
	} else {
		head := []string{"", "accuracy", "NLL", "ECE"}
		t.heading, t.above = "epistemic entropy, nats", len(head)
		for _, g := range m.Groups {
			head = append(head, groupTitle(g.Name))
		}
		t.add(head...)
		for _, r := range rows {
			cells := []string{r.name, fmt.Sprintf("%.1f %%", 100**r.Accuracy), fmt.Sprintf("%.3f", r.NLL), fmt.Sprintf("%.3f", *r.ECE)}
			for _, g := range r.Groups {
				cells = append(cells, entropy(g))
			}
			t.add(cells...)
		}
	}
	t.write(w)
	if line := found(m.Groups); line != "" {
		fmt.Fprintln(w, line)
	}
	if d := m.DeepEnsemble; d != nil && d.NLL < m.NLL {
		format := func(v uq.Number) string { return fmt.Sprintf("%.3f", v) }
		if m.RMSE != nil {
			format = significant
		}
		if better, worse := format(d.NLL), format(m.NLL); better != worse {
			fmt.Fprintf(w, "the deep ensemble of the %d MAPs does better here: NLL %s against %s\n", spec.MAP.Restarts, better, worse)
		}
	}
	if m.On == "train" {
		fmt.Fprintf(w, "judged on the %s training examples of %s: nothing is held out\n", thousands(m.N), problem.Name)
	}
	if m.LogEvidence != nil {
		fmt.Fprintln(w, evidence(spec.Method.SMC, m))
	}
}

// tell writes what a reader should know beside the figures.
func tell(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(w, note)
	}
}

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

// found says how well epistemic entropy tells the foreign from the known, and wrong answers from right ones.
func found(groups uq.Groups) string {
	var foreign []string
	wrong := ""
	for _, g := range groups {
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
		return "foreign inputs found (AUROC): " + strings.Join(foreign, ", ") + "; " + wrong
	case len(foreign) > 0:
		return "foreign inputs found (AUROC): " + strings.Join(foreign, ", ")
	case wrong != "":
		return "doubt found (AUROC): " + wrong
	}
	return ""
}

// evidence is the line of log Z, with the reason for how islands are weighed.
func evidence(method *starling.SMC, m *starling.Metrics) string {
	line := fmt.Sprintf("log Z %s", minus(fmt.Sprintf("%.1f", *m.LogEvidence)))
	if method.Islands == 1 {
		return line
	}
	line += fmt.Sprintf(" ± %.1f; ", *m.LogEvidenceSD)
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
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// significant writes a number of unknown size.
func significant(v uq.Number) string { return minus(fmt.Sprintf("%.4g", v)) }

// minus is the sign as it is printed.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }
