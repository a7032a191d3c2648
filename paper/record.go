package paper

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed results/*.json
var results embed.FS

// Recorded are the runs of a table that came with the program.
func (t *Table) Recorded() []Run {
	text, err := results.ReadFile("results/" + t.Name + ".json")
	var runs []Run
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		panic(fmt.Sprintf("results of %s: %v", t.Name, err)) // a test reads them
	}
	return runs
}

// Merge adds runs to others, in the place of those of the same cell, seed and protocol, and sorts them.
func Merge(runs, more []Run) []Run {
	same := func(a, b Run) bool { return a.Cell == b.Cell && a.Seed == b.Seed && a.Protocol == b.Protocol }
	runs = slices.Clone(runs)
	for _, m := range more {
		runs = slices.DeleteFunc(runs, func(r Run) bool { return same(r, m) })
	}
	runs = append(runs, more...)
	slices.SortFunc(runs, func(a, b Run) int {
		if c := strings.Compare(a.Cell, b.Cell); c != 0 {
			return c
		}
		return int(a.Seed) - int(b.Seed)
	})
	return runs
}

// Columns of a table for people, in both its forms.
var head = []string{"cell", "accuracy, %: paper", "ours", "log-likelihood: paper", "ours", "runs", "protocol", "ESS", "gradients", "seconds: paper", "sampling", "evaluation"}

func (r *Row) cells() []string {
	paper := func(i, digits int) string {
		f := r.Published[i]
		return fmt.Sprintf("%.*f ± %.*f", digits, f.Mean, digits, f.SD)
	}
	ours := func(digits int, f func(Run) float64) string {
		mean, sd := r.Mean(f)
		switch {
		case math.IsNaN(mean):
			return "–"
		case math.IsNaN(sd):
			return fmt.Sprintf("%.*f", digits, mean)
		}
		return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, sd)
	}
	protocol := r.Protocol
	if protocol == "" {
		protocol = "not run"
	}
	return []string{
		r.Name, paper(0, 2), ours(2, func(r Run) float64 { return r.Accuracy }), paper(1, 3), ours(3, func(r Run) float64 { return r.LogLikelihood }),
		fmt.Sprint(len(r.Runs)), protocol, ours(1, func(r Run) float64 { return r.ESS }),
		ours(0, func(r Run) float64 { return float64(r.Gradients) }), fmt.Sprintf("%.0f", r.Published[2].Mean),
		ours(0, func(r Run) float64 { return r.Sampling }), ours(0, func(r Run) float64 { return r.Evaluation }),
	}
}

// WriteMarkdown writes the table, its runs side by side with the paper.
func (t *Table) WriteMarkdown(w io.Writer, runs []Run) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range t.Rows(runs) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.cells(), " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the table for a terminal.
func (t *Table) WriteText(w io.Writer, runs []Run) error {
	var b strings.Builder
	short := []string{"", "accuracy, %", "", "log-likelihood", "", "", "", "", "seconds", ""}
	names := []string{"cell", "paper", "ours", "paper", "ours", "runs", "ESS", "protocol", "paper", "ours"}
	pick := []int{0, 1, 2, 3, 4, 5, 7, 6, 9, 10}
	lines := [][]string{short, names}
	for _, r := range t.Rows(runs) {
		cells, line := r.cells(), make([]string, len(pick))
		for i, p := range pick {
			line[i] = cells[p]
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(pick))
	for _, line := range lines[1:] {
		for i, cell := range line {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, line := range lines {
		var out strings.Builder
		for i, cell := range line {
			fmt.Fprintf(&out, "%-*s  ", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
