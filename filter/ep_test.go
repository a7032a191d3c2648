package filter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
)

// epOf is an EP by its defaults, but for what change sets.
func epOf(change func(m *EP)) EP {
	m := EP{Particles: 2000}
	if change != nil {
		change(&m)
	}
	m.Defaults()
	return m
}

// watched is an Exchanger that remembers the sites that it is given.
type watched struct {
	sites []Site
	scans []int
	err   error
}

func (w *watched) Exchange(_ context.Context, scan, pass int, sites []Site) ([]Site, error) {
	w.sites, w.scans = append(w.sites, sites...), append(w.scans, scan, pass)
	return sites, w.err
}

// Check 9: with a Gaussian factor beside the measurements every chain has the law π(x, a) ∝ p(z | x) p(x | f(a)) exp(q(x)) on four particles:
// the shares of the particles and the mean of x given the particle, by quadrature. Joint draws need c(a) for it: without, as it was printed, their
// law is π(x, a)/c(a). Errors are in Monte Carlo standard errors; a z-score above 6 in one of 96 comparisons has probability 2e-7. The
// two laws differ by .25 in a share, where six standard errors are .02.
func TestInvariantLawBesideSites(t *testing.T) {
	testkit.Statistics(t)
	m := scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, m0: 0, p0: 1}
	from, z := []float64{-0.6, -0.1, 0.3, 0.9}, 0.35
	site := &quadratic{[]float64{3}, []float64{-16}, []float64{7}} // with the mean .714
	shares := func(printed bool) (p, mean []float64) {
		p, mean = make([]float64, len(from)), make([]float64, len(from))
		for a, f := range from {
			const h = 1e-3
			c := 0.0
			for x := -5.0; x < 5; x += h {
				w := math.Exp(-0.5*(x-m.a*f)*(x-m.a*f)/m.q + site.at([]float64{x}) - site.at([]float64{0.7}))
				l := w * math.Exp(-0.5*(z-x)*(z-x)/m.r)
				p[a], mean[a], c = p[a]+l, mean[a]+x*l, c+w
			}
			if mean[a] /= p[a]; printed {
				p[a] /= c
			}
		}
		return p, mean
	}
	law := func(name string, model ssm.Model, way SMCMC, printed bool) {
		const steps = 40000
		f, err := SMCMC{Particles: steps, Burn: 2000, Joint: way.Joint, Index: way.Index, Refine: way.Refine}.On(Job{Model: model, Seed: 8})
		if err != nil {
			t.Fatal(err)
		}
		s := f.(*smcmc)
		s.beside = beside{site, 1, printed}
		c, err := newChain(s.plan(1), 0, &State{K: 1, Dim: 1, X: from}, &ssm.Scan{Time: 1, Width: 1, Values: []float64{z}})
		if err != nil {
			t.Fatal(err)
		}
		p, mean := shares(printed)
		hasLaw(t, name, s, c, steps, 6, p, mean, func() int { return int(c.a[0]) })
	}
	for name, way := range ways {
		if way.Repeat > 1 {
			continue
		}
		law(name, linear{m}, way, false)
		law(name+", no moments of the transition", m, way, false)
	}
	law("as printed", linear{m}, ways["joint"], true)
	right, _ := shares(false)
	wrong, _ := shares(true)
	apart := 0.0
	for a := range right {
		apart = max(apart, math.Abs(right[a]/sumOf(right)-wrong[a]/sumOf(wrong)))
	}
	if !(apart > 0.2) {
		t.Errorf("the two laws differ by %.3f: the test does not tell them apart", apart)
	}
}

func sum(n []int64) (sum int64) {
	for _, v := range n {
		sum += v
	}
	return sum
}

func sumOf(p []float64) (sum float64) {
	for _, v := range p {
		sum += v
	}
	return sum
}

// EP against the Kalman filter on Example 1 with 500 measurements a scan, by all moves and by the paper's, whose samples of 20 scans are off by
// .065 and .12 sd (root mean square of 20 runs). Errors of scans are nearly independent: even if 10 of the 20 were, the mean square would be above
// 5.5 times the usual with probability 1e-7. A site that is left out makes the variance 1.3 times as large, and one pass 6 times. The default has
// sites whose precision is 62.5, that of their measurements.
func TestEPAgainstKalman(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "kalman_m500.json")
	c := cases[0]
	for name, way := range map[string]struct {
		m     EP
		usual float64
	}{
		"defaults": {epOf(func(m *EP) { m.Particles = 4000 }), 0.065},
		"softabs":  {epOf(func(m *EP) { m.Particles, m.Repair, m.Correct = 4000, SoftAbs{}, true }), 0.065},
		"paper": {epOf(func(m *EP) {
			m.Particles, m.Joint, m.Index, m.Refine = 2000, NoJoint{}, UniformIndex{}, PriorRefinement{}
		}), 0.12 * math.Sqrt2},
		"8 nodes": {epOf(func(m *EP) { m.Particles, m.Nodes = 4000, 8 }), 0.113},
	} {
		squares, ratio := 0.0, 0.0
		filtered(t, way.m, Job{Model: c.model(), Seed: 1}, c.scans(), func(k int, st *State, info Info) {
			mean, cov := st.Moments()
			squares += (mean[0] - c.Expected.Mean[k]) * (mean[0] - c.Expected.Mean[k]) / c.Expected.Var[k] / 20
			ratio += cov[0] / c.Expected.Var[k] / 20
			n := info.Nodes
			slowest := float64(n.Critical) * float64(way.m.Nodes) / float64(info.Evaluated)
			if n.Sites != way.m.Nodes || n.Repaired+n.Empty > 0 || sum(n.Terms) != info.Evaluated || !(slowest >= 1 && slowest < 1.02) {
				t.Errorf("%s, scan %d: %+v of %d terms", name, k+1, n, info.Evaluated)
			}
			if info.MCSE != nil || !(info.RHat[0] < 1.5) {
				t.Errorf("%s, scan %d: MCSE %v, R-hat %v", name, k+1, info.MCSE, info.RHat)
			}
		})
		t.Logf("%s: off by %.3f sd, variances %.3f of the exact ones", name, math.Sqrt(squares), ratio)
		if !(squares <= 5.5*way.usual*way.usual && math.Abs(ratio-1) < 0.15) {
			t.Errorf("%s: off by %.3f sd, variances %.3f of the exact ones", name, math.Sqrt(squares), ratio)
		}
	}
}

// Sites of 125 measurements have the precision M_d H²/R = 62.5 and the mean of the measurements; those by 500 samples scatter by about 25. Each scan's
// sites are its own: they do not grow from scan to scan. Of 80 sites the mean is within 5 standard errors.
func TestEPSites(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "kalman_m500.json")
	c := cases[0]
	for name, correct := range map[string]bool{"as it is": false, "corrected": true} {
		var w watched
		f, err := epOf(func(m *EP) { m.Correct = correct }).On(Job{Model: c.model(), Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		f.(*ep).exchange = &w
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var off []float64
		for _, scan := range c.scans() {
			if _, err := f.Step(t.Context(), st, scan); err != nil {
				t.Fatal(err)
			}
			share := divide(scan, 4, rng.Key{Seed: 2, Purpose: rng.Shares, Iteration: st.K})
			for d, s := range w.sites[4*(st.K-1):] {
				mean := sumOf(share[d].Values) / float64(share[d].Len())
				off = append(off, (s.Origin[0]+s.Gradient[0]/s.Precision[0]-mean)*math.Sqrt(s.Precision[0]))
			}
		}
		var precision []float64
		for _, s := range w.sites {
			precision = append(precision, s.Precision[0])
		}
		mean, sd := meanSD(precision)
		first, _ := meanSD(precision[:20])
		last, _ := meanSD(precision[60:])
		t.Logf("%s: %d sites, precision %.1f ± %.1f, of the first scans %.1f, the last %.1f", name, len(precision), mean, sd, first, last)
		if len(precision) != 80 || !(math.Abs(mean-62.5) < 5*sd/math.Sqrt(80)) || !(sd < 25) || !(math.Abs(first-last) < 5*sd/math.Sqrt(10)) {
			t.Errorf("%s: %d sites with the precision %.1f ± %.1f, of the first scans %.1f, the last %.1f", name, len(precision), mean, sd, first, last)
		}
		if mean, sd := meanSD(off); !(math.Abs(mean) < 5*sd/math.Sqrt(80) && sd < 0.6) {
			t.Errorf("%s: the sites' means are off by %.3f ± %.3f of their sd", name, mean, sd)
		}
		if !slices.Equal(w.scans[:6], []int{0, 0, 1, 0, 2, 0}) {
			t.Errorf("%s: exchanges of the scans and passes %v", name, w.scans[:6])
		}
	}
}

// Two coordinates, of which measurements tell three correlated numbers or some of these, and one coordinate that is known from the start: EP
// against the Kalman filter. The root of the mean square of (mean − exact)/sd over 6 scans and 2 coordinates was .04 to .09 in ten runs.
func TestEPOfParts(t *testing.T) {
	testkit.Statistics(t)
	m := three()
	m.A, m.Q = [][]float64{{1, 0.7, 0.1}, {-0.2, 0.9, 0}, {0, 0, 1}}, [][]float64{{0.5, 0.1, 0}, {0.1, 0.4, 0}, {0, 0, 0}}
	for i := range m.H {
		m.H[i] = append(m.H[i], 0.5)
	}
	m.Initial = &ssm.Initial{Mean: []float64{1, -1, 2}, SD: []float64{1, 2, 0}}
	s := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	var scans []*ssm.Scan
	for k := range 6 {
		scan := &ssm.Scan{Time: float64(k + 1), Width: 3}
		for range 8 {
			scan.Values = append(scan.Values, 2+s.Normal(), 0.3+s.Normal(), -1+s.Normal())
		}
		part := ssm.Part{Columns: []int{0, 2}}
		for range 7 {
			part.Values = append(part.Values, 2+s.Normal(), -1+s.Normal())
		}
		scan.Parts = append(scan.Parts, part, ssm.Part{Columns: []int{1}, Values: []float64{0.3, 0.9, 1}})
		scans = append(scans, scan)
	}
	var exact []*State
	filtered(t, Kalman{}, Job{Model: m}, scans, func(_ int, st *State, _ Info) { copied := *st; exact = append(exact, &copied) })
	squares := 0.0
	filtered(t, epOf(func(m *EP) { m.Nodes = 3 }), Job{Model: m, Seed: 4}, scans, func(k int, st *State, info Info) {
		mean, cov := st.Moments()
		for i := range 2 {
			squares += (mean[i] - exact[k].Mean[i]) * (mean[i] - exact[k].Mean[i]) / exact[k].Cov[4*i] / 12
			if r := cov[4*i] / exact[k].Cov[4*i]; !(r > 0.6 && r < 1.6) {
				t.Errorf("scan %d: the variance of coordinate %d is %.2f of the exact one", k+1, i, r)
			}
		}
		if mean[2] != 2 || !math.IsNaN(info.ESS[2]) || info.Nodes.Empty > 0 {
			t.Errorf("scan %d: the known coordinate is %v, ESS %v, %+v", k+1, mean[2], info.ESS, info.Nodes)
		}
	})
	t.Logf("off by %.3f sd", math.Sqrt(squares))
	if !(math.Sqrt(squares) < 0.25) {
		t.Errorf("off by %.3f sd", math.Sqrt(squares))
	}
}

// A scene in clutter: the tracks are those of SMCMC, within the spread of the posterior, and each target's returns are counted over all nodes.
func TestEPInClutter(t *testing.T) {
	testkit.Statistics(t)
	m := scene()
	scans := make([]*ssm.Scan, 5)
	s, x := rng.Key{Seed: 9, Purpose: rng.Synthetic}.Stream(), make([]float64, m.Dim())
	m.Start(s, x)
	for k := range scans {
		tr, err := m.Transition(1)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, m.Dim())
		tr.Sample(s, x, y)
		x = y
		scans[k] = &ssm.Scan{Time: float64(k + 1)}
		m.Measure(s, x, scans[k])
	}
	mcmc := SMCMC{Particles: 4000}
	mcmc.Defaults()
	var states []*State
	filtered(t, mcmc, Job{Model: m, Seed: 1}, scans, func(_ int, st *State, _ Info) { copied := *st; states = append(states, &copied) })
	explained := 0.0
	filtered(t, epOf(func(m *EP) { m.Particles, m.Nodes = 4000, 3 }), Job{Model: m, Seed: 2}, scans, func(k int, st *State, info Info) {
		got, _ := st.Moments()
		want, cov := states[k].Moments()
		worst := 0.0
		for i := range got {
			worst = max(worst, math.Abs(got[i]-want[i])/math.Sqrt(cov[i*len(got)+i]))
		}
		t.Logf("scan %d: off by %.2f sd, %+v, explained %.0f, ESS %.0f, R-hat %.2f", k+1, worst, info.Nodes, info.Explained, slices.Min(info.ESS), slices.Max(info.RHat))
		like, err := m.Bind(scans[k])
		if err != nil {
			t.Fatal(err)
		}
		_, positions := like.(ssm.Informed) // else velocities, of which there are no data, need repairs
		if !(worst < 0.8) || info.Nodes.Empty > 1 || positions && info.Nodes.Repaired > 1 {
			t.Errorf("scan %d: off by %.2f sd, %+v", k+1, worst, info.Nodes)
		}
		for r, n := range info.Explained {
			if explained += n; info.Lost[r] {
				t.Errorf("scan %d: target %d explains %.1f returns, and is lost", k+1, r+1, n)
			}
		}
	})
	if !(math.Abs(explained-600) < 150) { // a Poisson number: so far off with probability 1e-9
		t.Errorf("the targets explain %.0f returns of about 600", explained)
	}
}

// scene is a model of two targets in clutter.
func scene() ssm.Clutter {
	m := ssm.Clutter{Acceleration: 0.5, Returns: ssm.Returns{Rate: 60, SD: 1}, Background: ssm.Background{Rate: 80, Region: [4]float64{-50, 50, -50, 50}},
		Initial: []ssm.Initial{{Mean: []float64{-20, 0, 2, 1}, SD: []float64{1, 1, 0.5, 0.5}}, {Mean: []float64{20, 10, -1, -1}, SD: []float64{1, 1, 0.5, 0.5}}}}
	m.Defaults()
	return m
}

// The state of an EP, its threads and the order of a scan's measurements: a filter that goes on from a saved state makes the same bytes as one that
// has filtered the scans before, so that no site outlives its scan; so do 1 and 7 threads, and measurements in another order, whole or in parts.
func TestEPSameBytes(t *testing.T) {
	lines, _ := drawn(3, 3, 41)
	parts := &ssm.Scan{Time: 4, Width: 3, Values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{3, 1, 2, 5, 4}}}}
	returns := &ssm.Scan{Time: 1}
	m := scene()
	m.Measure(rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream(), []float64{-20, 0, 2, 1, 20, 10, -1, -1}, returns)
	for name, c := range map[string]struct {
		model ssm.Model
		scans []*ssm.Scan
	}{"line": {linear{example1}, lines}, "parts": {three(), []*ssm.Scan{parts}}, "clutter": {m, []*ssm.Scan{returns}}} {
		run := func(threads int, reversed bool) (bytes []string) {
			f, err := epOf(func(m *EP) { m.Particles, m.Burn, m.Passes = 100, 20, 3 }).On(Job{Model: c.model, Seed: 5, Pool: mcmc.NewPool(threads)})
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, scan := range c.scans {
				if reversed {
					scan = reverse(scan)
				}
				if threads == 1 { // another filter each time, from what was saved
					saved, err := st.MarshalBinary()
					if err != nil {
						t.Fatal(err)
					}
					if f, err = epOf(func(m *EP) { m.Particles, m.Burn, m.Passes = 100, 20, 3 }).On(Job{Model: c.model, Seed: 5, Pool: mcmc.NewPool(threads)}); err != nil {
						t.Fatal(err)
					}
					if err := st.UnmarshalBinary(saved); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := f.Step(t.Context(), st, scan); err != nil {
					t.Fatal(err)
				}
				b, err := st.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				bytes = append(bytes, string(b))
			}
			return bytes
		}
		want := run(1, false)
		for what, got := range map[string][]string{"7 threads": run(7, false), "reversed": run(1, true)} {
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: other bytes", name, what)
			}
		}
	}
}

// reverse is a scan with its measurements in the reverse order.
func reverse(scan *ssm.Scan) *ssm.Scan {
	out := *scan
	out.Values = nil
	for i := scan.Len() - 1; i >= 0; i-- {
		out.Values = append(out.Values, scan.Row(i)...)
	}
	out.Parts = slices.Clone(scan.Parts)
	for k := range out.Parts {
		p := &out.Parts[k]
		p.Values = nil
		for i := p.Len(); i < scan.Parts[k].Len(); i++ {
			p.Values = append(scan.Parts[k].Row(i), p.Values...)
		}
	}
	return &out
}

// Each node gets its share of the measurements, one more or fewer than the others, each measurement once, and another one in another scan.
func TestShares(t *testing.T) {
	scan := &ssm.Scan{Time: 2, Width: 2, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{100, 101, 102}}, {Columns: []int{0}, Values: []float64{200}}}}
	for i := range 23 {
		scan.Values = append(scan.Values, float64(i%5), float64(i))
	}
	for _, nodes := range []int{1, 2, 7, 40} {
		var first []float64
		for k := range 2 {
			seen := map[float64]int{}
			for _, s := range divide(scan, nodes, rng.Key{Seed: 1, Purpose: rng.Shares, Iteration: k}) {
				if n := s.Measured(); n != 27/nodes && n != 27/nodes+1 || s.Time != 2 || s.Width != 2 || len(s.rows) != s.Len() {
					t.Errorf("%d nodes: a share of %d measurements", nodes, n)
				}
				for i := range s.Len() {
					if row := s.Row(i); !slices.Equal(row, scan.Row(s.rows[i])) {
						t.Errorf("%d nodes: row %d is %v, not %v", nodes, s.rows[i], row, scan.Row(s.rows[i]))
					}
					seen[s.Row(i)[1]]++
				}
				for _, p := range s.Parts {
					for i := range p.Len() {
						if v := p.Row(i)[0]; (p.Columns[0] == 1) != (v < 200) {
							t.Errorf("%d nodes: %v is of columns %v", nodes, v, p.Columns)
						} else {
							seen[v]++
						}
					}
				}
				if k == 1 && nodes == 2 && slices.Equal(s.Values, first) {
					t.Error("two scans are divided in the same way")
				}
				if k == 0 && first == nil {
					first = s.Values
				}
			}
			if len(seen) != 27 || slices.Max(slices.Collect(valuesOfMap(seen))) != 1 {
				t.Errorf("%d nodes: %d measurements, %v", nodes, len(seen), seen)
			}
		}
	}
}

func valuesOfMap(m map[float64]int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// Each node keeps the particles that come from its own: where scans are empty and nothing joins the nodes, they stay apart, and the answer is all
// of them together.
func TestEPNodesKeepTheirParticles(t *testing.T) {
	m := linear{scalar{a: 1, q: 0.01, h: 1, r: 1, p0: 1}}
	f, err := epOf(func(m *EP) { m.Particles, m.Nodes, m.Burn = 91, 3, 20 }).On(Job{Model: m, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for j := range st.X { // 30, 30 and 31 particles
		st.X[j] = float64(10 * min(j*3/91, 2))
		for d := range 3 {
			if j >= d*91/3 {
				st.X[j] = float64(10 * d)
			}
		}
	}
	info, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1})
	if err != nil {
		t.Fatal(err)
	}
	if st.N() != 91 || info.Nodes.Without != 3 || info.Nodes.Sites != 0 {
		t.Fatalf("%d particles, %+v", st.N(), info.Nodes)
	}
	for j, x := range st.X {
		d := 0
		for d < 2 && j >= (d+1)*91/3 {
			d++
		}
		if !(math.Abs(x-float64(10*d)) < 1) {
			t.Errorf("particle %d of node %d is %v", j, d, x)
		}
	}
}

// A scan of fewer measurements than nodes: some nodes have none, and the law is right all the same: that of SMCMC by the Kalman filter, within 6
// standard errors of 1,000 draws.
func TestEPOfFewMeasurements(t *testing.T) {
	testkit.Statistics(t)
	m := linear{scalar{a: 0.9, q: 0.5, h: 1, r: 0.3, p0: 1}}
	for _, n := range []int{1, 3} {
		scan := &ssm.Scan{Time: 1, Width: 1, Values: []float64{0.8, 1.4, 0.2}[:n]}
		exact := filtered(t, Kalman{}, Job{Model: m}, []*ssm.Scan{scan}, nil)
		filtered(t, epOf(func(m *EP) { m.Nodes, m.Particles = 5, 5000 }), Job{Model: m, Seed: 2}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) {
			mean, cov := st.Moments()
			if d := (mean[0] - exact.Mean[0]) / math.Sqrt(exact.Cov[0]); !(math.Abs(d) < 6/math.Sqrt(1000)) || !(math.Abs(cov[0]/exact.Cov[0]-1) < 0.25) {
				t.Errorf("%d measurements: off by %.3f sd, the variance is %.2f of the exact one", n, d, cov[0]/exact.Cov[0])
			}
			if info.Nodes.Without != 5-n || info.Nodes.Sites != n {
				t.Errorf("%d measurements: %+v", n, info.Nodes)
			}
		})
	}
}

// One node is SMCMC of one filter, to the last bit.
func TestEPOfOneNode(t *testing.T) {
	scans, _ := drawn(1, 3, 20)
	m := epOf(func(m *EP) { m.Nodes, m.Particles = 1, 200 })
	one := SMCMC{Particles: 200, Repeat: 1}
	one.Defaults()
	got, want := filtered(t, m, Job{Model: linear{example1}, Seed: 3}, scans, nil), filtered(t, one, Job{Model: linear{example1}, Seed: 3}, scans, nil)
	if !slices.Equal(got.X, want.X) || !slices.Equal(got.Tuning, want.Tuning) {
		t.Error("one node is not SMCMC")
	}
	if found := m.Findings(); len(found) != 1 || found[0].Warning() || !strings.Contains(found[0].Words(), "one node") {
		t.Errorf("%v", found)
	}
	if found := epOf(func(m *EP) { m.Passes = 1 }).Findings(); len(found) != 1 || !found[0].Warning() {
		t.Errorf("one pass: %v", found)
	}
	if found := epOf(nil).Findings(); found != nil {
		t.Errorf("defaults: %v", found)
	}
}

// An EP hands all that it shares with SMCMC to the chains of its nodes.
func TestEPHandsOverAllOfSMCMC(t *testing.T) {
	m := EP{Burn: 7, Ancestors: Together, Joint: PriorJoint{}, Index: UniformIndex{}, Refine: Walk{SD: 2}, Decide: AllRows{}}
	from, to := reflect.ValueOf(m), reflect.ValueOf(m.chains(5))
	for i := range to.NumField() {
		f := to.Type().Field(i)
		if f.Name == "sampling" || f.Name == "Repeat" || f.Name == "Particles" {
			continue
		}
		if v := from.FieldByName(f.Name); !v.IsValid() || v.IsZero() || v.Interface() != to.Field(i).Interface() {
			t.Errorf("%s is not handed over", f.Name)
		}
	}
}

// An exchange that fails ends the scan, and the state stays as it was. Measurements that are none are named by their place in the scan, not in a node's share.
func TestEPErrors(t *testing.T) {
	scans, _ := drawn(1, 1, 20)
	f, err := epOf(func(m *EP) { m.Particles = 40 }).On(Job{Model: linear{example1}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, _ := st.MarshalBinary()
	lost := errors.New("node 3 does not answer")
	f.(*ep).exchange = &watched{err: lost}
	_, err = f.Step(t.Context(), st, scans[0])
	if after, _ := st.MarshalBinary(); !errors.Is(err, lost) || !slices.Equal(before, after) {
		t.Errorf("%v; the state is another: %v", err, !slices.Equal(before, after))
	}
	scans[0].Values[13] = math.NaN()
	var none *ssm.MeasurementError
	if _, err := f.Step(t.Context(), st, scans[0]); !errors.As(err, &none) || none.Row != 13 {
		t.Errorf("%v", err)
	}
	far := scene()
	far.Returns.Rate = 0 // no return comes from outside the region
	g, err := epOf(func(m *EP) { m.Particles = 40 }).On(Job{Model: far, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if st, err = g.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	scan := &ssm.Scan{Time: 1, Width: 2, Values: []float64{-20, 0, -20, 1, 20, 10, 1e9, 1e9, 20, 11}}
	var impossible *ImpossibleError
	if _, err := g.Step(t.Context(), st, scan); !errors.As(err, &impossible) || impossible.Row != 3 || !strings.Contains(err.Error(), "measurement 4 of the scan at 1 s") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		m    EP
		job  Job
		want string
	}{
		{EP{Nodes: 4, Passes: 17, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: passes: want below 17, have 17"},
		{EP{Nodes: 0, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: nodes: want at least 1, have 0"},
		{EP{Nodes: 60, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: particles: want at least 2 particles of each node, have 100 of 60 nodes"},
		{EP{Nodes: 4, Passes: 2, Particles: 100}, Job{Model: example1}, "EP: joint: nothing would move the state: want joint: prior, or a refinement"},
		{EP{Nodes: 4, Passes: 2, Particles: 100, Joint: PriorJoint{}, Repair: SoftAbs{-1}}, Job{Model: example1}, "EP: repair: alpha: want a number above 0, have -1"},
		{EP{Nodes: 4, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1, Node: 1<<24 - 3}, "EP: the numbers of the nodes go up to 16777216, want below 16777216"},
		{EP{Nodes: 4, Passes: 2, Particles: 2000, Joint: PriorJoint{}}, Job{Model: crowd(254)}, "EP: ep takes states of at most 253 blocks, which are the model's targets, and this one has 254: take smcmc"},
	} {
		if _, err := c.m.On(c.job); err == nil || fmt.Sprint(err) != c.want {
			t.Errorf("%+v: %v, want %s", c.m, err, c.want)
		}
	}
	if _, err := (EP{Nodes: 4, Passes: 16, Particles: 2000, Joint: PriorJoint{}}).On(Job{Model: crowd(253)}); err != nil {
		t.Errorf("253 targets in 16 passes: %v", err)
	}
}

// crowd is a model of so many targets in clutter.
func crowd(n int) ssm.Clutter {
	m := scene()
	for len(m.Initial) < n {
		m.Initial = append(m.Initial, m.Initial[0])
	}
	return m
}

// Sites of few draws say nothing, and are counted: two coordinates need more than four draws. A chain that has stayed at one state has one draw.
func TestEPOfFewDraws(t *testing.T) {
	scan := &ssm.Scan{Time: 1, Width: 3, Values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}}
	filtered(t, epOf(func(m *EP) { m.Particles, m.Nodes, m.Burn = 9, 3, 250 }), Job{Model: three(), Seed: 1}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) {
		if n := info.Nodes; n.Sites != 3 || n.Empty != 3 {
			t.Errorf("three samples: %+v", n)
		}
	})
	filtered(t, epOf(func(m *EP) { m.Nodes, m.Joint, m.Refine, m.Burn = 3, NoJoint{}, Walk{SD: 1e9}, 10 }), Job{Model: three(), Seed: 1}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) {
		if n := info.Nodes; n.Sites != 3 || n.Empty != 3 {
			t.Errorf("a walk of giant steps: %+v", n)
		}
	})
}

// A chain with sites beside its measurements starts where they are, also far out in the prediction: 40 of its standard deviations, with a site of
// .1 of one. The start is a draw of the two together, which is within 6 of its own.
func TestEPStartsNearTheOthers(t *testing.T) {
	m := scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, m0: 0, p0: 0}
	f, err := SMCMC{Particles: 10, Joint: PriorJoint{}}.On(Job{Model: linear{m}, Seed: 8})
	if err != nil {
		t.Fatal(err)
	}
	s := f.(*smcmc)
	variance := 0.01 * m.q
	s.beside = beside{&quadratic{[]float64{40 * math.Sqrt(m.q)}, []float64{0}, []float64{1 / variance}}, 1, false}
	c, err := newChain(s.plan(1), 0, &State{K: 1, Dim: 1, X: make([]float64, 10)}, &ssm.Scan{Time: 1, Width: 1})
	if err != nil {
		t.Fatal(err)
	}
	precision := 1/m.q + 1/variance
	if mean := 40 * math.Sqrt(m.q) / variance / precision; !(math.Abs(c.x[0]-mean) < 6/math.Sqrt(precision)) {
		t.Errorf("the chain starts at %v, and the posterior is at %v", c.x[0], mean)
	}
}
