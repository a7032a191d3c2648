package tables

import (
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/finding"
)

// Notes says how a table that was read for a run differs from what the run learnt from: columns that are ignored or taken by their
// places, words that no training row had, and columns that were constant and are no longer. Of a table that is the last block of a
// file, the notes are about the whole file, which has so many rows. They are nil for a table that was not read for a run.
func (t *Table) Notes(file string, rows int) (notes []finding.Finding) {
	r := t.forRun
	if r == nil {
		return nil
	}
	if r.ignored != nil {
		quoted := make([]string, len(r.ignored))
		for i, name := range r.ignored {
			quoted[i] = strconv.Quote(name)
		}
		notes = append(notes, finding.Of(finding.IgnoredColumns{Columns: finding.FirstOf(quoted), File: file}))
	}
	if r.byPlace {
		notes = append(notes, finding.Of(finding.ColumnsByPlace{File: file}))
	}
	var unknown, changed []string
	for j := range t.Cols {
		if w := r.words.columns[j]; w != nil && w.unknown > 0 {
			unknown = append(unknown, finding.Unlearnt(t.ColumnName(j), w.unknown, rows, "the first: "+w.first+", "+t.at(w.line)))
		}
		if k := r.constants[j]; k != nil && k.others > 0 {
			changed = append(changed, finding.Unlearnt(t.ColumnName(j), k.others, rows, cells.Clip(k.values[0])+" in training"))
		}
	}
	if unknown != nil {
		notes = append(notes, finding.Of(finding.UnknownWords{Columns: finding.FirstOf(unknown), File: file}))
	}
	if changed != nil {
		notes = append(notes, finding.Of(finding.NoLongerConstant{Columns: finding.FirstOf(changed), File: file}))
	}
	return notes
}
