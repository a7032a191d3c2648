package filter

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
	"github.com/starling-smc/starling/uq"
)

// usual is decide: subsample as a config has it.
func usual() Subsample {
	var m Subsample
	m.Defaults()
	return m
}

// example1Model is Example 1 as the model of a config, whose likelihood has a series.
func example1Model(c *kalmanCase) ssm.LinearGaussian {
	in := c.Inputs
	return ssm.LinearGaussian{A: [][]float64{{in.A}}, Q: [][]float64{{in.Q}}, H: [][]float64{{in.H}}, R: [][]float64{{in.R}},
		Initial: &ssm.Initial{Mean: []float64{in.M0}, SD: []float64{math.Sqrt(in.P0)}}}
}

// bytesOf are the states after each scan.
func bytesOf(t *testing.T, m Method, job Job, scans []*ssm.Scan, seen func(info Info)) []byte {
	t.Helper()
	var all bytes.Buffer
	filtered(t, m, job, scans, func(_ int, st *State, info Info) {
		if _, err := st.WriteTo(&all); err != nil {
			t.Fatal(err)
		}
		if seen != nil {
			seen(info)
		}
	})
	return all.Bytes()
}

// unbounded is a model whose likelihoods know no bound.
type unbounded struct{ ssm.Model }

func (m unbounded) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	l, err := m.Model.Bind(scan)
	if err != nil {
		return nil, err
	}
	return unboundedLikelihood{l.(ssm.Expandable)}, nil
}

type unboundedLikelihood struct{ ssm.Expandable }

func (unboundedLikelihood) Curvature(int, float64) float64 { return math.Inf(1) }

// Check 2 of sequential-mcmc-massive-data: where the range is infinite, so that no decision ends early, subsampling gives the bits of decide: all,
// with an adapted walk, a joint draw and an exact index beside it.
func TestCheck2Unbounded(t *testing.T) {
	cases, _ := kalmanCases(t, "kalman_m500.json")
	scans := cases[0].scans()[:4]
	m := unbounded{example1Model(&cases[0])}
	for _, order := range []int{1, 2} {
		way := SMCMC{Particles: 400, Burn: 60, Repeat: 4, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}}
		want := bytesOf(t, way, Job{Model: m, Seed: 5}, scans, nil)
		d := usual()
		d.Order, d.GiveUp = order, 1
		way.Decide = d
		got := bytesOf(t, way, Job{Model: m, Seed: 5}, scans, func(info Info) {
			if info.BySum == nil || info.BySum.Refine != 1 || info.Seen.Joint != 1 || info.Residuals != 0 || info.Passes == 0 {
				t.Errorf("order %d: %+v", order, info)
			}
		})
		if !bytes.Equal(got, want) {
			t.Errorf("order %d: the states differ from those of decide: all", order)
		}
	}
}

// Check 2, the true rule on Example 1: the residuals of all rows are the same (section 5, A8), so that every decision is that of all rows, and
// the states have the same bits. Order 2 has no residuals, and looks at one row.
func TestCheck2Example1(t *testing.T) {
	cases, _ := kalmanCases(t, "kalman_m500.json")
	scans, m := cases[0].scans(), example1Model(&cases[0])
	for name, refine := range map[string]Refinement{"prior": PriorRefinement{}, "walk": Walk{SD: 0.1}} {
		way := SMCMC{Particles: 500, Burn: 100, Repeat: 1, Index: UniformIndex{}, Refine: refine}
		want := bytesOf(t, way, Job{Model: m, Seed: 5}, scans, nil)
		for _, order := range []int{1, 2} {
			way.Decide = Subsample{order, EveryRow, 0.1, 2, 1.2, 1}
			looked, n := 0.0, 0
			got := bytesOf(t, way, Job{Model: m, Seed: 5}, scans, func(info Info) {
				if order == 2 && (info.Seen.Refine != 1./500 || info.BySum.Refine != 0) {
					t.Errorf("%s: a decision of order 2 looks at %v of 500 rows", name, 500*info.Seen.Refine)
				}
				looked, n = looked+info.Seen.Refine, n+1
			})
			t.Logf("%s, order %d: S/M %.3f", name, order, looked/float64(n))
			if !bytes.Equal(got, want) {
				t.Errorf("%s, order %d: the states differ from those of decide: all", name, order)
			}
			if !(looked/float64(n) < 0.8) {
				t.Errorf("%s, order %d: S/M is %v", name, order, looked/float64(n))
			}
		}
	}
}

// Check 3: on targets in clutter at most a share δ of the decisions differ from those by all rows, and none is expected; fewer rows are looked
// at. A decision by the sum has the bits of a likelihood that made all of them, whether or not those before were made by it. So it is if some
// of a target's returns are outside of the region: they have no bound, and all decisions look at them.
func TestCheck3(t *testing.T) {
	const made = 600
	m, edge := crowd(1, "near"), crowd(1, "near")
	edge.Background.Region[0] = -58.5
	for _, c := range []struct {
		m      ssm.Clutter
		decide Subsample
		most   float64 // S/M
	}{
		{m, Subsample{2, NearRows, 0.1, 2, 1.2, 0.01}, 0.8}, {m, Subsample{2, EveryRow, 0.1, 2, 1.2, 1}, 0.2}, {m, Subsample{1, NearRows, 0.1, 2, 1.2, 1}, 0.4},
		{m, Subsample{1, EveryRow, 0.1, 2, 1.2, 1}, 0.9}, {m, Subsample{2, NearRows, 0.1, 2, 1.2, 1}, 0.05}, {edge, Subsample{2, NearRows, 0.1, 2, 1.2, 1}, 0.1},
	} {
		d := newDecisions(t, c.m, c.decide)
		whole, err := bind(c.m, sceneScan(t, c.m), nil)
		if err != nil {
			t.Fatal(err)
		}
		whole.Set(d.x)
		differ, summed := 0, 0
		var all rate
		for range made {
			b, logU := d.propose()
			ok, logR := d.decider.decide(d.chain, b, logU, 0)
			want := whole.Try(d.y, b)
			if d.looked.summed > 0 {
				if summed++; logR != want {
					t.Errorf("%+v: a sum of %v, want %v", c.decide, logR, want)
				}
			}
			if ok != (logU < want) {
				differ++
			}
			all.add(d.looked)
			if ok {
				d.move()
				whole.Keep()
			}
		}
		t.Logf("%+v: %d of %d decisions differ, S/M %.4f, %d by the sum", c.decide, differ, made, all.seen(), summed)
		if free := len(d.decider.(*subsampling).free); (free > 50) != (c.m.Background == edge.Background) {
			t.Errorf("%d returns have no bound", free)
		}
		if d.fault != nil || differ > 0 || !(all.seen() < c.most) || all.sampled != made || all.summed != summed {
			t.Errorf("%+v: %d of %d decisions differ, S/M %.4f, %d by the sum: %v", c.decide, differ, made, all.seen(), summed, d.fault)
		}
	}
}

// Check 1 with decide: subsample: against the Kalman filter on Example 1, as TestCheck1AgainstKalman, with the defaults and with the paper's proxy.
func TestSubsamplingAgainstKalman(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "kalman_m500.json")
	c := cases[0]
	for name, d := range map[string]Subsample{"defaults": usual(), "paper": {1, EveryRow, 0.1, 2, 1.2, 1}} {
		way := SMCMC{Particles: 4000, Burn: 250, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}, Decide: d}
		squares, ks, expected := 0.0, 0.0, 0.0
		filtered(t, way, Job{Model: example1Model(&c), Seed: 1}, c.scans(), func(k int, st *State, info Info) {
			mean, _ := st.Moments()
			z := (mean[0] - c.Expected.Mean[k]) / info.MCSE[0]
			squares += min(z*z, 9) / 20
			sd := math.Sqrt(c.Expected.Var[k])
			two, _ := uq.KS(st.X, func(x float64) float64 { return 0.5 * math.Erfc(-(x-c.Expected.Mean[k])/(sd*math.Sqrt2)) })
			ks, expected = ks+two/20, expected+0.87/math.Sqrt(info.ESS[0])/20
		})
		t.Logf("%s: mean square %.2f, KS %.4f, expected %.4f", name, squares, ks, expected)
		if !(squares <= 3 && ks <= 2*expected) {
			t.Errorf("%s: mean squared error %.2f MCSE², KS %.4f where %.4f is expected", name, squares, ks, expected)
		}
	}
}

// A chain by subsampling has the law of decide: all where the terms are not Gaussian and rows have bounds that are used: heavy tails. The root of the
// mean square of the difference of the means of two runs, in standard errors of the difference, is 1; of 16 numbers with Student's errors of
// seven degrees of freedom, squares counted up to 9, the mean square is above 4 with probability below 1e-6.
func TestSubsamplingOfTails(t *testing.T) {
	testkit.Statistics(t)
	m := ssm.Student{Location: 0.3, LogScale: 0.1, Returns: 2000, Degrees: 4, Interval: 1, Initial: ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 0.5}}}
	scene := ssm.Scene{Model: m, Seed: 3}
	var scans []*ssm.Scan
	for range 8 {
		_, scan, err := scene.Next()
		if err != nil {
			t.Fatal(err)
		}
		scans = append(scans, &scan)
	}
	way := SMCMC{Particles: 4000, Burn: 250, Index: ExactIndex{}, Refine: Walk{SD: Adapted}}
	var means, errors [2][]float64
	seen, bySum := 0.0, 0.0
	for i, d := range []Decision{AllRows{}, Subsample{2, NearRows, 0.1, 2, 1.2, 0.5}} {
		way.Decide = d
		filtered(t, way, Job{Model: m, Seed: uint64(1 + i)}, scans, func(_ int, st *State, info Info) {
			mean, _ := st.Moments()
			means[i], errors[i] = append(means[i], mean...), append(errors[i], info.MCSE...)
			if i == 1 {
				seen, bySum = seen+info.Seen.Refine/8, bySum+info.BySum.Refine/8
			}
		})
	}
	square := 0.0
	for k := range means[0] {
		z := (means[0][k] - means[1][k]) / math.Hypot(errors[0][k], errors[1][k])
		square += min(z*z, 9) / float64(len(means[0]))
	}
	t.Logf("mean square %.2f, S/M %.3f, by the sum %.3f", square, seen, bySum)
	if !(square <= 4 && seen < 0.5 && bySum < 0.5) {
		t.Errorf("mean square %.2f, S/M %.3f, by the sum %.3f", square, seen, bySum)
	}
}

// A predicted covariance that is singular has its x⁺, and so has one of measurements that lack numbers: the means are within six of their
// standard errors of the exact ones (false failure 2e-9 a mean and Student's tails of seven degrees of freedom), as those of TestPartsOfParticles.
func TestSubsamplingOfSingularNoiseAndParts(t *testing.T) {
	testkit.Statistics(t)
	position := ssm.LinearGaussian{A: [][]float64{{1, 1}, {0, 1}}, Q: [][]float64{{0.25, 0.5}, {0.5, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{0, 1}, SD: []float64{1, 0}}}
	parted := wholes(0, 3, slices.Repeat([]float64{1, 2, 3}, 30)...)
	parted.Parts = []ssm.Part{{Columns: []int{1}, Values: slices.Repeat([]float64{4, 4.5, 3.5}, 20)}, {Columns: []int{0, 2}, Values: []float64{5, -6}}}
	for name, c := range map[string]struct {
		m     ssm.Model
		scans []*ssm.Scan
	}{
		"singular": {position, []*ssm.Scan{wholes(1, 1, slices.Repeat([]float64{1.2}, 50)...), wholes(2, 1, slices.Repeat([]float64{3.1, 2.2}, 40)...)}},
		"parts":    {three(), []*ssm.Scan{parted}},
	} {
		var exact [][]float64
		filtered(t, Kalman{}, Job{Model: c.m}, c.scans, func(_ int, st *State, _ Info) { exact = append(exact, slices.Clone(st.Mean)) })
		way := SMCMC{Particles: 8000, Repeat: 8, Burn: 250, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}, Decide: usual()}
		filtered(t, way, Job{Model: c.m, Seed: 7}, c.scans, func(k int, st *State, info Info) {
			mean, _ := st.Moments()
			for i, v := range mean {
				if e := info.MCSE[i]; !(math.Abs(v-exact[k][i]) <= 6*e && 6*e <= 0.2) {
					t.Errorf("%s, scan %d: the mean %d is %v ± %v, want %v", name, k+1, i, v, e, exact[k][i])
				}
			}
			if info.BySum.Refine > 0.1 {
				t.Errorf("%s, scan %d: %v of the decisions are made by the sum", name, k+1, info.BySum.Refine)
			}
		})
	}
}

// flattering is a model that states a bound a third of the right one.
type flattering struct{ ssm.Clutter }

func (m flattering) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	l, err := m.Clutter.Bind(scan)
	if err != nil {
		return nil, err
	}
	return &flatteringLikelihood{l.(clutterLike)}, nil
}

type clutterLike interface {
	ssm.Localised
	ssm.Incremental
	ssm.Informed
}

type flatteringLikelihood struct{ clutterLike }

func (l *flatteringLikelihood) Curvature(order int, radius float64) float64 {
	return l.clutterLike.Curvature(order, radius) / 3
}

func (l *flatteringLikelihood) Near(b ssm.Block, radius float64) ssm.Neighbourhood {
	n := l.clutterLike.Near(b, radius)
	n.Curvature[0] /= 3
	n.Curvature[1] /= 3
	return n
}

// A model that states its bounds too small is stopped, with the row, its residual and the bound. The right bounds stop nobody.
func TestTooSmallBoundsAreFound(t *testing.T) {
	m := crowd(0.3, "near")
	_, scan, err := (&ssm.Scene{Model: m, Seed: 4}).Next()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []Rows{NearRows, EveryRow} {
		for _, model := range []ssm.Model{m, flattering{m}} {
			d := usual()
			d.Rows, d.Order, d.GiveUp = rows, 1, 0.5
			f, err := SMCMC{Particles: 300, Burn: 250, Refine: Walk{SD: Adapted}, Index: UniformIndex{}, Decide: d}.On(Job{Model: model, Seed: 2})
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Step(t.Context(), st, &scan)
			_, wrong := model.(flattering)
			if wrong != (err != nil) || wrong && !(strings.Contains(err.Error(), "Curvature") && strings.Contains(err.Error(), "row ") && strings.Contains(err.Error(), "the scan at")) {
				t.Errorf("%T, rows: %s: %v", model, rows, err)
			}
		}
	}
}

// vain is a user's model without a series, and shy one that has no likelihood of an empty scan.
type vain struct{ ssm.LinearGaussian }

func (m vain) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return sums{m: example1}, nil }

type shy struct{ vain }

func (m shy) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	if scan.Len() == 0 {
		return nil, fmt.Errorf("no measurements")
	}
	return m.vain.Bind(scan)
}

// A model without a series is refused before the run, in words that say what to do; one that does not tell, at the first scan.
func TestSubsamplingNeedsASeries(t *testing.T) {
	cases, _ := kalmanCases(t, "kalman_m500.json")
	m := vain{example1Model(&cases[0])}
	way := SMCMC{Particles: 50, Burn: 5, Refine: Walk{SD: 0.1}, Decide: usual()}
	says := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "ssm.Expandable") || !strings.Contains(err.Error(), "take decide: all") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := way.On(Job{Model: m})
	says("no series", err)
	f, err := way.On(Job{Model: shy{m}})
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Step(t.Context(), st, wholes(1, 1, 0.5))
	says("the first scan", err)
	way.Decide = AllRows{}
	if _, err := way.On(Job{Model: m}); err != nil {
		t.Errorf("decide: all needs none: %v", err)
	}
}

// Settings that cannot be are refused.
func TestSubsampleChecks(t *testing.T) {
	for want, spoil := range map[string]func(m *Subsample){
		"order": func(m *Subsample) { m.Order = 3 }, "rows": func(m *Subsample) { m.Rows = "some" }, "delta": func(m *Subsample) { m.Delta = 1 },
		"power": func(m *Subsample) { m.Power = 1 }, "growth": func(m *Subsample) { m.Growth = 1 }, "give_up": func(m *Subsample) { m.GiveUp = math.NaN() },
	} {
		m := usual()
		if _, err := (SMCMC{Particles: 50, Refine: Walk{SD: 0.1}, Decide: m}).On(Job{Model: crowd(0.1, "near")}); err != nil {
			t.Fatal(err)
		}
		spoil(&m)
		if _, err := (SMCMC{Particles: 50, Refine: Walk{SD: 0.1}, Decide: m}).On(Job{Model: crowd(0.1, "near")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Rows are drawn by streams of their own, one for each decision that draws some, anew each time: no stream is opened twice, those of the
// proposals are the ones of decide: all, and nothing draws rows there.
func TestRowsHaveTheirStreams(t *testing.T) {
	m := crowd(0.3, "near")
	_, scan, err := (&ssm.Scene{Model: m, Seed: 4}).Next()
	if err != nil {
		t.Fatal(err)
	}
	var chains [2][]rng.Key
	for i, d := range []Decision{AllRows{}, Subsample{2, NearRows, 0.1, 2, 1.2, 0.5}} {
		f, err := SMCMC{Particles: 40, Burn: 40, Refine: Walk{SD: 0.05}, Joint: PriorJoint{}, Index: UniformIndex{}, Decide: d}.On(Job{Model: m, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen, rows := map[rng.Key]bool{}, 0
		for _, key := range rng.Opened(func() { _, err = f.Step(t.Context(), st, &scan) }) {
			if seen[key] {
				t.Fatalf("%+v is opened twice", key)
			}
			seen[key] = true
			switch key.Purpose {
			case rng.Rows:
				rows++
				if key.Purpose = rng.Chain; !seen[key] {
					t.Fatalf("rows of a decision that there is not: %+v", key)
				}
			case rng.Chain:
				chains[i] = append(chains[i], key)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if most := 80 * 3; i == 0 && rows > 0 || i == 1 && rows < most/3 || rows > most {
			t.Errorf("%T opens %d streams of rows", d, rows)
		}
	}
	if !slices.Equal(chains[0], chains[1]) {
		t.Error("the streams of the proposals are not those of decide: all")
	}
}

// Draws of the prediction, far from x⁺, are decided by the sum without a look at rows, where few rows are at hand; the terms of passes, rows
// and sums are all of the terms.
func TestFarDrawsAreSummed(t *testing.T) {
	m := crowd(1, "near")
	_, scan, err := (&ssm.Scene{Model: m, Seed: 4}).Next()
	if err != nil {
		t.Fatal(err)
	}
	way := SMCMC{Particles: 100, Burn: 250, Repeat: 1, Joint: PriorJoint{}, Index: UniformIndex{}, Refine: NoRefinement{}, Decide: usual()}
	filtered(t, way, Job{Model: m, Seed: 2}, []*ssm.Scan{&scan}, func(_ int, _ *State, info Info) {
		if info.BySum.Joint < 0.97 || info.Residuals > 1000 || !math.IsNaN(info.Seen.Refine) {
			t.Errorf("joint draws: %v by the sum, %d rows", info.BySum.Joint, info.Residuals)
		}
		if rest := info.Evaluated - info.PassTerms - info.Residuals; rest <= 0 || info.PassTerms <= 0 || info.Passes < 4 {
			t.Errorf("%d terms, of which %d are of %d passes and %d of rows", info.Evaluated, info.PassTerms, info.Passes, info.Residuals)
		}
	})
	way.Decide = AllRows{}
	filtered(t, way, Job{Model: m, Seed: 2}, []*ssm.Scan{&scan}, func(_ int, _ *State, info Info) {
		if info.BySum != nil || info.Seen != nil || info.Passes+int(info.PassTerms+info.Residuals) != 0 {
			t.Errorf("decide: all: %+v", info)
		}
	})
}

// A decision allocates nothing.
func TestSubsamplingAllocates(t *testing.T) {
	d := newDecisions(t, crowd(1, "near"), Subsample{2, NearRows, 0.1, 2, 1.2, 0.5})
	decide := func() {
		b, logU := d.propose()
		if ok, _ := d.decider.decide(d.chain, b, logU, 0); ok {
			d.move()
		}
	}
	for range 300 {
		decide()
	}
	if n := testing.AllocsPerRun(500, decide); n > 0 {
		t.Errorf("%v allocations a decision", n)
	}
}
