package eval

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
)

// Ensembles are the result of a run. Evaluation needs them and the data, and nothing else.
type Ensembles struct {
	Posterior *bnn.Ensemble // with islands weighted by the run's method
	Restarts  *bnn.Ensemble // the MAP restarts, equally weighted: a deep ensemble; nil if there were none
	Chosen    int           // the restart that is the MAP estimate
	NLL       []float64     // of each restart on the validation examples, for targets in their own units; NaN without them
	Precision *Precision    // of the islands' log evidences, as each estimates its own; nil: not known
	Chains    *Record       // of the chains that the posterior was drawn by; nil for any other method
	Cost      *Cost         // of making them; nil: not known
	Last      int           // evaluate so many of the posterior's members, those kept last (bnn.Ensemble.Last); 0: all
	Fewer     bool          // score fewer of the members, too, however few there are: Metrics.Members
	Decision  *Decision     // what the posterior decides by; nil: it decides nothing
}

// chosen are log-weights of the restarts with all weight on the MAP estimate.
func (e *Ensembles) chosen() []float64 {
	logw := slices.Repeat([]float64{math.Inf(-1)}, e.Restarts.Size())
	logw[e.Chosen] = 0
	return logw
}
