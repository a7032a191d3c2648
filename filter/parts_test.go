package filter

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/ssm"
)

// three is a model of two coordinates that three correlated numbers measure, and the same with some of the numbers alone.
func three(columns ...int) ssm.LinearGaussian {
	m := ssm.LinearGaussian{
		A: [][]float64{{1, 0.7}, {-0.2, 0.9}}, Q: [][]float64{{0.5, 0.1}, {0.1, 0.4}},
		H: [][]float64{{1, 0}, {0.3, 1}, {0, 2}}, R: [][]float64{{1, 0.4, -0.2}, {0.4, 2, 0.5}, {-0.2, 0.5, 1.5}},
		Initial: &ssm.Initial{Mean: []float64{1, -1}, SD: []float64{1, 2}},
	}
	if columns == nil {
		return m
	}
	some := m
	some.H, some.R = nil, nil
	for _, i := range columns {
		some.H = append(some.H, m.H[i])
		row := []float64{}
		for _, j := range columns {
			row = append(row, m.R[i][j])
		}
		some.R = append(some.R, row)
	}
	return some
}

// whole is a scan of measurements of w numbers.
func wholes(time float64, w int, values ...float64) *ssm.Scan {
	return &ssm.Scan{Time: time, Width: w, Values: values}
}

// TestPartsAreExact: the Kalman filter of measurements that lack some of their numbers is that of the model without these rows of H and
// of R. A scan of several kinds of parts is updated by one after the other: the same as filters whose model has the rows of each.
func TestPartsAreExact(t *testing.T) {
	for _, columns := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}} {
		w := len(columns)
		values := []float64{1.3, -0.4, 2.2, 0.7, -1.1, 0.2}[:3*w]
		var want, got State
		for k, st := range []*State{&want, &got} {
			f, err := Kalman{}.On(Job{Model: []ssm.Model{three(columns...), three()}[k]})
			if err != nil {
				t.Fatal(err)
			}
			begun, err := f.Init(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			*st = *begun
			for time := range 3 {
				scan := wholes(float64(time), w, values...)
				if k == 1 {
					scan = &ssm.Scan{Time: float64(time), Width: 3, Parts: []ssm.Part{{Columns: columns, Values: values}}}
				}
				if info, err := f.Step(t.Context(), st, scan); err != nil || info.Evaluated != 3 {
					t.Fatalf("%v: %+v, %v", columns, info, err)
				}
			}
		}
		same(t, columns, &got, &want, 1e-12)
	}
	// Whole measurements and two kinds of parts in one scan, against one measurement of all numbers that are there: R is block diagonal.
	joint := three()
	joint.H = append(append(joint.H, joint.H[1]), joint.H[0], joint.H[2])
	r := make([][]float64, 6)
	for i := range r {
		r[i] = make([]float64, 6)
	}
	for i := range 3 {
		copy(r[i], joint.R[i])
	}
	r[3][3], r[4][4], r[4][5], r[5][4], r[5][5] = joint.R[1][1], joint.R[0][0], joint.R[0][2], joint.R[2][0], joint.R[2][2]
	joint.R = r
	stack := wholes(0, 6, 1, 2, 3, 4, 5, 6)
	scan := wholes(0, 3, 1, 2, 3)
	scan.Parts = []ssm.Part{{Columns: []int{1}, Values: []float64{4}}, {Columns: []int{0, 2}, Values: []float64{5, 6}}}
	same(t, "joint", filtered(t, Kalman{}, Job{Model: three()}, []*ssm.Scan{scan}, func(int, *State, Info) {}),
		filtered(t, Kalman{}, Job{Model: joint}, []*ssm.Scan{stack}, func(int, *State, Info) {}), 1e-12)
}

func same(t *testing.T, name any, got, want *State, bound float64) {
	t.Helper()
	if !golden.Near(got.LogZ, want.LogZ, bound, bound) {
		t.Errorf("%v: log evidence %v, want %v", name, got.LogZ, want.LogZ)
	}
	for i, v := range want.Mean {
		if !golden.Near(got.Mean[i], v, bound, bound) {
			t.Errorf("%v: mean %v, want %v", name, got.Mean, want.Mean)
		}
	}
	for i, v := range want.Cov {
		if !golden.Near(got.Cov[i], v, bound, bound) {
			t.Errorf("%v: covariance %v, want %v", name, got.Cov, want.Cov)
		}
	}
}

// TestPartsOfParticles: filters by particles take parts, too. Their means are within six of their own standard errors of the exact ones
// (false failure 2e-9 a mean), which is an error of .2 where leaving the parts out moves each mean by more than .5.
func TestPartsOfParticles(t *testing.T) {
	scan := wholes(0, 3, 1, 2, 3)
	scan.Parts = []ssm.Part{{Columns: []int{1}, Values: []float64{4, 4.5, 3.5}}, {Columns: []int{0, 2}, Values: []float64{5, -6}}}
	exact := filtered(t, Kalman{}, Job{Model: three()}, []*ssm.Scan{scan}, func(int, *State, Info) {})
	without := filtered(t, Kalman{}, Job{Model: three()}, []*ssm.Scan{wholes(0, 3, 1, 2, 3)}, func(int, *State, Info) {})
	for name, m := range map[string]Method{
		"bootstrap": Bootstrap{Particles: 20_000}, "auxiliary": Auxiliary{Particles: 20_000},
		"smcmc": SMCMC{Particles: 8000, Repeat: 8, Burn: 100, Joint: PriorJoint{}, Index: UniformIndex{}, Refine: Walk{SD: Adapted}},
	} {
		filtered(t, m, Job{Model: three(), Seed: 7}, []*ssm.Scan{scan}, func(_ int, st *State, info Info) {
			mean, _ := st.Moments()
			for i, v := range mean {
				if e := info.MCSE[i]; !(math.Abs(v-exact.Mean[i]) <= 6*e && 6*e <= 0.2 && 0.5 < math.Abs(without.Mean[i]-exact.Mean[i])) {
					t.Errorf("%s: the mean %d is %v ± %v, want %v (%v without the parts)", name, i, v, e, exact.Mean[i], without.Mean[i])
				}
			}
		})
	}
}

// TestPartsAreRefused: a model that is not linear takes none, and parts must be parts.
func TestPartsAreRefused(t *testing.T) {
	for _, columns := range [][]int{{}, {3}, {-1}, {1, 0}} {
		f, _ := Kalman{}.On(Job{Model: three()})
		st, _ := f.Init(t.Context())
		if _, err := f.Step(t.Context(), st, &ssm.Scan{Width: 3, Parts: []ssm.Part{{Columns: columns, Values: []float64{1, 2}}}}); err == nil {
			t.Errorf("the columns %v are taken", columns)
		}
	}
	f, _ := Kalman{}.On(Job{Model: three()})
	st, _ := f.Init(t.Context())
	if _, err := f.Step(t.Context(), st, &ssm.Scan{Width: 3, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{1, 1e200}}}}); err == nil ||
		!strings.Contains(err.Error(), "measurement 2: [1e+200] is too far from 0, by the noise r") {
		t.Errorf("a part whose log-likelihood is no number: %v", err)
	}
	f, err := Bootstrap{Particles: 10}.On(Job{Model: scalar{}})
	if err != nil {
		t.Fatal(err)
	}
	st, _ = f.Init(t.Context())
	if _, err := f.Step(t.Context(), st, &ssm.Scan{Width: 2, Parts: []ssm.Part{{Columns: []int{1}, Values: []float64{1}}}}); err == nil {
		t.Error("a model that is not linear takes a part")
	}
}

// TestPartsFarAway: the difference of two log-likelihoods of measurements that lack numbers keeps its digits far from all states and
// near them, as that of the model of their rows does.
func TestPartsFarAway(t *testing.T) {
	x, from := []float64{1.25, -0.5}, []float64{1, 0.75}
	for _, columns := range [][]int{{1}, {0, 2}} {
		w := len(columns)
		values := []float64{1e14, -3e13, 2e14, 5e13}[:2*w]
		if w == 2 {
			values = []float64{1, -3, 2, 5}
		}
		want, err := bound(three(columns...), wholes(0, w, values...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := bound(three(), &ssm.Scan{Width: 3, Parts: []ssm.Part{{Columns: columns, Values: values}}})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.(ssm.Relative).Difference(x, from), want.(ssm.Relative).Difference(x, from); !golden.Near(a, b, 1e-12, 0) {
			t.Errorf("%v: the difference is %v, that of the model of its rows %v", columns, a, b)
		}
	}
}
