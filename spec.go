package starling

import "github.com/starling-smc/starling/nn"

// Spec says all that a run depends on beside the examples themselves. It is what a config file holds (same names,
// same nesting) and may as well be built in Go. A zero field means its default; ParseSpec, Preset and Fit fill the
// defaults in, so that Result.Spec and a run's config.yaml show every one.
type Spec struct {
	Name   string `yaml:"name"`            // of the run; default: run
	Seed   uint64 `yaml:"seed"`            // of everything random but the data; default 0
	Data   Data   `yaml:"data"`            // what is learnt from
	Model  Model  `yaml:"model"`           // the network
	Prior  Prior  `yaml:"prior,omitempty"` // of the network's parameters; none for a network as it is
	MAP    *MAP   `yaml:"map,omitempty"`   // point estimates; nil: none, unless the prior or the method needs them
	Method Method `yaml:"method"`          // how the posterior is sampled

	from *origin // of a Spec that ParseSpec read: where its fields were written
}

// Data names the examples, exactly one of a built-in or downloaded Set, the user's own CSV, and the user's own arrays,
// of which Train is required. A part that is missing is a tenth of the training examples, drawn by the seed. File
// names are relative to the working directory.
type Data struct {
	Set      string  `yaml:"set,omitempty"`
	CSV      *CSV    `yaml:"csv,omitempty"`
	Train    *Arrays `yaml:"train,omitempty"`
	Validate *Arrays `yaml:"validate,omitempty"`
	Test     *Arrays `yaml:"test,omitempty"`
	Groups   Groups  `yaml:"groups,omitempty"` // foreign inputs, on which a network should doubt
	Whole    bool    `yaml:"whole,omitempty"`  // no part that is missing is held out of the training examples

	// Standardise is none, inputs or both: mean 0 and sd 1 over the training examples; both is inputs and targets of a
	// regression, whose predictions and scores come back in the target's units; a likelihood's sd is then a share of the
	// target's. Default: for a table inputs, or both for a regression; else none.
	Standardise string `yaml:"standardise,omitempty"`
}

// CSV is a table with one column to predict; all others that are not dropped are inputs.
type CSV struct {
	File      string `yaml:"file"`
	Target    string `yaml:"target"`              // name of a column, or its number from 1 where there is no header
	Delimiter string `yaml:"delimiter,omitempty"` // one character, or whitespace; default: guessed
	Header    *bool  `yaml:"header,omitempty"`    // whether the first line names the columns; default: guessed

	// Drop are columns that are left out, by name, or by number from 1 where there is no header; they may hold any text.
	Drop []string `yaml:"drop,omitempty"`
}

// Arrays are two files, NPY or IDX: inputs [examples, features], [examples, height, width] or [examples, channels,
// height, width], and targets [examples], or for a regression of k outputs [examples, k].
type Arrays struct {
	Inputs  string `yaml:"inputs"`
	Targets string `yaml:"targets"`
}

// Groups are named files of inputs; {noise: noise.npy} in a config.
type Groups []Group

// Group is one of them.
type Group struct{ Name, File string }

// Model is a network and the likelihood of its outputs.
type Model struct {
	Input      []int         `yaml:"input,omitempty"` // [features] or [channels, height, width]; default: that of the data
	Layers     []nn.Layer    `yaml:"layers"`          // in order; the last gives the outputs
	Init       string        `yaml:"init,omitempty"`  // .safetensors file of a trained network's weights to go out from; default: none
	Likelihood nn.Likelihood `yaml:"likelihood"`      // no default
}

// Prior is the distribution of the parameters before any example was seen.
type Prior struct {
	Normal Normal  `yaml:"normal"`
	Anchor *Anchor `yaml:"anchor,omitempty"`
}

// Normal is independent normal with mean 0: either of one Variance, or of variance FanIn/fan_in, a layer at a time.
type Normal struct {
	Variance float64 `yaml:"variance,omitempty"`
	FanIn    float64 `yaml:"fan_in,omitempty"`
}

// Anchor shrinks the prior by s in [0, 1]: mean at the best MAP restart by validation NLL for s < 1/2 and 0 for
// s ≥ 1/2, variance s times the Normal's (scalable Bayesian Monte Carlo, eq. 2). S = 0 is the MAP itself.
type Anchor struct {
	S float64 `yaml:"s"`
}

// MAP is gradient descent from draws of the prior that stops early, by the validation examples: where scalable Bayesian
// Monte Carlo (Algorithm 1) gets its anchor from.
type MAP struct {
	Restarts int     `yaml:"restarts"` // default 8, or one for each chain that starts from one
	Rate     float64 `yaml:"rate"`     // learning rate on the mean over a batch; default 0.03
	Batch    int     `yaml:"batch"`    // examples; default 64
	Epochs   int     `yaml:"epochs"`   // at most; default 300. Without validation examples, Data.Whole, all are made: default 5

	// Patience is epochs without a better validation NLL; default 20. Without validation examples there is none: the last
	// state of a restart is its result, and the best is that of highest posterior density.
	Patience int `yaml:"patience,omitempty"`
}

// Method is exactly one way to sample or, as-is in a config, none: the network of Model.Init is judged as it is, an
// ensemble of one.
type Method struct {
	MCMC *MCMC
	SMC  *SMC
	AsIs bool
}

// MCMC is independent chains on the posterior (the sampler's loop with a fixed target and no resampling).
type MCMC struct {
	Chains int    `yaml:"chains"` // default 8
	Start  string `yaml:"start"`  // map: chain c from restart c; prior: from a draw; init: from Model.Init. Default: map, or init where that is given and no map
	Epochs int    `yaml:"epochs"` // full-batch gradients of a chain; default 1600
	Keep   Keep   `yaml:"keep"`   // states of all chains together; default 10 a chain, as far as there are moves
	Move   Move   `yaml:"move"`
}

// Keep is the number of states kept from all chains together, spread evenly over the second half of each, or KeepLast.
type Keep int

// KeepLast keeps the final state of each chain; "last" in a config.
const KeepLast Keep = -1

// SMC is independent islands of particles on a path of targets from prior to posterior.
type SMC struct {
	Particles int      `yaml:"particles"` // of an island; default 10
	Islands   int      `yaml:"islands"`   // default 1
	Combine   string   `yaml:"combine"`   // equal (default) or evidence: how islands are weighed in what is shown and saved
	Path      Path     `yaml:"path"`
	Move      Move     `yaml:"move"`
	Resample  Resample `yaml:"resample"`

	// Start is where particles begin, for paths of batches (data-annealing-smc, section 3.7): prior (default), draws
	// weighted by the likelihood of the first batch; tempered, the same led there by adaptive tempering; map, all at the
	// best MAP restart; sgd, each at the end of a MAP restart of its own; init, all at Model.Init, the default where that
	// is given and neither anchor nor map.
	Start string `yaml:"start,omitempty"`
	// Weight of moves without accept or reject: momentum (default), or literal, as eq. 12 is printed, for comparison only
	// (data-annealing-smc, section 5, A3).
	Weight string `yaml:"weight,omitempty"`
}

// Path is exactly one way from prior to posterior: tempering (default), or batches of examples by one of the schedules of
// data annealing.
type Path struct {
	Tempering *Tempering `yaml:"tempering,omitempty"`
	Constant  *Schedule  `yaml:"constant,omitempty"`  // a fresh batch every iteration
	Full      *Schedule  `yaml:"full,omitempty"`      // all examples
	CTR       *Schedule  `yaml:"ctr,omitempty"`       // constant to refine: fresh batches, all examples in the last tenth
	Linear    *Schedule  `yaml:"linear,omitempty"`    // a batch that grows by Grow every iteration
	Automated *Schedule  `yaml:"automated,omitempty"` // a batch that grows as fast as it must to be whole at nine tenths
	SDA       *Schedule  `yaml:"sda,omitempty"`       // smooth data annealing: blocks whose power rises with the entropy
}

// Schedule says how many iterations see how many examples.
type Schedule struct {
	Iterations int  `yaml:"iterations"`      // default 200
	Batch      int  `yaml:"batch,omitempty"` // examples of the first batch; default 500; not for full
	Grow       int  `yaml:"grow,omitempty"`  // examples of a block that is added; default Batch; for linear, automated and sda
	Exact      bool `yaml:"exact,omitempty"` // raise a block's power by the exact derivative of the entropy; for sda
	Scale      bool `yaml:"scale,omitempty"` // let the examples that have come in stand for all, as the other schedules do; for sda
}

// Tempering raises the likelihood to a power that grows from 0 to 1, each time as far as ESS allows.
type Tempering struct {
	ESS float64 `yaml:"ess"` // effective sample size to keep, a share of the particles; default 0.5
}

// Move is exactly one way to travel.
type Move struct {
	HMC      *HMC      `yaml:"hmc,omitempty"`
	PCN      *PCN      `yaml:"pcn,omitempty"`
	Leapfrog *Leapfrog `yaml:"leapfrog,omitempty"` // SMC only
}

// Leapfrog is Hamiltonian dynamics without accept or reject, whose errors the weights take up (data-annealing-smc,
// section 3.2). One step is Langevin dynamics.
type Leapfrog struct {
	Steps    int       `yaml:"steps"` // leapfrogs a move; default 3
	Step     float64   `yaml:"step"`  // size; no default
	Gradient *Gradient `yaml:"gradient,omitempty"`
}

// Gradient makes gradients cheaper than weights: all of a trajectory are those of one mini-batch, scaled, while the weight
// is exact.
type Gradient struct {
	Batch int `yaml:"batch"` // examples
}

// HMC is Hamiltonian Monte Carlo with accept or reject.
type HMC struct {
	Steps     int       `yaml:"steps"`               // leapfrogs; default 1, for chains 80
	Step      Step      `yaml:"step"`                // default: adapted to Accept
	Accept    float64   `yaml:"accept,omitempty"`    // acceptance that an adapted step aims at; default 0.574 for one leapfrog, else 0.65, for chains 0.75
	Jitter    *float64  `yaml:"jitter"`              // every move's step is drawn uniformly from ±this share; default 0, for chains of more than one leapfrog 0.2
	Mutations Mutations `yaml:"mutations,omitempty"` // of a stage; SMC only
}

// PCN is the preconditioned Crank–Nicolson random walk.
type PCN struct {
	Step      Step      `yaml:"step"`             // b in (0, 1]; default: adapted to Accept
	Accept    float64   `yaml:"accept,omitempty"` // default 0.25
	Mutations Mutations `yaml:"mutations,omitempty"`
}

// Step is a fixed step size, or 0 for one that is adapted ("adapted" in a config).
type Step float64

// Mutations is how often a particle moves between two reweightings: N times, or, where N is 0, until its displacement
// grows by less than the share Eta from one to the next, at most Max times (default eta 0.05, max 50).
type Mutations struct {
	N   int     `yaml:"n"`
	Eta float64 `yaml:"eta"`
	Max int     `yaml:"max"`
}

// Resample says how the fit multiply, and when.
type Resample struct {
	Scheme string `yaml:"scheme"` // multinomial (default), systematic, stratified or residual
	When   When   `yaml:"when"`   // default: always
}

// When is the condition to resample: "always", "never", or an effective sample size below the share ESS of the particles.
type When struct {
	Rule string
	ESS  float64
}
