package data

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/tables"
)

// Numbers are settings of data.csv by which the numbers of a table are read as they were: a config that names them is read alike. What is empty
// need not be said, or columns differ in it.
type Numbers struct{ Decimal, Thousands, Units string }

// numbers are the settings of all columns together.
func (s *Schema) numbers() (n Numbers) {
	one := true // all columns may have the same marks
	for i := range s.Written {
		w := &s.Written[i]
		one = one && w.Decimal == s.Written[0].Decimal && (w.Thousands == "" || n.Thousands == "" || w.Thousands == n.Thousands)
		n.Thousands = cmp.Or(n.Thousands, w.Thousands)
		if w.Before != "" || w.After != "" || w.Books {
			n.Units = tables.UnitsStrip
		}
	}
	if !one {
		n.Thousands = ""
	} else if len(s.Written) > 0 {
		n.Decimal = s.Written[0].Decimal
	}
	return n
}

// String writes the settings as a config does; empty if there are none.
func (n Numbers) String() string {
	var parts []string
	for _, p := range [][2]string{{"decimal", n.Decimal}, {"thousands", n.Thousands}, {"units", n.Units}} {
		if p[1] != "" {
			parts = append(parts, p[0]+": "+config.Scalar(p[1]))
		}
	}
	if parts == nil {
		return ""
	}
	return "data.csv: {" + strings.Join(parts, ", ") + "}"
}

// ways says of each column whose numbers are not plain how they are written.
func (s *Schema) ways() (ways []string) {
	for i := range s.Written {
		ways = append(ways, s.titles([]string{s.Written[i].Column})[0]+" with "+s.Written[i].String())
	}
	return ways
}

// inexact lists the columns of whole numbers that a float64 does not tell apart: those that are left out, or the others.
func (s *Schema) inexact(left bool) (columns []string) {
	for _, c := range s.Inexact {
		if slices.Contains(s.LeftOut, c) == left {
			columns = append(columns, c)
		}
	}
	return columns
}

// differing names the columns of words that all differ, with what they hold if it is numbers.
func (s *Schema) differing() []string {
	titles := s.titles(s.Differ)
	for i, name := range s.Differ {
		titles[i] += s.mixed(name)
	}
	return titles
}

// mixed says in parentheses what a column of words that all differ holds if it is numbers, and what to do; else it is empty.
func (s *Schema) mixed(column string) string {
	if what := s.Mixed[column]; what != "" {
		return " (" + what + ")"
	}
	return ""
}

// writtenFindings are findings about how numbers are written, and about columns that were left out because they tell rows apart alone.
func (s *Schema) writtenFindings() (found []finding.Finding) {
	if len(s.Written) > 0 {
		found = append(found, finding.Of(finding.WrittenNumbers{Columns: finding.FirstOf(s.ways()), Settings: s.numbers().String()}))
	}
	if len(s.Padded) > 0 {
		found = append(found, finding.Of(finding.PaddedNumbers{Columns: finding.List(s.titles(s.Padded)), Categories: scalars(s.Padded)}))
	}
	if len(s.Differ) > 0 {
		found = append(found, finding.Of(finding.DifferingWords{Columns: finding.List(s.differing()), Keep: scalars(s.Differ)}))
	}
	if names := s.inexact(true); names != nil {
		found = append(found, finding.Of(finding.InexactNumbers{Columns: finding.List(s.titles(names)), Keep: scalars(names)}))
	}
	if names := s.inexact(false); names != nil {
		found = append(found, finding.Of(finding.RoundedNumbers{Columns: finding.List(s.titles(names))}))
	}
	if len(s.Dates) > 0 {
		found = append(found, finding.Of(finding.DateIndex{Columns: finding.List(s.titles(s.Dates))}))
	}
	return found
}

// alikeFindings are findings about classes and words that differ only in letter case, blanks or how an accent is written.
func (s *Schema) alikeFindings() (found []finding.Finding) {
	if names := alike(s.Names); names != nil {
		found = append(found, finding.Of(finding.AlikeClasses{Classes: finding.List(names)}))
	}
	if columns := s.alikeWords(); columns != nil {
		found = append(found, finding.Of(finding.AlikeWords{Columns: finding.FirstOf(columns)}))
	}
	return found
}

// alikeWords lists the columns of which some words are alike, with these words.
func (s *Schema) alikeWords() (columns []string) {
	for i := range s.Expand {
		if names := alike(s.Expand[i].Categories); names != nil {
			columns = append(columns, fmt.Sprintf("%s (%s)", s.titles([]string{s.Expand[i].Column})[0], numeral.List(names[:min(len(names), 4)])))
		}
	}
	return columns
}

// alike returns the words that others are alike, in quotes.
func alike(words []string) (names []string) {
	of := map[string]int{}
	for _, w := range words {
		of[folded(w)]++
	}
	for _, w := range words {
		if of[folded(w)] > 1 {
			names = append(names, cells.Quote([]byte(w)))
		}
	}
	return names
}

// folded is a word without what people do not mean by it: its letter case, blanks of all kinds around and more than one within it, and how its
// accents are written.
func folded(word string) string {
	return strings.ToLower(tables.Composed(strings.Join(strings.FieldsFunc(word, cells.IsBlank), " ")))
}
