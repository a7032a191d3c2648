package main

import (
	"context"
	"os"

	"github.com/starling-smc/starling"
)

// learn carries out one of several Specs, that of the best trial (starling.Choose), and saves the run in o.Folder. Its progress is shown on p, its notices on stderr; loaded is called
// once the data are in memory.
func learn(ctx context.Context, specs []starling.Spec, o starling.Options, p *progress, loaded func(*starling.Loaded)) (*starling.Result, error) {
	o = watched(o, p, loaded)
	spec, err := starling.Choose(ctx, specs, o)
	if err != nil {
		return nil, err
	}
	return starling.Fit(ctx, spec, o)
}

// watched returns the options of a run whose progress is shown on p, and its notices on stderr. loaded is called once the data of a fit
// are in memory.
func watched(o starling.Options, p *progress, loaded func(*starling.Loaded)) starling.Options {
	limitGarbage()
	o.Memory = memoryLimit(os.DirFS("/"))
	o.Progress = func(e starling.Event) {
		switch e := e.(type) {
		case *starling.Loaded:
			loaded(e)
		case *starling.Notice:
			if e.Of == nil || p.first(*e.Of) {
				p.say("starling: " + e.Text)
			}
		case *starling.Submitted:
			p.submitted(e.Run)
		case *starling.Progress:
			p.show(e.Status)
		}
	}
	return o
}
