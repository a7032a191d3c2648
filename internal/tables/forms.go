package tables

import "github.com/starling-smc/starling/internal/cells"

// forms are what the forms of a column's plain numbers may mean, beside their values.
type forms struct {
	mixed  cells.Mixed
	padded cells.Padded
}

func (f *forms) see(text []byte) {
	f.mixed.See(text)
	f.padded.See(text)
}

// end ends the text. Its error says that the numbers of a column which was read as plain ones may be written otherwise, and that nobody has looked.
func (b *tableBuilder) end() error {
	for j := range b.forms {
		if b.words[j] != nil || b.t.Left(j) {
			continue
		}
		if b.forms[j].mixed.May() && !b.survey.done(j) {
			return &unsurveyed{b.t, j}
		}
		if b.forms[j].padded.Are() {
			b.t.padded = append(b.t.padded, j)
		}
	}
	return nil
}
