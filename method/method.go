// Package method holds the ways from data to a weighted ensemble of networks, one file a way: its settings and their checks, the
// memory that it takes, the parts that do the work, and the ensemble at the end.
//
//	MAP        map.go        the best of several descents, alone
//	Ensemble   ensemble.go   all of them, equally weighted: a deep ensemble
//	AsIs       asis.go       a trained network as it is
//	MCMC       mcmc.go       independent chains on the posterior
//	SMC        smc.go        islands of particles on a path of targets
//
// The table Methods lists them. A method does not run: it makes phases of parts, which internal/runs carries out and keeps, and
// gathers what they ended with (Job.Do). Chains and islands are one kind of part (island.go), descents another (restart.go).
package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// Method is a way from data to an ensemble: a plain value whose fields are its settings.
type Method interface {
	// Title describes the method for people: "8 chains of HMC (80 leapfrogs), 1,600 epochs each".
	Title() string

	// Complete fills in what a config leaves out.
	Complete(around Around) Method

	// CheckWithin refuses settings that do not go with one another or with those around the method. Fields are named from the
	// config's root; at is the method's own place: "method.smc". Check (config.Checker) refuses what a setting alone cannot be.
	CheckWithin(around Around, at string, f *config.Faults)

	// CheckData refuses settings that do not suit the number of training examples; at is as in CheckWithin.
	CheckData(examples int, at string, f *config.Faults)

	// Needs says what must be there before the method begins.
	Needs() Needs

	// Sampling describes the sampler for reports and progress; nil where nothing is sampled.
	Sampling() *Sampling

	// Memory estimates what a run of the method takes.
	Memory(job *Job) Memory

	// Phases lists the work. Each phase begins when the one before has ended.
	Phases(job *Job) ([]runs.Phase, error)

	// Gather makes the ensemble of what the parts of the phases ended with, and says what a reader should know of it and of the
	// trace.
	Gather(job *Job, phases []runs.Phase, trace []TraceLine) (*bnn.Ensemble, []finding.Finding, error)
}

// Needs is what must be there before a method begins.
type Needs struct {
	Search   bool // point estimates: the search for them
	Restarts int  // that the search must make at least; 0: as many as it is set to
	Init     bool // a trained network, model.init
	Prior    bool // a prior to sample from
	Whole    bool // all examples: nothing is held out for validation or test
}

// Around is the part of the settings around a method that its defaults and checks depend on.
type Around struct {
	Init   bool // there is a trained network, model.init
	Prior  bnn.PriorSettings
	Search *Search // nil: no search for point estimates
}

// Memory is an estimate of the most bytes that a run of a method has in use at the same time.
type Memory struct {
	Bytes  int64
	Scales []Scale // settings that would make it smaller, most important first
}

// Scale is a setting that memory grows with.
type Scale struct {
	Field string             // of the method, in a config
	Now   int                // its value
	Bytes func(n int) int64  // that the method would take with n
	Fits  func(n int) string // says that n would fit
}
