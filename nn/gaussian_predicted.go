package nn

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/rng"
)

// Predicted is the SD of a Gaussian whose standard deviations are outputs of the network, so that the noise depends on the
// input (Nix and Weigend 1994, "Estimating the mean and variance of the target probability distribution"). Of 2K outputs for K
// target values the first K are the means and the last K are log σ, as PyTorch's mean, log_sd = out.chunk(2, -1).
//
//	log p(y) = Σ_k log N(y_k; m_k, σ_k²) = Σ_k −½ (y_k − m_k)²/σ_k² − log σ_k − ½ log 2π
//	∂/∂m_k = (y_k − m_k)/σ_k²       ∂/∂log σ_k = (y_k − m_k)²/σ_k² − 1
//
// With a floor f above 0 the output s gives σ² = e^{2s} + f², so that σ is above f, smoothly, and ∂/∂s has the factor e^{2s}/σ². Where
// targets have hardly any noise, or many of them are equal, networks without a floor are so sure of some training rows that new rows
// like them have densities near 0.
//
// A log σ below ln 1e-6 or above ln 1e6 counts as that bound, and the gradient of such an output is 0: a network far off at the
// start cannot overflow, and no example is fitted exactly.
const Predicted = -2

// checkFloor refuses a floor of what is not predicted.
func checkFloor(floor float64, predicted bool, f *config.Faults) {
	f.If(!(floor >= 0 && floor <= 1e6), "floor", "want a number from 0 to 1e6, have %v", floor)
	f.If(floor > 0 && !predicted, "floor", "is that of predicted standard deviations: want sd: predicted, or no floor")
}

// evenOutputs refuses a network whose outputs are no pairs.
func evenOutputs(outputs int) error {
	if outputs%2 != 0 {
		return fmt.Errorf("sd: predicted takes two outputs for each target value, its mean and its log σ: want an even number of outputs, the network has %d", outputs)
	}
	return nil
}

// predictedNormals sets the means and standard deviations that the outputs z of one example are.
func predictedNormals(z []float32, floor float64, mean, sd []float64) {
	k := len(mean)
	for c := range k {
		mean[c], sd[c] = float64(z[c]), rng.Exp(lanes.BoundedLogSD(z[k+c]))
		if floor > 0 {
			sd[c] = math.Sqrt(float64(sd[c]*sd[c]) + float64(floor*floor))
		}
	}
}
