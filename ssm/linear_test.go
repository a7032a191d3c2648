package ssm

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestLinearSteps: n intervals of a scalar model have Aⁿ and Q (1 − A^2n)/(1 − A²); those of a matrix the moments of n single
// steps, one after another.
func TestLinearSteps(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 64, 1000} {
		tr, err := scalar(1).Transition(float64(n))
		if err != nil {
			t.Fatal(err)
		}
		a, q := tr.(Gaussian).Gaussian()
		wantA := math.Pow(0.9, float64(n))
		wantQ := 0.08 * (1 - wantA*wantA) / (1 - 0.81)
		if !golden.Near(a[0], wantA, 1e-12, 0) || !golden.Near(q[0], wantQ, 1e-13, 0) {
			t.Errorf("%d steps: %v, %v, want %v, %v", n, a, q, wantA, wantQ)
		}
	}
	m := examples(1)[1].(LinearGaussian)
	for _, n := range []int{2, 3, 5, 6} {
		tr, err := m.Transition(float64(n) * m.Interval)
		if err != nil {
			t.Fatal(err)
		}
		a, q := tr.(Gaussian).Gaussian()
		wantA, wantQ := identity(3), slices.Repeat([]float64{0}, 9)
		for range n {
			wantQ = plus(sandwich(m.A, wantQ), slices.Concat(m.Q...))
			wantA = multiply(slices.Concat(m.A...), wantA)
		}
		for i := range a {
			if !golden.Near(a[i], wantA[i], 1e-13, 1e-15) || !golden.Near(q[i], wantQ[i], 1e-13, 1e-15) {
				t.Errorf("%d steps: entry %d: %v, %v, want %v, %v", n, i, a[i], q[i], wantA[i], wantQ[i])
			}
		}
	}
}

func identity(d int) []float64 {
	out := make([]float64, d*d)
	for i := range d {
		out[i*d+i] = 1
	}
	return out
}

func plus(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, v := range b {
		out[i] += v
	}
	return out
}

// multiply is A B of square matrices.
func multiply(a, b []float64) []float64 {
	d := int(math.Sqrt(float64(len(a))))
	out := make([]float64, d*d)
	for i := range d {
		for j := range d {
			for k := range d {
				out[i*d+j] += a[i*d+k] * b[k*d+j]
			}
		}
	}
	return out
}

// sandwich is A P Aᵀ.
func sandwich(rows [][]float64, p []float64) []float64 {
	d := len(rows)
	transposed := make([]float64, d*d)
	for i, row := range rows {
		for j, v := range row {
			transposed[j*d+i] = v
		}
	}
	return multiply(multiply(slices.Concat(rows...), p), transposed)
}

// TestLinearTimes: times may be rounded, but other steps than whole intervals are refused with both times.
func TestLinearTimes(t *testing.T) {
	m := scalar(1)
	m.Interval = 0.1
	for dt, n := range map[float64]int{0.1: 1, 0.3: 3, 0.30000000000000004: 3, 0.19999999999708962: 2, 0.70000001: 7} {
		tr, err := m.Transition(dt)
		if err != nil {
			t.Error(err)
			continue
		}
		if a, _ := tr.(Gaussian).Gaussian(); !golden.Near(a[0], math.Pow(0.9, float64(n)), 1e-12, 0) {
			t.Errorf("a step of %v: A is %v, want that of %d intervals", dt, a, n)
		}
	}
	for _, dt := range []float64{0.05, 0.15, 0.1001, 1e300, 1e-9} {
		if _, err := m.Transition(dt); err == nil {
			t.Errorf("takes a step of %v", dt)
		}
	}
	_, err := m.Transition(0.25)
	if want := "linear Gaussian model: a step of 0.25 s is no whole multiple of the model's interval, 0.1 s: give rates: {a: …, q: …}, per second, in place of a and q, and steps may have any length; or set interval to a time that divides all steps, and a and q to those of that interval"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	m.A, m.Initial = [][]float64{{2}}, &Initial{[]float64{0}, []float64{1}}
	if _, err := m.Transition(1e6); err == nil {
		t.Error("takes a step after which no number is finite")
	}
}

// TestStationary: P = Q/(1−A²), and P = A P Aᵀ + Q; a matrix with an eigenvalue of 1 or more has none.
func TestStationary(t *testing.T) {
	for _, a := range []float64{0, 0.5, -0.9, 0.999, 1 - 1e-9} {
		m := scalar(1)
		m.A[0][0] = a
		mean, cov := m.StartMoments()
		if want := 0.08 / ((1 - a) * (1 + a)); mean[0] != 0 || !golden.Near(cov[0], want, 1e-15/(1-math.Abs(a)), 0) {
			t.Errorf("a = %v: mean %v, variance %v, want 0, %v", a, mean, cov, want)
		}
	}
	m := examples(1)[1].(LinearGaussian)
	_, p := m.StartMoments()
	for i, want := range plus(sandwich(m.A, p), slices.Concat(m.Q...)) {
		if !golden.Near(p[i], want, 1e-13, 1e-14) {
			t.Errorf("entry %d of P is %v, but %v after a step", i, p[i], want)
		}
	}
	for _, a := range [][]float64{{1}, {-1}, {2}, {1 + 1e-9}, {0, -1, 1, 0}, {0.5, 100, 0, 1.01}, {1e200}} {
		d := int(math.Sqrt(float64(len(a))))
		if p, ok := stationary(a, identity(d), d); ok {
			t.Errorf("A = %v: stationary covariance %v, want none", a, p)
		}
	}
}

// TestLinearStart: draws of Start have the moments of StartMoments, within 6 standard errors of 20,000 draws: right code fails
// with a probability below 1e-7.
func TestLinearStart(t *testing.T) {
	testkit.Statistics(t)
	stationary := examples(1)[1].(LinearGaussian)
	given := stationary
	given.Initial = &Initial{[]float64{1, -20, 300}, []float64{1, 2, 0.5}}
	for _, m := range []LinearGaussian{stationary, given} {
		checkSamples(t, start{m}, []float64{1}, 20_000)
	}
}

// start is Start as a transition from the number 1.
type start struct{ LinearGaussian }

func (m start) Sample(s *Stream, _, x []float64) { m.Start(s, x) }
func (start) LogDensity(_, _ []float64) float64  { return 0 }
func (m start) Gaussian() (mean, cov []float64)  { return m.StartMoments() }

// TestOffset: measurements around 5·10⁶ give the likelihood of measurements around 0, within what their own 53 bits allow.
func TestOffset(t *testing.T) {
	const offset = 5e6
	m := scalar(5000)
	x, scan, near := first(t, m)
	moved := Scan{Width: 1, Values: slices.Clone(scan.Values)}
	for i := range moved.Values {
		moved.Values[i] += offset
	}
	l, err := m.Bind(&moved)
	if err != nil {
		t.Fatal(err)
	}
	for _, dx := range []float64{0, 0.01, -0.3, 2} {
		at, want := []float64{x[0] + dx + offset}, near.LogLik([]float64{x[0] + dx}, nil)
		if got := l.LogLik(at, nil); !(math.Abs(got-want) <= 1e-4) {
			t.Errorf("%v at an offset, want %v", got, want)
		}
	}
	// Decisions are made on differences: 1e-3 nats of M = 5,000 terms against float64.
	for _, dx := range []float64{0.01, -0.1, 0.3} {
		y := []float64{x[0] + dx + offset}
		want := 0.0
		for _, z := range moved.Values {
			a, b := z-offset-x[0], z-offset-x[0]-dx
			want += (a*a - b*b) / 4
		}
		if got := l.LogLik(y, nil) - l.LogLik([]float64{x[0] + offset}, nil); !(math.Abs(got-want) <= 1e-3) {
			t.Errorf("a difference of %v, want %v", got, want)
		}
	}
}

// TestOutliers: a measurement far from the others counts in full precision, whatever it does to the scan's mean.
func TestOutliers(t *testing.T) {
	m := examples(1)[1].(LinearGaussian)
	s := rng.Key{Seed: 12, Purpose: rng.Synthetic}.Stream()
	for _, outlier := range []float64{40, 1e4, 1e9, -1e15} {
		scan := Scan{Width: 2, Values: make([]float64, 600)}
		s.Normals(scan.Values)
		scan.Values[77] = outlier
		l, err := m.Bind(&scan)
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{0.3, -0.2, 0.1}
		want := 0.0
		for _, v := range direct(t, m, &scan, x) {
			want += v
		}
		if got := l.LogLik(x, nil); !golden.Near(got, want, 1e-13, 1e-3) {
			t.Errorf("with the measurement %v: %v, want %v", outlier, got, want)
		}
	}
}

// TestSumSquares compares with float64, over several chunks.
func TestSumSquares(t *testing.T) {
	s := rng.Key{Seed: 13, Purpose: rng.Synthetic}.Stream()
	for _, n := range []int{0, 1, 255, 256, 257, 3000} {
		y, m, want := make([][]float32, 2), []float64{0.5, -1.2500000001}, 0.0
		for c := range y {
			y[c] = column(n)
			for range n {
				v := float32(s.Normal())
				y[c] = append(y[c], v)
				want += (float64(v) - m[c]) * (float64(v) - m[c])
			}
		}
		if got := sumSquares(y, m); !golden.Near(got, want, 1e-6, 0) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}

// TestObserved: measurements are drawn over the coordinate that they are values of, and over none where they are of several.
func TestObserved(t *testing.T) {
	for _, c := range []struct {
		h    [][]float64
		want int
	}{{[][]float64{{1}}, 0}, {[][]float64{{0, 1}}, 1}, {[][]float64{{1, 1}}, -1}, {[][]float64{{2}}, -1}, {[][]float64{{1, 0}, {0, 1}}, -1}, {[][]float64{{0}}, -1}} {
		if got := (LinearGaussian{H: c.h}).Observed(); got != c.want {
			t.Errorf("H = %v: coordinate %d, want %d", c.h, got, c.want)
		}
	}
}

// TestDifference: far from all measurements the difference of two log-likelihoods keeps its digits. It is compared with its definition in
// numbers of 2,000 bits, at states that differ by much and by little, for measurements up to 10¹⁴⁰ standard deviations away.
func TestDifference(t *testing.T) {
	radar := examples(1)[3].(RangeBearing)
	for _, far := range []float64{3, 1e4, 1e8, 1e12, 1e20, 1e140} {
		for _, m := range []LinearGaussian{scalar(1), examples(1)[1].(LinearGaussian)} {
			w := len(m.H)
			scan := Scan{Width: w}
			for i := range 3 * w {
				scan.Values = append(scan.Values, far*float64(1+i%2))
			}
			l, err := m.Bind(&scan)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []float64{1, 1e-3, 1e-9} {
				from, x := make([]float64, m.Dim()), make([]float64, m.Dim())
				for i := range x {
					from[i], x[i] = 0.25*float64(i+1), 0.25*float64(i+1)+step*float64(1+i)
				}
				want := wideDifference(m, &scan, x, from)
				if got := l.(Relative).Difference(x, from); !golden.Near(got, want, 1e-11, 0) {
					t.Errorf("measurements at %v, a step of %v: %v, want %v", far, step, got, want)
				}
				if back := l.(Relative).Difference(from, x); !golden.Near(back, -want, 1e-11, 0) {
					t.Errorf("measurements at %v, a step of %v back: %v, want %v", far, step, back, -want)
				}
			}
		}
		// A range sees a target that is 3 m nearer by as much.
		l, err := radar.Bind(&Scan{Width: 3, Values: []float64{0, far, 0.1}})
		if err != nil {
			t.Fatal(err)
		}
		near, further := []float64{30, 40, 0, 0}, []float64{33, 44, 0, 0}
		want := wideSquare(far, 50, radar.SDRange)
		want.Sub(want, wideSquare(far, 55, radar.SDRange))
		half, _ := want.Mul(want, big.NewFloat(0.5)).Float64()
		if got := l.(Relative).Difference(further, near); !golden.Near(got, half, 1e-11, 1e-9) {
			t.Errorf("a range of %v: %v, want %v", far, got, half)
		}
	}
	for _, m := range []Simulator{scalar(700), radar} { // where logarithms have their digits, they tell the same
		x, _, l := first(t, m)
		y := slices.Clone(x)
		y[0] += 0.5
		want := l.LogLik(y, nil) - l.LogLik(x, nil)
		if got := l.(Relative).Difference(y, x); !golden.Near(got, want, 1e-4, 1e-3) {
			t.Errorf("%T: %v, want %v", m, got, want)
		}
	}
}

// wide is a number of 2,000 bits.
func wide(v float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(v) }

// wideSquare is ((z − seen)/sd)².
func wideSquare(z, seen, sd float64) *big.Float {
	u := wide(z)
	u.Quo(u.Sub(u, wide(seen)), wide(sd))
	return u.Mul(u, u)
}

// wideDifference is the difference of log-likelihoods for a measurement of one or two numbers: by −uᵀ R⁻¹ u/2 of each.
func wideDifference(m LinearGaussian, scan *Scan, x, from []float64) float64 {
	sum := wide(0)
	for i := range scan.Len() {
		for _, s := range []struct {
			x    []float64
			sign float64
		}{{x, -0.5}, {from, 0.5}} {
			u := make([]*big.Float, scan.Width)
			for c := range u {
				u[c] = wide(scan.Row(i)[c])
				for j, v := range s.x {
					u[c].Sub(u[c], wide(0).Mul(wide(m.H[c][j]), wide(v)))
				}
			}
			term := func(a, b *big.Float, weight *big.Float) *big.Float {
				p := wide(0).Mul(a, b)
				return p.Mul(p, weight)
			}
			var square, det *big.Float
			if len(u) == 1 {
				square, det = wide(0).Mul(u[0], u[0]), wide(m.R[0][0])
			} else {
				det = term(wide(m.R[0][0]), wide(m.R[1][1]), wide(1))
				det.Sub(det, term(wide(m.R[0][1]), wide(m.R[1][0]), wide(1)))
				square = term(u[0], u[0], wide(m.R[1][1]))
				square.Add(square, term(u[1], u[1], wide(m.R[0][0])))
				square.Sub(square, term(u[0], u[1], wide(2*m.R[0][1])))
			}
			sum.Add(sum, wide(0).Mul(wide(s.sign), square.Quo(square, det)))
		}
	}
	v, _ := sum.Float64()
	return v
}

// TestFarStates: a state that is far from all measurements has the log-likelihood of float64, and a measurement whose square is no number is
// refused, with the place.
func TestFarStates(t *testing.T) {
	m := scalar(1)
	l, err := m.Bind(&Scan{Width: 1, Values: []float64{1e8, 1e8 + 2, 1e8 - 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{0, 3, 1e8 - 50, 1e8 + 1e4} {
		want := 0.0
		for _, z := range []float64{1e8, 1e8 + 2, 1e8 - 2} {
			want -= (z-x)*(z-x)/4 + math.Log(4*math.Pi)/2
		}
		if got := l.LogLik([]float64{x}, nil); !golden.Near(got, want, 1e-15, 0) {
			t.Errorf("at %v: %v, want %v", x, got, want)
		}
	}
	var bad *MeasurementError
	for _, c := range []struct {
		model  Model
		width  int
		values []float64
		want   string
	}{
		{m, 1, []float64{1, -1e200}, "measurement 2: [-1e+200] is too far from 0, by the noise r: want less than 1e+150 standard deviations"},
		{examples(1)[3], 3, []float64{0, 5, 0, 0, 1e200, 0}, "measurement 2: range is 1e+200, want less than 1e+150 sd_range"},
	} {
		if _, err := c.model.Bind(&Scan{Width: c.width, Values: c.values}); !errors.As(err, &bad) || bad.Row != 1 || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
