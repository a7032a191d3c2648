package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Categorical is log softmax(outputs)[label]; one output a class.
type Categorical struct{}

// String implements Likelihood.
func (Categorical) String() string { return "categorical" }

// Classes implements Likelihood.
func (Categorical) Classes(outputs int) int { return outputs }

// Regression implements Likelihood.
func (Categorical) Regression() bool { return false }

// Parameters implements Likelihood.
func (Categorical) Parameters() []string { return nil }

// Noise implements Likelihood.
func (Categorical) Noise() string { return "" }

// Targets implements Likelihood.
func (Categorical) Targets(int) int { return 0 }

// Predicts implements Likelihood.
func (Categorical) Predicts([]float32, []float64, []float64, []float64) float64 { return 0 }

// Guess implements Likelihood.
func (Categorical) Guess(train *data.Set) float64 { return rng.Log(float64(train.Classes)) }

func (Categorical) scales(int) int { return 0 }

func (Categorical) checkOutputs(outputs int) error {
	if outputs < 2 {
		return fmt.Errorf("categorical likelihood needs at least 2 outputs, the network has %d (bernoulli takes 1)", outputs)
	}
	return nil
}

func (Categorical) checkTargets(set *data.Set, outputs int) error {
	if set.Labels == nil {
		return fmt.Errorf("data set %q has no class labels, which a categorical likelihood needs", set.Name)
	}
	if set.Classes > outputs {
		return fmt.Errorf("data set %q has %d classes, the network %d outputs", set.Name, set.Classes, outputs)
	}
	return nil
}

func (Categorical) mismatch(p *data.Problem, outputs int) (field, message string) {
	if p.Train.Classes > outputs {
		return lastLayer, fmt.Sprintf("%s, the network %d outputs", p.ClassCount(), outputs)
	}
	if names := p.Train.Names; names != nil && len(names) < outputs {
		return lastLayer, fmt.Sprintf("%s, the network %d outputs: the classes have names, so want an output for each and no others", p.ClassCount(), outputs)
	}
	return "", ""
}

func (Categorical) loadTargets(t *tape, set *data.Set) {
	for lane, i := range t.examples[:t.groups*lanes.Lanes] {
		t.labels[lane] = set.Labels[i]
	}
}

func (Categorical) logLik(t *tape, g int, z, ll, dz []float32) {
	lanes.Categorical(z, t.labels[g*lanes.Lanes:][:lanes.Lanes], t.prog.outputs, ll, dz)
}

func (Categorical) summed() bool { return false }

func (Categorical) finish(float64, []float64, []float64, int, int) {}

func (Categorical) roots(outputs int) int { return outputs }

// root implements informed. With p = softmax(z) the Hessian is diag(p) − p pᵀ = R Rᵀ for the columns R[c] = √p_c (e_c − p).
func (Categorical) root(t *tape, c int, z, dz []float32) {
	k := t.prog.outputs
	for l := range lanes.Lanes {
		at := func(o int) int { return o*lanes.Lanes + l }
		top, sum, others := float64(z[l]), 0.0, 0.0
		for o := range k {
			top = max(top, float64(z[at(o)]))
		}
		for o := range k {
			e := rng.Exp(float64(z[at(o)]) - top)
			sum += e
			if o != c {
				others += e // 1 − p_c without cancellation
			}
		}
		root := math.Sqrt(rng.Exp(float64(z[at(c)])-top)/sum) / sum
		for o := range k {
			dz[at(o)] = float32(-root * rng.Exp(float64(z[at(o)])-top))
		}
		dz[at(c)] = float32(root * others)
	}
}

func (Categorical) information(int) []float64 { return nil }
