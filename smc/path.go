package smc

// Targets answers which target comes next. It is a plain value: what it needs to know is in the State. A program's own path
// needs to be no more than that.
//
// A path may say more about itself. A sampler asks for these methods and does not insist:
//
//	Remember(st *State) []int           what to keep in State.Memory, after every iteration: numbers of iterations, at most st.K
//	Share() float64                     as in Path
//	SuitsWeighting(w Weigher) error     why a weighting cannot go with it
type Targets interface {
	// Start is the target of the first particles, for n examples, and whether draws from the prior are to be weighted
	// for it; if not, their distribution does not matter, as with chains. Particles are evaluated on it.
	Start(n int) (stage Stage, weigh bool)
	// Next is the target of the iteration after st.
	Next(st *State) (Stage, error)
	// Done says whether st is the end.
	Done(st *State) bool
	// Progress is the share of the path that st has behind it, 0…1.
	Progress(st *State) float64
	// Budget is the number of examples that moves may evaluate for a particle in the whole run; 0: no such limit.
	Budget(st *State) int
	// AnnealsIn says whether examples are annealed in (Stage.Annealed): particles then carry their contribution.
	AnnealsIn() bool
}

// Path is one of the table Paths: it also answers what methods, configs and reports ask of it.
type Path interface {
	Targets

	// String is the title, as in "data annealing (linear)".
	String() string

	// Batches says whether targets see batches of examples. Particles may then start anywhere, and a TemperedStart may lead
	// them to the first target.
	Batches() bool

	// Evidence is what the log-evidence at the end is an estimate of.
	Evidence() Evidence

	// Share is the share of the particles that an adaptive step leaves effective; 0 if the path has no such steps.
	Share() float64

	// Resampling is when to resample, unless somebody says otherwise.
	Resampling() Occasion

	// Power is λ as people read it, without the factor that scales the likelihood of annealed examples to all n.
	Power(info Info, n int) float64

	// Curves are what a report draws of the path, beside what it draws of every sampler; n is the number of examples.
	Curves(n int) []Curve

	// Work is what an island has done and what it has to do in all, in any unit, at an iteration; first is λ of its first
	// iteration, n the number of examples.
	Work(info Info, first float64, n int) (done, all float64)
}

// Evidence tells what the log-evidence at the end of a path is an estimate of. Weights follow the targets: their product
// leaves the normaliser of the last one. Where the last target is the posterior of all examples this is the model's evidence.
type Evidence struct {
	Every  bool // every target is the posterior of all examples
	Sure   bool // the last target is, whatever the data: evidences of islands compare
	Batch  int  // if positive, the last target sees a batch of so many examples and no more
	Scaled bool // likelihoods of batches are scaled to all examples
}
