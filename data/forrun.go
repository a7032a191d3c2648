package data

import "github.com/starling-smc/starling/internal/finding"

// forRun is what the reader of a table for a run saw, and what a user may not expect.
type forRun struct {
	ignored []string    // the columns that are left out because the run's table had not got them
	byPlace bool        // there is no header, where the run's table had one
	words   *dictionary // counts the words that no training row had
}

// Notes says how a table that was read for a run differs from what the run learnt from: columns that are ignored or taken by their
// places, and words that no training row had. Of a table that is the last block of a file, they are about the whole file, which has so
// many rows. They are nil for a table that was not read for a run.
func (t *Table) Notes(file string, rows int) (notes []finding.Finding) {
	r := t.forRun
	if r == nil {
		return nil
	}
	if r.ignored != nil {
		notes = append(notes, finding.IgnoredColumns(file, r.ignored))
	}
	if r.byPlace {
		notes = append(notes, finding.ColumnsByPlace(file))
	}
	var unknown []finding.UnknownWord
	for j := range t.Cols {
		if w := r.words.columns[j]; w != nil && w.unknown > 0 {
			unknown = append(unknown, finding.UnknownWord{Column: t.name(j), Cells: w.unknown, First: w.first, Line: w.line})
		}
	}
	if unknown != nil {
		notes = append(notes, finding.UnknownWords(file, rows, unknown))
	}
	return notes
}
