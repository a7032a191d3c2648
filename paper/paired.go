package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// pairedCells is a Table.More that compares cells with others of the table, seed by seed (Cell.Against): the same seed is the same split
// and the same draws from the prior, so that differences of pairs vary less than the figures do. It writes Markdown, nothing without pairs.
func pairedCells(t *Table, _ string, runs []Run) (string, error) {
	rows := t.Rows(runs)
	shown := slices.DeleteFunc(slices.Clone(t.Figures), func(m Measure) bool { return m.Aside || m.Beside })
	var lines []string
	for i := range rows {
		r := &rows[i]
		at := slices.IndexFunc(rows, func(other Row) bool { return other.Name == r.Against })
		if at < 0 {
			continue
		}
		pairs, theirs := r.pairs(&rows[at])
		if len(pairs.Runs) == 0 {
			continue
		}
		cells := []string{r.Name, r.Against, fmt.Sprint(len(pairs.Runs))}
		for _, m := range shown {
			f := figure(m.Name)
			cells = append(cells, pairs.difference(func(run Run) float64 { return f(run) - f(theirs[run.Seed]) }, m.Digits))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |\n")
	}
	if lines == nil {
		return "", nil
	}
	heads := []string{"cell", "minus", "pairs"}
	for _, m := range shown {
		heads = append(heads, m.Title)
	}
	return fmt.Sprintf("### Paired by seed, mean ± standard error of the difference\n\n| %s |\n|%s\n%s",
		strings.Join(heads, " | "), strings.Repeat("---|", len(heads)), strings.Join(lines, "")), nil
}

// pairs is the row with those of its runs whose seed the other row has under the same protocol, and the other's runs by seed.
func (r *Row) pairs(other *Row) (pairs Row, theirs map[uint64]Run) {
	pairs, theirs = Row{Cell: r.Cell, Protocol: r.Protocol}, map[uint64]Run{}
	if r.Protocol != other.Protocol {
		return pairs, theirs
	}
	for _, run := range other.Runs {
		theirs[run.Seed] = run
	}
	for _, run := range r.Runs {
		if _, ok := theirs[run.Seed]; ok {
			pairs.Runs = append(pairs.Runs, run)
		}
	}
	return pairs, theirs
}

// difference is the mean of differences within pairs, one for each of the row's runs, ± its standard error.
func (r *Row) difference(of func(Run) float64, digits int) string {
	mean, sd := r.Mean(of)
	return meanAndSD(mean, sd/math.Sqrt(float64(len(r.Runs))), digits)
}
