// Package starling is the front door: a Spec says what to learn and how, Fit learns it, a Result holds the weighted
// ensemble with what it is worth.
//
//	spec, err := starling.Preset("mnist7")
//	result, err := starling.Fit(ctx, spec, starling.Options{})
//	fmt.Println(*result.Metrics.Accuracy, result.Posterior.Size())
//
// Most programs need Preset or ParseSpec, Fit, and the ensemble's Predict. WriteRun keeps a result in a folder that
// OpenRun, the command and PyTorch read. The parts are packages of their own: data, nn, mcmc, smc, bnn, baseline, uq;
// names of methods are resolved only here.
//
// A Result depends on the Spec and the data alone, bit for bit: not on the number of threads, nor on which of the CPU's
// vector instructions are used.
package starling

import (
	"runtime/debug"
	"time"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Options are what a run may use, and who is told of it. They do not change the result.
type Options struct {
	Threads  int         // that compute at the same time; 0: one a CPU
	DataDir  string      // where data sets are looked for that are not built in
	Progress func(Event) // called now and then, never twice at the same time; nil: nobody is told

	Folder *Folder       // where the run is kept while it goes on, and gone on with; nil: nowhere
	Every  time.Duration // between two states that are saved there; 0: 10 s
	Memory int64         // bytes: a run that will need more is refused; 0: it is not asked

	now func() time.Time // nil: the clock
}

func (o *Options) clock() func() time.Time {
	if o.now == nil {
		return time.Now
	}
	return o.now
}

// Result is what a run came to.
type Result struct {
	Spec Spec // resolved: with every default
	Net  *nn.Net
	Data *data.Problem

	Ensembles
	Metrics   *Metrics
	Judgement *Judgement  // the same, with what the posterior predicts for each example
	Trace     []TraceLine // by island, then by iteration
	Notes     []string    // what a reader should know beside the figures, in plain words
	Init      string      // checksum of the file of Model.Init; empty without one

	Started, Finished time.Time
	evaluation        time.Duration // that looking at the test examples took, on the way and in the end
	worked            time.Duration // that the rest took, as far as it is known
	threads           int           // that computed
}

// TraceLine is one iteration of one island or chain. Its JSON is a line of trace.jsonl.
type TraceLine struct {
	Island        int       `json:"island"`
	K             int       `json:"k"`              // from 1
	Progress      float64   `json:"progress"`       // 0 to 1, on the island's path
	Epochs        float64   `json:"epochs"`         // passes of a particle over the data so far
	Examples      int       `json:"examples"`       // that the target sees
	Settled       int       `json:"settled"`        // of them, with power 1 in smooth data annealing (N/(m+|A|) with scale)
	Temperature   float64   `json:"temperature"`    // λ, 1 for chains; on a path of batches N/n; in sda the power β of the newest block, there times N/(m+|A|) with scale
	ESS           float64   `json:"ess"`            // before resampling; that of the result is in metrics.json
	LogWeightVar  uq.Number `json:"log_weight_var"` // likewise: variance of the log-weights of living particles, each counted alike, nats²
	Dead          int       `json:"dead"`           // particles of weight 0, likewise
	Resampled     bool      `json:"resampled"`      //
	Ancestors     int       `json:"ancestors"`      // distinct particles of the start that living particles descend from
	Parents       int       `json:"parents"`        // distinct parents of this resampling
	Mutations     int       `json:"mutations"`      // moves of this iteration
	Acceptance    float64   `json:"acceptance"`     // mean probability
	Step          float64   `json:"step"`           // of the last move
	EnergySD      float64   `json:"energy_sd"`      // of the moves' energy errors
	Broken        int       `json:"broken"`         // proposals of infinite or undefined energy
	LogEvidence   uq.Number `json:"log_evidence"`   // so far; 0 for chains
	LogLikelihood uq.Number `json:"log_likelihood"` // mean over the living particles; of the examples that have not settled, at power 1, not scaled
	Gradients     int       `json:"gradients"`      // so far, in examples, over the particles
	Values        int       `json:"values"`         // evaluations without gradient, likewise
	Seconds       float64   `json:"seconds"`        // since the run began, without pauses and without what the test examples take

	ValNLL      *uq.Number `json:"val_nll,omitempty"` // of the particles together on the validation examples
	ValAccuracy *uq.Number `json:"val_accuracy,omitempty"`

	// Likewise on the test examples, for looking only: nothing is decided by them. On a path of batches without validation
	// examples (data.whole), every TestedEvery iterations and at the end.
	TestNLL      *uq.Number `json:"test_nll,omitempty"`
	TestAccuracy *uq.Number `json:"test_accuracy,omitempty"`
}

// TestedEvery is how many iterations a path of batches makes between two looks at the test examples.
const TestedEvery = 20

// version is the release; between releases it is the next one's, with -dev.
const version = "0.1.0-dev"

// Version returns the version of the program and, where the build recorded it, the revision of its source.
func Version() (release, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value + revision
		case s.Key == "vcs.modified" && s.Value == "true":
			revision += "+changes"
		}
	}
	return version, revision
}
