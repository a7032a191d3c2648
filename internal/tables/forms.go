package tables

import "github.com/starling-smc/starling/internal/cells"

// forms are what the forms of a column's plain numbers may mean, beside their values.
type forms struct {
	mixed  cells.Mixed
	padded cells.Padded
	known  bool // further numbers tell nothing
}

func (f *forms) see(text []byte) {
	f.mixed.See(text)
	f.padded.See(text)
	f.known = f.mixed.Known() && f.padded.Known()
}
