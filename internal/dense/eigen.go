package dense

import (
	"cmp"
	"math"
	"slices"
)

// mostSweeps bounds the sweeps of Eigen. Convergence is quadratic: five to ten sweeps are enough for any matrix of a filter.
const mostSweeps = 64

// Eigen returns the eigenvalues of the symmetric, finite d×d matrix a, ascending, and its eigenvectors of length 1, the columns of
// the d×d matrix vectors: A = U diag(values) Uᵀ. Only the lower triangle of a is read, and a is not changed.
//
// It is the cyclic Jacobi method (Golub and Van Loan 2013, section 8.5.3): in a fixed order of the pairs p < q it rotates the
// coordinates p and q by the angle that makes a_pq zero, until every a_pq is negligible beside a_pp and a_qq.
func Eigen(a []float64, d int) (values, vectors []float64) {
	m, u := make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		u[i*d+i] = 1
		for j := range i + 1 {
			m[i*d+j], m[j*d+i] = a[i*d+j], a[i*d+j]
		}
	}
	for range mostSweeps {
		done := true
		for p := range d {
			for q := p + 1; q < d; q++ {
				if !negligible(m[p*d+q], m[p*d+p]) || !negligible(m[p*d+q], m[q*d+q]) {
					done = false
					rotate(m, u, d, p, q)
				}
			}
		}
		if done {
			break
		}
	}
	order := make([]int, d)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(m[i*d+i], m[j*d+j]) })
	values, vectors = make([]float64, d), make([]float64, d*d)
	for j, from := range order {
		values[j] = m[from*d+from]
		for i := range d {
			vectors[i*d+j] = u[i*d+from]
		}
	}
	return values, vectors
}

// negligible reports whether v does not change a sum with w.
func negligible(v, w float64) bool { return math.Abs(w)+math.Abs(v) == math.Abs(w) }

// rotate makes m_pq zero and applies the same rotation to the columns of u.
func rotate(m, u []float64, d, p, q int) {
	apq := m[p*d+q]
	half := (m[q*d+q] - m[p*d+p]) / (2 * apq)
	tan := 1 / (math.Abs(half) + math.Sqrt(float64(half*half)+1))
	if half < 0 {
		tan = -tan
	}
	cos := 1 / math.Sqrt(float64(tan*tan)+1)
	sin := float64(tan * cos)
	m[p*d+p] -= float64(tan * apq)
	m[q*d+q] += float64(tan * apq)
	m[p*d+q], m[q*d+p] = 0, 0
	turn := func(x, y float64) (float64, float64) {
		return float64(cos*x) - float64(sin*y), float64(sin*x) + float64(cos*y)
	}
	for i := range d {
		u[i*d+p], u[i*d+q] = turn(u[i*d+p], u[i*d+q])
		if i != p && i != q {
			x, y := turn(m[i*d+p], m[i*d+q])
			m[i*d+p], m[p*d+i] = x, x
			m[i*d+q], m[q*d+i] = y, y
		}
	}
}
