package filter

import (
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

// The state of an EP, its threads and the order of a scan's measurements: a filter that goes on from a saved state makes the same bytes as one that
// has filtered the scans before, so that no site outlives its scan; so do 1 and 7 threads, and measurements in another order, whole or in parts.
func TestEPSameBytes(t *testing.T) {
	lines, _ := example1Scans(3, 3, 41)
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
	scans, _ := example1Scans(1, 3, 20)
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
	scans, _ := example1Scans(1, 1, 20)
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
	f.(*ep).hosted.By = &watched{err: lost}
	_, err = f.Step(t.Context(), st, scans[0])
	if after, _ := st.MarshalBinary(); !errors.Is(err, lost) || !slices.Equal(before, after) {
		t.Errorf("%v; the state is another: %v", err, !slices.Equal(before, after))
	}
	f.(*ep).hosted.By = Here{}
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
		{EP{Nodes: 4, Passes: 17, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: passes: want at most 16, have 17"},
		{EP{Nodes: 0, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: nodes: want at least 1, have 0"},
		{EP{Nodes: 60, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1}, "EP: particles: want at least 2 particles of each node, have 100 of 60 nodes"},
		{EP{Nodes: 4, Passes: 2, Particles: 100}, Job{Model: example1}, "EP: joint: nothing would move the state: want joint: prior or guided, or a refinement"},
		{EP{Nodes: 4, Passes: 2, Particles: 100, Joint: PriorJoint{}, Repair: SoftAbs{-1}}, Job{Model: example1}, "EP: repair: alpha: want a number of at least 0, have -1"},
		{EP{Nodes: 4, Passes: 2, Particles: 100, Joint: PriorJoint{}}, Job{Model: example1, Node: 1<<24 - 3}, "EP: the numbers of the nodes go up to 16777216, want below 16777216"},
		{EP{Nodes: 4, Passes: 2, Particles: 2000, Joint: PriorJoint{}}, Job{Model: manyTargets(254)}, "EP: ep takes states of at most 253 blocks, which are the model's targets, and this one has 254: take smcmc"},
	} {
		if _, err := c.m.On(c.job); err == nil || fmt.Sprint(err) != c.want {
			t.Errorf("%+v: %v, want %s", c.m, err, c.want)
		}
	}
	if _, err := (EP{Nodes: 4, Passes: 16, Particles: 2000, Joint: PriorJoint{}}).On(Job{Model: manyTargets(253)}); err != nil {
		t.Errorf("253 targets in 16 passes: %v", err)
	}
}

// manyTargets is a model of so many targets in clutter.
func manyTargets(n int) ssm.Clutter {
	m := scene()
	for len(m.Initial) < n {
		m.Initial = append(m.Initial, m.Initial[0])
	}
	return m
}

// Sites of few draws say nothing, and are counted: two coordinates need more than four draws. A chain that has stayed at one state has one draw. Nor
// do measurements that depend on no coordinate.
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
	deaf := three()
	deaf.H = [][]float64{{0, 0}, {0, 0}, {0, 0}}
	filtered(t, epOf(func(m *EP) { m.Particles, m.Burn = 200, 20 }), Job{Model: deaf, Seed: 1}, []*ssm.Scan{scan}, func(_ int, _ *State, info Info) {
		if n := info.Nodes; n.Sites != 3 || n.Empty != 3 || n.Without != 1 {
			t.Errorf("measurements of noise alone: %+v", n)
		}
	})
}

// Before the first scan targets have indices of their own, also with ancestors: joint, whose joint proposals draw all of them at once. With a site
// that couples the targets and no measurements the law is normal. Mean and variances of 20,000 states, of which about an eighth are worth a draw, are
// within 6 standard errors. A draw of one target alone leaves the other where it began.
func TestEPJointDrawsOfTheFirstScan(t *testing.T) {
	m := scene()
	d := m.Dim()
	q := &quadratic{make([]float64, d), make([]float64, d), make([]float64, d*d)}
	q.origin[0], q.origin[4], q.origin[5] = -20, 20, 10
	q.gradient[0], q.gradient[4] = 1, -2
	for _, i := range []int{0, 1, 4, 5} {
		q.precision[i*d+i] = 0.5
	}
	q.precision[4], q.precision[4*d] = 0.3, 0.3
	f, err := SMCMC{Ancestors: Together, Particles: 20000, Burn: 100, Joint: PriorJoint{}, Repeat: 1}.On(Job{Model: m, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	s := f.(*smcmc)
	s.beside = beside{q, streamsOfPass, false, true}
	st, err := f.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := make([]float64, len(st.X))
	if _, err := s.run(t.Context(), 0, st, &ssm.Scan{Time: 1, Width: 2}, kept); err != nil {
		t.Fatal(err)
	}
	got, cov := moments(kept, d, ssm.Block{From: 0, To: d}, func(int) float64 { return 1 / float64(s.Particles) })

	mean, start := m.StartMoments()
	prior, at, _, err := predict(m, &State{Dim: d, Mean: mean, Cov: start}, &ssm.Scan{Time: 1, Width: 2})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := newNewton(nil, prior, at, q)
	if !ok {
		t.Fatal("no prediction")
	}
	none := ssm.Expansion{Gradient: make([]float64, d), Hessian: make([]float64, d*d)}
	step, _ := n.step(spot{Expansion: none, at: prior})
	exact, _, _, err := n.spread(spot{Expansion: none, at: prior})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d {
		sd := math.Sqrt(exact[i*d+i])
		if off := (got[i] - prior[i] - step[i]) / sd; !(math.Abs(off) < 6/math.Sqrt(2500)) {
			t.Errorf("coordinate %d: the mean is off by %.3f sd", i, off)
		}
		if r := cov[i*d+i] / exact[i*d+i]; !(math.Abs(r-1) < 6*math.Sqrt(2./2500)) {
			t.Errorf("coordinate %d: the variance is %.3f of the exact one", i, r)
		}
	}
}
