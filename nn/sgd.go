package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// SGD is gradient descent with heavy-ball momentum, as PyTorch's torch.optim.SGD without dampening:
//
//	u ← μ u + g        θ ← θ − η u        (θ ← θ − η g for μ = 0)
type SGD struct {
	Momentum float64 `yaml:"momentum,omitempty"` // μ, in [0, 1); default 0
}

func (o SGD) String() string {
	if o.Momentum == 0 {
		return "SGD"
	}
	return fmt.Sprintf("SGD with momentum %v", o.Momentum)
}

// Check implements config.Checker.
func (o SGD) Check(f *config.Faults) {
	f.If(!(o.Momentum >= 0 && o.Momentum < 1), "momentum", "want a number from 0, below 1, have %.12g", o.Momentum)
}

// Usual is .03 without momentum. With momentum a gradient acts 1/(1−μ) times, so the rate is smaller by that factor.
func (o SGD) Usual() float64 {
	const digits = 1e9 // 0.03·(1 − 0.9) is .003, not .0029999999999999996
	return math.Round(0.03*(1-o.Momentum)*digits) / digits
}

// Decays is false.
func (SGD) Decays() bool { return false }

// Step implements Optimiser.
func (o SGD) Step(m *Moments, theta, grad []float64, rate float64) {
	checkLength(len(theta), grad)
	m.Steps++
	if o.Momentum == 0 {
		for i, g := range grad {
			theta[i] -= float64(rate * g)
		}
		return
	}
	u := moment(&m.First, len(theta))
	for i, g := range grad {
		u[i] = float64(o.Momentum*u[i]) + g
		theta[i] -= float64(rate * u[i])
	}
}
