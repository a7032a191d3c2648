package dense

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/internal/rng"
)

// random is a rows×cols matrix of standard normal numbers.
func random(rows, cols int) []float64 {
	a := make([]float64, rows*cols)
	rng.Key{Seed: 4, Purpose: rng.Synthetic, Iteration: rows, Particle: cols}.Stream().Normals(a)
	return a
}

// near compares a matrix with gonum's.
func near(t *testing.T, what string, got []float64, want mat.Matrix, tolerance float64) {
	t.Helper()
	rows, cols := want.Dims()
	if len(got) != rows*cols {
		t.Fatalf("%s: %d numbers, want %d×%d", what, len(got), rows, cols)
	}
	for i, v := range got {
		if w := want.At(i/cols, i%cols); !(math.Abs(v-w) <= tolerance) {
			t.Fatalf("%s: (%d, %d) is %v, want %v", what, i/cols, i%cols, v, w)
		}
	}
}

// TestProducts compares with gonum, also where A and B are not square.
func TestProducts(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {2, 3, 4}, {4, 2, 1}, {5, 5, 5}} {
		rows, n, cols := size[0], size[1], size[2]
		a, b := random(rows, n), random(n, cols)
		ga, gb := mat.NewDense(rows, n, a), mat.NewDense(n, cols, b)
		var want mat.Dense
		want.Mul(ga, gb)
		out := slices.Repeat([]float64{math.NaN()}, rows*cols) // what was in out has no influence
		Mul(out, a, b, n)
		near(t, fmt.Sprint("Mul ", size), out, &want, 1e-14)
		bt := slices.Clone(mat.DenseCopyOf(gb.T()).RawMatrix().Data)
		MulT(out, a, bt, n)
		near(t, fmt.Sprint("MulT ", size), out, &want, 1e-14)
		x := random(n, 1)
		want.Reset()
		want.Mul(ga, mat.NewDense(n, 1, x))
		out = out[:0:0]
		out = append(out, make([]float64, rows)...)
		MulVec(out, a, x)
		near(t, fmt.Sprint("MulVec ", size), out, &want, 1e-14)
	}
}

func TestSymmetrise(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	Symmetrise(a, 3)
	if want := []float64{1, 3, 5, 3, 5, 7, 5, 7, 9}; !slices.Equal(a, want) {
		t.Errorf("%v, want %v", a, want)
	}
}

// TestSolve compares solutions and log-determinants with gonum.
func TestSolve(t *testing.T) {
	for _, d := range []int{1, 2, 5, 20} {
		root := random(d, d)
		a := make([]float64, d*d)
		MulT(a, root, root, d)
		for i := range d {
			a[i*d+i]++
		}
		var factor mat.Cholesky
		if !factor.Factorize(mat.NewSymDense(d, slices.Clone(a))) {
			t.Fatal("gonum: not positive definite")
		}
		l := slices.Clone(a)
		if !Cholesky(l, d) {
			t.Fatal("not positive definite")
		}
		x := random(d, 1)
		var want mat.VecDense
		if err := factor.SolveVecTo(&want, mat.NewVecDense(d, slices.Clone(x))); err != nil {
			t.Fatal(err)
		}
		half := slices.Clone(x)
		Forward(l, half)
		back := make([]float64, d)
		MulVec(back, l, half)
		near(t, "L L⁻¹ x", back, mat.NewVecDense(d, x), 1e-12)
		Solve(l, x)
		near(t, "Solve", x, &want, 1e-12)
		if got, want := LogDet(l, d), factor.LogDet(); !(math.Abs(got-want) <= 1e-13*float64(d)) {
			t.Errorf("%d: LogDet is %v, want %v", d, got, want)
		}
	}
}

// TestEigen: values as gonum has them, orthonormal vectors, and A = U diag(values) Uᵀ.
func TestEigen(t *testing.T) {
	matrices := map[string][]float64{
		"one": {-3}, "zero": {0, 0, 0, 0}, "unit": {1, 0, 0, 1}, "swap": {0, 1, 1, 0}, "rank 1": {1, 1, 1, 1, 1, 1, 1, 1, 1},
		"graded": {1, 1e-9, 1e-9, 1e-16}, "nearly equal": {1, 1e-12, 1e-12, 1}, "large": {1e200, 3e200, 3e200, -1e200},
	}
	for _, d := range []int{3, 4, 12, 30} {
		a := random(d, d)
		Symmetrise(a, d)
		matrices[fmt.Sprint("random ", d)] = a
		b := make([]float64, d*d)
		MulT(b, a, a, d)
		matrices[fmt.Sprint("positive ", d)] = b
	}
	for name, a := range matrices {
		d := int(math.Sqrt(float64(len(a))))
		lower := slices.Clone(a)
		scale := 0.0
		for i := range d {
			for j := range d {
				scale = max(scale, math.Abs(a[i*d+j]))
				if j > i { // the upper triangle is not read
					lower[i*d+j] = math.NaN()
				}
			}
		}
		values, u := Eigen(lower, d)
		var g mat.EigenSym
		if !g.Factorize(mat.NewSymDense(d, slices.Clone(a)), true) {
			t.Fatal("gonum: no eigenvalues")
		}
		near(t, name+": values", values, mat.NewVecDense(d, g.Values(nil)), 1e-14*scale*float64(d))
		square, scaled, back := make([]float64, d*d), slices.Clone(u), make([]float64, d*d)
		MulT(square, u, u, d)
		unit := mat.NewDiagDense(d, slices.Repeat([]float64{1}, d))
		near(t, name+": U Uᵀ", square, unit, 1e-14*float64(d))
		for i := range scaled {
			scaled[i] *= values[i%d]
		}
		MulT(back, scaled, u, d)
		near(t, name+": U diag Uᵀ", back, mat.NewDense(d, d, a), 1e-14*scale*float64(d))
	}
}

// TestEigenGraded: a small eigenvalue of a positive definite matrix keeps its digits beside a large one. Its value is
// det/λ₁ for two numbers.
func TestEigenGraded(t *testing.T) {
	values, _ := Eigen([]float64{1e12, 1, 1, 1e-6}, 2)
	if want := (1e12*1e-6 - 1) / 1e12; !(math.Abs(values[0]-want) <= 1e-13*want) {
		t.Errorf("%v, want %v", values[0], want)
	}
}

// TestEigenIsFrozen: the bits are part of what a filter writes.
func TestEigenIsFrozen(t *testing.T) {
	a := random(6, 6)
	Symmetrise(a, 6)
	values, u := Eigen(a, 6)
	sum := uint64(0)
	for _, v := range append(values, u...) {
		sum = sum*1099511628211 ^ math.Float64bits(v)
	}
	if want := uint64(0x4d9a6c1bbbfed3c9); sum != want {
		t.Errorf("hash of the values and vectors %#x, want %#x", sum, want)
	}
}
