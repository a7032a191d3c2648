// Package starling trains Bayesian neural networks. A Spec says what to learn and how, Fit carries it out, and a Result holds
// the weighted ensemble and its scores.
//
//	spec, err := starling.Preset("mnist7")
//	result, err := starling.Fit(ctx, spec, starling.Options{})
//	fmt.Println(*result.Metrics.Accuracy, result.Posterior.Size())
//
// Most programs need Preset or ParseSpec, Fit, and the ensemble's Predict. A program's own slices go into Spec.Data.Memory.
// TakeFolder makes a folder in which Fit saves the run; OpenRun, the command and PyTorch read it. The parts are packages of
// their own: data, nn, mcmc, smc, bnn, method, eval, uq.
//
// A Result depends on the Spec and the data alone, bit for bit. It does not depend on the number of threads or on the CPU's
// vector instructions.
package starling

import (
	"runtime/debug"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/spec"
)

// SaveEvery is the interval between saved states where Options give none.
const SaveEvery = runs.SaveEvery

// Options are the resources, the folder and the progress callback of a run. They do not change the result.
type Options struct {
	Threads  int         // number of threads that compute; 0: one for each CPU
	DataDir  string      // the folder of data sets that are not built in
	Progress func(Event) // called with each event, one call at a time; nil: no events

	Folder *Folder       // where the run is saved and resumed from; nil: nowhere
	Every  time.Duration // interval between saved states; 0: SaveEvery
	Memory int64         // limit in bytes: a run that will need more is refused; 0: no limit

	// Cluster has workers carry out the parts of the run (Work), on whatever machines they are; nil: this process does. When ctx ends, they
	// are asked to stop; what they have done stays in the cluster's store, and a run that is resumed goes on from it.
	Cluster *cluster.Cluster

	from *string                                 // of the manifest; nil: whence says it
	now  func() time.Time                        // nil: the clock
	free func(dir string) (bytes int64, ok bool) // of a folder's disk; nil: as the system says
}

// Event reports the progress of a run. Fit sends *Loaded once, *Progress many times, *Notice for messages, and *Submitted where others carry it out. Run.Calibrate sends *Calibrated.
type Event interface{ event() }

// Loaded reports the data and the network of a run before the work begins.
type Loaded struct {
	Spec *Spec // resolved
	Data *data.Problem
	Net  *nn.Net
}

// Progress is the progress of a phase, after a step of any of its parts.
type Progress struct{ method.Status }

// Submitted is how the server of Options.Cluster knows a run.
type Submitted struct{ Run cluster.Sum }

// Calibrated is how a decision does on examples that taught it, before it is kept.
type Calibrated struct {
	Part     string // calibration or, without such examples, validation
	Examples int
	Does     *eval.Metrics
}

// Notice is a message for the user.
type Notice struct {
	Text string
	Of   *Finding // that the message tells; nil: it is of no finding
}

func (*Loaded) event()     {}
func (*Progress) event()   {}
func (*Calibrated) event() {}
func (*Notice) event()     {}
func (*Submitted) event()  {}

// Result is the result of a run.
type Result struct {
	Spec Spec // resolved: with every default
	Net  *nn.Net
	Data *data.Problem

	eval.Ensembles
	*eval.Assessment // the ensembles' scores, and the posterior's prediction for each example

	Trace    []TraceLine // by island, then by iteration, of islands that were not lost
	Courses  []Course    // of the MAP restarts; nil if there were none
	Findings []Finding   // diagnoses and warnings
	Manifest Manifest    // version, machine, data checksums and seconds of the run
}

// Notes returns the findings in plain words, without those that only pages show.
func (r *Result) Notes() []string { return notes(r.Findings) }

func notes(findings []Finding) (words []string) {
	for _, f := range findings {
		if !f.PageOnly() {
			words = append(words, f.Words())
		}
	}
	return words
}

// The types of a Result's fields, and of the errors of Fit and OpenRun.
type (
	// TraceLine is one iteration of one island or chain.
	TraceLine = method.TraceLine
	// Course is the NLL of a MAP restart, epoch by epoch.
	Course = method.Course
	// Finding is a diagnosis or warning about a run; its method Words returns it in words.
	Finding = finding.Finding
	// Manifest is what manifest.json holds: the version, the machine, the data and the times of a run.
	Manifest = runs.Manifest
	// Folder is a run's folder, taken by this process.
	Folder = runs.Folder
	// Verification is what VerifyRun finds about a run's files.
	Verification = runs.Verification
	// ConfigError lists the faults of a Spec, each with its place in the config.
	ConfigError = config.Error
	// DataError is a fault of the examples or of a run's files: a file is missing or malformed, or the network cannot learn the
	// examples.
	DataError = spec.DataError
	// NotDoneError is OpenRun's error where there is no finished run.
	NotDoneError = runs.NotDoneError
	// OtherRunError is Fit's error where the folder holds a different run: one of another config, version or data.
	OtherRunError = runs.OtherRunError
)

// version is the release; between releases, the next release with -dev.
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
