package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// sheet is a table of figures that stand beside: a line for each cell, or for each run.
type sheet struct {
	title, first string // heading, and head of the first column
	columns      []sheetColumn
	each         bool   // a line for each run
	of           string // how the names of its cells begin; empty: all cells
	paper        bool   // behind ours stands what was published, in parentheses
	printed      bool   // of cells alone for which something was published in it
}

// sheetColumn shows one figure, or several, divided by strokes.
type sheetColumn struct {
	head   string
	names  []string
	digits []int
}

// single are columns of one figure each.
func single(prefix string, digits []int, names []string, heads ...string) (all []sheetColumn) {
	for i, head := range heads {
		all = append(all, sheetColumn{head, []string{prefix + names[i]}, []int{digits[min(i, len(digits)-1)]}})
	}
	return all
}

// writeSheets is a Table.More that writes sheets as Markdown.
func writeSheets(sheets []sheet) func(*Table, string, []Run) (string, error) {
	return func(t *Table, _ string, runs []Run) (string, error) {
		var b strings.Builder
		rows := t.Rows(runs)
		for _, s := range sheets {
			lines := s.lines(t, rows)
			if lines == nil {
				continue
			}
			var heads []string
			for _, c := range s.columns {
				heads = append(heads, c.head)
			}
			fmt.Fprintf(&b, "### %s\n\n| %s | %s |\n|---|%s\n%s\n", s.title, s.first, strings.Join(heads, " | "), strings.Repeat("---|", len(heads)), strings.Join(lines, ""))
		}
		return b.String(), nil
	}
}

// lines are those of the cells, or of the runs, that have any figure of the sheet that does not stand in the table itself.
func (s *sheet) lines(t *Table, rows []Row) (lines []string) {
	for _, row := range rows {
		one := []Row{row}
		if s.each {
			one = nil
			for _, run := range row.Runs {
				one = append(one, Row{Cell: Cell{Name: Folder(row.Name, run.Seed, false)}, Runs: []Run{run}})
			}
		}
		for _, r := range one {
			if !strings.HasPrefix(r.Name, s.of) || s.printed && !r.publishes(s.columns) {
				continue
			}
			cells, own := []string{r.Name}, false
			for _, c := range s.columns {
				text := c.of(t, &r, s.paper)
				cells, own = append(cells, text), own || text != none && c.names[0] != "accuracy"
			}
			if own {
				lines = append(lines, "| "+strings.Join(cells, " | ")+" |\n")
			}
		}
	}
	return lines
}

// publishes reports whether a figure of a column was published for the row.
func (r *Row) publishes(columns []sheetColumn) bool {
	return slices.ContainsFunc(columns, func(c sheetColumn) bool {
		return slices.ContainsFunc(c.names, func(name string) bool { return r.Published[name] != nil })
	})
}

// of is what stands in the column, with what was published if paper is true.
func (c *sheetColumn) of(t *Table, r *Row, paper bool) string {
	var parts []string
	for i, name := range c.names {
		mean, sd := r.Mean(figure(name))
		if math.IsNaN(mean) {
			return none
		}
		text := meanAndSD(mean, sd/t.Errors.over(len(r.Runs)), c.digits[i])
		if p, ok := r.Published[name]; ok && paper {
			text += " (" + p.printed(c.digits[i]) + r.misprint(name) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " / ")
}
