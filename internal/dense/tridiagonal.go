package dense

import (
	"math"

	"github.com/starling-smc/starling/internal/pool"
)

// Tridiagonal is a symmetric d×d matrix as A = Q T Qᵀ. T is symmetric and tridiagonal; Q is orthogonal, a product of d − 2 reflections
// I − β_k v_k v_kᵀ, where v_k is 0 up to element k. It costs a tenth of eigenvectors and more, and serves as well wherever a
// function of A + τI is asked for that T + τI has: a determinant, a solution, a root.
type Tridiagonal struct {
	Diagonal []float64 // of T
	Off      []float64 // T_{k,k+1}, d − 1
	Beta     []float64 // d − 2 numbers, 0: no reflection
	V        []float64 // d×d: v_k is row k, from element k+1 on; nothing else is of use
}

// rowsTogether is the number of rows of a task.
const rowsTogether = 64

// NewTridiagonal reduces the symmetric, finite d×d matrix a, of which both triangles are read, and which it leaves as it is (Golub and Van
// Loan 2013, algorithm 8.3.1). Rows are independent of each other in each step, so the result is the same for any number of threads.
func NewTridiagonal(a []float64, d int, p *pool.Pool) *Tridiagonal {
	t := &Tridiagonal{make([]float64, d), make([]float64, max(d-1, 0)), make([]float64, max(d-2, 0)), append([]float64(nil), a...)}
	m, product := t.V, make([]float64, d)
	for k := range d - 2 {
		v := m[k*d+k+1 : (k+1)*d]
		alpha, beta := reflection(v)
		t.Off[k], t.Beta[k] = alpha, beta
		if beta == 0 {
			continue
		}
		rest, w := len(v), product[:len(v)]
		row := func(i int) []float64 { return m[(k+1+i)*d+k+1:][:rest] }
		byRows(rest, p, func(i int) { w[i] = beta * dot(row(i), v) })
		half := beta * dot(w, v) / 2
		for i, x := range v {
			w[i] -= float64(half * x)
		}
		byRows(rest, p, func(i int) {
			r, x, y := row(i), v[i], w[i]
			for j, z := range w[:len(r)] {
				r[j] -= float64(x*z) + float64(y*v[j])
			}
		})
	}
	for k := range d {
		t.Diagonal[k] = m[k*d+k]
	}
	if d > 1 {
		t.Off[d-2] = m[(d-2)*d+d-1]
	}
	return t
}

// byRows calls do for each of n rows, several of them in a task.
func byRows(n int, p *pool.Pool, do func(i int)) {
	tasks := (n + rowsTogether - 1) / rowsTogether
	p.Run(tasks, func(task int) {
		for i := task * rowsTogether; i < min(n, (task+1)*rowsTogether); i++ {
			do(i)
		}
	})
}

// reflection replaces x by v with (I − β v vᵀ) x = (α, 0, …, 0).
func reflection(x []float64) (alpha, beta float64) {
	below := dot(x[1:], x[1:])
	if below == 0 {
		return x[0], 0
	}
	size := math.Sqrt(float64(x[0]*x[0]) + below)
	beta = 1 / float64(size*(size+math.Abs(x[0])))
	alpha = -math.Copysign(size, x[0])
	x[0] -= alpha
	return alpha, beta
}

// dot is the scalar product of vectors of a length, in four sums.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i] * y[i])
		b += float64(x[i+1] * y[i+1])
		c += float64(x[i+2] * y[i+2])
		d += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// Mul replaces x by Q x.
func (t *Tridiagonal) Mul(x []float64) {
	for k := len(t.Beta) - 1; k >= 0; k-- {
		t.reflect(k, x)
	}
}

// MulT replaces x by Qᵀ x.
func (t *Tridiagonal) MulT(x []float64) {
	for k := range t.Beta {
		t.reflect(k, x)
	}
}

func (t *Tridiagonal) reflect(k int, x []float64) {
	if t.Beta[k] == 0 {
		return
	}
	v, x := t.V[k*len(t.Diagonal)+k+1:][:len(t.Diagonal)-k-1], x[k+1:]
	along := t.Beta[k] * dot(v, x)
	for i, y := range v {
		x[i] -= float64(along * y)
	}
}

// Cholesky sets l and m, of the lengths of Diagonal and Off, to the factor of f·T + τI = L Lᵀ: its diagonal and what is below. It reports
// whether the matrix is positive definite; if not, l and m are undefined.
func (t *Tridiagonal) Cholesky(f, tau float64, l, m []float64) bool {
	for i, x := range t.Diagonal {
		square := float64(f*x) + tau
		if i > 0 {
			m[i-1] = f * t.Off[i-1] / l[i-1]
			square -= float64(m[i-1] * m[i-1])
		}
		if !(square > 0) || math.IsInf(square, 1) {
			return false
		}
		l[i] = math.Sqrt(square)
	}
	return true
}
