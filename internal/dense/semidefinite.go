package dense

import "math"

// Semidefinite is a symmetric positive semidefinite d×d matrix A, which may have eigenvalues of 0. With the diagonal matrix S of the
// roots of A's diagonal (1 where that is 0), so that units do not matter, and the r eigenvalues Λ above 0 of the matrix of correlations,
//
//	S⁻¹ A S⁻¹ = U Λ Uᵀ,   A = B Bᵀ,   B = S U Λ^½   (d×r),   A⁻ = S⁻¹ U Λ⁻¹ Uᵀ S⁻¹.
//
// A A⁻ A = A: on the range of A, A⁻ is as good as the pseudo-inverse of Moore and Penrose. An eigenvalue up to d·10⁻¹² counts as 0:
// entries that are printed with 16 digits have errors of this kind.
type Semidefinite struct {
	d, rank int
	scale   []float64 // S
	values  []float64 // d, ascending; the first d − r count as 0
	vectors []float64 // d×d, the columns
}

// tiny is the eigenvalue of a matrix of correlations, for each row, that counts as 0.
const tiny = 1e-12

// NewSemidefinite factorises a. Only its lower triangle is read. If it has an eigenvalue below 0, or a number that is not finite, ok is
// false.
func NewSemidefinite(a []float64, d int) (s *Semidefinite, ok bool) {
	s = &Semidefinite{d: d, scale: make([]float64, d)}
	for i := range s.scale {
		v := a[i*d+i]
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, false
		}
		if s.scale[i] = math.Sqrt(v); v == 0 {
			s.scale[i] = 1
		}
	}
	c := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := a[i*d+j] / s.scale[i] / s.scale[j]
			if !(math.Abs(v) <= 1+tiny) { // the correlation of two numbers
				return nil, false
			}
			c[i*d+j] = v
		}
	}
	s.values, s.vectors = Eigen(c, d)
	least := float64(d) * tiny
	for _, v := range s.values {
		if v < -least {
			return nil, false
		}
		if v > least {
			s.rank++
		}
	}
	return s, true
}

// Singular reports whether the Cholesky factor l of a matrix has a pivot that is mere rounding: the matrix is singular for all that
// a float64 knows.
func Singular(l []float64, d int) bool {
	for i := range d {
		whole := 0.0
		for _, v := range l[i*d : i*d+i+1] {
			whole += float64(v * v)
		}
		if p := l[i*d+i]; !(float64(p*p) > tiny*whole) {
			return true
		}
	}
	return false
}

// Rank is r.
func (s *Semidefinite) Rank() int { return s.rank }

// Root returns B.
func (s *Semidefinite) Root() []float64 {
	b := make([]float64, 0, s.d*s.rank)
	for i := range s.d {
		for k := s.d - s.rank; k < s.d; k++ {
			b = append(b, float64(s.scale[i]*s.vectors[i*s.d+k])*math.Sqrt(s.values[k]))
		}
	}
	return b
}

// LogDet is log det(Bᵀ B): the sum of the logarithms of A's eigenvalues that are not 0.
func (s *Semidefinite) LogDet() float64 {
	b, r := s.Root(), s.rank
	columns, square := make([]float64, r*s.d), make([]float64, r*r)
	for i := range s.d {
		for k := range r {
			columns[k*s.d+i] = b[i*r+k]
		}
	}
	if r == 0 {
		return 0
	}
	MulT(square, columns, columns, s.d)
	if !Cholesky(square, r) {
		return math.NaN() // columns of very different units
	}
	return LogDet(square, r)
}

// Coordinates sets c to Uᵀ S⁻¹ x, with all d columns of U: the first d − r are 0 where x is in the range of A.
func (s *Semidefinite) Coordinates(c, x []float64) {
	clear(c)
	for i, v := range x {
		v /= s.scale[i]
		for k := range c {
			c[k] += float64(s.vectors[i*s.d+k] * v)
		}
	}
}

// Whiten sets w, of length r, to Λ^−½ Uᵀ S⁻¹ x: the w with x = B w, where x is in the range of A.
func (s *Semidefinite) Whiten(w, x []float64) {
	c := make([]float64, s.d)
	s.Coordinates(c, x)
	for k := range w {
		w[k] = c[s.d-s.rank+k] / math.Sqrt(s.values[s.d-s.rank+k])
	}
}

// Solve replaces x by A⁻ x.
func (s *Semidefinite) Solve(x []float64) {
	c := make([]float64, s.d)
	s.Coordinates(c, x)
	for k := range c {
		if k < s.d-s.rank {
			c[k] = 0
		} else {
			c[k] /= s.values[k]
		}
	}
	for i := range x {
		x[i] = s.along(i, c) / s.scale[i]
	}
}

// Project replaces x by S U Uᵀ S⁻¹ x, which is in the range of A. It leaves what is there as it is.
func (s *Semidefinite) Project(x []float64) {
	c := make([]float64, s.d)
	s.Coordinates(c, x)
	clear(c[:s.d-s.rank])
	for i := range x {
		x[i] = float64(s.along(i, c) * s.scale[i])
	}
}

// along is row i of U c.
func (s *Semidefinite) along(i int, c []float64) float64 {
	sum := 0.0
	for k, v := range c {
		sum += float64(s.vectors[i*s.d+k] * v)
	}
	return sum
}

// Outside reports whether x is outside of the range of A by more than rounding: coordinate i is the difference of numbers of up to
// size[i].
func (s *Semidefinite) Outside(x, size []float64) bool {
	for k := range s.d - s.rank {
		sum, most := 0.0, 0.0
		for i, v := range x {
			u := s.vectors[i*s.d+k] / s.scale[i]
			sum += float64(u * v)
			most += float64(math.Abs(u) * size[i])
		}
		if !(math.Abs(sum) <= rounding*most) {
			return true
		}
	}
	return false
}

// rounding is far more than what a chain of thousands of sums adds up to, in units of their terms.
const rounding = 1e-10
