package ssm

import (
	"cmp"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
)

// far is the distance from the scan's mean, in standard deviations of a measurement, from which terms are computed in float64: the
// term of a measurement that is so far from the mean, and all terms of a state that is. Nearer than it, float32 gives a term within
// 1e-4 nats.
const far = 32

// largest bounds measurements, in standard deviations of their noise: squares of larger ones, and sums of these, are not finite.
const largest = 1e150

// linearTerms is the likelihood of a scan of LinearGaussian. With R = L Lᵀ and an origin o, the mean of the scan, the term of a
// measurement is
//
//	log N(z; H x, R) = −|y − m|²/2 + constant,   y = L⁻¹(z − o),   m = L⁻¹(H x − o)
//
// Bind computes all y once, so that a call is a sum of M squares. The differences from o are float64: measurements around 5·10⁶
// lose no digit. The sum is float32 inside chunks of 256 measurements and float64 between them. No sum over the measurements
// stands for them all: the sampler's cost is to be that of any likelihood with M terms (spec section 7).
//
// Difference compares two states by δ = L⁻¹ H (x − x₀) and u = L⁻¹(z − H x₀): the term of a measurement is
//
//	log N(z; H x, R) − log N(z; H x₀, R) = δ·u − |δ|²/2,
//
// so that a measurement at 10¹² standard deviations still tells apart states that differ by a thousandth of one.
type linearTerms struct {
	h, l, origin []float64
	scan         *Scan
	near         [][]float32 // y of the measurements near the origin, [w][number of them]
	far          []int32     // the other measurements
	constant     float64     // of one term
	z, m         []float64   // scratch of length w

	series   linearSeries
	white    []float64 // L⁻¹ H, if it has been asked for
	steepest float64   // the bound of its series of order 1; 0: not known yet
}

// Bind implements Model.
func (m LinearGaussian) Bind(scan *Scan) (Likelihood, error) {
	if err := config.Check(m); err != nil {
		return nil, err
	}
	w := len(m.H)
	if err := checkScan(scan, w); err != nil {
		return nil, err
	}
	h, l := m.Observation()
	dense.Cholesky(l, w)
	t := &linearTerms{h: h, l: l, scan: scan, origin: make([]float64, w), near: make([][]float32, w),
		constant: -0.5 * (float64(float64(w)*log2Pi) + dense.LogDet(l, w)),
		z:        make([]float64, w), m: make([]float64, w)}
	share := 1 / float64(scan.Len())
	for i, v := range scan.Values {
		t.origin[i%w] += float64(v * share)
	}
	for c := range t.near {
		t.near[c] = column(scan.Len())
	}
	none := make([]float64, w)
	for i := range scan.Len() {
		if t.whiten(t.z, scan.Row(i), none); !(norm(t.z) < largest) {
			return nil, refuse(i, "%v is too far from 0, by the noise r: want less than %.0e standard deviations", scan.Row(i), float64(largest))
		}
		t.whiten(t.z, scan.Row(i), t.origin)
		if !(norm(t.z) < far) {
			t.far = append(t.far, int32(i))
			continue
		}
		for c, v := range t.z {
			t.near[c] = append(t.near[c], float32(v))
		}
	}
	return t, nil
}

// norm is the largest absolute value in y.
func norm(y []float64) float64 {
	most := 0.0
	for _, v := range y {
		most = max(most, math.Abs(v))
	}
	return most
}

// whiten sets y to L⁻¹(z − o).
func (t *linearTerms) whiten(y, z, o []float64) {
	for c := range y {
		y[c] = z[c] - o[c]
	}
	dense.Forward(t.l, y)
}

// Len implements Likelihood.
func (t *linearTerms) Len() int { return t.scan.Len() }

// LogLik implements Likelihood.
func (t *linearTerms) LogLik(x []float64, rows []int32) float64 {
	dense.MulVec(t.m, t.h, x)
	var sum float64
	var terms int
	if rows != nil {
		terms, sum = len(rows), t.squares(rows)
	} else if terms = t.Len(); t.distant() {
		for i := range terms {
			sum += t.square(i)
		}
	} else {
		sum = t.squares(t.far)
		t.whiten(t.m, t.m, t.origin)
		sum += sumSquares(t.near, t.m)
	}
	if math.IsNaN(sum) {
		return math.Inf(-1)
	}
	return float64(float64(terms)*t.constant) - float64(0.5*sum)
}

// distant reports whether a state is far from the scan's mean, where m holds H x.
func (t *linearTerms) distant() bool {
	t.whiten(t.z, t.m, t.origin)
	return !(norm(t.z) < far)
}

// squares is Σ |L⁻¹(z − H x)|² over some measurements, where m holds H x.
func (t *linearTerms) squares(rows []int32) float64 {
	sum := 0.0
	for _, i := range rows {
		sum += t.square(int(i))
	}
	return sum
}

// square is |L⁻¹(z − H x)|² of measurement i, where m holds H x.
func (t *linearTerms) square(i int) float64 {
	t.whiten(t.z, t.scan.Row(i), t.m)
	return square(t.z)
}

// Difference implements Relative.
func (t *linearTerms) Difference(x, from []float64) float64 {
	delta, step := make([]float64, len(t.m)), make([]float64, len(x))
	for i, v := range x {
		step[i] = v - from[i]
	}
	dense.MulVec(delta, t.h, step)
	dense.Forward(t.l, delta)
	dense.MulVec(t.m, t.h, from)
	half, sum := float64(0.5*square(delta)), 0.0
	for i := range t.Len() {
		t.whiten(t.z, t.scan.Row(i), t.m)
		for c, v := range delta {
			sum += float64(v * t.z[c])
		}
		sum -= half
	}
	return sum
}

// Measure implements Simulator.
func (m LinearGaussian) Measure(s *Stream, x []float64, scan *Scan) {
	w := len(m.H)
	h, l := m.Observation()
	dense.Cholesky(l, w)
	noise := make([]float64, w)
	scan.Width = w
	for range cmp.Or(m.Returns, 1) {
		n := len(scan.Values)
		scan.Values = append(slices.Grow(scan.Values, w), make([]float64, w)...)
		z := scan.Values[n:]
		dense.MulVec(z, h, x)
		s.Normals(noise)
		addFactor(z, l, noise)
	}
}
