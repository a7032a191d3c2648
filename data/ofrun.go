package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// ofRun is what a reader of tables asks of the schema of a run (tables.Run). With inputs alone, the target is not read.
type ofRun struct {
	*Schema
	inputs bool
}

// Find implements tables.Run.
func (s ofRun) Find(t *Table) (tables.Roles, error) {
	r, err := s.find(t)
	if err != nil {
		return r, err
	}
	if s.inputs && r.Target >= 0 {
		r.Target, r.Left = -1, append(r.Left, r.Target)
	}
	r.ByPlace, r.Zeros, r.Categories, r.Codes = t.Header == nil && s.Named, s.Other == tables.OtherZeros, map[int][]string{}, map[int]bool{}
	for k, e := range s.expansions() {
		if e != nil && e.Categories != nil {
			r.Categories[r.Features[k]], r.Codes[r.Features[k]] = e.Categories, e.Codes
		}
	}
	r.Classes = s.Schema.Names
	r.Written = map[int]*cells.Notation{}
	features := s.Features()
	for i := range s.Written {
		w := &s.Written[i]
		if k := slices.Index(features, w.Column); k >= 0 {
			r.Written[r.Features[k]] = &w.Notation
		} else if w.Column == s.Target && r.Target >= 0 {
			r.Written[r.Target] = &w.Notation
		}
	}
	return r, nil
}

// Names implements tables.Run. A number names no column, since it could as well be a value.
func (s ofRun) Names(text []byte) bool {
	if _, err := cells.Number(text); err == nil {
		return false
	}
	return s.Named && s.own(string(text)) != ""
}

// own is the run's name of a column of another file, whose accents may be written otherwise; empty: it is none of the run's.
func (s *Schema) own(name string) string {
	if slices.Contains(s.Columns, name) {
		return name
	}
	name = tables.Composed(name)
	if k := slices.IndexFunc(s.Columns, func(c string) bool { return tables.Composed(c) == name }); k >= 0 {
		return s.Columns[k]
	}
	return ""
}

// Uses implements tables.Run: a column is neither left out, unless it was constant, nor unknown to the run.
func (s ofRun) Uses(column string) bool {
	if s.Columns == nil || !s.Named {
		return true
	}
	column = s.own(column)
	return column == s.Target && !s.inputs || slices.Contains(s.Columns, column) && s.input(column) || s.Dropped(column)
}

// Dropped implements tables.Run.
func (s ofRun) Dropped(column string) bool {
	_, ok := s.Constants[s.own(column)]
	return ok && s.Named
}

// Unknown implements tables.Run.
func (s ofRun) Unknown(text string, categories []string) error { return s.unknown(text, categories) }

// CSV says how to read another table with targets for the run. Columns that the run's table had not are ignored.
func (s *Schema) CSV() CSV {
	return tables.ForRun(CSV{Delimiter: s.Delimiter, Header: s.Header, Target: s.Target}, ofRun{s, false}, "")
}

// CSVToPredict is CSV of a table to predict, whose target is not looked at. The texts of a key column are kept; empty: none are.
func (s *Schema) CSVToPredict(key string) CSV {
	return tables.ForRun(CSV{Delimiter: s.Delimiter, Header: s.Header}, ofRun{s, true}, key)
}
