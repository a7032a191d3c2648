package filtering

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/scans"
	"github.com/starling-smc/starling/ssm"
)

// Coordinates without an ESS are named in the line, by target where there are targets, and counted and found in the run; the smallest ESS
// is that of the others.
func TestStillCoordinates(t *testing.T) {
	initial := ssm.Initial{Mean: make([]float64, 4), SD: make([]float64, 4)}
	tracker := ssm.Clutter{Initial: []ssm.Initial{initial, initial}}
	plain := ssm.LinearGaussian{A: [][]float64{{1, 0}, {0, 1}}, H: [][]float64{{1, 0}}}
	nan := math.NaN()
	for name, c := range map[string]struct {
		model ssm.Model
		ess   []float64
		least float64 // NaN: none
		want  []string
	}{
		"none":    {plain, []float64{90, 80}, 80, nil},
		"first":   {plain, []float64{nan, 80}, 80, []string{"x1"}},
		"last":    {plain, []float64{90, nan}, 90, []string{"x2"}},
		"all":     {plain, []float64{nan, nan}, nan, []string{"x1", "x2"}},
		"targets": {tracker, []float64{90, 80, nan, 70, 60, 50, 80, nan}, 50, []string{"vx of target 1", "vy of target 2"}},
	} {
		state := &filter.State{K: 1, Dim: len(c.ess), X: make([]float64, 2*len(c.ess))}
		line := newLine(c.model, state, &scans.Record{Text: "1"}, filter.Info{ESS: c.ess, MCSE: c.ess}, false) // an error is NaN where there is no ESS
		if (line.ESS == nil) != math.IsNaN(c.least) || line.ESS != nil && float64(*line.ESS) != c.least || !slices.Equal(line.Still, c.want) {
			t.Errorf("%s: ESS %v, still %q, want %v, %q", name, line.ESS, line.Still, c.least, c.want)
		}
		var trace []runs.TraceLine
		for k := range 3 {
			if k == 1 {
				line.Still, line.Estimate, line.Tracks = nil, &Estimate{}, nil
			}
			text, err := json.Marshal(Step{Line: line})
			if err != nil {
				t.Fatal(err)
			}
			trace = append(trace, runs.TraceLine{K: k + 1, Fields: text})
		}
		m, err := Summarise(c.model, filter.Kalman{}, Steps(all(trace)), 0, "")
		if err != nil {
			t.Fatal(err)
		}
		found := m.Findings(filter.Bootstrap{})
		if c.want == nil {
			if m.Still != nil || len(found) != 0 {
				t.Errorf("%s: %+v, %+v", name, m.Still, found)
			}
			continue
		}
		if m.Still == nil || m.Still.Scans != 1 || !slices.Equal(m.Still.Coordinates, c.want) {
			t.Errorf("%s: %+v, want one scan of %q", name, m.Still, c.want)
		}
		if len(found) != 1 || found[0].Kind != "still-coordinates" || !strings.Contains(found[0].Words(), c.want[0]) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// The cures of a run are those of its method, without settings that are on.
func TestCuresAreNotOn(t *testing.T) {
	chains := &filter.SMCMC{}
	chains.Defaults()
	least := Spread{Min: 4, Max: 9}
	m := &Metrics{Scans: 9, Few: 2, Lone: 1, Apart: 1, ESS: &least, RHat: &least}
	words := func(by filter.Method) (text string) {
		for _, f := range m.Findings(by) {
			text += f.Cure() + " "
		}
		return text
	}
	on := []string{"index: exact", "joint: prior", "joint: guided", "refine: walk", "smcmc take", "particle filters"}
	for name, c := range map[string]struct {
		by    filter.Method
		named []string
	}{
		"smcmc":     {*chains, []string{"joint: guided"}},
		"guided":    {filter.SMCMC{Joint: filter.Guided{}, Index: filter.ExactIndex{}, Refine: filter.Walk{}}, nil},
		"bare":      {filter.SMCMC{Refine: filter.PriorRefinement{}}, []string{"index: exact", "joint: prior", "joint: guided", "refine: walk"}},
		"none":      {filter.SMCMC{Joint: filter.NoJoint{}, Index: filter.UniformIndex{}, Refine: filter.Walk{SD: 1}}, []string{"joint: prior", "joint: guided"}},
		"bootstrap": {filter.Bootstrap{}, []string{"joint: prior"}}, // of a finding that it never has
		"auxiliary": {filter.Auxiliary{}, []string{"joint: prior"}},
	} {
		text := words(c.by)
		for _, setting := range on {
			if got, want := strings.Contains(text, setting), slices.Contains(c.named, setting); got != want {
				t.Errorf("%s: %q is named: %v, want %v: %s", name, setting, got, want, text)
			}
		}
	}
	if s := (filter.Kalman{}).Sampler(); s != (finding.Sampler{}) {
		t.Errorf("a Kalman filter samples: %+v", s)
	}
}
