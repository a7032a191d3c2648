package ssm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// TestRatesClosedForms: steps of models whose integrals are known, over a billionth of a second and over a million: constant velocity and
// constant acceleration with white noise in the last derivative, decay to the mean (Ornstein and Uhlenbeck), a rotation, and no motion.
func TestRatesClosedForms(t *testing.T) {
	for _, T := range []float64{1e-9, 0.013, 1, 1.3, 14.6, 1000, 1e6} {
		p := func(n int) float64 { return math.Pow(T, float64(n)) }
		decay, turn := 0.7, 2.5
		for name, c := range map[string]struct {
			rates Rates
			a, q  []float64
		}{
			"constant velocity": {Rates{[][]float64{{0, 1}, {0, 0}}, [][]float64{{0, 0}, {0, 3}}}, []float64{1, T, 0, 1}, []float64{p(3), 1.5 * p(2), 1.5 * p(2), 3 * T}},
			"constant acceleration": {Rates{[][]float64{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}}, [][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 1}}},
				[]float64{1, T, p(2) / 2, 0, 1, T, 0, 0, 1}, []float64{p(5) / 20, p(4) / 8, p(3) / 6, p(4) / 8, p(3) / 3, p(2) / 2, p(3) / 6, p(2) / 2, T}},
			"decay": {Rates{[][]float64{{-decay}}, [][]float64{{2}}}, []float64{math.Exp(-decay * T)}, []float64{-math.Expm1(-2*decay*T) / decay}},
			"rotation": {Rates{[][]float64{{0, turn}, {-turn, 0}}, [][]float64{{0.2, 0}, {0, 0.2}}},
				[]float64{math.Cos(turn * T), math.Sin(turn * T), -math.Sin(turn * T), math.Cos(turn * T)}, []float64{0.2 * T, 0, 0, 0.2 * T}},
			"no motion": {Rates{[][]float64{{0, 0}, {0, 0}}, [][]float64{{1e9, 0}, {0, 0}}}, []float64{1, 0, 0, 1}, []float64{1e9 * T, 0, 0, 0}},
		} {
			a, q := c.rates.over(T, len(c.rates.A))
			for i := range a {
				if !golden.Near(a[i], c.a[i], 1e-12, 1e-15*(1+turn*T)) || !golden.Near(q[i], c.q[i], 1e-12, 1e-15*T*(1+turn*T)) {
					t.Errorf("%s over %v s: entry %d: %v, %v, want %v, %v", name, T, i, a[i], q[i], c.a[i], c.q[i])
				}
			}
		}
	}
}

// TestRatesVanLoan compares matrices without a closed form with gonum's exponential of Van Loan's whole matrix, and two steps with one.
func TestRatesVanLoan(t *testing.T) {
	s := rng.Key{Seed: 21, Purpose: rng.Synthetic}.Stream()
	for _, d := range []int{1, 2, 3, 6} {
		r := Rates{}
		root, cov := make([]float64, d*d), make([]float64, d*d)
		s.Normals(root)
		for i := range d {
			r.A, r.Q = append(r.A, make([]float64, d)), append(r.Q, make([]float64, d))
			s.Normals(r.A[i])
			for j := range d {
				for k := range d {
					cov[i*d+j] += root[i*d+k] * root[j*d+k]
				}
				r.Q[i][j] = cov[i*d+j]
			}
		}
		for _, T := range []float64{0.01, 0.7, 3} {
			block := mat.NewDense(2*d, 2*d, nil)
			for i := range d {
				for j := range d {
					block.Set(i, j, -r.A[i][j]*T)
					block.Set(i, d+j, r.Q[i][j]*T)
					block.Set(d+i, d+j, r.A[j][i]*T)
				}
			}
			var e, want mat.Dense
			e.Exp(block)
			f := e.Slice(d, 2*d, d, 2*d).T()
			want.Mul(f, e.Slice(0, d, d, 2*d))
			a, q := r.over(T, d)
			size := mat.Norm(&want, math.Inf(1))
			for i := range d {
				for j := range d {
					if !golden.Near(a[i*d+j], f.At(i, j), 0, 1e-11*mat.Norm(f, 2)) || !golden.Near(q[i*d+j], want.At(i, j), 0, 1e-9*size) {
						t.Errorf("%d coordinates over %v s: (%d, %d): %v, %v, want %v, %v", d, T, i, j, a[i*d+j], q[i*d+j], f.At(i, j), want.At(i, j))
					}
				}
			}
			a1, q1 := r.over(T/3, d)
			a2, q2 := r.over(T-T/3, d)
			a12, q12 := then(a1, q1, a2, q2, d)
			for i := range a {
				if !golden.Near(a[i], a12[i], 0, 1e-12*mat.Norm(f, 2)) || !golden.Near(q[i], q12[i], 0, 1e-12*size) {
					t.Errorf("%d coordinates over %v s: entry %d: %v, %v in one step, %v, %v in two", d, T, i, a[i], q[i], a12[i], q12[i])
				}
			}
		}
	}
}

// TestRatesModel: a model with rates takes any step of time, has the stationary law of decay, and says what does not fit.
func TestRatesModel(t *testing.T) {
	m := LinearGaussian{Rates: &Rates{[][]float64{{-0.7}}, [][]float64{{2}}}, H: [][]float64{{1}}, R: [][]float64{{1}}}
	for _, dt := range []float64{1e-6, 1.3, 17.25, 1e9} {
		tr, err := m.Transition(dt)
		if err != nil {
			t.Fatal(err)
		}
		if a, q := tr.(Gaussian).Gaussian(); !golden.Near(a[0], math.Exp(-0.7*dt), 1e-12, 1e-300) || !golden.Near(q[0], -math.Expm1(-1.4*dt)/0.7, 1e-12, 0) {
			t.Errorf("a step of %v: %v, %v", dt, a, q)
		}
	}
	if _, cov := m.StartMoments(); !golden.Near(cov[0], 1/0.7, 1e-12, 0) {
		t.Errorf("stationary variance %v, want %v", cov[0], 1/0.7)
	}
	growing := m
	growing.Rates = &Rates{[][]float64{{10}}, [][]float64{{1}}}
	growing.Initial = &Initial{[]float64{0}, []float64{1}}
	if _, err := growing.Transition(1e6); err == nil {
		t.Error("takes a step after which no number is finite")
	}
	for want, change := range map[string]func(*LinearGaussian){
		"needs a and q, of one interval, or rates: {a: …, q: …}, which hold for steps of any length": func(m *LinearGaussian) { m.Rates = nil },
		"rates.q: want a positive semidefinite matrix: a covariance without an eigenvalue below 0":   func(m *LinearGaussian) { m.Rates = &Rates{m.Rates.A, [][]float64{{-1}}} },
		"start: needs mean and sd: with this matrix a there is no stationary law to start from":      func(m *LinearGaussian) { m.Rates = &Rates{[][]float64{{0}}, m.Rates.Q} },
		"rates.a: row 1, number of columns: want 1, have 2":                                          func(m *LinearGaussian) { m.Rates = &Rates{[][]float64{{-1, 0}}, m.Rates.Q} },
	} {
		bad := m
		change(&bad)
		if _, err := bad.Transition(1); err == nil || err.Error() != "linear Gaussian model: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	both := m
	both.A = [][]float64{{1}}
	if _, err := both.Transition(1); err == nil {
		t.Error("takes a and rates")
	}
}
