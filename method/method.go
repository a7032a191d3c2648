// Package method holds the methods that make a weighted ensemble of networks from data. Each has one file with its settings
// and their checks, the memory that it needs, the parts that do the work, and the ensemble at the end.
//
//	MAP        map.go        the best of several descents, alone
//	Ensemble   ensemble.go   all of them, equally weighted: a deep ensemble
//	SWA        swa.go        the mean of snapshots of SGD
//	SWAG       swag.go       draws from a Gaussian fitted to them
//	Dropout    dropout.go    the best descent, with the masks of Monte Carlo dropout
//	Laplace    laplace.go    draws from a Gaussian whose curvature is that of the posterior at one network
//	VI         vi.go         draws from a Gaussian that variational inference fits to the posterior
//	AsIs       asis.go       a trained network as it is
//	MCMC       mcmc.go       independent chains on the posterior
//	SMC        smc.go        islands of particles on a path of targets
//
// The table Methods lists them. A method makes phases of parts and gathers their final states (Job.Do); internal/runs carries the
// parts out and keeps them. Chains and islands are one kind of part (island.go), descents another
// (restart.go), trajectories whose snapshots are averaged a third (average.go), a variational approximation a fourth
// (variational.go), and a curvature a fifth (laplace_curvature.go).
package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// Method makes an ensemble from data. It is a plain value whose fields are its settings.
type Method interface {
	// Title describes the method in words: "8 chains of HMC (80 leapfrogs), 1,600 epochs each".
	Title() string

	// Settle returns the method with the defaults that depend on the settings around it. It notes settings that contradict each other or
	// those around, before the defaults are filled in. Fields are named from the config's root. Check (config.Checker) refuses settings that are
	// wrong by themselves.
	Settle(around Around, f *config.Faults) Method

	// Needs lists what the method needs before it begins.
	Needs() Needs

	// Sampling describes the sampler for reports and progress; nil where nothing is sampled.
	Sampling() *Sampling

	// Memory estimates the memory of a run of the method.
	Memory(job *Job) Memory

	// Phases lists the work. Each phase begins when the one before has ended.
	Phases(job *Job) ([]runs.Phase, error)

	// Gather makes the ensemble from the final states of the phases' parts, and returns findings about the ensemble and the
	// trace.
	Gather(job *Job, phases []runs.Phase, trace []TraceLine) (*bnn.Ensemble, []finding.Finding, error)
}

// Sized is a Method with settings that depend on the data and the network.
type Sized interface {
	// SettleWith returns the method with the defaults that depend on these sizes. It notes settings that do not suit the sizes, and
	// settings that contradict the values which it filled in. Fields are named from the config's root.
	SettleWith(around Around, s Sizes, f *config.Faults) Method
}

// Choosy is a Method that is not for every network. CheckNet notes why it is not for one. Fields are named from the config's root.
type Choosy interface {
	CheckNet(net *nn.Net, f *config.Faults)
}

// Randomly is a Method with a say in which layers are random. Random is what model.random must be; nil: anything.
type Randomly interface {
	Random() nn.Random
}

// Sizes are those of the data and the network.
type Sizes struct {
	Examples   int     // to train on
	Parameters int     // that are random: D
	Operations float64 // in floating point, of the log-likelihood of all training examples and its gradient, at one network
}

// Needs lists what a method needs before it begins.
type Needs struct {
	Search    bool // point estimates: the search for them
	Restarts  int  // the least number of restarts of the search; 0: any
	Islands   int  // what it can do: islands, of which each may have a prior of its own; 0: it makes one posterior
	Init      bool // a trained network, model.init
	Prior     bool // a prior of the parameters
	Posterior bool // the posterior, whose prior may be anchored: the ensemble is drawn from it
	Whole     bool // all examples: nothing is held out for validation or test
	Dropout   bool // a network with dropout layers
	Partly    bool // what it can do, not what it needs: ensembles of networks that are partly random
	Augments  bool // what its moves can do: take gradients of augmented images. The descents of a search can
	Frozen    bool // what it makes of layers that are not random: they stay as they were trained, the same for all particles
	Point     bool // a trained network: model.init or, without it, a search
	Single    bool // what it makes: one network, which has no epistemic doubt
}

// Augmented reports whether gradients may be those of augmented images: a method's moves say that they can, or all of them are a search's.
func (n Needs) Augmented() bool { return n.Augments || n.Search && !n.Posterior }

// fromDraws is a method that may begin at draws of the prior alone.
type fromDraws interface{ drawn() bool }

// Drawn reports whether a method begins at draws of the prior.
func Drawn(m Method) bool {
	d, ok := m.(fromDraws)
	return ok && d.drawn()
}

// Around is the part of the settings around a method that its defaults and checks depend on.
type Around struct {
	Init   bool // there is a trained network, model.init
	Partly bool // a part of the network is random, and particles share the rest: model.random
	Judged bool // there are validation examples
	Prior  bnn.PriorSettings
	Search *Search // nil: no search for point estimates
}

// Memory estimates the largest number of bytes that a run of a method has in use at the same time.
type Memory struct {
	Bytes  int64
	Scales []Scale // settings that would lower the estimate, most important first

	// Disk is the number of bytes of states that are kept in files, of which a finished run has one copy, and one that is about to finish two.
	// They are of so many iterations (Kept). Field is the path of the setting that they are due to. Saved are the bytes of a checkpoint: while
	// one is written, there are three. If is what Disk and Saved would be with states of another number of iterations. Short is what Disk would
	// be with bfloat16.
	Disk, Saved int64
	Short       int64
	Kept        int
	If          func(kept int) (disk, saved int64)
	Field       string
}

// Scale is a setting that memory grows with.
type Scale struct {
	Field string             // its path in a config
	Now   int                // its value
	Bytes func(n int) int64  // the estimate if the setting were n
	Takes func(n int) bool   // whether n is a value that the method takes; nil: any from 1
	Fits  func(n int) string // the sentence that says that n would fit
}
