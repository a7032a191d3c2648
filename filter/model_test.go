package filter

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// scalar is the dynamic Gaussian model of sequential-mcmc-massive-data, section 3.1, with a likelihood that reads two sums of the
// scan: exact, and fast enough for tests.
type scalar struct{ a, q, h, r, m0, p0 float64 }

var example1 = scalar{a: 0.9, q: 0.08, h: 1, r: 2, m0: 0, p0: 1}

func (m scalar) Dim() int { return 1 }

func (m scalar) Start(s *ssm.Stream, x []float64) {
	x[0] = m.m0 + float64(math.Sqrt(m.p0)*s.Normal())
}

func (m scalar) Transition(float64) (ssm.Transition, error) { return step{m}, nil }

type step struct{ m scalar }

func (t step) Sample(s *ssm.Stream, from, x []float64) {
	x[0] = float64(t.m.a*from[0]) + float64(math.Sqrt(t.m.q)*s.Normal())
}

func (t step) LogDensity(from, x []float64) float64 {
	d := x[0] - float64(t.m.a*from[0])
	return t.MaxLogDensity() - float64(d*d)/(2*t.m.q)
}

func (t step) MaxLogDensity() float64 { return -0.5 * (log2Pi + rng.Log(t.m.q)) }

// gaussianStep is step, whose moments are known too.
type gaussianStep struct{ step }

func (t gaussianStep) Gaussian() (a, q []float64) { return []float64{t.m.a}, []float64{t.m.q} }

// linear is scalar as an ssm.Linear.
type linear struct{ scalar }

func (m linear) Transition(float64) (ssm.Transition, error) { return gaussianStep{step{m.scalar}}, nil }

func (m linear) StartMoments() (mean, cov []float64) { return []float64{m.m0}, []float64{m.p0} }

func (m linear) Observation() (h, r []float64) { return []float64{m.h}, []float64{m.r} }

func (m scalar) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	l := sums{m: m, n: float64(scan.Len())}
	for i, z := range scan.Values {
		if math.IsNaN(z) {
			return nil, &ssm.MeasurementError{Row: i, Err: errors.New("NaN")}
		}
		l.z += z
		l.zz += z * z
	}
	return l, nil
}

type sums struct {
	m        scalar
	n, z, zz float64
}

func (l sums) Len() int { return int(l.n) }

func (l sums) LogLik(x []float64, _ []int32) float64 {
	hx := l.m.h * x[0]
	return -0.5 * (l.n*(log2Pi+rng.Log(l.m.r)) + (l.zz-2*hx*l.z+l.n*hx*hx)/l.m.r)
}

// kalmanCase is a case of golden/filtering.json or golden/kalman_m500.json.
type kalmanCase struct {
	Inputs struct {
		A, Q, H, R, M0, P0 float64
		Z                  [][]float64
	}
	Expected struct {
		PredMean []float64 `json:"pred_mean"`
		PredVar  []float64 `json:"pred_var"`
		Mean     []float64
		Var      []float64
		Evidence []float64 `json:"log_evidence_increment"`
	}
}

func kalmanCases(t *testing.T, file string) (cases []kalmanCase, names []string) {
	t.Helper()
	for _, c := range golden.Read(t, file) {
		if c.Kind == "kalman_scalar" {
			var k kalmanCase
			decode(t, c.Inputs, &k.Inputs)
			decode(t, c.Expected, &k.Expected)
			cases, names = append(cases, k), append(names, c.Name)
		}
	}
	return cases, names
}

func decode(t *testing.T, text json.RawMessage, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// model and scans of a case.
func (c *kalmanCase) model() linear {
	in := c.Inputs
	return linear{scalar{in.A, in.Q, in.H, in.R, in.M0, in.P0}}
}

func (c *kalmanCase) scans() (scans []*ssm.Scan) {
	for k, z := range c.Inputs.Z {
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: z})
	}
	return scans
}

// filtered makes the steps of a filter, and calls seen after each.
func filtered(t *testing.T, m Method, job Job, scans []*ssm.Scan, seen func(k int, st *State, info Info)) *State {
	t.Helper()
	f, err := m.On(job)
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for k, scan := range scans {
		info, err := f.Step(t.Context(), st, scan)
		if err != nil {
			t.Fatalf("scan %d: %v", k+1, err)
		}
		if seen != nil {
			seen(k, st, info)
		}
	}
	return st
}
