package nn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// Adam is Kingma & Ba (2015), algorithm 1, in PyTorch's order of operations:
//
//	m ← β₁ m + (1−β₁) g      v ← β₂ v + (1−β₂) g²
//	θ ← θ − η/(1−β₁ᵗ) · m / (√v / √(1−β₂ᵗ) + ε)
type Adam struct {
	Beta1   float64 `yaml:"beta1,omitempty,nonzero"`   // above 0 and below 1; default 0.9
	Beta2   float64 `yaml:"beta2,omitempty,nonzero"`   // above 0 and below 1; default 0.999
	Epsilon float64 `yaml:"epsilon,omitempty,nonzero"` // above 0; default 1e-8
}

func (Adam) String() string { return "Adam" }

// Check implements config.Checker.
func (o Adam) Check(f *config.Faults) {
	f.If(!(o.Beta1 >= 0 && o.Beta1 < 1), "beta1", "want a number above 0, below 1, have %.12g", o.Beta1)
	f.If(!(o.Beta2 >= 0 && o.Beta2 < 1), "beta2", "want a number above 0, below 1, have %.12g", o.Beta2)
	f.If(!(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 0), "epsilon", "want a number above 0, have %.12g", o.Epsilon)
}

// Usual is .001.
func (Adam) Usual() float64 { return 0.001 }

// Decays is false.
func (Adam) Decays() bool { return false }

// Step implements Optimiser.
func (o Adam) Step(m *Moments, theta, grad []float64, rate float64) { o.step(m, theta, grad, rate, 0) }

func (o Adam) step(m *Moments, theta, grad []float64, rate, decay float64) {
	checkLength(len(theta), grad)
	b1, b2, eps := cmp.Or(o.Beta1, 0.9), cmp.Or(o.Beta2, 0.999), cmp.Or(o.Epsilon, 1e-8)
	mean, square := moment(&m.First, len(theta)), moment(&m.Second, len(theta))
	m.Steps++
	shrink := 1 - float64(rate*decay)
	step := rate / (1 - power(b1, m.Steps))
	root := math.Sqrt(1 - power(b2, m.Steps))
	for i, g := range grad {
		mean[i] = float64(b1*mean[i]) + float64((1-b1)*g)
		square[i] = float64(b2*square[i]) + float64((1-b2)*float64(g*g))
		theta[i] = float64(shrink*theta[i]) - float64(step*(mean[i]/(math.Sqrt(square[i])/root+eps)))
	}
}

// AdamW is Adam with decoupled weight decay (Loshchilov & Hutter 2019), in PyTorch's order: θ ← θ − η·Decay·θ before Adam's step. The
// decay takes the place of a prior (Optimiser.Decays): the gradient is that of the mean negative log-likelihood alone, as for PyTorch's
// AdamW with a cross-entropy.
type AdamW struct {
	Adam  `yaml:",inline"`
	Decay float64 `yaml:"decay"` // above 0; default 0.01, as in PyTorch
}

func (o AdamW) String() string { return fmt.Sprintf("AdamW with decay %v", cmp.Or(o.Decay, 0.01)) }

// Defaults implements config.Defaulter.
func (o *AdamW) Defaults() { o.Decay = cmp.Or(o.Decay, 0.01) }

// Check implements config.Checker.
func (o AdamW) Check(f *config.Faults) {
	o.Adam.Check(f)
	f.If(!(o.Decay >= 0) || math.IsInf(o.Decay, 0), "decay", "want a number above 0, have %.12g: adam has no decay", o.Decay)
}

// Decays is true.
func (AdamW) Decays() bool { return true }

// Step implements Optimiser.
func (o AdamW) Step(m *Moments, theta, grad []float64, rate float64) {
	o.Adam.step(m, theta, grad, rate, cmp.Or(o.Decay, 0.01))
}

// power is x^n by squaring; math.Pow differs by platform.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}
