package filter

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
	"github.com/starling-smc/starling/uq"
)

// A state reads back as it was, and shapes that do not fit are refused.
func TestStateRoundTrips(t *testing.T) {
	for name, st := range map[string]*State{
		"particles": {K: 3, Time: 2.5, Dim: 2, X: []float64{1, 2, 3, 4}, LogW: []float64{-1, -2}, Genealogy: []int32{1, 1, 0, 1}, Tuning: []float64{7}, LogZ: -3},
		"equal":     {Dim: 1, X: []float64{1, 2}, LogZ: math.Inf(-1)},
		"normal":    {K: 1, Dim: 2, Mean: []float64{1, 2}, Cov: []float64{1, 0, 0, 1}},
	} {
		b, err := st.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back State
		if err := back.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&back, st) {
			t.Errorf("%s: %+v, %v", name, back, err)
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(again, b) {
			t.Errorf("%s: other bytes", name)
		}
	}
	for name, st := range map[string]*State{
		"nothing": {Dim: 1}, "both": {Dim: 1, X: []float64{1}, Mean: []float64{1}, Cov: []float64{1}}, "no coordinates": {X: []float64{1}},
		"half a particle": {Dim: 2, X: []float64{1, 2, 3}}, "weights": {Dim: 1, X: []float64{1, 2}, LogW: []float64{1}},
		"covariance": {Dim: 2, Mean: []float64{1, 2}, Cov: []float64{1, 2, 3}}, "scans": {K: -1, Dim: 1, X: []float64{1}},
		"genealogy": {Dim: 1, X: []float64{1, 2}, Genealogy: []int32{1}}, "ancestor": {Dim: 1, X: []float64{1, 2}, Genealogy: []int32{1, 2}},
		"ancestors of none": {Dim: 1, Mean: []float64{1}, Cov: []float64{1}, Genealogy: []int32{0}},
	} {
		b, _ := st.MarshalBinary()
		if err := new(State).UnmarshalBinary(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMomentsAndQuantiles(t *testing.T) {
	st := &State{Dim: 2, X: []float64{1, 10, 2, 20, 4, 10}, LogW: []float64{math.Log(.5), math.Log(.25), math.Log(.25)}}
	mean, cov := st.Moments()
	for i, want := range []float64{2, 12.5} {
		if math.Abs(mean[i]-want) > 1e-14 {
			t.Errorf("mean %v", mean)
		}
	}
	for i, want := range []float64{1.5, 0, 0, 18.75} { // Σ W (x−2)(y−12.5) = .5·(−1)(−2.5) + 0 + .25·2·(−2.5) = 0
		if math.Abs(cov[i]-want) > 1e-13 {
			t.Errorf("covariance %v", cov)
		}
	}
	if q := st.Quantiles(0.6); q[0] != 2 || q[1] != 10 {
		t.Errorf("quantiles %v", q)
	}
	normal := &State{Dim: 1, Mean: []float64{3}, Cov: []float64{4}}
	if q := normal.Quantiles(0.975); math.Abs(q[0]-(3+2*1.959963984540054)) > 1e-12 {
		t.Errorf("quantile %v of a normal distribution", q)
	}
}

// Particles against a normal distribution are as far apart as uq.KS says; other pairs by their definition.
func TestDistance(t *testing.T) {
	s := rng.Key{Seed: 2, Purpose: rng.Synthetic}.Stream()
	x := make([]float64, 50)
	s.Normals(x)
	x[7] = x[8] // a tie
	particles, normal := &State{Dim: 1, X: x}, &State{Dim: 1, Mean: []float64{0.1}, Cov: []float64{1.44}}
	want, _ := uq.KS(x, func(v float64) float64 { return 0.5 * math.Erfc(-(v-0.1)/(1.2*math.Sqrt2)) })
	for _, pair := range [][2]*State{{particles, normal}, {normal, particles}} {
		if got := Distance(pair[0], pair[1], 0); math.Abs(got-want) > 1e-14 {
			t.Errorf("distance %v, want %v", got, want)
		}
	}
	a := &State{Dim: 1, X: []float64{0, 1, 2, 3}}
	b := &State{Dim: 1, X: []float64{0, 1, 2.5}, LogW: []float64{math.Log(.5), math.Log(.25), math.Log(.25)}}
	if got := Distance(a, b, 0); math.Abs(got-0.25) > 1e-14 {
		t.Errorf("distance %v of two samples, want .25", got)
	}
	far := &State{Dim: 1, Mean: []float64{1.3}, Cov: []float64{1.44}}
	if got, want := Distance(normal, far, 0), math.Erf(0.5/math.Sqrt2); math.Abs(got-want) > 1e-3*want { // 2Φ(Δ/2σ) − 1, Δ = 1.2
		t.Errorf("distance %v of two normal distributions, want %v", got, want)
	}
}

// fussy is a model whose likelihood is −Inf below 0 and NaN above 0.5.
type fussy struct{ scalar }

func (m fussy) Bind(scan *ssm.Scan) (ssm.Likelihood, error) {
	l, err := m.scalar.Bind(scan)
	return fussyTerms{l}, err
}

type fussyTerms struct{ ssm.Likelihood }

func (l fussyTerms) LogLik(x []float64, rows []int32) float64 {
	switch {
	case x[0] < 0:
		return math.Inf(-1)
	case x[0] > 0.5:
		return math.NaN()
	}
	return l.Likelihood.LogLik(x, rows)
}

// States of no likelihood are never kept, and a scan that is impossible everywhere is an error that leaves the state as it was.
func TestImpossibleStates(t *testing.T) {
	scan := &ssm.Scan{Time: 1, Width: 1, Values: []float64{-1}}
	methods := map[string]Method{"bootstrap": Bootstrap{Particles: 300}, "auxiliary": Auxiliary{Particles: 300}}
	for name, way := range ways {
		way.Particles, way.Burn = 300, 50
		methods[name] = way
	}
	for name, m := range methods {
		f, err := m.On(Job{Model: fussy{example1}, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Step(t.Context(), st, scan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for j, v := range st.X {
			if (v < 0 || v > 0.5) && (st.LogW == nil || !math.IsInf(st.LogW[j], -1)) {
				t.Errorf("%s: particle %v has weight", name, v)
				break
			}
		}
		before, _ := st.MarshalBinary()
		for i := range st.X {
			st.X[i] -= 100
		}
		was, _ := st.MarshalBinary()
		_, err = f.Step(t.Context(), st, &ssm.Scan{Time: 2, Width: 1, Values: []float64{-1}})
		var impossible *ImpossibleError
		if !errors.As(err, &impossible) || !strings.Contains(err.Error(), "impossible") {
			t.Errorf("%s: error %v", name, err)
		}
		if now, _ := st.MarshalBinary(); !bytes.Equal(now, was) || bytes.Equal(now, before) {
			t.Errorf("%s: a step that failed changed the state", name)
		}
	}
}

// Times go forward; the error says what to do.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		time float64
		want string
	}{{1, "two scans have the time 1 s: merge"}, {0.5, "the scan's time 0.5 s is before that of the scan before it, 1 s"}, {math.NaN(), "from the scan at 1 s to the one at NaN s: the scan's time is NaN"}} {
		f, _ := Bootstrap{Particles: 10}.On(Job{Model: example1})
		st, _ := f.Init(t.Context())
		if _, err := f.Step(t.Context(), st, &ssm.Scan{Time: 1, Width: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Step(t.Context(), st, &ssm.Scan{Time: c.time, Width: 1}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("time %v: %v", c.time, err)
		}
	}
}

// A state of one method is refused by another, and one of another model.
func TestForeignStates(t *testing.T) {
	scan := &ssm.Scan{Time: 1, Width: 1}
	methods := []Method{Bootstrap{Particles: 10}, SMCMC{Particles: 10, Joint: PriorJoint{}}, Kalman{}, Bootstrap{Particles: 11}, Auxiliary{Particles: 12}}
	for i, m := range methods {
		f, _ := m.On(Job{Model: linear{example1}})
		for j, other := range methods {
			g, _ := other.On(Job{Model: linear{example1}})
			st, _ := g.Init(t.Context())
			if _, err := f.Step(t.Context(), st, scan); (err == nil) != (i == j) {
				t.Errorf("%T on a state of %T: %v", m, other, err)
			}
		}
	}
}

// The same bytes for any number of threads, and when every scan is stepped from the saved state.
func TestSameBytes(t *testing.T) {
	var scans []*ssm.Scan
	s := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream()
	for k := range 4 {
		scan := &ssm.Scan{Time: float64(k + 1), Width: 1, Values: make([]float64, 20*(k%3))}
		s.Normals(scan.Values)
		scans = append(scans, scan)
	}
	methods := map[string]Method{"bootstrap": Bootstrap{Particles: 700}, "auxiliary": Auxiliary{Particles: 700}, "kalman": Kalman{}}
	for name, way := range ways {
		way.Particles, way.Burn = 100, 40
		methods[name] = way
	}
	for name, m := range methods {
		var want []byte
		for _, threads := range []int{1, 2, 7} {
			job := Job{Model: linear{example1}, Seed: 9, Pool: mcmc.NewPool(threads)}
			f, err := m.On(job)
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Init(t.Context())
			for _, scan := range scans {
				b, _ := st.MarshalBinary()
				st = new(State)
				if err := errors.Join(err, st.UnmarshalBinary(b)); err != nil {
					t.Fatal(err)
				}
				if threads != 2 { // a new filter goes on from a saved state
					f, _ = m.On(job)
				}
				if _, err = f.Step(t.Context(), st, scan); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			b, _ := st.MarshalBinary()
			if want == nil {
				want = b
			}
			if !bytes.Equal(b, want) {
				t.Errorf("%s: other bytes with %d threads", name, threads)
			}
		}
	}
}
