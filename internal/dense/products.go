package dense

// MulVec sets out to A x. a has a row for each number of out and a column for each number of x. out and x do not overlap.
func MulVec(out, a, x []float64) {
	d := len(x)
	for i := range out {
		sum := 0.0
		for k, v := range a[i*d : (i+1)*d] {
			sum += float64(v * x[k])
		}
		out[i] = sum
	}
}

// Mul sets out to A B. A has n columns and B has n rows. out overlaps neither.
func Mul(out, a, b []float64, n int) {
	cols := len(b) / n
	for i := range len(a) / n {
		row := out[i*cols : (i+1)*cols]
		clear(row)
		for k, v := range a[i*n : (i+1)*n] {
			for j, w := range b[k*cols : (k+1)*cols] {
				row[j] += float64(v * w)
			}
		}
	}
}

// MulT sets out to A Bᵀ. A and B have n columns each. out overlaps neither.
func MulT(out, a, b []float64, n int) {
	rows := len(b) / n
	for i := range len(a) / n {
		MulVec(out[i*rows:(i+1)*rows], b, a[i*n:(i+1)*n])
	}
}

// Symmetrise replaces the d×d matrix A by (A + Aᵀ)/2, so that both triangles have the same bits.
func Symmetrise(a []float64, d int) {
	for i := range d {
		for j := range i {
			mean := (a[i*d+j] + a[j*d+i]) / 2
			a[i*d+j], a[j*d+i] = mean, mean
		}
	}
}
