package method

import (
	"context"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/nn"
)

// mostFull is the number of parameters up to which a full matrix is made.
const mostFull = 4000

// checkFull refuses many parameters.
func checkFull(net *nn.Net, f *config.Faults) {
	if d := net.Dim(); d > mostFull {
		_, size := lastLayer(net)
		f.Conflict([]string{pathOfLaplace + ".structure"},
			"full is a matrix of D×D for the D = %s random parameters, which takes %s of memory: want at most %s parameters; "+
				"take structure: kron%s", numeral.Count(d), needed(fullBytes(net)), numeral.Count(mostFull), orLast(net, size <= mostFull))
	}
}

// fullForm is the curvature with all covariances: the matrix S H S itself. At each τ it has a Cholesky factor, S H S + τI = L Lᵀ.
type fullForm struct {
	ground
	h      []float64 // S H S, D×D
	tau    float64   // of the factor; 0: there is none yet
	factor []float64 // L
	ok     bool      // the matrix is positive definite at tau
}

func newFull(g ground) (form, error) { return &fullForm{ground: g}, nil }

func (f *fullForm) measure(ctx context.Context) error {
	h := make([]float64, len(f.at)*len(f.at))
	if err := f.model.GaussNewton(ctx, f.at, h); err != nil {
		return err
	}
	f.h = scaled(h, f.sd)
	return nil
}

func (*fullForm) cuts() int              { return 0 }
func (*fullForm) cut(int) error          { return nil }
func (*fullForm) operations(int) float64 { return 0 }

// factorise makes the factor at τ.
func (f *fullForm) factorise(tau float64) {
	if f.tau == tau {
		return
	}
	d := len(f.at)
	f.tau, f.factor = tau, append(f.factor[:0], f.h...)
	for i := range d {
		f.factor[i*d+i] += tau
	}
	f.ok = dense.Cholesky(f.factor, d)
}

// fault is the first layer up to which the matrix is not positive definite.
func (f *fullForm) fault(tau float64) string {
	if f.factorise(tau); f.ok {
		return ""
	}
	d := len(f.at)
	for _, t := range f.model.Net().Random() {
		end := t.Offset + t.Size
		part := make([]float64, end*end)
		for i := range end {
			copy(part[i*end:(i+1)*end], f.h[i*d:])
			part[i*end+i] += tau
		}
		if !dense.Cholesky(part, end) {
			return t.Name
		}
	}
	panic("method: a matrix is positive definite, and is not")
}

func (f *fullForm) logDet(tau float64) float64 {
	f.factorise(tau)
	return dense.LogDet(f.factor, len(f.at))
}

// draw is L⁻ᵀ ξ.
func (f *fullForm) draw(tau float64, xi, to []float64) {
	f.factorise(tau)
	copy(to, xi)
	dense.Backward(f.factor, to)
}

// whiten is L⁻¹ x.
func (f *fullForm) whiten(tau float64, x, to []float64) {
	f.factorise(tau)
	copy(to, x)
	dense.Forward(f.factor, to)
}

func (f *fullForm) save(e *ckpt.Encoder) { e.Float64s("h", f.h) }

func (f *fullForm) restore(d *ckpt.Decoder, steps int) {
	f.h = d.Float64s("h")
	if n := len(f.at); len(f.h) != min(steps, 1)*n*n {
		d.Fail("a matrix of %s numbers for %s parameters", numeral.Count(len(f.h)), numeral.Count(n))
	}
}

// fullBytes estimates the memory of the matrix: as the pass makes it, scaled, packed, and its factor.
func fullBytes(net *nn.Net) int64 {
	d := int64(net.Dim())
	return product(8, 4, d, d)
}
