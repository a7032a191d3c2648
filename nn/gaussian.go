package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Gaussian is Σ_k log N(y_k; output_k, SD²). SD is a number above 0, or Learned: then log σ is one more parameter, the
// last of θ, in a tensor named log_sd.
type Gaussian struct {
	SD float64 `yaml:"sd" words:"learned=-1"`
}

// Learned is the SD of a Gaussian whose standard deviation is a parameter.
const Learned = -1

// halfLog2Pi is ½ log 2π.
const halfLog2Pi = 0.91893853320467274178032973640562

// Check implements config.Checker.
func (l Gaussian) Check(f *config.Faults) {
	f.If(l.SD != Learned && !(l.SD > 0), "", "want an sd above 0, or learned")
}

// Examples implements config.Exampler.
func (Gaussian) Examples() []string { return []string{"{sd: 1}", "{sd: learned}"} }

// String implements Likelihood.
func (Gaussian) String() string { return "gaussian" }

// Classes implements Likelihood.
func (Gaussian) Classes(int) int { return 0 }

// Regression implements Likelihood.
func (Gaussian) Regression() bool { return true }

// Parameters implements Likelihood.
func (l Gaussian) Parameters() []string {
	if l.SD == Learned {
		return []string{"log_sd"}
	}
	return nil
}

// Noise implements Likelihood: SD or, if that is learned, e to the last parameter.
func (l Gaussian) Noise(last float64) float64 {
	if l.SD == Learned {
		return rng.Exp(last)
	}
	return l.SD
}

func (l Gaussian) checkOutputs(int) error {
	if l.SD == Learned {
		return nil
	}
	if prec := float32(1 / (l.SD * l.SD)); !(l.SD > 0) || prec == 0 || math.IsInf(float64(prec), 1) {
		return fmt.Errorf("gaussian likelihood needs a positive sd whose 1/sd² is a float32, has %v", l.SD)
	}
	return nil
}

func (Gaussian) checkTargets(set *data.Set, outputs int) error {
	if set.Values == nil || set.Outputs != outputs {
		return fmt.Errorf("data set %q has %d target values an example, the network %d outputs", set.Name, set.Outputs, outputs)
	}
	return nil
}

func (Gaussian) mismatch(p *data.Problem, outputs int) (field, message string) {
	switch set := p.Train; {
	case set.Values == nil:
		return "likelihood", fmt.Sprintf("gaussian predicts numbers, %s has classes: want categorical", p.Name)
	case set.Outputs != outputs:
		return lastLayer, fmt.Sprintf("%s has %d target values an example, the network %d outputs", p.Name, set.Outputs, outputs)
	}
	return "", ""
}

func (Gaussian) loadTargets(t *tape, set *data.Set) {
	k := set.Outputs
	for lane, i := range t.examples[:t.groups*lanes.Lanes] {
		to := t.target[lane/lanes.Lanes*k*lanes.Lanes+lane%lanes.Lanes:]
		for o, y := range set.Values[i*k : (i+1)*k] {
			to[o*lanes.Lanes] = y
		}
	}
}

func (l Gaussian) logLik(t *tape, g int, z, ll, dz []float32) {
	k := t.prog.outputs
	n := k * lanes.Lanes
	for b := range t.batch {
		prec, norm := l.precision(t, b)
		var d []float32
		if dz != nil {
			d = dz[b*n:][:n]
		}
		lanes.Gaussian(z[b*n:][:n], t.target[g*n:][:n], k, prec, norm, ll[b*lanes.Lanes:][:lanes.Lanes], d)
	}
}

// precision is 1/σ² and the log of the normal density's factor for particle b of the pass.
func (l Gaussian) precision(t *tape, b int) (prec, norm float32) {
	if l.SD != Learned {
		return float32(1 / (l.SD * l.SD)), float32(-halfLog2Pi - rng.Log(l.SD))
	}
	logSD := float64(t.weights(t.prog.likelihood, b)[0])
	return float32(rng.Exp(-2 * logSD)), float32(-halfLog2Pi - logSD)
}

// finish sets the gradient of a learned log σ, for n examples of k outputs:
//
//	∂/∂log σ = Σ r²/σ² − n k
//
// The sum of squares is computed from the log-likelihood.
func (l Gaussian) finish(ll float64, theta, grad []float64, n, outputs int) {
	if l.SD != Learned {
		return
	}
	last := len(theta) - 1
	values := float64(n * outputs)
	norm := float64(float32(-halfLog2Pi - float64(float32(theta[last]))))
	grad[last] = -2*(ll-float64(values*norm)) - values
}
