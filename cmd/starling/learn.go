package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/starling-smc/starling"
)

// learn carries a Spec out and keeps the run in o.Folder. Its progress is shown on p, its notices on stderr; loaded is called
// once the data are in memory.
func learn(ctx context.Context, spec starling.Spec, o starling.Options, p *progress, loaded func(*starling.Loaded)) (*starling.Result, error) {
	limitGarbage()
	o.Memory = memoryLimit(os.DirFS("/"))
	o.Progress = func(e starling.Event) {
		switch e := e.(type) {
		case *starling.Loaded:
			loaded(e)
		case *starling.Notice:
			p.say("starling: " + e.Text)
		case *starling.Progress:
			p.show(e.Status)
		}
	}
	return starling.Fit(ctx, spec, o)
}

// limitGarbage lets the garbage grow to a fifth of the memory in use at most, unless GOGC says otherwise: arrays of numbers cost
// the collector little, and particles may be most of the memory.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(20)
	}
}
