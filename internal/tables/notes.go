package tables

import (
	"fmt"

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
		notes = append(notes, finding.IgnoredColumns(file, r.ignored))
	}
	if r.byPlace {
		notes = append(notes, finding.ColumnsByPlace(file))
	}
	var unknown, changed []finding.Unlearnt
	for j := range t.Cols {
		if w := r.words.columns[j]; w != nil && w.unknown > 0 {
			unknown = append(unknown, finding.Unlearnt{Column: t.ColumnName(j), Cells: w.unknown, Told: fmt.Sprintf("the first: %s, line %d", w.first, w.line)})
		}
		if k := r.constants[j]; k != nil && k.others > 0 {
			changed = append(changed, finding.Unlearnt{Column: t.ColumnName(j), Cells: k.others, Told: cells.Clip(k.values[0]) + " in training"})
		}
	}
	if unknown != nil {
		notes = append(notes, finding.UnknownWords(file, rows, unknown))
	}
	if changed != nil {
		notes = append(notes, finding.NoLongerConstant(file, rows, changed))
	}
	return notes
}
