package eval

import (
	"context"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
)

// Predictor writes the posterior's predictions for files of inputs.
type Predictor struct {
	Posterior  *bnn.Ensemble
	Schema     *data.Schema         // of the run: how a file becomes inputs, and predictions numbers in the target's units
	Through    Features             // that the posterior predicts from: a file has the inputs of the network that makes them; nil: it has those of the posterior
	Decision   *Decision            // what the posterior decides by; nil: it decides nothing
	Pool       *pool.Pool           // nil: one with a thread for each CPU
	Progress   func(done, rows int) // called after each block of rows, and once before the first; nil: not called
	Untempered bool                 // write the ensemble's probabilities or laws as they are, where the Decision has a temperature or a factor; sets, intervals and what abstains stay the same
	MeanLogits bool                 // decide by the energy of the mean logits, not by the mean energy
	Threshold  *Threshold           // decides the class between two, by the probability that is written; nil: the most probable one
	Safe       bool                 // in a CSV an apostrophe stands before names of classes and keys that spreadsheets take for formulas
	Key        string               // a column of the inputs whose text is copied, by name or number; empty: none
	Complete   bool                 // a missing value of a table's input is an error; else it is filled as held-out rows of the run are
	Quantiles  []float64            // levels of a number's quantiles; nil: 0.05, 0.5 and 0.95
	Draws      int                  // targets of each row drawn from the posterior predictive distribution, in a CSV; 0: none
	Seed       uint64               // of the draws
	Note       func(text string)    // called for each way in which a file differs from what the run was trained on: its columns (data.Table.Notes) and its numbers (data.Outside); nil: not called
}

// Features make the inputs of a head from those of another network, such as a Backbone.
type Features interface {
	reads() *data.Schema // how a file becomes inputs of that network
	head(ctx context.Context, head *data.Schema, set *data.Set) (*data.Set, error)
}

// foreign says which rows are declared OOD; nil: the CSV does not say.
func (p *Predictor) foreign() *Foreign {
	if p.Decision == nil {
		return nil
	}
	return p.Decision.Foreign
}

// learnt is what was learnt for decisions; nil: nothing.
func (p *Predictor) learnt() *Learnt {
	if p.Decision == nil {
		return nil
	}
	return p.Decision.Learnt
}
