package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/table"
	"github.com/starling-smc/starling/internal/visible"
)

// showFile writes a description as text.
func showFile(w io.Writer, d *formats.Description) {
	format := d.Title
	if d.Packed {
		format += " in gzip"
	}
	fmt.Fprintf(w, "%s: %s, %s bytes\n", d.File, format, numeral.Count(d.Bytes))
	if d.Looked > 0 {
		of := ""
		if d.Of > 0 {
			of = " of " + numeral.Count(d.Of)
		}
		fmt.Fprintf(w, "the first %s%s alone were looked at (--rows): the figures are of these\n", numeral.Several(d.Looked, "row"), of)
	}
	switch {
	case d.Table != nil:
		showTable(w, d.Table)
	case d.Named:
		showTensors(w, d)
	default:
		a := &d.Arrays[0]
		fmt.Fprintf(w, "%s [%s], %s\n", a.DType, dimensions(a.Shape), amount(a.Summary))
		if a.Note != "" {
			fmt.Fprintln(w, a.Note)
		}
		if !picture(w, a) {
			showRows(w, a)
		}
	}
}

// dimensions writes 60,000 × 28 × 28; for a scalar, nothing.
func dimensions(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = numeral.Count(d)
	}
	return strings.Join(parts, " × ")
}

// amount writes a summary in words.
func amount(s formats.Summary) string {
	switch s.Count {
	case 0:
		return "no values"
	case s.NaN:
		return numeral.Several(s.Count, "value") + ", all NaN"
	}
	text := fmt.Sprintf("%s from %s to %s, mean %s", numeral.Several(s.Count, "value"), short(s.Min), short(s.Max), short(s.Mean))
	if s.NaN > 0 {
		text += fmt.Sprintf(", %s NaN", numeral.Count(s.NaN))
	}
	return text
}

// short writes a number with about five digits, and all digits of an integer.
func short(n formats.Number) string {
	text := string(n)
	if len(text) > 8 && strings.ContainsAny(text, ".e") {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			text = fmt.Sprintf("%.5g", v)
		}
	}
	if size, negative := strings.CutPrefix(text, "-"); negative {
		return "−" + size
	}
	return text
}

// The largest part of an array or a table that is printed.
const (
	printedRows    = 10
	printedColumns = 12 // at most: as many as fit 80 characters
	listedColumns  = 40
)

// narrow keeps as many columns as fit 80 characters, and adds … if there are more.
func narrow(t *table.Table, more bool) {
	width, fit := 0, 0
	for columns := len(t.Rows[0]); fit < columns; fit++ {
		widest := 0
		for _, row := range t.Rows {
			widest = max(widest, len([]rune(row[fit])))
		}
		if width += widest + 2; width > 80 && fit > 1 {
			more = true
			break
		}
	}
	for i, row := range t.Rows {
		if t.Rows[i] = row[:fit]; more {
			t.Rows[i] = append(t.Rows[i], "…")
		}
	}
}

// showRows writes the first rows of an array, whose values follow its last dimension.
func showRows(w io.Writer, a *formats.ArraySummary) {
	if len(a.First) == 0 {
		return
	}
	width := 1
	if len(a.Shape) > 1 {
		width = a.Shape[len(a.Shape)-1]
	}
	rows := a.Count / width
	var t table.Table
	for i := 0; i < min(rows, printedRows) && (i+1)*width <= len(a.First) || i == 0; i++ {
		cells := []string{fmt.Sprintf("row %d", i)}
		for _, n := range a.First[i*width:][:min(width, printedColumns, len(a.First))] {
			cells = append(cells, short(n))
		}
		t.Add(cells...)
	}
	fmt.Fprintln(w)
	narrow(&t, width > printedColumns)
	t.Write(w)
	if left := rows - len(t.Rows); left > 0 {
		fmt.Fprintf(w, "… %s more\n", numeral.Several(left, "row"))
	}
}

// picture draws the first of some images in characters. A character stands for two pixels, one above the other; colours are
// averaged.
func picture(w io.Writer, a *formats.ArraySummary) bool {
	shape := a.Shape
	if len(shape) == 3 {
		shape = []int{shape[0], 1, shape[1], shape[2]}
	}
	if a.DType != "uint8" || len(shape) != 4 || shape[1] != 1 && shape[1] != 3 {
		return false
	}
	colours, height, width := shape[1], shape[2], shape[3]
	if height < 8 || width < 8 || width > 80 || colours*height*width > len(a.First) {
		return false
	}
	var pixels []int
	for _, n := range a.First[:colours*height*width] {
		v := 0
		for _, digit := range n {
			v = 10*v + int(digit-'0')
		}
		pixels = append(pixels, v)
	}
	shades := []rune(" ░▒▓█")
	fmt.Fprintln(w, "the first:")
	for y := 0; y+1 < height; y += 2 {
		line := make([]rune, width)
		for x := range line {
			sum := 0
			for c := range colours {
				sum += pixels[(c*height+y)*width+x] + pixels[(c*height+y+1)*width+x]
			}
			line[x] = shades[sum*len(shades)/(2*colours*256)]
		}
		fmt.Fprintln(w, strings.TrimRight(string(line), " "))
	}
	return true
}

// showTable writes a summary of each column, and the first rows.
func showTable(w io.Writer, s *formats.TableSummary) {
	delimiter := map[string]string{",": "comma", ";": "semicolon", "\t": "tab", "whitespace": "blanks"}[s.Delimiter]
	if delimiter == "" {
		delimiter = s.Delimiter
	}
	header := "a header"
	if s.Header == nil {
		header = "no header"
	}
	form := fmt.Sprintf("delimited by %s, %s", delimiter, header)
	if s.Delimiter == "" {
		form = "in " + numeral.Several(s.RowGroups, "row group")
	}
	fmt.Fprintf(w, "%s × %s, %s\n\n", numeral.Several(s.Count, "row"), numeral.Several(len(s.Columns), "column"), form)
	var t table.Table
	t.Add("column", "min", "mean", "max", "missing")
	var named []string
	for j, c := range s.Columns[:min(len(s.Columns), listedColumns)] {
		name := columnName(s, j)
		if c.LeftOut {
			t.Add(name, "left out", "", "", "")
			continue
		}
		if c.Names == nil {
			t.Add(name, short(c.Min), short(c.Mean), short(c.Max), numeral.Count(c.NaN))
			continue
		}
		t.Add(name, "names", "", "", numeral.Count(c.NaN))
		if c.Differs { // told below
			continue
		}
		var parts []string
		for k, n := range c.Names[:min(len(c.Names), listedColumns)] {
			parts = append(parts, fmt.Sprintf("%s (%s)", cut(n, 30), numeral.Count(c.Of[k])))
		}
		if more := len(c.Names) - len(parts); more > 0 {
			parts = append(parts, fmt.Sprintf("and %s more", numeral.Count(more)))
		}
		named = append(named, name+":", strings.Join(parts, ", "))
	}
	t.Write(w)
	if more := len(s.Columns) - listedColumns; more > 0 {
		fmt.Fprintf(w, "… %s more\n", numeral.Several(more, "column"))
	}
	for j, c := range s.Columns {
		what := ""
		switch {
		case c.Counts:
			what = "counts the rows"
		case c.Differs:
			what = "words that all differ"
			if c.Mixed != "" {
				what += " (" + c.Mixed + ")"
			}
		case c.Inexact:
			what = "whole numbers above 2⁵³, which are not exact"
		case c.Mixed != "":
			named = append(named, columnName(s, j)+":", c.Mixed)
		case c.Written != "":
			named = append(named, columnName(s, j)+":", "numbers with "+c.Written)
		}
		if what != "" {
			named = append(named, columnName(s, j)+":", what+": fit leaves it out, unless data.csv.keep names it")
		}
	}
	for i := 0; i < len(named); i += 2 {
		beside(w, named[i], named[i+1])
	}
	if s.Count == 0 {
		return
	}
	var rows table.Table
	columns := min(len(s.Columns), printedColumns)
	head := []string{"row"}
	for j := range columns {
		head = append(head, columnName(s, j))
	}
	rows.Add(head...)
	for i, row := range s.Rows[:min(len(s.Rows), printedRows)] {
		cells := []string{fmt.Sprint(i)}
		for _, c := range row[:columns] {
			switch c := c.(type) {
			case formats.Number:
				cells = append(cells, short(c))
			case string:
				cells = append(cells, cut(c, 20))
			default: // left out
				cells = append(cells, "–")
			}
		}
		rows.Add(cells...)
	}
	fmt.Fprintln(w)
	narrow(&rows, len(s.Columns) > printedColumns)
	rows.Write(w)
	if more := s.Count - (len(rows.Rows) - 1); more > 0 {
		fmt.Fprintf(w, "… %s more\n", numeral.Several(more, "row"))
	}
}

func columnName(s *formats.TableSummary, j int) string {
	if s.Header == nil {
		return fmt.Sprint(j + 1)
	}
	if s.Header[j] == "" {
		return `""`
	}
	return cut(s.Header[j], 20)
}

// cut shortens a text and makes it one line, with control characters made visible before it is measured.
func cut(s string, n int) string {
	runes := []rune(visible.Text(strings.Join(strings.Fields(s), " ")))
	if len(runes) > n {
		runes = append(runes[:n-1], '…')
	}
	return string(runes)
}

func showTensors(w io.Writer, d *formats.Description) {
	total := 0
	for _, a := range d.Arrays {
		total += a.Count
	}
	fmt.Fprintf(w, "%s, %s\n\n", numeral.Several(len(d.Arrays), "tensor"), numeral.Several(total, "value"))
	var t table.Table
	t.Add("tensor", "dtype", "shape", "min", "mean", "max", "NaN")
	for _, a := range d.Arrays {
		t.Add(cut(a.Name, 30), a.DType, dimensions(a.Shape), short(a.Min), short(a.Mean), short(a.Max), numeral.Count(a.NaN))
	}
	t.Write(w)
	keys := make([]string, 0, len(d.Metadata))
	for k := range d.Metadata {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(w, "%s: %s\n", cut(k, 30), cut(d.Metadata[k], 60))
	}
}
