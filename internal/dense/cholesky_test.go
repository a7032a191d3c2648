package dense

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// L Lᵀ is the matrix again, to a few units of rounding.
func TestCholesky(t *testing.T) {
	for _, d := range []int{1, 2, 7, 40} {
		stream := rng.Key{Seed: 3, Purpose: rng.Synthetic, Particle: d}.Stream()
		root := make([]float64, d*d)
		stream.Normals(root)
		a := make([]float64, d*d)
		for i := range d {
			for j := range d {
				for k := range d {
					a[i*d+j] += root[i*d+k] * root[j*d+k]
				}
			}
			a[i*d+i] += 0.1
		}
		l := append([]float64(nil), a...)
		for i := range d { // the upper triangle is not read
			for j := i + 1; j < d; j++ {
				l[i*d+j] = math.NaN()
			}
		}
		if !Cholesky(l, d) {
			t.Fatalf("%d: not positive definite", d)
		}
		for i := range d {
			for j := range d {
				sum := 0.0
				for k := range d {
					sum += l[i*d+k] * l[j*d+k]
				}
				if math.Abs(sum-a[i*d+j]) > 1e-13*float64(d)*math.Sqrt(a[i*d+i]*a[j*d+j]) {
					t.Fatalf("%d: (%d, %d) is %v, want %v", d, i, j, sum, a[i*d+j])
				}
			}
		}
	}
}

func TestCholeskyRefuses(t *testing.T) {
	for name, a := range map[string][]float64{
		"indefinite": {1, 2, 2, 1}, "singular": {1, 1, 1, 1}, "zero": {0, 0, 0, 1},
		"NaN": {math.NaN(), 0, 0, 1}, "infinite": {math.Inf(1), 0, 0, 1},
	} {
		if Cholesky(a, 2) {
			t.Errorf("%s: taken", name)
		}
	}
}
