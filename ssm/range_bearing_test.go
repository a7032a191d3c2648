package ssm

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// TestWrappedBearing: bearings on the two sides of ±π are near each other. A target on the negative x axis, a little below it, is
// as likely as one a little above.
func TestWrappedBearing(t *testing.T) {
	m := examples(1)[3].(RangeBearing)
	m.Sensors = m.Sensors[:1]
	for _, bearing := range []float64{math.Pi, -math.Pi, 3.1415927} {
		l, err := m.Bind(&Scan{Width: 3, Values: []float64{0, 50, bearing}})
		if err != nil {
			t.Fatal(err)
		}
		above, below := l.LogLik([]float64{-50, 0.5, 0, 0}, nil), l.LogLik([]float64{-50, -0.5, 0, 0}, nil)
		u := 0.01 / m.SDBearing
		want := -math.Log(2*math.Pi*m.SDRange*m.SDBearing) - u*u/2
		if !(math.Abs(above-want) <= 1e-5) || !(math.Abs(below-want) <= 1e-5) {
			t.Errorf("bearing %v: %v above and %v below the axis, want %v", bearing, above, below, want)
		}
	}
	for a, want := range map[float64]float64{0: 0, 3: 3, math.Pi: math.Pi, 4: 4 - 2*math.Pi, -4: 2*math.Pi - 4, 6.5: 6.5 - 2*math.Pi} {
		if got := wrap(a); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("wrap(%v) = %v, want %v", a, got, want)
		}
	}
}

// TestRangeBearingMeasurements: simulated ranges and bearings have the mean and the standard deviation of the model, within 5
// standard errors of 5,000: right code fails with a probability below 1e-5 for all eight numbers, and the seed is fixed. The second
// sensor has the target behind it, where bearings wrap.
func TestRangeBearingMeasurements(t *testing.T) {
	testkit.Statistics(t)
	const n = 5000
	m := examples(n)[3].(RangeBearing)
	m.Initial = Initial{Mean: []float64{50, 20, 0, 0}, SD: make([]float64, 4)}
	m.Acceleration = 1e-9
	_, scan, _ := first(t, m)
	var sum, squares [2][2]float64
	var behind [2]int
	for i := range scan.Len() {
		z := scan.Row(i)
		s := int(z[0])
		dx, dy := 50-m.Sensors[s][0], 20-m.Sensors[s][1]
		u := [2]float64{(z[1] - math.Hypot(dx, dy)) / m.SDRange, math.Remainder(z[2]-math.Atan2(dy, dx), 2*math.Pi) / m.SDBearing}
		for k, v := range u {
			sum[s][k] += v
			squares[s][k] += v * v
		}
		if z[2] < 0 {
			behind[s]++
		}
		if math.Abs(z[2]) > math.Pi {
			t.Errorf("bearing %v", z[2])
		}
	}
	for s := range sum {
		for k := range sum[s] {
			if e := sum[s][k] / math.Sqrt(n); !(math.Abs(e) < 5) {
				t.Errorf("sensor %d, number %d: mean off by %.1f standard errors", s, k, e)
			}
			if e := (squares[s][k] - n) / math.Sqrt(2*n); !(math.Abs(e) < 5) {
				t.Errorf("sensor %d, number %d: variance off by %.1f standard errors", s, k, e)
			}
		}
	}
	if behind[0] != 0 || behind[1] < n/3 || behind[1] > 2*n/3 {
		t.Errorf("%v of the bearings are negative, want none of sensor 0 and half of sensor 1", behind)
	}
}
