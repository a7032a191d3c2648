// Package table writes tables of text for terminals: aligned columns, two blanks apart.
package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a table whose columns are right-aligned but for the first and those in Left. A row of one cell is a heading
// between other rows, and may have any length.
type Table struct {
	Rows     [][]string
	Headings []Heading
	Left     []int // columns that are left-aligned, in addition to the first
}

// Heading is a heading above the columns from Above on.
type Heading struct {
	Above int
	Text  string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Width is the width of the whole table, without rows of one cell.
func (t *Table) Width() int {
	width := -2
	for _, w := range t.widths() {
		width += w + 2
	}
	return width
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.Rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	widths := t.widths()
	var b strings.Builder
	if t.Headings != nil {
		line := ""
		for _, h := range t.Headings {
			left := 0
			for _, width := range widths[:h.Above] {
				left += width + 2
			}
			line += strings.Repeat(" ", max(left-utf8.RuneCountInString(line), 0)) + h.Text
		}
		fmt.Fprintln(&b, line)
	}
	for _, row := range t.Rows {
		if len(row) == 1 {
			fmt.Fprintln(&b, row[0])
			continue
		}
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line += "  "
			}
			if i == 0 || slices.Contains(t.Left, i) {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
