package starling

import (
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// Event tells how far work is. Of Fit: *Loaded once, then *Descending and *Sampling many times, and *Notice where there
// is something to say. Of Run.Predict: *Predicting many times. Events come one at a time.
type Event interface{ event() }

// Loaded says what a run is about to learn from, and with what.
type Loaded struct {
	Spec *Spec // resolved
	Data *data.Problem
	Net  *nn.Net
}

// Descending is the search for point estimates, after an epoch of any restart.
type Descending struct {
	Restarts, Done int     // restarts in all, and those that have ended
	Share          float64 // of the work that is done, 0 to 1: an estimate, as nobody knows when a restart will stop
	Best           int     // the restart of the lowest validation NLL so far
	Epoch          int     // at which it was reached, from 1; 0: where it began, model.init
	NLL, Accuracy  float64 // of targets in their own units; a regression has no accuracy
}

// Sampling is the sampler, after an iteration of any of its islands or chains.
//
// Share is exact for chains. Of paths of batches it is the share of the examples that the schedule's iterations see, of
// smooth data annealing that of the iterations; the tempering before it (start: tempered) counts as nothing done. Of
// tempering it is an estimate from the temperatures so far.
//
// Temperature is for tempering. Of smooth data annealing it is the power of the newest block; other batches, whose
// likelihood is scaled up by N/n, count as 1, and chains are at 1.
type Sampling struct {
	Islands, Done int     // islands or chains in all, and those that have ended
	Share         float64 // of the work that is done, 0 to 1
	Epochs        float64 // mean passes over the data of a particle
	Temperature   float64 // lowest power of the likelihood on the islands that run now, 0 to 1
	Iteration     float64 // this and what follows are means over the islands that run now
	Examples      float64 // that the target sees
	ESS           float64
	Acceptance    float64
	Step          float64
	Ancestors     float64
	Particles     int // of an island
}

// Predicting is a prediction, after some more rows.
type Predicting struct{ Rows, Done int }

// Notice is something that a person should know, in plain words.
type Notice struct{ Text string }

func (*Notice) event()     {}
func (*Loaded) event()     {}
func (*Descending) event() {}
func (*Sampling) event()   {}
func (*Predicting) event() {}
