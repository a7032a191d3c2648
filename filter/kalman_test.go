package filter

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// The Kalman filter of scalar models, and of one with two coordinates, against values computed elsewhere.
func TestGoldenKalman(t *testing.T) {
	for _, file := range []string{"filtering.json", "kalman_m500.json"} {
		cases, names := kalmanCases(t, file)
		for i, c := range cases {
			t.Run(names[i], func(t *testing.T) {
				filtered(t, Kalman{}, Job{Model: c.model()}, c.scans(), func(k int, st *State, info Info) {
					for _, v := range []struct {
						what           string
						got, want, abs float64
					}{
						{"mean", st.Mean[0], c.Expected.Mean[k], 1e-11},
						{"variance", st.Cov[0], c.Expected.Var[k], 1e-11},
						{"log evidence", info.LogEvidence, c.Expected.Evidence[k], 1e-7},
					} {
						if !golden.Near(v.got, v.want, 1e-9, v.abs) {
							t.Errorf("scan %d: %s %v, want %v", k+1, v.what, v.got, v.want)
						}
					}
				})
			})
		}
	}
}

// plane is a model of two coordinates of which one is measured.
type plane struct {
	a, q, h, r, m0, p0 []float64
}

func (m plane) Dim() int                     { return len(m.m0) }
func (m plane) Start(*ssm.Stream, []float64) { panic("not used") }
func (m plane) Transition(float64) (ssm.Transition, error) {
	return planeStep{m}, nil
}
func (m plane) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return sums{}, nil }
func (m plane) StartMoments() (mean, cov []float64)         { return m.m0, m.p0 }
func (m plane) Observation() (h, r []float64)               { return m.h, m.r }

type planeStep struct{ m plane }

func (planeStep) Sample(*ssm.Stream, []float64, []float64) { panic("not used") }
func (planeStep) LogDensity(from, x []float64) float64     { panic("not used") }
func (t planeStep) Gaussian() (a, q []float64)             { return t.m.a, t.m.q }

func flat(m [][]float64) (out []float64) {
	for _, row := range m {
		out = append(out, row...)
	}
	return out
}

func TestGoldenKalmanVector(t *testing.T) {
	seen := false
	for _, c := range golden.Read(t, "filtering.json") {
		if c.Kind != "kalman_vector" {
			continue
		}
		seen = true
		var in struct {
			A, Q, H, R, P0 [][]float64
			M0             []float64
			Z              [][][]float64
		}
		var want struct {
			MeanRows [][]float64   `json:"mean"`
			CovRows  [][][]float64 `json:"cov"`
			Evidence []float64     `json:"log_evidence_increment"`
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		m := plane{flat(in.A), flat(in.Q), flat(in.H), flat(in.R), in.M0, flat(in.P0)}
		var scans []*ssm.Scan
		for k, z := range in.Z {
			scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: len(in.R), Values: flat(z)})
		}
		filtered(t, Kalman{}, Job{Model: m}, scans, func(k int, st *State, info Info) {
			for i, v := range want.MeanRows[k] {
				if !golden.Near(st.Mean[i], v, 1e-9, 1e-11) {
					t.Errorf("scan %d: mean %v, want %v", k+1, st.Mean, want.MeanRows[k])
				}
			}
			for i, v := range flat(want.CovRows[k]) {
				if !golden.Near(st.Cov[i], v, 1e-9, 1e-11) {
					t.Errorf("scan %d: covariance %v, want %v", k+1, st.Cov, want.CovRows[k])
				}
			}
			if !golden.Near(info.LogEvidence, want.Evidence[k], 1e-9, 1e-7) {
				t.Errorf("scan %d: log evidence %v, want %v", k+1, info.LogEvidence, want.Evidence[k])
			}
		})
	}
	if !seen {
		t.Error("no case")
	}
}

// Check 4: the recursion against conditioning of the joint normal distribution of three states and their measurements; the
// smoother against the same.
func TestCheck4JointConditioning(t *testing.T) {
	m := linear{scalar{a: 0.9, q: 0.08, h: 1.3, r: 0.7, m0: 0.4, p0: 0.5}}
	z := [][]float64{{0.3, 1.1}, {-0.5}, {0.9, 0.2, 0.6}}
	var scans []*ssm.Scan
	for k, v := range z {
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: v})
	}
	// Prior precision of x_1 … x_3: x_1 ~ N(a m0, a² p0 + q), then autoregression.
	v1 := m.a*m.a*m.p0 + m.q
	condition := func(upTo int) (mean, variance [3]float64) {
		var p [3][3]float64
		var b [3]float64
		p[0][0], b[0] = 1/v1, m.a*m.m0/v1
		for k := 1; k < 3; k++ {
			p[k][k] += 1 / m.q
			p[k-1][k-1] += m.a * m.a / m.q
			p[k-1][k] -= m.a / m.q
			p[k][k-1] -= m.a / m.q
		}
		for k := range upTo {
			for _, v := range z[k] {
				p[k][k] += m.h * m.h / m.r
				b[k] += m.h * v / m.r
			}
		}
		// Inverse of the 3×3 precision by cofactors.
		det := p[0][0]*(p[1][1]*p[2][2]-p[1][2]*p[2][1]) - p[0][1]*(p[1][0]*p[2][2]-p[1][2]*p[2][0]) + p[0][2]*(p[1][0]*p[2][1]-p[1][1]*p[2][0])
		for i := range 3 {
			for j := range 3 {
				i1, i2, j1, j2 := (j+1)%3, (j+2)%3, (i+1)%3, (i+2)%3
				c := (p[i1][j1]*p[i2][j2] - p[i1][j2]*p[i2][j1]) / det
				mean[i] += c * b[j]
				if i == j {
					variance[i] = c
				}
			}
		}
		return mean, variance
	}
	var states []*State
	filtered(t, Kalman{}, Job{Model: m}, scans, func(k int, st *State, _ Info) {
		mean, variance := condition(k + 1)
		if !golden.Near(st.Mean[0], mean[k], 1e-10, 1e-12) || !golden.Near(st.Cov[0], variance[k], 1e-10, 1e-12) {
			t.Errorf("scan %d: N(%v, %v), want N(%v, %v)", k+1, st.Mean[0], st.Cov[0], mean[k], variance[k])
		}
		copied := *st
		states = append(states, &copied)
	})
	smoothed, err := Smooth(m, states)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := condition(3)
	for k, st := range smoothed {
		if !golden.Near(st.Mean[0], mean[k], 1e-10, 1e-12) || !golden.Near(st.Cov[0], variance[k], 1e-10, 1e-12) {
			t.Errorf("smoothed %d: N(%v, %v), want N(%v, %v)", k+1, st.Mean[0], st.Cov[0], mean[k], variance[k])
		}
	}
}

// A scan without measurements is a prediction, and one far from the origin loses no digits.
func TestKalmanWithoutMeasurements(t *testing.T) {
	m := linear{example1}
	st := filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{{Time: 1, Width: 1}}, func(_ int, _ *State, info Info) {
		if info.LogEvidence != 0 {
			t.Errorf("log evidence %v of no measurement", info.LogEvidence)
		}
	})
	if want := m.a*m.a*m.p0 + m.q; math.Abs(st.Cov[0]-want) > 1e-15 {
		t.Errorf("variance %v, want that of the prediction, %v", st.Cov[0], want)
	}
	const far = 5e6
	s := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream()
	near, away := &ssm.Scan{Time: 1, Width: 1}, &ssm.Scan{Time: 1, Width: 1}
	for range 500 {
		z := math.Round(s.Normal()*1024) / 1024 // exact at both places
		near.Values, away.Values = append(near.Values, z), append(away.Values, z+far)
	}
	shifted := m
	shifted.a, shifted.m0 = 1, far
	m.a = 1
	var evidence []float64
	one := filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{near}, func(_ int, _ *State, i Info) { evidence = append(evidence, i.LogEvidence) })
	two := filtered(t, Kalman{}, Job{Model: shifted}, []*ssm.Scan{away}, func(_ int, _ *State, i Info) { evidence = append(evidence, i.LogEvidence) })
	if d := two.Mean[0] - far - one.Mean[0]; math.Abs(d) > 1e-8 || math.Abs(evidence[0]-evidence[1]) > 1e-6 {
		t.Errorf("means differ by %v, log evidences %v", d, evidence)
	}
}
