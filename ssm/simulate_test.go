package ssm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/testkit"
)

// TestScene: times are k intervals, scans have the wanted number of measurements, which Bind takes. The same seed gives the same
// scene, another seed another one.
func TestScene(t *testing.T) {
	for _, m := range examples(3) {
		a, b, c := Scene{Model: m, Seed: 1}, Scene{Model: m, Seed: 1}, Scene{Model: m, Seed: 2}
		var truths [][]float64
		for k := 1; k <= 5; k++ {
			truth, scan, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			sensors := 1
			if r, ok := m.(RangeBearing); ok {
				sensors = len(r.Sensors)
			}
			if want := float64(k) * Interval(m); scan.Time != want || scan.Len() != 3*sensors {
				t.Errorf("%T: scan %d at %v with %d measurements, want %v with %d", m, k, scan.Time, scan.Len(), want, 3*sensors)
			}
			if _, err := m.Bind(&scan); err != nil {
				t.Errorf("%T: %v", m, err)
			}
			again, scanAgain, _ := b.Next()
			other, scanOther, _ := c.Next()
			if d := cmp.Diff(truth, again) + cmp.Diff(scan, scanAgain); d != "" {
				t.Errorf("%T: the same seed: %s", m, d)
			}
			if cmp.Equal(truth, other) || cmp.Equal(scan, scanOther) {
				t.Errorf("%T: another seed gives the same scan", m)
			}
			truths = append(truths, slices.Clone(truth))
			truth[0] = math.NaN() // the caller's own: the next state does not depend on it
		}
		for i := range truths {
			for j := range i {
				if cmp.Equal(truths[i], truths[j]) {
					t.Errorf("%T: scans %d and %d have the same state", m, j+1, i+1)
				}
			}
		}
	}
}

// TestSceneStreams: how many measurements a scan has does not change the states of the scene.
func TestSceneStreams(t *testing.T) {
	few, many := examples(1), examples(50)
	for i := range few {
		a, b := Scene{Model: few[i]}, Scene{Model: many[i]}
		for range 3 {
			x, _, _ := a.Next()
			y, _, _ := b.Next()
			if !slices.Equal(x, y) {
				t.Errorf("%T: states %v and %v", few[i], x, y)
			}
		}
	}
}

// TestSceneMoments: over 4,000 seeds the states at scan 3 of the stationary model have its covariance, and the measurements that of
// H x + noise, within 6 standard errors: right code fails with a probability below 1e-7. It finds an error of 15 % in a variance.
func TestSceneMoments(t *testing.T) {
	testkit.Statistics(t)
	m := examples(1)[1].(LinearGaussian)
	_, p := m.StartMoments()
	h := slices.Concat(m.H...)
	var state, measured [2]float64 // sums of squares of the state's first coordinates and of the measurement
	const n = 4000
	for seed := range n {
		scene := Scene{Model: m, Seed: uint64(seed)}
		var x []float64
		var scan Scan
		for range 3 {
			var err error
			if x, scan, err = scene.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 {
			state[i] += x[i] * x[i] / n
			measured[i] += scan.Values[i] * scan.Values[i] / n
		}
	}
	for i := range 2 {
		want := m.R[i][i]
		for j := range 3 {
			for k := range 3 {
				want += h[i*3+j] * p[j*3+k] * h[i*3+k]
			}
		}
		for what, c := range map[string][2]float64{"state": {state[i], p[i*3+i]}, "measurement": {measured[i], want}} {
			if e := (c[0]/c[1] - 1) / math.Sqrt(2.0/n); !(math.Abs(e) < 6) {
				t.Errorf("%s %d: variance %v, want %v", what, i, c[0], c[1])
			}
		}
	}
}

// TestSceneErrors: an impossible model, and a state that leaves the finite numbers.
func TestSceneErrors(t *testing.T) {
	bad := scalar(1)
	bad.Q[0][0] = -1
	scene := Scene{Model: bad}
	if _, _, err := scene.Next(); err == nil || !strings.Contains(err.Error(), "positive semidefinite") {
		t.Error(err)
	}
	wild := scalar(1)
	wild.A[0][0], wild.Initial = 1e200, &Initial{[]float64{1}, []float64{0}}
	scene = Scene{Model: wild}
	if _, _, err := scene.Next(); err != nil {
		t.Error(err)
	}
	if _, _, err := scene.Next(); err == nil || err.Error() != "scan 2: coordinate 0 of the simulated state is +Inf" {
		t.Error(err)
	}
}

// TestSceneIsFrozen: the numbers of a scene are part of what a preset means, on every machine. A new model needs a line of its own, and
// changes no other.
func TestSceneIsFrozen(t *testing.T) {
	want := map[string]uint64{
		"linear_gaussian, 1": 0xa417d81bb09b3514,
		"linear_gaussian, 3": 0x7709e9e60252d1ca,
		"student, 2":         0x8dbfbc9f08c5c344,
		"range_bearing, 4":   0x15509d31084f4c73,
		"clutter, 12":        0x3778c46f25282daa,
	}
	for _, m := range every(4) {
		name := fmt.Sprint(Models.Name(m), ", ", m.Dim())
		sum, scene := uint64(0), Scene{Model: m, Seed: 3}
		for range 20 {
			x, scan, err := scene.Next()
			if err != nil {
				t.Fatal(err)
			}
			l, err := m.Bind(&scan)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range append(append(x, scan.Values...), l.LogLik(x, nil), l.LogLik(x, []int32{2, 1})) {
				sum = sum*1099511628211 ^ math.Float64bits(v)
			}
		}
		if want[name] != sum {
			t.Errorf("the scene of %q has the hash %#x, want %#x", name, sum, want[name])
		}
	}
}
