package dense

import "github.com/starling-smc/starling/internal/rng"

// Forward replaces x by L⁻¹ x. l is a lower triangular factor of Cholesky, d×d, and d is the length of x.
func Forward(l, x []float64) {
	d := len(x)
	for i := range d {
		row := l[i*d : i*d+i+1]
		sum := x[i]
		for k, v := range row[:i] {
			sum -= float64(v * x[k])
		}
		x[i] = sum / row[i]
	}
}

// Backward replaces x by L⁻ᵀ x, for l as in Forward.
func Backward(l, x []float64) {
	d := len(x)
	for i := d - 1; i >= 0; i-- {
		sum := x[i]
		for k := i + 1; k < d; k++ {
			sum -= float64(l[k*d+i] * x[k])
		}
		x[i] = sum / l[i*d+i]
	}
}

// Solve replaces x by (L Lᵀ)⁻¹ x, for l as in Forward.
func Solve(l, x []float64) {
	Forward(l, x)
	Backward(l, x)
}

// LogDet returns log det(L Lᵀ), for l as in Forward; d is its number of rows.
func LogDet(l []float64, d int) float64 {
	sum := 0.0
	for i := range d {
		sum += rng.Log(l[i*d+i])
	}
	return 2 * sum
}
