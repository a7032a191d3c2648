package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Bernoulli is one logit z: log p(y) = y·z − log(1 + e^z), y ∈ {0, 1}.
type Bernoulli struct{}

// String implements Likelihood.
func (Bernoulli) String() string { return "bernoulli" }

// Classes implements Likelihood.
func (Bernoulli) Classes(int) int { return 2 }

// Regression implements Likelihood.
func (Bernoulli) Regression() bool { return false }

// Parameters implements Likelihood.
func (Bernoulli) Parameters() []string { return nil }

// Noise implements Likelihood.
func (Bernoulli) Noise() string { return "" }

// Targets implements Likelihood.
func (Bernoulli) Targets(int) int { return 0 }

// Predicts implements Likelihood.
func (Bernoulli) Predicts([]float32, []float64, []float64, []float64) float64 { return 0 }

// Guess implements Likelihood.
func (Bernoulli) Guess(*data.Set) float64 { return math.Ln2 }

func (Bernoulli) scales(int) int { return 0 }

func (Bernoulli) checkOutputs(outputs int) error {
	if outputs != 1 {
		return fmt.Errorf("bernoulli likelihood needs 1 output, the network has %d", outputs)
	}
	return nil
}

func (Bernoulli) checkTargets(set *data.Set, _ int) error {
	if set.Labels == nil || set.Classes > 2 {
		return fmt.Errorf("data set %q must have labels of 2 classes for a bernoulli likelihood, has %d", set.Name, set.Classes)
	}
	return nil
}

func (Bernoulli) mismatch(p *data.Problem, _ int) (field, message string) {
	if p.Train.Classes > 2 {
		return "likelihood", fmt.Sprintf("bernoulli is for 2 classes, %s: want categorical", p.ClassCount())
	}
	return "", ""
}

func (Bernoulli) loadTargets(t *tape, set *data.Set) {
	for lane, i := range t.examples[:t.groups*lanes.Lanes] {
		t.target[lane] = float32(set.Labels[i])
	}
}

func (Bernoulli) logLik(t *tape, g int, z, ll, dz []float32) {
	lanes.Bernoulli(z, t.target[g*lanes.Lanes:][:lanes.Lanes], ll, dz)
}

func (Bernoulli) summed() bool { return false }

func (Bernoulli) finish(float64, []float64, []float64, int, int) {}

func (Bernoulli) roots(int) int { return 1 }

// root implements informed: the Hessian is p (1 − p) with p = 1/(1 + e^−z).
func (Bernoulli) root(_ *tape, _ int, z, dz []float32) {
	for l, v := range z {
		e := rng.Exp(-math.Abs(float64(v)))
		dz[l] = float32(math.Sqrt(e) / (1 + e))
	}
}

func (Bernoulli) information(int) []float64 { return nil }
