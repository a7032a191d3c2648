package tables

import (
	"bytes"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
)

// named reports whether the first record of a table names its columns. One that names a column of the run does, also if another name
// is a number, as of a year: taken for a row, it would put each column in the place of another one.
func (o CSV) named(first []cells.Cell) bool {
	switch {
	case o.Header != nil:
		return *o.Header
	case o.run != nil && slices.ContainsFunc(first, func(c cells.Cell) bool { return o.run.Names(c.Text) }):
		return true
	}
	return looksLikeHeader(first)
}

// uncut reports whether the first record of a text, as a whole, names a column of the run. A file of that column alone is not to be cut
// at blanks within the name.
func (o CSV) uncut(head []byte) bool {
	if o.run == nil {
		return false
	}
	first, ok, err := cells.NewReader(bytes.NewReader(head), ",", cells.GuessBytes, cells.Window).Record()
	return ok && err == nil && len(first) == 1 && o.run.Names(first[0].Text)
}

func looksLikeHeader(rec []cells.Cell) bool {
	words := false
	for _, c := range rec {
		if len(c.Text) == 0 {
			continue
		}
		if _, err := cells.Number(c.Text); err == nil {
			return false
		}
		words = true
	}
	return words
}
