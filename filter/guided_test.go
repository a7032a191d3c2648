package filter

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// rough gives the likelihoods of a model a series that is not theirs: that of −(x − b)ᵀ Λ (x − b)/2. Guided draws are right with any series.
type rough struct {
	ssm.Tracker
	b, precision []float64
}

func (m rough) Transition(float64) (ssm.Transition, error) {
	tr, err := m.Tracker.Transition(1)
	return gaussianSteps{tr.(steps)}, err
}

// gaussianSteps is steps of two targets, whose moments are known too.
type gaussianSteps struct{ steps }

func (t gaussianSteps) Gaussian() (a, q []float64) {
	return []float64{t.m.a, 0, 0, t.m.a}, []float64{t.m.q, 0, 0, t.m.q}
}

func (m rough) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	like, err := m.Tracker.Bind(scan)
	return roughly{like, &m}, err
}

type roughly struct {
	ssm.Likelihood
	m *rough
}

func (l roughly) Expand(at []float64, _ int) (e ssm.Expansion, ok bool) {
	q, d := quadratic{l.m.b, make([]float64, len(at)), l.m.precision}, len(at)
	e = ssm.Expansion{Value: q.at(at), Gradient: make([]float64, d), Hessian: make([]float64, d*d)}
	for i := range at {
		for j, v := range at {
			e.Gradient[i] -= l.m.precision[i*d+j] * (v - l.m.b[j])
			e.Hessian[i*d+j] = -l.m.precision[i*d+j]
		}
	}
	return e, true
}

func (roughly) Residuals(_, _ []float64, _ []int32, _ []float64) {}
func (roughly) Curvature(int, float64) float64                   { return math.Inf(1) }

// Guided draws leave the law of the scan invariant whatever the series is, by itself and beside other decisions: with coupled targets that are drawn
// together, with others that are drawn one after another from tables that are wrong away from x⁺, with one index of both, and where an
// eigenvalue of Λ has to be clipped. The law of two targets of four particles each is that of TestInvariantLawOfTargets. Of 128 comparisons one
// is off by more than 6.5 standard errors with probability 1e-8. A share that is off by .02 is found, as is a mean by .02.
func TestGuidedLaw(t *testing.T) {
	testkit.Statistics(t)
	inner := shared{two{scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, m0: 0, p0: 1}}}
	from, z := []float64{-0.6, 0.7, -0.1, 0.2, 0.3, -0.5, 0.9, -0.4}, 0.35 // 4 × 2
	n := len(from) / 2
	for _, c := range []struct {
		name      string
		precision []float64
		way       SMCMC
		blocks    int
		repairs   int
	}{
		{"together", []float64{3, 2, 2, 3}, SMCMC{}, 1, 0},
		{"one after another", []float64{4, .19, .19, 4}, SMCMC{}, 2, 0},
		{"clipped", []float64{2, 3, 3, 2}, SMCMC{Index: ExactIndex{}, Refine: Walk{SD: 0.3}}, 1, 1},
		{"one index", []float64{3, 2, 2, 3}, SMCMC{Ancestors: Together}, 1, 0},
	} {
		m := rough{inner, []float64{0.9, -0.5}, c.precision}
		var p, mean []float64
		for i := range n * n {
			if c.way.Ancestors == Together && i/n != i%n {
				continue
			}
			first := inner.a * from[2*(i/n)]
			d := z - first - inner.a*from[2*(i%n)+1]
			p = append(p, math.Exp(-0.5*d*d/(2*inner.q+inner.r)))
			mean = append(mean, first+inner.q*d/(2*inner.q+inner.r))
		}
		const steps = 20000
		c.way.Particles, c.way.Burn, c.way.Joint, c.way.Repeat = steps, 500, Guided{}, 1
		f, err := c.way.On(Job{Model: m, Seed: 8})
		if err != nil {
			t.Fatal(err)
		}
		s := f.(*smcmc)
		ch, err := newChain(s.plan(1), 0, &State{K: 1, Dim: 2, X: from}, &ssm.Scan{Time: 1, Width: 1, Values: []float64{z}})
		if err != nil {
			t.Fatal(err)
		}
		hasLaw(t, c.name, s, ch, steps, 6.5, p, mean, func() int {
			if c.way.Ancestors == Together {
				return int(ch.a[0])
			}
			return int(ch.a[0])*n + int(ch.a[1])
		})
		if len(ch.guide.blocks) != c.blocks || ch.repairs != c.repairs {
			t.Errorf("%s: %d blocks, %d repairs, want %d and %d", c.name, len(ch.guide.blocks), ch.repairs, c.blocks, c.repairs)
		}
		// The evidence is that of the pairs: 400 estimates of 64 draws each.
		sum, squares, exact := 0.0, 0.0, 0.0
		for _, v := range p {
			exact += v / math.Sqrt(2*math.Pi*(2*inner.q+inner.r)) / float64(len(p))
		}
		const estimates = 400
		for i := range estimates {
			ch.weigh(i)
			v := math.Exp(ch.evidence.log) / exact
			sum, squares = sum+v/estimates, squares+v*v/estimates
		}
		se := math.Sqrt((squares - sum*sum) / estimates)
		t.Logf("%s: accepted %.2f, evidence %.4f of the exact one, standard error %.4f, of one estimate %.3f by its weights %.3f", c.name, ch.joint.share(), sum, se, se*20, ch.evidence.se)
		if !(math.Abs(sum-1) < 5.5*se) || !(se < 0.05) { // false once in 1e7
			t.Errorf("%s: the evidence is %.4f of the exact one, standard error %.4f", c.name, sum, se)
		}
	}
}

// TestAlias: the law of a table is that of its weights, to rounding, also where most of them vanish, and its mean is theirs.
func TestAlias(t *testing.T) {
	for _, logw := range [][]float64{{0}, {-3, -3}, {800, -800, 799, 801.5, math.Inf(-1)}, {1, 2, 3, 4, 5, 6, 7, -5, 0, 0.1}} {
		table, logMean := newAlias(logw)
		n, p := float64(len(logw)), make([]float64, len(logw))
		for i, keep := range table.keep {
			keep = min(1, keep)
			p[i] += keep / n
			p[table.other[i]] += (1 - keep) / n
		}
		sum, top := 0.0, slices.Max(logw)
		for _, l := range logw {
			sum += math.Exp(l - top)
		}
		for i, l := range logw {
			if !golden.Near(p[i], math.Exp(l-top)/sum, 1e-15, 1e-12) {
				t.Errorf("%v: number %d has the share %v, want %v", logw, i, p[i], math.Exp(l-top)/sum)
			}
		}
		if want := top + math.Log(sum/n); !golden.Near(logMean, want, 1e-12, 1e-12) {
			t.Errorf("%v: log mean %v, want %v", logw, logMean, want)
		}
		s, seen := rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream(), make([]float64, len(logw))
		const draws = 20000
		for range draws {
			seen[table.draw(s)]++
		}
		for i, v := range seen { // five standard deviations: false once in 1e5, and the seed is fixed
			if want := p[i] * draws; !(math.Abs(v-want) <= 5*math.Sqrt(want*(1-p[i]))) {
				t.Errorf("%v: number %d was drawn %v times, want %.0f", logw, i, v, want)
			}
		}
	}
}

// TestCoupled: groups that are coupled make one range with those between them, and none are lost.
func TestCoupled(t *testing.T) {
	groups := []ssm.Block{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3}, {From: 3, To: 4}, {From: 4, To: 5}}
	for _, c := range []struct {
		pairs [][2]int
		want  string
	}{
		{nil, "[{0 1} {1 2} {2 3} {3 4} {4 5}]"},
		{[][2]int{{1, 3}}, "[{0 1} {1 4} {4 5}]"},
		{[][2]int{{0, 1}, {1, 2}, {3, 4}}, "[{0 3} {3 5}]"},
		{[][2]int{{0, 4}}, "[{0 5}]"},
	} {
		m := make([]float64, 25)
		for i := range 5 {
			m[6*i] = 4
		}
		for _, p := range c.pairs {
			m[5*p[0]+p[1]], m[5*p[1]+p[0]] = -0.21, -0.21
		}
		m[3], m[15] = 0.19, 0.19 // little
		if got := fmt.Sprint(coupled(m, 5, groups)); got != c.want {
			t.Errorf("%v: %s, want %s", c.pairs, got, c.want)
		}
	}
}

// With the defaults and joint: guided, a linear Gaussian model with 500 measurements a scan: the series is exact, so that every draw is accepted,
// samples are worth nearly their number, and what is left is the error of the particles. Means, and log evidences of 20 scans, have a mean squared
// error of about 1 in their standard errors, as in TestCheck1AgainstKalman. An evidence that is off by 1 % is found.
func TestGuidedAgainstKalman(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "kalman_m500.json")
	c := cases[0]
	in := c.Inputs
	m := ssm.LinearGaussian{A: [][]float64{{in.A}}, Q: [][]float64{{in.Q}}, H: [][]float64{{in.H}}, R: [][]float64{{in.R}},
		Initial: &ssm.Initial{Mean: []float64{in.M0}, SD: []float64{math.Sqrt(in.P0)}}}
	way := SMCMC{Joint: Guided{}}
	way.Defaults()
	squares, evidence, sum := 0.0, 0.0, 0.0
	st := filtered(t, way, Job{Model: m, Seed: 1}, c.scans(), func(k int, st *State, info Info) {
		mean, cov := st.Moments()
		z := (mean[0] - c.Expected.Mean[k]) / info.MCSE[0]
		squares += min(z*z, 9) / 20
		if r := cov[0] / c.Expected.Var[k]; !(math.Abs(r-1) < 12/math.Sqrt(info.ESS[0])) {
			t.Errorf("scan %d: the variance is %v of the Kalman filter's, with ESS %v", k+1, r, info.ESS[0])
		}
		if !(info.Joint > 0.999) || !(info.ESS[0] > 0.7*4000) || info.Repairs != 0 {
			t.Errorf("scan %d: %.4f of the draws are accepted, ESS %.0f, %d repairs", k+1, info.Joint, info.ESS[0], info.Repairs)
		}
		e := (info.LogEvidence - c.Expected.Evidence[k]) / info.LogEvidenceSE
		evidence += min(e*e, 9) / 20
		if sum += info.LogEvidence; st.LogZ != sum {
			t.Errorf("scan %d: the log evidence of all scans is %v, want %v", k+1, st.LogZ, sum)
		}
	})
	t.Logf("mean square %.2f of means, %.2f of log evidences; log evidence %.4f", squares, evidence, st.LogZ)
	if !(squares <= 3) || !(evidence <= 3) {
		t.Errorf("the mean squared error is %.2f MCSE² of means, %.2f standard errors² of log evidences", squares, evidence)
	}
}

// pair is a model of two targets, and a scan of them where they are so many standard deviations of a return apart.
func pair(returns, clutter, apart float64) (m ssm.Clutter, scan *ssm.Scan) {
	m = ssm.Clutter{Interval: 1, Acceleration: 0.14, Returns: ssm.Returns{Rate: returns, SD: 1},
		Background: ssm.Background{Rate: clutter, Region: [4]float64{-50, 50, -50, 50}}}
	for i := range 2 {
		m.Initial = append(m.Initial, ssm.Initial{Mean: []float64{0, float64(i) * apart, 2, 0}, SD: []float64{0.3, 0.3, 0.1, 0.1}})
	}
	scan = &ssm.Scan{Time: 1}
	m.Measure(rng.Key{Seed: 7, Purpose: rng.Synthetic}.Stream(), []float64{2.3, 0.2, 2, 0, 1.8, apart - 0.1, 2, 0}, scan)
	return m, scan
}

// Targets that overlap have a law that is far from the series: of two that give 20 returns each, 1 and .3 standard deviations of a return
// apart, the moments are those of 100,000 draws of the prediction, weighted by the likelihood, whose ESS is above 20,000. A mean is off by less
// than .2 of its standard deviation, and a variance by less than a quarter: about six of the errors that the two methods have together. The
// evidence is within 6 of its standard errors.
func TestGuidedOverlap(t *testing.T) {
	testkit.Statistics(t)
	for _, apart := range []float64{1, 0.3} {
		m, scan := pair(20, 30, apart)
		want, wide := (*State)(nil), Info{}
		filtered(t, Bootstrap{Particles: 100_000}, Job{Model: m, Seed: 3}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) { want, wide = st, info })
		way := SMCMC{Particles: 8000, Joint: Guided{}}
		way.Defaults()
		filtered(t, way, Job{Model: m, Seed: 4}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) {
			mean, cov := st.Moments()
			exact, spread := want.Moments()
			off, most := 0.0, 0.0
			for i := range mean {
				off = max(off, math.Abs(mean[i]-exact[i])/math.Sqrt(spread[i*8+i]))
				most = max(most, math.Abs(math.Log(cov[i*8+i]/spread[i*8+i])))
			}
			se := math.Hypot(info.LogEvidenceSE, 1/math.Sqrt(wide.ESS[0]))
			t.Logf("%v apart: accepted %.3f, ESS %.0f against %.0f, means off by %.3f sd, log variances by %.3f, evidence by %.3f, standard error %.3f",
				apart, info.Joint, slices.Min(info.ESS), wide.ESS[0], off, most, info.LogEvidence-wide.LogEvidence, se)
			if !(wide.ESS[0] > 20_000) || !(off < 0.2) || !(most < 0.25) || !(math.Abs(info.LogEvidence-wide.LogEvidence) < 6*se) {
				t.Errorf("%v apart: means are off by %.3f sd, log variances by %.3f, evidence by %.3f, standard error %.3f", apart, off, most, info.LogEvidence-wide.LogEvidence, se)
			}
		})
	}
}

// Decided by some of the returns, guided draws are those that all returns decide, bit for bit, where no decision differs: none is expected to.
func TestGuidedBySubsample(t *testing.T) {
	m, scan := pair(800, 1000, 6)
	way := SMCMC{Particles: 400, Burn: 100, Joint: Guided{}}
	all := filtered(t, way, Job{Model: m, Seed: 4}, []*ssm.Scan{scan}, nil)
	some := Subsample{GiveUp: 0.2}
	some.Defaults()
	way.Decide = some
	seen := math.NaN()
	got := filtered(t, way, Job{Model: m, Seed: 4}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) { seen = info.Seen.Joint })
	if !slices.Equal(got.X, all.X) || !(seen < 0.5) || !math.IsNaN(got.LogZ) {
		t.Errorf("decided by a share %.3f of the returns, the samples differ; log evidence %v", seen, got.LogZ)
	}
}

// Decisions have the order that they are given, beside guided draws of order 2 as well: order 1 leaves larger residuals and looks at more of them.
func TestGuidedLeavesTheOrderOfDecisions(t *testing.T) {
	m := scene()
	m.Returns.Rate, m.Background.Rate = 2000, 2000
	s, x := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream(), make([]float64, m.Dim())
	m.Start(s, x)
	scan := &ssm.Scan{Time: 1}
	m.Measure(s, x, scan)
	var residuals [3]int64
	for order := 1; order <= 2; order++ {
		by := usual()
		by.Order, by.GiveUp = order, 1
		filtered(t, SMCMC{Particles: 100, Burn: 20, Repeat: 1, Joint: Guided{}, Decide: by}, Job{Model: m, Seed: 1}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) {
			residuals[order] = info.Residuals
			if !(info.Joint > 0.8) {
				t.Errorf("order %d: %.2f of the draws are accepted", order, info.Joint)
			}
		})
	}
	if !(residuals[1] > 2*residuals[2]) {
		t.Errorf("decisions have looked at %d residuals of order 1, and at %d of order 2", residuals[1], residuals[2])
	}
}
