package nn

import "github.com/starling-smc/starling/data"

// Likelihood says how the network's outputs give the probability of a target: Categorical, Bernoulli, Gaussian or Student.
type Likelihood interface {
	// String is the likelihood's title in sentences; its name in a config is Likelihoods.Name.
	String() string

	// Classes is the number of classes that a network with that many outputs predicts, 0 for a regression.
	Classes(outputs int) int

	// Regression reports targets that are numbers.
	Regression() bool

	// Parameters are the names of the likelihood's own parameters, one number each, which are the last of θ or, in a
	// network that is partly random, of ψ.
	Parameters() []string

	// Noise says where the standard deviation of a target value around its output comes from: GivenNoise, LearnedNoise or
	// PredictedNoise; empty for classes.
	Noise() string

	// Targets is the number of target values of an example that a network with that many outputs predicts, 0 for classes.
	Targets(outputs int) int

	// Predicts sets the means and scales of the target values of one example, for its outputs z and the likelihood's own parameters. There is
	// nothing to set for classes. df are the degrees of freedom of Student-t noise, the same for all examples; 0: the noise is normal, and
	// the scales are its standard deviations.
	Predicts(z []float32, own, mean, scale []float64) (df float64)

	// Guess is the mean NLL of training examples under a guess that does not look at the inputs: all classes with equal probability, or
	// each target value by the mean of all. Its standard deviation is that of the likelihood or, where that is learned, that of the values.
	Guess(train *data.Set) float64

	// scales is how many of the outputs, the last ones, are logarithms of standard deviations. A random network would have such outputs
	// of size 2 somewhere, so that the first step there is e⁴ times too long. So they begin at 0, wherever a start is no draw of the
	// prior that a sampler must have (Tensor.Zero).
	scales(outputs int) int

	// checkOutputs reports settings, or a number of outputs, that the likelihood cannot take.
	checkOutputs(outputs int) error

	// checkTargets reports a set without the targets that the likelihood needs.
	checkTargets(set *data.Set, outputs int) error

	// mismatch says which field of an Architecture does not suit the targets of a problem, and why; empty where all do.
	mismatch(p *data.Problem, outputs int) (field, message string)

	// loadTargets puts the targets of the tile's examples, which are of that set, into its lanes.
	loadTargets(t *tape, set *data.Set)

	// logLik sets the log-likelihoods ll of group g for the outputs z of the particles of the pass, and the gradient dz of
	// the outputs unless it is nil.
	logLik(t *tape, g int, z, ll, dz []float32)

	// summed reports own parameters whose gradient is a sum over examples, which logLik adds to. The gradients of others are set by finish.
	summed() bool

	// finish sets the gradient of the likelihood's own parameters for n examples, one particle's θ, or ψ, and the
	// log-likelihood ll that they add up to. theta and grad end with these parameters.
	finish(ll float64, theta, grad []float64, n, outputs int)
}

// Where the noise of numbers comes from.
const (
	GivenNoise     = "given"     // a number in the config
	LearnedNoise   = "learned"   // one parameter for all examples
	PredictedNoise = "predicted" // an output of the network, for each example
)

// lastLayer stands for the field of the last layer, which gives the outputs.
const lastLayer = "layers"
