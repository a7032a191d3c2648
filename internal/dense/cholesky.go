// Package dense is linear algebra of small matrices of float64, with the same bits on every machine. Matrices are row-major. The
// functions panic if lengths do not fit.
package dense

import "math"

// Cholesky replaces the symmetric d×d matrix a, row-major, by its lower triangular factor L with a = L Lᵀ, and sets the upper
// triangle to 0. Only the lower triangle is read. It reports whether the matrix is positive definite; if not, a is undefined.
func Cholesky(a []float64, d int) bool {
	for i := range d {
		row := a[i*d : (i+1)*d]
		for j := range i + 1 {
			other := a[j*d : j*d+j]
			sum := row[j]
			for k, v := range other {
				sum -= float64(row[k] * v)
			}
			if i != j {
				row[j] = sum / a[j*d+j]
				continue
			}
			if !(sum > 0) || math.IsInf(sum, 1) {
				return false
			}
			row[j] = math.Sqrt(sum)
		}
		clear(row[i+1:])
	}
	return true
}
