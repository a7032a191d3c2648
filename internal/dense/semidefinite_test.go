package dense

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSemidefinite: matrices of every rank, in units of 10⁻⁶ to 10⁶: B Bᵀ is A, A A⁻ A is A, the determinant on the range is the product of
// gonum's eigenvalues, and projections stay where they are.
func TestSemidefinite(t *testing.T) {
	for _, d := range []int{1, 2, 3, 6} {
		for rank := range d + 1 {
			for _, unit := range []float64{1, 100} {
				a := make([]float64, d*d)
				if rank > 0 {
					root := random(d, rank)
					for i := range d {
						for k := range rank {
							root[i*rank+k] *= math.Pow(unit, float64(i%4-2))
						}
					}
					MulT(a, root, root, rank)
				}
				name := fmt.Sprintf("%d×%d of rank %d, units of %v", d, d, rank, unit)
				s, ok := NewSemidefinite(a, d)
				if !ok || s.Rank() != rank {
					t.Fatalf("%s: %+v, %v", name, s, ok)
				}
				sd := func(i int) float64 { return math.Sqrt(a[i*d+i]) }
				back := make([]float64, d*d)
				if rank > 0 {
					MulT(back, s.Root(), s.Root(), rank)
				}
				check := func(what string, got []float64) {
					for i := range d {
						for j := range d {
							if !(math.Abs(got[i*d+j]-a[i*d+j]) <= 1e-11*sd(i)*sd(j)) {
								t.Errorf("%s: %s: (%d, %d) is %v, want %v", name, what, i, j, got[i*d+j], a[i*d+j])
							}
						}
					}
				}
				check("B Bᵀ", back)
				solved := slices.Clone(a) // row i of A A⁻ is (A⁻ row i)ᵀ, since both are symmetric
				for i := range d {
					s.Solve(solved[i*d : (i+1)*d])
				}
				Mul(back, solved, a, d)
				check("A A⁻ A", back)
				projected := slices.Clone(a)
				for i := range d {
					s.Project(projected[i*d : (i+1)*d])
				}
				check("A projected", projected)
				for i := range d {
					if row := a[i*d : (i+1)*d]; s.Outside(row, absolute(row)) {
						t.Errorf("%s: a row of A is outside of its range", name)
					}
				}
				if x := random(d, 7)[:d]; rank < d && !s.Outside(x, absolute(x)) {
					t.Errorf("%s: %v is within the range", name, x)
				}
				if unit == 1 {
					var g mat.EigenSym
					g.Factorize(mat.NewSymDense(d, slices.Clone(a)), false)
					want := 0.0
					for _, v := range g.Values(nil)[d-rank:] {
						want += math.Log(v)
					}
					if got := s.LogDet(); !(math.Abs(got-want) <= 1e-10) {
						t.Errorf("%s: LogDet %v, want %v", name, got, want)
					}
				}
				l := slices.Clone(a)
				if singular := !Cholesky(l, d) || Singular(l, d); singular != (rank < d) {
					t.Errorf("%s: singular is %v", name, singular)
				}
			}
		}
	}
}

func absolute(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}

// TestSemidefiniteRefuses: an eigenvalue below 0, and what is not finite.
func TestSemidefiniteRefuses(t *testing.T) {
	for name, a := range map[string][]float64{
		"negative": {-1, 0, 0, 1}, "indefinite": {1, 2, 2, 1}, "correlation": {1, 1.001, 1.001, 1}, "beside 0": {0, 1, 1, 1},
		"NaN": {1, 0, math.NaN(), 1}, "infinite": {math.Inf(1), 0, 0, 1}, "three": nil,
	} {
		d := 2
		if a == nil { // every pair may be, all three cannot
			a, d = []float64{1, .9, .9, .9, 1, 0, .9, 0, 1}, 3
		}
		if s, ok := NewSemidefinite(a, d); ok {
			t.Errorf("%s: taken: %+v", name, s)
		}
	}
}
