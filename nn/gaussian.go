package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Gaussian is Σ_k log N(y_k; output_k, SD²). SD is a number above 0, or Learned: then log σ is one more parameter,
// the last of θ or, in a network that is partly random, of ψ, in a tensor named log_sd. With Predicted each target value has a second
// output, its own log σ.
type Gaussian struct {
	SD    float64 `yaml:"sd" words:"learned=-1,predicted=-2"` // standard deviation of the targets around the outputs, as the network learns them: a number, one learned parameter, or a second output of each
	Floor float64 `yaml:"floor,omitempty"`                    // no predicted sd is below it: a share of the targets' sd where they are standardised. Without it, only the bound 1e-6 of the output itself holds
}

// Learned is the SD of a Gaussian whose standard deviation is a parameter.
const Learned = -1

// halfLog2Pi is ½ log 2π.
const halfLog2Pi = 0.91893853320467274178032973640562

// Check implements config.Checker.
func (l Gaussian) Check(f *config.Faults) {
	f.If(l.SD != Learned && l.SD != Predicted && !(l.SD > 0), "", "want an sd above 0, learned or predicted")
	checkFloor(l.Floor, l.SD == Predicted, f)
}

// Examples implements config.Exampler.
func (Gaussian) Examples() []string {
	return []string{"{sd: 1}", "{sd: learned}", "{sd: predicted}"}
}

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

// Noise implements Likelihood.
func (l Gaussian) Noise() string {
	switch l.SD {
	case Learned:
		return LearnedNoise
	case Predicted:
		return PredictedNoise
	}
	return GivenNoise
}

// Targets implements Likelihood.
func (l Gaussian) Targets(outputs int) int {
	if l.SD == Predicted {
		return outputs / 2
	}
	return outputs
}

// Predicts implements Likelihood: the standard deviation is SD or, if that is learned, e to the last parameter.
func (l Gaussian) Predicts(z []float32, own, mean, sd []float64) float64 {
	if l.SD == Predicted {
		predictedNormals(z, l.Floor, mean, sd)
		return 0
	}
	noise := l.SD
	if l.SD == Learned {
		noise = rng.Exp(own[len(own)-1])
	}
	for k, m := range z {
		mean[k], sd[k] = float64(m), noise
	}
	return 0
}

// Guess implements Likelihood. It is NaN if the standard deviation is learned and all values are equal: nothing is better than such a guess.
func (l Gaussian) Guess(train *data.Set) (nll float64) {
	n := float64(train.Len())
	for k := range train.Outputs {
		mean, square := 0.0, 0.0
		for i := k; i < len(train.Values); i += train.Outputs {
			mean += float64(train.Values[i]) / n
		}
		for i := k; i < len(train.Values); i += train.Outputs {
			d := float64(train.Values[i]) - mean
			square += float64(d*d) / n
		}
		noise := l.SD * l.SD
		if l.SD == Learned || l.SD == Predicted {
			noise = square
		}
		nll += halfLog2Pi + float64(0.5*rng.Log(noise)) + 0.5*square/noise
	}
	return nll
}

func (Gaussian) summed() bool { return false }

func (l Gaussian) scales(outputs int) int {
	if l.SD == Predicted {
		return outputs / 2
	}
	return 0
}

func (l Gaussian) checkOutputs(outputs int) error {
	switch l.SD {
	case Learned:
		return nil
	case Predicted:
		return evenOutputs(outputs)
	}
	if prec := float32(1 / (l.SD * l.SD)); !(l.SD > 0) || prec == 0 || math.IsInf(float64(prec), 1) {
		return fmt.Errorf("gaussian likelihood needs a positive sd whose 1/sd² is a float32, has %v", l.SD)
	}
	return nil
}

func (l Gaussian) checkTargets(set *data.Set, outputs int) error {
	if set.Values == nil || set.Outputs != l.Targets(outputs) {
		return fmt.Errorf("data set %q has %d target values an example, the network %s", set.Name, set.Outputs, l.wrong(set, outputs))
	}
	return nil
}

func (l Gaussian) mismatch(p *data.Problem, outputs int) (field, message string) {
	switch set := p.Train; {
	case set.Values == nil:
		return "likelihood", fmt.Sprintf("gaussian predicts numbers, %s has classes: want categorical", p.Name)
	case set.Outputs != l.Targets(outputs):
		return lastLayer, fmt.Sprintf("%s has %d target values an example, the network %s", p.Name, set.Outputs, l.wrong(set, outputs))
	}
	return "", ""
}

// wrong describes a number of outputs that does not suit the targets of a set.
func (l Gaussian) wrong(set *data.Set, outputs int) string {
	if l.SD == Predicted {
		return fmt.Sprintf("%d outputs: sd: predicted takes two for each value, want %d", outputs, 2*set.Outputs)
	}
	return fmt.Sprintf("%d outputs", outputs)
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
		var d []float32
		if dz != nil {
			d = dz[b*n:][:n]
		}
		of, sums := z[b*n:][:n], ll[b*lanes.Lanes:][:lanes.Lanes]
		if l.SD == Predicted {
			lanes.PredictedNormal(of, t.target[g*n/2:][:n/2], l.Floor, sums, d)
			continue
		}
		prec, norm := l.precision(t, b)
		lanes.Gaussian(of, t.target[g*n:][:n], k, prec, norm, sums, d)
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
	grad[last] = float64(-2*(ll-float64(values*norm))) - values
}

func (Gaussian) roots(outputs int) int { return outputs }

// root implements informed. The Hessian is 1/σ² for a mean. That of a predicted log σ is 2 r²/σ² (times the square of its factor, with a floor),
// and 2 r/σ² between the two, where r = y − m; their means over y are 2 and 0. So the columns are 1/σ and √2, one for each output.
func (l Gaussian) root(t *tape, c int, z, dz []float32) {
	clear(dz)
	to, k := dz[c*lanes.Lanes:][:lanes.Lanes], len(dz)/lanes.Lanes
	if l.SD != Predicted {
		prec, _ := l.precision(t, 0)
		for e := range to {
			to[e] = float32(math.Sqrt(float64(prec)))
		}
		return
	}
	for e := range to {
		_, prec, slope := lanes.PredictedScale(z[(c%(k/2)+k/2)*lanes.Lanes+e], l.Floor)
		to[e] = float32(math.Sqrt(prec))
		if c >= k/2 {
			to[e] = float32(math.Sqrt2 * slope)
		}
	}
}

// information implements informed: that about a learned log σ is 2 for each target value, the mean over y of the Hessian 2 r²/σ²; its mean with a
// mean is 0.
func (l Gaussian) information(outputs int) []float64 { return []float64{2 * float64(outputs)} }
