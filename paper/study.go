package paper

import (
	"context"
	"io"

	"github.com/starling-smc/starling/mcmc"
)

// Study is something that a paper shows without data, beside its table: it takes seconds, and is computed when it is asked for.
type Study struct {
	Table, Name string // starling reproduce TABLE NAME
	Seeds       int    // by default the runs have seeds from 1 to this

	// Run makes a run, or several, for each seed. told is called after each of them, with a line about it.
	Run func(ctx context.Context, seeds []uint64, reduced bool, pool *mcmc.Pool, told func(string)) (Shown, error)
}

// Shown is the result of a Study. As JSON it has all figures of each run.
type Shown interface {
	WriteText(w io.Writer) error
	Picture() []byte // an SVG file
}

// Studies lists the studies that can be made again.
var Studies = []Study{
	mixtureStudy,
	toyStudy,
}
