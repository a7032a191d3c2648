package method

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// checkDiagonal refuses nothing.
func checkDiagonal(*nn.Net, *config.Faults) {}

// diagonalForm is the curvature without covariances: each parameter by itself.
type diagonalForm struct {
	ground
	h []float64 // the diagonal of S H S
}

func newDiagonal(g ground) (form, error) { return &diagonalForm{ground: g}, nil }

func (f *diagonalForm) measure(ctx context.Context) error {
	h := make([]float64, len(f.at))
	if err := f.model.GaussNewtonDiagonal(ctx, f.at, h); err != nil {
		return err
	}
	for i, s := range f.sd {
		h[i] *= float64(s * s)
	}
	f.h = h
	return nil
}

func (*diagonalForm) cuts() int              { return 0 }
func (*diagonalForm) cut(int) error          { return nil }
func (*diagonalForm) operations(int) float64 { return 0 }

func (f *diagonalForm) fault(tau float64) string {
	for _, t := range f.model.Net().Random() {
		for _, h := range f.h[t.Offset:][:t.Size] {
			if !(h+tau > 0) {
				return t.Name
			}
		}
	}
	return ""
}

func (f *diagonalForm) logDet(tau float64) (sum float64) {
	for _, h := range f.h {
		sum += rng.Log(h + tau)
	}
	return sum
}

func (f *diagonalForm) draw(tau float64, xi, to []float64) { f.whiten(tau, xi, to) }

func (f *diagonalForm) whiten(tau float64, x, to []float64) {
	for i, h := range f.h {
		to[i] = x[i] / math.Sqrt(h+tau)
	}
}

func (f *diagonalForm) save(e *ckpt.Encoder) { e.Float64s("h", f.h) }

func (f *diagonalForm) restore(d *ckpt.Decoder, steps int) {
	f.h = d.Float64s("h")
	if n := len(f.at); len(f.h) != min(steps, 1)*n {
		d.Fail("a diagonal of %d numbers for %d parameters", len(f.h), n)
	}
}

// diagonalBytes estimates the memory of the diagonal: as the pass makes it, and packed.
func diagonalBytes(net *nn.Net) int64 { return product(8, 3, int64(net.Dim())) }
