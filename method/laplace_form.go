package method

import (
	"context"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// pathOfLaplace is the path of the method in a config.
const pathOfLaplace = "method.laplace"

// ground is where a curvature is measured.
type ground struct {
	model   nn.Training // of the examples
	threads *pool.Pool
	at      []float64 // θ*
	sd      []float64 // of the prior, the diagonal of S
}

// form is a structure of S H S.
type form interface {
	measure(ctx context.Context) error   // makes S H S, by a pass over the examples
	cuts() int                           // steps after that
	cut(k int) error                     // makes one of them, which an error leaves undone
	operations(k int) float64            // of one of them, in floating point, about
	fault(tau float64) (layer string)    // where S H S + τI is not positive definite; empty: nowhere
	logDet(tau float64) float64          // log|S H S + τI|
	draw(tau float64, xi, to []float64)  // to = R ξ with R Rᵀ = (S H S + τI)⁻¹
	whiten(tau float64, x, to []float64) // to = Rᵀ x
	save(e *ckpt.Encoder)                // what measure and cuts have made so far
	restore(d *ckpt.Decoder, steps int)  // the inverse after so many steps; a fault fails d
}

// scaled is diag(s) M diag(s).
func scaled(m, s []float64) []float64 {
	out := make([]float64, len(m))
	for i, x := range s {
		for j, y := range s {
			out[i*len(s)+j] = m[i*len(s)+j] * float64(x*y)
		}
	}
	return out
}
