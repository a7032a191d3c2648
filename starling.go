// Package starling is the front door: a Spec says what to learn and how, Fit learns it, a Result holds the weighted ensemble and
// its scores.
//
//	spec, err := starling.Preset("mnist7")
//	result, err := starling.Fit(ctx, spec, starling.Options{})
//	fmt.Println(*result.Metrics.Accuracy, result.Posterior.Size())
//
// Most programs need Preset or ParseSpec, Fit, and the ensemble's Predict. A program's own slices go into Spec.Data.Memory.
// TakeFolder gives Fit a folder to keep the run in, which OpenRun, the command and PyTorch read. The parts are packages of their
// own: data, nn, mcmc, smc, bnn, method, eval, uq.
//
// A Result depends on the Spec and the data alone, bit for bit: not on the number of threads, nor on which of the CPU's vector
// instructions are used.
package starling

import (
	"runtime/debug"
	"time"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/nn"
)

// Options are what a run may use, and who is told of it. They do not change the result.
type Options struct {
	Threads  int         // that compute at the same time; 0: one a CPU
	DataDir  string      // where data sets are looked for that are not built in
	Progress func(Event) // called now and then, never twice at the same time; nil: nobody is told

	Folder *Folder       // where the run is kept while it goes on, and resumed; nil: nowhere
	Every  time.Duration // between two states that are saved there; 0: 10 s
	Memory int64         // bytes: a run that will need more is refused; 0: it is not asked

	now func() time.Time // nil: the clock
}

// Event tells how far work is. Fit sends *Loaded once, *Progress many times, and *Notice where there is something to say.
type Event interface{ event() }

// Loaded says what a run is about to learn from, and with what.
type Loaded struct {
	Spec *Spec // resolved
	Data *data.Problem
	Net  *nn.Net
}

// Progress is how far a phase is, after a step of any of its parts.
type Progress struct{ method.Status }

// Notice is something that a person should know, in plain words.
type Notice struct{ Text string }

func (*Loaded) event()   {}
func (*Progress) event() {}
func (*Notice) event()   {}

// Result is what a run results in.
type Result struct {
	Spec Spec // resolved: with every default
	Net  *nn.Net
	Data *data.Problem

	eval.Ensembles
	*eval.Assessment // the ensembles' scores, and what the posterior predicts for each example

	Trace    []TraceLine // by island, then by iteration
	Findings []Finding   // what a reader should know beside the figures
	Manifest Manifest    // where the run comes from, and what it took
}

// Notes are the findings in plain words, without those that only pages show.
func (r *Result) Notes() []string { return notes(r.Findings) }

func notes(findings []Finding) (words []string) {
	for _, f := range findings {
		if !f.PageOnly() {
			words = append(words, f.Words())
		}
	}
	return words
}

// The parts of a Result and of the errors of Fit and OpenRun.
type (
	// TraceLine is one iteration of one island or chain.
	TraceLine = method.TraceLine
	// Finding is something that was found out about a run: its kind and numbers. Words puts it in words.
	Finding = finding.Finding
	// Manifest says where a run comes from. Its JSON is manifest.json.
	Manifest = runs.Manifest
	// Folder is the place of a run, for one process at a time.
	Folder = runs.Folder
	// ConfigError is what is wrong with a Spec: every fault on a line of its own with its place, which is file, line and column,
	// or the --set argument, or the field of a Spec built in Go.
	ConfigError = config.Error
	// NotDoneError is OpenRun's where no run is done: the folder is no run's, or the run was stopped or is at work.
	NotDoneError = runs.NotDoneError
	// OtherRunError is Fit's where the folder holds another run than is asked for: one of another config, version or data.
	OtherRunError = runs.OtherRunError
)

// DataError is a fault of the examples or of a run's files: one that is missing or malformed, or a set that the network cannot
// learn.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

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
