package ssm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

var (
	_ interface {
		Tracker
		Timed
		Simulator
	} = Clutter{}
	_ interface {
		Incremental
		Counter
		Pooled
		Dropper
		Accuser
	} = (*clutterLikelihood)(nil)
)

func TestClutterWithoutReturns(t *testing.T) {
	m := clutter3(0)
	l, err := m.Bind(&Scan{})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, m.Dim())
	if have := l.LogLik(x, nil); l.Len() != 0 || have != -8500 || l.LogLik(x, []int32{}) != 0 {
		t.Errorf("%d returns: log-likelihood %v, want -8500", l.Len(), have)
	}
	i := l.(Incremental)
	i.Set(x)
	x[0] = 3
	if d := i.Try(x, Block{0, 4}); d != 0 {
		t.Errorf("a difference of %v", d)
	}
	i.Keep()
}

func TestClutterRefusesMeasurements(t *testing.T) {
	for _, c := range []struct {
		scan Scan
		row  int
		says string
	}{
		{Scan{Width: 2, Values: []float64{1, 2, 3, math.NaN()}}, 1, "NaN"},
		{Scan{Width: 2, Values: []float64{1, 2, 3, 4, math.Inf(1), 0}}, 2, "+Inf"},
		{Scan{Width: 3, Values: []float64{1, 2, 3}}, 0, "length 3"},
	} {
		_, err := clutter3(0).Bind(&c.scan)
		var e *MeasurementError
		if !errors.As(err, &e) || e.Row != c.row || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error is %v, want row %d and %q", err, c.row, c.says)
		}
	}
}

func TestClutterChecks(t *testing.T) {
	for field, spoil := range map[string]func(m *Clutter){
		"interval":       func(m *Clutter) { m.Interval = -1 },
		"acceleration":   func(m *Clutter) { m.Acceleration = 0 },
		"returns.rate":   func(m *Clutter) { m.Returns.Rate = math.NaN() },
		"returns.sd":     func(m *Clutter) { m.Returns.SD = 0 },
		"clutter.rate":   func(m *Clutter) { m.Background.Rate = -1 },
		"clutter.region": func(m *Clutter) { m.Background.Region = [4]float64{1, 1, 0, 2} },
		"start":          func(m *Clutter) { m.Initial = nil },
		"start.1.sd":     func(m *Clutter) { m.Initial[1].SD = []float64{1, 2} },
		"outside":        func(m *Clutter) { m.Outside = "throw" },
		"evaluate":       func(m *Clutter) { m.Evaluate = "some" },
	} {
		m := clutter3(0)
		if err := config.Check(m); err != nil {
			t.Fatal(err)
		}
		spoil(&m)
		if err := config.Check(m); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := m.Bind(&Scan{}); err == nil {
			t.Errorf("%s: Bind has no error", field)
		}
	}
	if _, err := clutter3(0).Transition(0); err == nil || !strings.Contains(err.Error(), "0 s") {
		t.Errorf("a step of 0 s: %v", err)
	}
}

// TestClutterMeasure: counts and moments of simulated returns within six standard errors; a right program fails below 1e-7
// of seeds.
func TestClutterMeasure(t *testing.T) {
	testkit.Statistics(t)
	m := clutter3(0)
	m.Returns = Returns{Rate: 1230, SD: 2}
	x := []float64{10, -20, 0, 0, 300, 300, 0, 0, -300, 0, 0, 0}
	s := rng.Key{Seed: 1, Purpose: rng.Scene}.Stream()
	const scans = 40
	var n, target, sum, square float64
	for range scans {
		var scan Scan
		m.Measure(s, x, &scan)
		n += float64(scan.Len())
		for i := range scan.Len() {
			if z := scan.Row(i); z[0] > 200 { // of the second target
				target++
				sum += z[0] - 300
				square += (z[1] - 300) * (z[1] - 300)
			}
		}
	}
	within := func(what string, have, want, variance float64) {
		if !(math.Abs(have-want) <= 6*math.Sqrt(variance)) {
			t.Errorf("%s: %v, want %v ± %v", what, have, want, math.Sqrt(variance))
		}
	}
	within("returns", n, scans*(4000+3*1230), scans*(4000+3*1230))
	within("returns of a target", target, scans*1230, scans*1230)
	within("mean", sum/target, 0, 4/target)
	within("variance", square/target, 4, 2*16/target)
	for _, rate := range []float64{0, 0.3, 7, 700} {
		var sum, square float64
		const draws = 4000
		for range draws {
			k := float64(poisson(s, rate))
			sum += k - rate
			square += (k - rate) * (k - rate)
		}
		within("Poisson mean", sum/draws, 0, rate/draws)
		within("Poisson variance", square/draws, rate, (rate+2*rate*rate)/draws)
	}
}
