package filter

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// cloud is n particles of two coordinates, whose weights are sixty-fourths and differ; copies are those of each.
func cloud() (st *State, copies []int) {
	s := rng.Key{Seed: 6, Purpose: rng.Synthetic}.Stream()
	st, copies = &State{Dim: 2}, []int{1, 9, 2, 30, 4, 1, 12, 5}
	for _, n := range copies {
		x := s.Normal() + 0.1*float64(n) // where weights are large is to the right
		st.X, st.LogW = append(st.X, x, 0.5*x+s.Normal()), append(st.LogW, math.Log(float64(n)/64))
	}
	return st, copies
}

// of is the state of some particles, each with a share of its weight.
func (st *State) of(particles []int, share []float64) *State {
	out := &State{Dim: st.Dim}
	for i, j := range particles {
		out.X, out.LogW = append(out.X, st.Particle(j)...), append(out.LogW, st.LogW[j]+math.Log(share[i]))
	}
	return out
}

// figures are all numbers that a state tells of its law.
func figures(st *State) (all []float64) {
	mean, cov := st.Moments()
	all = slices.Concat(mean, cov)
	for _, p := range []float64{0.04, 0.3, 0.49, 0.8, 0.97} { // between the sums of sixty-fourths
		all = append(all, st.Quantiles(p)...)
	}
	normal := &State{Dim: 2, Mean: []float64{0.3, -0.2}, Cov: []float64{1, 0.4, 0.4, 2}}
	even := &State{Dim: 2, X: []float64{-1, -1, 0, 1, 0.7, 0.2, 2, 3}}
	for i := range 2 {
		all = append(all, Distance(st, normal, i), Distance(normal, st, i), Distance(st, even, i), Distance(even, st, i))
	}
	return all
}

// What a state tells is of the law that its weights make of its particles: the same in any order, with particles in two parts that share
// a weight, with others of weight 0 wherever they are, and with as many copies of equal weight.
func TestFiguresAreOfTheWeightedLaw(t *testing.T) {
	st, copies := cloud()
	want := figures(st)
	var order, parts, even []int
	var whole, share []float64
	for j, n := range copies {
		order, whole = append(order, (3*j+5)%len(copies)), append(whole, 1)
		parts, share = append(parts, j, j), append(share, 0.25, 0.75)
		even = append(even, slices.Repeat([]int{j}, n)...)
	}
	dead := st.of(order, whole)
	dead.X, dead.LogW = append([]float64{1e3, -1e3}, append(dead.X, -1e3, 1e3)...), append([]float64{math.Inf(-1)}, append(dead.LogW, math.Inf(-1))...)
	alike := st.of(even, slices.Repeat([]float64{1}, 64))
	alike.LogW = nil
	for what, other := range map[string]*State{"another order": st.of(order, whole), "in parts": st.of(parts, share), "with dead ones": dead, "copies": alike} {
		for i, got := range figures(other) {
			if !(math.Abs(got-want[i]) <= 1e-9) {
				t.Errorf("%s: figure %d is %v, want %v", what, i, got, want[i])
			}
		}
	}
	unweighted := figures(&State{Dim: 2, X: st.X})
	for what, some := range map[string][2]int{"mean": {0, 2}, "covariance": {2, 6}, "quantiles": {6, 16}, "distances": {16, 24}} {
		if slices.Equal(unweighted[some[0]:some[1]], want[some[0]:some[1]]) {
			t.Errorf("the %s is the same without the weights, %v: the test has no power", what, want[some[0]:some[1]])
		}
	}
}

// The particles that a filter has without weight have no part in the next scan: wherever half of them are, its evidence, its moments and
// what it tells of them are the same.
func TestParticlesWithoutWeightCountForNothing(t *testing.T) {
	for name, m := range weightedMethods(300) {
		f, err := m.On(Job{Model: two{example1}, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		told := func(away float64) []float64 {
			st, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for j := range st.N() {
				st.LogW[j] = math.Log(2 / float64(st.N()))
				if j%2 == 0 {
					st.LogW[j], st.X[2*j], st.X[2*j+1] = math.Inf(-1), st.X[2*j]+away, st.X[2*j+1]-away
				}
			}
			var all []float64
			for _, scan := range measured()[:2] {
				info, err := f.Step(t.Context(), st, scan)
				if err != nil {
					t.Fatal(err)
				}
				all = slices.Concat(all, figures(st), info.ESS, info.MCSE, []float64{info.LogEvidence, float64(info.Ancestors)})
			}
			return all
		}
		near, far := told(0), told(20)
		for i := range near {
			if !(math.Abs(near[i]-far[i]) <= 1e-9*max(1, math.Abs(near[i]))) {
				t.Errorf("%s: figure %d is %v, and %v where particles without weight are far away", name, i, near[i], far[i])
			}
		}
	}
}

// Weights go from scan to scan: a scan without measurements leaves them as they are, or makes them equal where it resamples; its evidence is 1,
// and the means of the moved particles are those of the weighted ones before, within six standard errors.
func TestWeightsGoFromScanToScan(t *testing.T) {
	const n = 2000
	for name, m := range weightedMethods(n) {
		f, err := m.On(Job{Model: two{example1}, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for j := range n { // to the right they weigh up to e⁴ as much
			st.LogW[j] = min(4, max(0, 2*st.X[2*j]))
			sum += math.Exp(st.LogW[j])
		}
		for j := range n {
			st.LogW[j] -= math.Log(sum)
		}
		before, was := slices.Clone(st.LogW), effective(exps(st.LogW))
		mean, cov := st.Moments()
		info, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := before
		if info.Resampled || name == "auxiliary" {
			want = even(n)
		}
		for j := range n {
			if !(math.Abs(st.LogW[j]-want[j]) <= 1e-9) {
				t.Errorf("%s, resampled %v: the log-weight of particle %d is %v after a scan that tells nothing, want %v", name, info.Resampled, j, st.LogW[j], want[j])
				break
			}
		}
		now, _ := st.Moments()
		for i := range now {
			se := math.Sqrt((cov[3*i] + example1.q) / was)
			if off := now[i] - example1.a*mean[i]; !(math.Abs(off) <= 6*se) || !(math.Abs(mean[i]) > 12*se) && i == 0 {
				t.Errorf("%s: the mean of coordinate %d goes from %v to %v, want %v ± %v", name, i, mean[i], now[i], example1.a*mean[i], se)
			}
		}
		if !(math.Abs(info.LogEvidence) <= 1e-9) {
			t.Errorf("%s: a scan that tells nothing has evidence %v", name, info.LogEvidence)
		}
	}
}

// A bootstrap filter resamples where the effective number of its particles, 1/Σ W², is below half of them: of 300 particles of which some
// weigh the same and the others nothing it is their number.
func TestResamplingIsByTheEffectiveNumber(t *testing.T) {
	f, err := Bootstrap{Particles: 300}.On(Job{Model: two{example1}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for alive, want := range map[int]bool{1: true, 100: true, 149: true, 151: false, 200: false, 300: false} {
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for j := range st.N() {
			if st.LogW[j] = -math.Log(float64(alive)); j >= alive {
				st.LogW[j] = math.Inf(-1)
			}
		}
		info, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1})
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, l := range st.LogW {
			if !math.IsInf(l, -1) {
				left++
			}
		}
		after := alive
		if want {
			after = 300
		}
		if info.Resampled != want || left != after || !(math.Abs(info.ESS[0]-float64(after)) <= 1e-6) || info.Ancestors < 1 {
			t.Errorf("%d particles with weight: resampled %v, then %d have weight, ESS %v; want %v, %d", alive, info.Resampled, left, info.ESS[0], want, after)
		}
	}
}

// Half of the particles of an auxiliary filter are chosen by their weights alone, the others by how well they predict the scan too: of
// particles of which three quarters, by weight, predict nothing like it, .5 × .75 are chosen. Systematic draws are within one of that.
func TestHalfIsChosenByTheWeightsAlone(t *testing.T) {
	const n = 1000
	for name, model := range map[string]ssm.Model{"gaussian": linear{scalar{a: 1, q: 1e-4, h: 1, r: 0.01, p0: 1}}, "sampled": scalar{a: 1, q: 1e-4, h: 1, r: 0.01, p0: 1}} {
		f, err := Auxiliary{Particles: n}.On(Job{Model: model, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			if st.X[j], st.LogW[j] = 5, math.Log(0.25*2/n); j < n/2 {
				st.X[j], st.LogW[j] = -5, math.Log(0.75*2/n)
			}
		}
		if _, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1, Values: []float64{5}}); err != nil {
			t.Fatal(err)
		}
		far := 0
		for _, x := range st.X {
			if x < 0 {
				far++
			}
		}
		if far < 374 || far > 376 {
			t.Errorf("%s: %d of %d particles come from those that predict another scan, want 375", name, far, n)
		}
	}
}
