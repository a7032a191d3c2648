package filtering

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// A line has the smallest ESS and the largest R-hat of a coordinate. Scans whose chains are in different places are counted, and found,
// but not where the chains' states are worth few draws: that is another finding.
func TestFiltersApart(t *testing.T) {
	model := ssm.LinearGaussian{
		Interval: 1, A: [][]float64{{1, 0}, {0, 1}}, Q: [][]float64{{1, 0}, {0, 1}}, H: [][]float64{{1, 0}}, R: [][]float64{{1}},
		Initial: &ssm.Initial{Mean: []float64{0, 0}, SD: []float64{1, 1}},
	}
	state := &filter.State{K: 1, Dim: 2, X: []float64{1, 2, 3, 4}}
	var trace []runs.TraceLine
	for i, c := range []struct {
		ess, rhat []float64
		want      float64 // the line's; NaN: none
	}{
		{[]float64{90, 80}, []float64{1.1, 3.5}, 3.5}, {[]float64{90, 49}, []float64{9, 1}, 9}, {[]float64{900, 80}, []float64{2.9, 1}, 2.9},
		{[]float64{900, 80}, []float64{math.NaN(), math.Inf(1)}, math.Inf(1)}, {[]float64{900, 80}, nil, math.NaN()}, {[]float64{90, 80}, []float64{math.NaN(), math.NaN()}, math.NaN()},
	} {
		line := newLine(model, state, &scans.Record{Text: "1"}, filter.Info{ESS: c.ess, RHat: c.rhat}, false)
		switch {
		case math.IsNaN(c.want):
			if line.RHat != nil {
				t.Errorf("line %d: R-hat %v, want none", i+1, *line.RHat)
			}
		case line.RHat == nil || float64(*line.RHat) != c.want || float64(*line.ESS) != min(c.ess[0], c.ess[1]):
			t.Errorf("line %d: R-hat %v, ESS %v", i+1, line.RHat, line.ESS)
		}
		text, err := json.Marshal(Step{Line: line})
		if err != nil {
			t.Fatal(err)
		}
		trace = append(trace, runs.TraceLine{K: i + 1, Fields: text})
	}
	m, err := Summarise(model, filter.Kalman{}, Steps(all(trace)), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if m.Apart != 2 || m.Few != 1 || m.RHat == nil || !math.IsInf(float64(m.RHat.Max), 1) {
		t.Errorf("%d scans apart, %d of few draws, R-hat %v; want 2, 1 and up to infinity", m.Apart, m.Few, m.RHat)
	}
	var kinds []string
	for _, f := range m.Findings(filter.SMCMC{}) {
		kinds = append(kinds, f.Kind)
	}
	if len(kinds) != 2 || kinds[0] != "few-draws" || kinds[1] != "filters-apart" {
		t.Errorf("findings %q", kinds)
	}
}

// Scans in which the error of any mean is unknown are counted and found, of trackers and of other models; a method without errors has none.
func TestUnknownErrors(t *testing.T) {
	one := func(mcse ...Number) Estimate { return Estimate{Mean: make([]Number, 2), MCSE: mcse} }
	nan, state := Number(math.NaN()), one(0.1, Number(math.NaN()))
	for name, c := range map[string]struct {
		lines []Line
		want  int
	}{
		"targets": {[]Line{
			{Tracks: []Track{{ID: "1", Estimate: one(0.1, 0.2)}, {ID: "2", Estimate: one(0.1, 0.2)}}}, {Tracks: []Track{{ID: "1", Estimate: one(0.1, 0.2)}, {ID: "2", Estimate: one(nan, nan)}}}, {Tracks: []Track{{ID: "1", Estimate: one(nan, 0.1)}, {ID: "2", Estimate: one()}}},
		}, 2},
		"states":    {[]Line{{Estimate: &state}, {Estimate: &Estimate{MCSE: []Number{0.1}}}}, 1},
		"no errors": {[]Line{{Estimate: &Estimate{Mean: []Number{1}}}}, 0},
	} {
		var trace []runs.TraceLine
		for i, line := range c.lines {
			text, err := json.Marshal(Step{Line: line})
			if err != nil {
				t.Fatal(err)
			}
			trace = append(trace, runs.TraceLine{K: i + 1, Fields: text})
		}
		m, err := Summarise(ssm.LinearGaussian{A: [][]float64{{1}}, H: [][]float64{{1}}}, filter.Kalman{}, Steps(all(trace)), 0, "")
		if err != nil {
			t.Fatal(err)
		}
		found := m.Findings(filter.Bootstrap{})
		if m.Unknown != c.want || (len(found) == 1) != (c.want > 0) || c.want > 0 && found[0].Kind != "errors-unknown" {
			t.Errorf("%s: %d scans with unknown errors, want %d; findings %+v", name, m.Unknown, c.want, found)
		}
	}
}

// all are the lines of a trace.
func all(trace []runs.TraceLine) runs.Lines {
	return func(yield func(runs.TraceLine, error) bool) {
		for _, l := range trace {
			if !yield(l, nil) {
				return
			}
		}
	}
}
