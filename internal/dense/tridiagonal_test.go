package dense

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/internal/pool"
)

// A = Q T Qᵀ, Q is orthogonal, and f·A + τI = Q L (Q L)ᵀ, for matrices of every size, rank and shape, on any number of threads with the same
// bits.
func TestTridiagonal(t *testing.T) {
	for _, d := range []int{1, 2, 3, 7, 65, 150} {
		for what, a := range map[string][]float64{
			"full rank": gram(random(d, 2*d), d, 2*d), "low rank": gram(random(d, 1), d, 1), "zero": make([]float64, d*d), "diagonal": slanted(d),
		} {
			tri := NewTridiagonal(a, d, pool.New(1))
			if other := NewTridiagonal(a, d, pool.New(3)); !slices.Equal(other.V, tri.V) || !slices.Equal(other.Off, tri.Off) {
				t.Fatalf("%s, %d: threads change bits", what, d)
			}
			q, whole := make([]float64, d*d), make([]float64, d*d)
			const f, tau = 2.5, 0.3
			l, m := make([]float64, d), make([]float64, d-1)
			if !tri.Cholesky(f, tau, l, m) {
				t.Fatalf("%s, %d: not positive definite", what, d)
			}
			root := make([]float64, d*d)
			for j := range d {
				e, c, back := make([]float64, d), make([]float64, d), make([]float64, d)
				e[j] = 1
				copy(c, e)
				tri.Mul(e)
				copy(back, e)
				tri.MulT(back)
				c[j] = l[j]
				if j < d-1 {
					c[j+1] = m[j]
				}
				tri.Mul(c)
				for i := range d {
					q[i*d+j], root[i*d+j] = e[i], c[i]
					if want := map[bool]float64{true: 1}[i == j]; math.Abs(back[i]-want) > 1e-13*float64(d) {
						t.Fatalf("%s, %d: Qᵀ Q is %v at %d, %d", what, d, back[i], i, j)
					}
				}
			}
			for i := range d {
				for j := range d {
					whole[i*d+j] = f * a[i*d+j]
				}
				whole[i*d+i] += tau
			}
			product := make([]float64, d*d)
			MulT(product, root, root, d)
			near(t, what, product, mat.NewDense(d, d, whole), 1e-12*float64(d)*(1+slices.Max(whole)))
			trid := make([]float64, d*d)
			for i, x := range tri.Diagonal {
				trid[i*d+i] = x
				if i < d-1 {
					trid[i*d+i+1], trid[(i+1)*d+i] = tri.Off[i], tri.Off[i]
				}
			}
			qt := make([]float64, d*d)
			Mul(qt, q, trid, d)
			MulT(product, qt, q, d)
			near(t, what, product, mat.NewDense(d, d, slices.Clone(a)), 1e-12*float64(d)*(1+slices.Max(a)))
		}
	}
	if NewTridiagonal([]float64{-2, 0, 0, 1}, 2, nil).Cholesky(1, 1, make([]float64, 2), make([]float64, 1)) {
		t.Error("a matrix with an eigenvalue of −1 counts as positive definite")
	}
}

func gram(b []float64, d, n int) []float64 {
	a := make([]float64, d*d)
	MulT(a, b, b, n)
	return a
}

func slanted(d int) []float64 {
	a := make([]float64, d*d)
	for i := range d {
		a[i*d+i] = float64(i)
	}
	return a
}

func BenchmarkTridiagonal(b *testing.B) {
	const d = 785
	a := gram(random(d, d), d, d)
	for b.Loop() {
		NewTridiagonal(a, d, nil)
	}
}
