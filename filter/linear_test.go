package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// Models with rates, or with singular noise, and measurements far from all particles, against answers that are found in another way.

// irregular are scans of one number at times that no interval divides, one of them without measurements.
func irregular() []*ssm.Scan {
	times, z := []float64{0, 1.3, 1.75, 4.0625, 4.1, 9.37}, [][]float64{{1}, {}, {2.1, 2.6}, {1.4}, {1.2, 1.9, 1.5}, {-3}}
	var scans []*ssm.Scan
	for k, t := range times {
		scans = append(scans, &ssm.Scan{Time: t, Width: 1, Values: z[k]})
	}
	return scans
}

// swinging is an oscillator with damping, which noise in the acceleration keeps moving.
func swinging() ssm.LinearGaussian {
	return ssm.LinearGaussian{Rates: &ssm.Rates{A: [][]float64{{0, 1}, {-0.8, -0.3}}, Q: [][]float64{{0, 0}, {0, 0.5}}}, H: [][]float64{{1, 0}}, R: [][]float64{{0.4}},
		Initial: &ssm.Initial{Mean: []float64{0, 1}, SD: []float64{1, 0.5}}}
}

// Rates over irregular times: the Kalman filter against one that predicts by thousands of short steps, A ≈ I + A h + A²h²/2 and
// Q ≈ Q h + (A Q + Q Aᵀ) h²/2, and takes the scalar measurements one after another. Its error is of order h² = 10⁻⁸. The particle
// filters and SMCMC are against the Kalman filter: the root of the mean square of (mean − exact)/sd over scans and coordinates is .01
// to .08 with 4,000 samples: .2 is more than twice the largest, for a filter that is right, and a tenth of an sd of each coordinate is below it.
func TestRatesAtIrregularTimes(t *testing.T) {
	testkit.Statistics(t)
	m, scans := swinging(), irregular()
	const h = 1e-4
	a, q := m.Rates.A, m.Rates.Q
	step := func(mean *[2]float64, p *[2][2]float64) {
		var f, n [2][2]float64
		for i := range 2 {
			for j := range 2 {
				square := a[i][0]*a[0][j] + a[i][1]*a[1][j]
				f[i][j] = a[i][j]*h + square*h*h/2
				aq := a[i][0]*q[0][j] + a[i][1]*q[1][j] + a[j][0]*q[0][i] + a[j][1]*q[1][i]
				n[i][j] = q[i][j]*h + aq*h*h/2
			}
			f[i][i]++
		}
		x, c := *mean, *p
		for i := range 2 {
			mean[i] = f[i][0]*x[0] + f[i][1]*x[1]
			for j := range 2 {
				p[i][j] = n[i][j]
				for k := range 2 {
					for l := range 2 {
						p[i][j] += f[i][k] * c[k][l] * f[j][l]
					}
				}
			}
		}
	}
	mean, p := [2]float64{0, 1}, [2][2]float64{{1, 0}, {0, 0.25}}
	var exact []*State
	last := -1.0 // one interval before the first scan
	filtered(t, Kalman{}, Job{Model: m}, scans, func(k int, st *State, info Info) {
		for range int(math.Round((scans[k].Time - last) / h)) {
			step(&mean, &p)
		}
		last = scans[k].Time
		evidence := 0.0
		for _, z := range scans[k].Values {
			s, off := p[0][0]+m.R[0][0], z-mean[0]
			evidence -= 0.5 * (math.Log(2*math.Pi*s) + off*off/s)
			g := [2]float64{p[0][0] / s, p[1][0] / s}
			old := p
			for i := range 2 {
				mean[i] += g[i] * off
				for j := range 2 {
					p[i][j] -= g[i] * old[0][j]
				}
			}
		}
		for i := range 2 {
			if !golden.Near(st.Mean[i], mean[i], 0, 1e-6) {
				t.Errorf("scan %d: mean %v, want %v", k+1, st.Mean, mean)
			}
			for j := range 2 {
				if !golden.Near(st.Cov[2*i+j], p[i][j], 0, 1e-6) {
					t.Errorf("scan %d: covariance %v, want %v", k+1, st.Cov, p)
				}
			}
		}
		if !golden.Near(info.LogEvidence, evidence, 0, 1e-6) {
			t.Errorf("scan %d: log evidence %v, want %v", k+1, info.LogEvidence, evidence)
		}
		copied := *st
		exact = append(exact, &copied)
	})
	againstKalman(t, m, scans, exact, 0.3, nil)
}

// againstKalman compares the means of methods that sample, and of one chain more, with exact ones, in exact standard deviations, and the
// variances. evidence is six standard deviations of a log evidence.
func againstKalman(t *testing.T, m ssm.Model, scans []*ssm.Scan, exact []*State, evidence float64, more func(SMCMC) SMCMC) {
	t.Helper()
	chains := SMCMC{Particles: 4000}
	chains.Defaults()
	uniform := chains
	uniform.Index, uniform.Refine = UniformIndex{}, PriorRefinement{}
	guided := chains
	guided.Joint = Guided{}
	methods := map[string]Method{"bootstrap": Bootstrap{Particles: 4000}, "auxiliary": Auxiliary{Particles: 4000}, "smcmc": chains, "smcmc, uniform": uniform, "smcmc, guided": guided}
	if more != nil {
		methods["smcmc, other"] = more(chains)
	}
	for name, way := range methods {
		square, ratio, n, refined := 0.0, 0.0, 0, 0.0
		st := filtered(t, way, Job{Model: m, Seed: 5}, scans, func(k int, st *State, info Info) {
			mean, cov := st.Moments()
			d := len(mean)
			for i := range mean {
				if v := exact[k].Cov[i*d+i]; v > 0 {
					square += (mean[i] - exact[k].Mean[i]) * (mean[i] - exact[k].Mean[i]) / v
					ratio += cov[i*d+i] / v
					n++
				} else if mean[i] != exact[k].Mean[i] {
					t.Errorf("%s, scan %d: a coordinate that is known is %v, want %v", name, k+1, mean[i], exact[k].Mean[i])
				}
			}
			refined += info.Refine / float64(len(scans))
		})
		rms, share := math.Sqrt(square/float64(n)), ratio/float64(n)
		t.Logf("%s: off by %.3f sd, variances %.3f of the exact ones, refinements accepted %.2f", name, rms, share, refined)
		if !(rms <= 0.2) || !(share > 0.8 && share < 1.2) {
			t.Errorf("%s: off by %.3f sd, variances %.3f of the exact ones", name, rms, share)
		}
		if want := exact[len(exact)-1].LogZ; way.Evidence() && !(math.Abs(st.LogZ-want) <= evidence) {
			t.Errorf("%s: log evidence %v, want %v", name, st.LogZ, want)
		}
		if _, chain := way.(SMCMC); chain && !(refined > 0.1) {
			t.Errorf("%s: %.3f of the refinements are accepted", name, refined)
		}
	}
}

// Singular noise: position and velocity are moved by one random number a step. So all states are linear in the start and these numbers,
// whose law given the measurements is that of a regression: precision I/sd² + Σ g gᵀ/r, with g the row of H x in them. Kalman filter and
// smoother have the same moments, also far from the origin; methods that sample, the same within their errors (bounds as above).
func TestSingularNoise(t *testing.T) {
	testkit.Statistics(t)
	for _, c := range []struct {
		offset float64
		copies int // of each measurement
	}{{0, 1}, {5e6, 1}, {0, 40}} {
		offset := c.offset
		t.Run(fmt.Sprintf("offset %v, %d of each", offset, c.copies), func(t *testing.T) {
			m := ssm.LinearGaussian{A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.25, 0.5}, {0.5, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
				Initial: &ssm.Initial{Mean: []float64{offset, 1}, SD: []float64{1, 1}}}
			z := [][]float64{{1.2}, {3.1, 2.2}, {}, {7, 6.1, 6.4}, {9}, {13.5}}
			for k := range z {
				z[k] = slices.Repeat(z[k], c.copies)
			}
			var scans []*ssm.Scan
			for k, v := range z {
				scan := &ssm.Scan{Time: float64(k + 1), Width: 1}
				for _, y := range v {
					scan.Values = append(scan.Values, y+offset)
				}
				scans = append(scans, scan)
			}
			n := 2 + len(z) // the numbers: the start's two, and one a step
			rows := make([][2][]float64, len(z)+1)
			rows[0] = [2][]float64{unit(n, 0), unit(n, 1)}
			for k := range z {
				x, v, e := rows[k][0], rows[k][1], unit(n, 2+k)
				for i := range n {
					rows[k+1][0] = append(rows[k+1][0], x[i]+v[i]+0.5*e[i])
					rows[k+1][1] = append(rows[k+1][1], v[i]+e[i])
				}
			}
			// law is the law of the state at scan k, given the measurements of the scans up to another.
			law := func(k, upTo int) (mean, cov []float64) {
				system := make([][]float64, n) // precision, what it gives times the mean, unit matrix
				for i := range system {
					system[i] = append(unit(n, i), 0)
					system[i] = append(system[i], unit(n, i)...)
				}
				system[1][n] = 1 // the velocity's mean; the position's, offset, is left out
				for s, values := range z[:upTo] {
					g := rows[s+1][0]
					for _, y := range values {
						for i := range n {
							for j := range n {
								system[i][j] += g[i] * g[j]
							}
							system[i][n] += g[i] * y
						}
					}
				}
				eliminate(system)
				mean, cov = []float64{offset, 0}, make([]float64, 4)
				for i := range n {
					for a := range 2 {
						mean[a] += rows[k][a][i] * system[i][n]
						for j := range n {
							for b := range 2 {
								cov[2*a+b] += rows[k][a][i] * system[i][n+1+j] * rows[k][b][j]
							}
						}
					}
				}
				return mean, cov
			}
			check := func(what string, k int, st *State, upTo int) {
				mean, cov := law(k+1, upTo)
				for i := range mean {
					if !golden.Near(st.Mean[i], mean[i], 1e-15, 1e-9) {
						t.Errorf("%s, scan %d: mean %v, want %v", what, k+1, st.Mean, mean)
					}
				}
				for i := range cov {
					if !golden.Near(st.Cov[i], cov[i], 1e-9, 0) {
						t.Errorf("%s, scan %d: covariance %v, want %v", what, k+1, st.Cov, cov)
					}
				}
			}
			var exact []*State
			filtered(t, Kalman{}, Job{Model: m}, scans, func(k int, st *State, _ Info) {
				check("Kalman", k, st, k+1)
				copied := *st
				exact = append(exact, &copied)
			})
			smooth, err := Smooth(m, exact)
			if err != nil {
				t.Fatal(err)
			}
			for k, st := range smooth {
				check("smoother", k, st, len(z))
			}
			evidence := 0.3
			if c.copies > 1 {
				evidence = 1.3 // an sd of .22 was seen
			}
			againstKalman(t, m, scans, exact, evidence, func(s SMCMC) SMCMC {
				s.Joint = NoJoint{} // the index has to move by itself
				return s
			})
		})
	}
}

func unit(n, i int) []float64 {
	u := make([]float64, n)
	u[i] = 1
	return u
}

// eliminate turns the left square of a system into the unit matrix.
func eliminate(m [][]float64) {
	for i := range m {
		p := m[i][i]
		for c := range m[i] {
			m[i][c] /= p
		}
		for r := range m {
			if f := m[r][i]; r != i {
				for c := range m[r] {
					m[r][c] -= f * m[i][c]
				}
			}
		}
	}
}

// A predicted law that is singular is smoothed on its range: a constant beside a moving coordinate, and no noise in the first.
func TestSmoothWithoutSpread(t *testing.T) {
	m := ssm.LinearGaussian{A: [][]float64{{1, 0}, {0, 0.9}}, Q: [][]float64{{0, 0}, {0, 1}}, H: [][]float64{{1, 1}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{2, 0}, SD: []float64{0, 1}}}
	one := linear{scalar{a: 0.9, q: 1, h: 1, r: 1, m0: 0, p0: 1}}
	z := []float64{2.5, 1, 4}
	var scans, moved []*ssm.Scan
	for k, v := range z {
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: []float64{v}})
		moved = append(moved, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: []float64{v - 2}})
	}
	states := func(m ssm.Linear, scans []*ssm.Scan) (out []*State) {
		filtered(t, Kalman{}, Job{Model: m}, scans, func(_ int, st *State, _ Info) { copied := *st; out = append(out, &copied) })
		out, err := Smooth(m, out)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := states(one, moved)
	for k, st := range states(m, scans) {
		if st.Mean[0] != 2 || !golden.Near(st.Mean[1], want[k].Mean[0], 1e-12, 0) || !golden.Near(st.Cov[3], want[k].Cov[0], 1e-12, 0) || st.Cov[0] != 0 {
			t.Errorf("scan %d: %v, %v, want 2 and %v, %v", k+1, st.Mean, st.Cov, want[k].Mean, want[k].Cov)
		}
	}
}

// A measurement far from all particles leaves one of them, the nearest, and a finite log evidence: that of its own likelihood and
// weight, whatever the distance. The chains of SMCMC climb towards it: eight of them, three draws each.
func TestFarMeasurement(t *testing.T) {
	m := ssm.LinearGaussian{A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.34, 0.5}, {0.5, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{0, 1}, SD: []float64{1, 1}}}
	chains := SMCMC{Particles: 4000}
	chains.Defaults()
	for _, far := range []float64{1e8, -1e12, 1e20, 1e149} {
		scans := []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{1}}, {Time: 2, Width: 1, Values: []float64{far}}}
		for name, way := range map[string]Method{"bootstrap": Bootstrap{Particles: 4000}, "auxiliary": Auxiliary{Particles: 4000}} {
			filtered(t, way, Job{Model: m, Seed: 1}, scans, func(k int, st *State, info Info) {
				if k == 0 {
					return
				}
				if !(info.ESS[0] < 1.001) {
					t.Errorf("%s, a measurement at %v: ess %v, want 1", name, far, info.ESS[0])
				}
				mean, _ := st.Moments()
				nearest := st.X[0]
				for j := range st.N() {
					if x := st.Particle(j)[0]; math.Copysign(x-nearest, far*(x-nearest)) > 0 {
						nearest = x
					}
				}
				if name == "bootstrap" && !(math.Abs(mean[0]-nearest) < 1e-6) { // the other has weights for its choice, too
					t.Errorf("%s, a measurement at %v: mean %v, want %v, the nearest of the particles", name, far, mean[0], nearest)
				}
				// Half of the particles are chosen by the scan, all of them from one; the others by their weights.
				if name == "auxiliary" && !(info.Ancestors > 1900 && info.Ancestors < 2100) {
					t.Errorf("%s, a measurement at %v: %d ancestors, want half of the particles", name, far, info.Ancestors)
				}
				if want := -0.5 * far * far; !golden.Near(info.LogEvidence, want, 1e-6, 0) {
					t.Errorf("%s, a measurement at %v: log evidence %v, want about %v", name, far, info.LogEvidence, want)
				}
			})
		}
		filtered(t, chains, Job{Model: m, Seed: 1}, scans, func(k int, st *State, info Info) {
			mean, _ := st.Moments()
			if k == 1 && (!(mean[0]*math.Copysign(1, far) > 1e5) || info.Ancestors != 1 || !(info.ESS[0] < 50)) {
				t.Errorf("smcmc, a measurement at %v: mean %v, ess %v, %d ancestors", far, mean, info.ESS, info.Ancestors)
			}
		})
	}
}

// endless is a model whose log-likelihood is +Inf where the state is above a number.
type endless struct {
	scalar
	above float64
}

func (m endless) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	l, err := m.scalar.Bind(scan)
	return endlessTerms{l, m.above}, err
}

type endlessTerms struct {
	ssm.Likelihood
	above float64
}

func (l endlessTerms) LogLik(x []float64, rows []int32) float64 {
	if x[0] > l.above {
		return math.Inf(1)
	}
	return l.Likelihood.LogLik(x, rows)
}

// endlessLinear is the same for a Kalman filter.
type endlessLinear struct {
	linear
	above float64
}

func (m endlessLinear) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	return endless{m.scalar, m.above}.Bind(scan)
}

// A model whose log-likelihood is +Inf is refused by every method, at the start of a chain and on its way, with the scan and the state.
func TestEndlessLikelihood(t *testing.T) {
	m := endless{example1, 1.5} // most starts are below it, but no chain stays there
	everywhere := endless{example1, -100}
	f, err := Kalman{}.On(Job{Model: endlessLinear{linear{example1}, -100}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Step(t.Context(), st, &ssm.Scan{Time: 3, Width: 1, Values: []float64{0.9}}); err == nil || !strings.Contains(err.Error(), "is +Inf at the state [0]") {
		t.Errorf("a Kalman filter: %v", err)
	}
	chains := SMCMC{Particles: 400, Burn: 200}
	chains.Defaults()
	walk := chains
	walk.Joint = NoJoint{}
	refine := walk
	refine.Refine = PriorRefinement{}
	for name, way := range map[string]Method{"bootstrap": Bootstrap{Particles: 400}, "auxiliary": Auxiliary{Particles: 400}, "smcmc": chains, "walk": walk, "refine: prior": refine} {
		for seed, model := range []ssm.Model{everywhere, m, m, m, m, m, m} {
			f, err := way.On(Job{Model: model, Seed: uint64(seed)})
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Step(t.Context(), st, &ssm.Scan{Time: 3, Width: 1, Values: []float64{0.9}})
			if err == nil || !strings.Contains(err.Error(), "log-likelihood of the scan at 3 s is +Inf at the state [") || st.K != 0 {
				t.Errorf("%s: %v", name, err)
			}
			if errors.As(err, new(*ssm.MeasurementError)) || errors.As(err, new(*ImpossibleError)) {
				t.Errorf("%s: the scan is accused: %v", name, err)
			}
		}
	}
}

// A coordinate that stands still has no ESS, and the others have the one of the model without it. A chain that accepts nothing keeps
// its ESS of 1; a coordinate that all particles share, but not all filters, keeps its ESS as well.
func TestStillCoordinates(t *testing.T) {
	still := ssm.LinearGaussian{A: [][]float64{{0.9, 0}, {0, 1}}, Q: [][]float64{{1, 0}, {0, 0}}, H: [][]float64{{1, 1}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{0, 5e6}, SD: []float64{1, 0}}}
	scans := []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{5e6 + 0.3}}, {Time: 2, Width: 1, Values: []float64{5e6 + 1, 5e6 - 1}}}
	chains, one := SMCMC{Particles: 2000}, SMCMC{Particles: 500}
	chains.Defaults()
	one.Defaults()
	for name, way := range map[string]Method{"smcmc": chains, "one filter": one, "bootstrap": Bootstrap{Particles: 2000}, "auxiliary": Auxiliary{Particles: 2000}} {
		filtered(t, way, Job{Model: still, Seed: 2}, scans, func(k int, st *State, info Info) {
			if !(info.ESS[0] > 50) || !math.IsNaN(info.ESS[1]) {
				t.Errorf("%s, scan %d: ESS %v, want none of the second", name, k+1, info.ESS)
			}
		})
	}
	// Walks learn beside it: a sharp measurement of a sum ties two coordinates together, and a walk in other directions is worth a
	// third as many draws.
	pair := ssm.LinearGaussian{A: [][]float64{{1, 0}, {0, 1}}, Q: [][]float64{{1, 0}, {0, 1}}, H: [][]float64{{1, 1}}, R: [][]float64{{0.01}},
		Initial: &ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}}}
	beside := ssm.LinearGaussian{A: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, Q: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}, H: [][]float64{{1, 1, 1}}, R: pair.R,
		Initial: &ssm.Initial{Mean: []float64{0, 0, 2}, SD: []float64{1, 1, 0}}}
	walks := chains
	walks.Joint, walks.Index = NoJoint{}, FixedIndex{}
	ess := func(m ssm.Model, z float64) (least float64) {
		filtered(t, walks, Job{Model: m, Seed: 2}, []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{z}}}, func(_ int, _ *State, info Info) {
			least = min(info.ESS[0], info.ESS[1])
		})
		return least
	}
	if alone, with := ess(pair, 0.5), ess(beside, 2.5); !(with > alone/2) {
		t.Errorf("ESS %v beside a coordinate that stands still, %v without it", with, alone)
	}
	stuck := SMCMC{Particles: 100, Repeat: 1, Joint: NoJoint{}, Index: FixedIndex{}, Refine: Walk{SD: 1e6}}
	filtered(t, stuck, Job{Model: linear{example1}, Seed: 2}, []*ssm.Scan{{Time: 1, Width: 1, Values: []float64{0.3}}}, func(_ int, _ *State, info Info) {
		if info.Refine != 0 || info.ESS[0] != 1 {
			t.Errorf("a chain that accepts %v: ESS %v, want 1", info.Refine, info.ESS)
		}
	})
}
