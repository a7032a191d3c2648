package nn

import (
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
)

// Likelihood says how the network's outputs give the probability of a target: Categorical, Bernoulli or Gaussian.
type Likelihood interface {
	// String is the likelihood's name in a config.
	String() string

	// Classes is the number of classes that a network with that many outputs predicts, 0 for a regression.
	Classes(outputs int) int

	// Regression reports targets that are numbers.
	Regression() bool

	// Parameters are the names of the likelihood's own parameters, one number each, which are the last of θ.
	Parameters() []string

	// Noise is the standard deviation of a regression's targets for a θ with that last number. It is 0 for classes.
	Noise(last float64) float64

	// checkOutputs reports settings, or a number of outputs, that the likelihood cannot take.
	checkOutputs(outputs int) error

	// checkTargets reports a set without the targets that the likelihood needs.
	checkTargets(set *data.Set, outputs int) error

	// mismatch says which field of an Architecture does not suit the targets of a problem, and why; empty where all do.
	mismatch(p *data.Problem, outputs int) (field, message string)

	// loadTarget puts the target of example i of a set into a lane of the tile.
	loadTarget(t *tape, lane int, set *data.Set, i int)

	// logLik sets the log-likelihoods ll of group g for the outputs z of the particles of the pass, and the gradient dz of
	// the outputs unless it is nil.
	logLik(t *tape, g int, z, ll, dz []float32)

	// finish sets the gradient of the likelihood's own parameters for n examples, one particle's θ and the log-likelihood
	// ll that they add up to.
	finish(ll float64, theta, grad []float64, n, outputs int)
}

// Likelihoods lists the likelihoods by their names in a config. A likelihood is added by its file and a row here.
var Likelihoods = config.Table[Likelihood]{
	{Name: "categorical", Part: Categorical{}},
	{Name: "bernoulli", Part: Bernoulli{}},
	{Name: "gaussian", Part: Gaussian{}},
}

// loadTargets puts the targets of the tile's examples into its lanes.
func (m *Model) loadTargets(t *tape, rows []int32, first, n int) {
	for lane := range t.groups * lanes.Lanes {
		m.net.lik.loadTarget(t, lane, m.set, exampleAt(rows, first+min(lane, n-1)))
	}
}

// loss sets the log-likelihood of every lane and, if grad, the gradient of the outputs.
func (m *Model) loss(t *tape, grad bool) {
	p, k := t.prog, m.net.Outputs()
	for g := range t.groups {
		z := t.from(p.out, g, 0)[:t.batch*k*lanes.Lanes]
		ll := t.ll[g*p.batch*lanes.Lanes:][:t.batch*lanes.Lanes]
		var dz []float32
		if grad {
			dz = t.dyFrom(p.out, g, 0)[:len(z)]
		}
		m.net.lik.logLik(t, g, z, ll, dz)
		if grad && p.out.relu {
			lanes.ReLUBackward(z, dz, dz)
		}
		if grad && g == t.groups-1 && t.valid < lanes.Lanes {
			lanes.MaskLanes(dz, t.valid)
		}
	}
}
