package starling

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestCalibrated: calibration examples that train, validate or test, too, are counted, by each part; not where chance makes rows equal. What a
// network that learns nothing is evaluated on is its test part.
func TestCalibrated(t *testing.T) {
	rows := func(lo, hi int) *data.Set {
		s := &data.Set{Shape: []int{1}, Classes: 2}
		for i := lo; i < hi; i++ {
			s.F32, s.Labels = append(s.F32, float32(i)), append(s.Labels, int32(i%2))
		}
		return s
	}
	inputs := func(lo, hi int) *data.Set {
		s := rows(lo, hi)
		s.Labels, s.Classes = nil, 0
		return s
	}
	few := rows(0, 100)
	for i := range few.F32 {
		few.F32[i] = float32(i % 4)
	}
	p := func(calibrate *data.Set) *data.Problem {
		return &data.Problem{Train: rows(0, 100), Validate: rows(100, 150), Test: rows(150, 250), Calibrate: calibrate}
	}
	groups := p(rows(300, 400))
	groups.Groups = []data.Group{{Name: "far", Set: inputs(1000, 1050)}, {Name: "farther", Set: inputs(2000, 2100)}}
	groups.Foreign = []data.Group{{Name: "a", Set: inputs(1000, 1040)}, {Name: "b", Set: inputs(3000, 3100)}, {Name: "c", Set: inputs(2090, 2110)}}
	for name, c := range map[string]struct {
		p      *data.Problem
		learns bool
		want   []Finding
	}{
		"new":              {p(rows(300, 400)), true, nil},
		"none":             {p(nil), true, nil},
		"train":            {p(rows(40, 80)), true, []Finding{finding.Of(finding.CalibrationSeen{Examples: 40, Trains: 40})}},
		"some":             {p(rows(90, 170)), true, []Finding{finding.Of(finding.CalibrationSeen{Examples: 80, Trains: 10, Validates: 50, Tests: 20})}},
		"a small part":     {&data.Problem{Train: rows(300, 400), Validate: rows(10, 19), Calibrate: rows(0, 90)}, true, []Finding{finding.Of(finding.CalibrationSeen{Examples: 90, Validates: 9})}},
		"small parts":      {&data.Problem{Train: rows(0, 12), Validate: rows(9000, 9003), Calibrate: rows(0, 500)}, true, []Finding{finding.Of(finding.CalibrationSeen{Examples: 500, Trains: 12})}},
		"one":              {p(rows(249, 329)), true, nil}, // 1 of 80 may be chance where 0 of 100 are repeated
		"chance":           {&data.Problem{Train: few, Calibrate: few}, true, nil},
		"as it is":         {p(rows(40, 80)), false, nil},
		"as it is, tested": {&data.Problem{Train: rows(0, 100), Calibrate: rows(40, 80)}, false, []Finding{finding.Of(finding.CalibrationSeen{Examples: 40, Tests: 40})}},
		"groups":           {groups, true, []Finding{finding.Of(finding.ForeignScored{Inputs: 50})}},
	} {
		if got := calibrated(c.p, c.learns); !slices.EqualFunc(got, c.want, Finding.Equal) {
			t.Errorf("%s: %v, want %v", name, notes(got), notes(c.want))
		}
	}
}

// TestPlanCalibrates: before a run begins it says which rows of a file, or of slices, of calibration examples train, too, and keeps that; a
// share of the run's own rows says nothing. A network as it is reads calibration examples, too.
func TestPlanCalibrates(t *testing.T) {
	text, err := os.ReadFile("testdata/trees.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	part := filepath.Join(t.TempDir(), "part.csv")
	save(t, part, []byte(strings.Join(lines[:31], ""))) // 30 of the 90 rows
	said := func(spec Spec) (early []string, r *Result) {
		r = fitted(t, spec, Options{Threads: 1, Progress: func(e Event) {
			if n, is := e.(*Notice); is {
				early = append(early, n.Text)
			}
		}})
		return early, r
	}
	const method = "method=map"
	early, r := said(trees(t, method, "prior.anchor=null", "map.epochs=1", "data.csv.calibrate="+part))
	seen := finding.All[finding.CalibrationSeen](r.Findings)
	if len(seen) != 1 || seen[0].Examples != 30 || seen[0].Trains < 15 || seen[0].Trains+seen[0].Validates+seen[0].Tests > 30 || r.Data.Calibrate.Len() != 30 {
		t.Errorf("%v", seen)
	}
	if !slices.ContainsFunc(early, func(s string) bool { return strings.HasPrefix(s, "of 30 calibration examples ") }) {
		t.Errorf("before the run begins it says %q", early)
	}
	early, r = said(trees(t, method, "prior.anchor=null", "map.epochs=1", "data.split={calibrate: 0.2}"))
	if finding.Has(r.Findings, finding.CalibrationSeen{}) || r.Data.Calibrate.Len() != 18 || r.Data.Train.Len() != 54 || len(early) > 0 {
		t.Errorf("%d calibrate, %d train: %q", r.Data.Calibrate.Len(), r.Data.Train.Len(), notes(r.Findings))
	}
	spec := trees(t, method, "prior.anchor=null", "map.epochs=1", "model.layers.2={dense: 2}")
	all := &data.Slices{}
	for i := range 60 {
		all.Inputs, all.Labels = append(all.Inputs, []float64{float64(i), float64(i * i % 7), 1, 0}), append(all.Labels, i%2)
	}
	few := data.Slices{Inputs: all.Inputs[:20], Labels: all.Labels[:20]}
	spec.Data = data.Settings{Memory: &data.Memory{Train: all, Calibrate: &few, Foreign: []data.MemoryGroup{{Name: "far", Slices: data.Slices{Inputs: all.Inputs[:3]}}}}, Standardise: "none"}
	_, r = said(spec)
	if seen := finding.All[finding.CalibrationSeen](r.Findings); len(seen) != 1 || seen[0].Examples != 20 || r.Data.Foreign[0].Set.Len() != 3 {
		t.Errorf("memory: %v", seen)
	}
	t.Chdir("testdata/pytorch")
	spec = goingOut(t, "method: as-is\n")
	spec.Data.Calibrate = spec.Data.Train
	spec.Data.CalibrateGroups = []data.GroupFile{{Name: "far", File: spec.Data.Train.Inputs}}
	_, r = said(spec)
	if seen := finding.All[finding.CalibrationSeen](r.Findings); len(seen) != 1 || seen[0].Tests != r.Metrics.N || seen[0].Trains != 0 || r.Data.Test != nil || r.Metrics.On != "train" {
		t.Errorf("as it is: %v", seen)
	}
}

// TestOlderThanCalibration: a run on a known set that an older version made lists no examples to calibrate. It opens, is evaluated and shown all
// the same; one that lists other examples than those of the set is refused, and so is one that lists none to train.
func TestOlderThanCalibration(t *testing.T) {
	spec := preset(t, "mnist7", "model.layers=[{dense: 8}]", "method=map", "prior.anchor=null", "map={restarts: 1, epochs: 1}")
	r, dir := kept(t, spec)
	whole := read(t, dir, manifestFile)
	for _, part := range []string{"calibrate", "calibrate/eight", "calibrate/nine", "calibrate/noise", "calibrate/perturbed"} {
		if len(readManifest(t, dir).Data[part]) != 64 {
			t.Errorf("the manifest lists no %s", part)
		}
	}
	listed := regexp.MustCompile(`\n *"calibrate[^"]*": "[0-9a-f]{64}",?`)
	older := testkit.Seal(listed.ReplaceAll(whole, nil))
	save(t, filepath.Join(dir, manifestFile), older)
	if got := readManifest(t, dir).Data; len(got) != 7 {
		t.Fatalf("the manifest lists %v", got)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := run.Evaluate(t.Context(), On{}, Options{})
	if err != nil || a.Metrics.NLL != r.Metrics.NLL {
		t.Errorf("%v", err)
	}
	if again, err := resume(t.Context(), dir, spec, Options{}); err != nil || again.Metrics.NLL != r.Metrics.NLL {
		t.Errorf("shown again: %v", err)
	}
	if !bytes.Equal(read(t, dir, manifestFile), older) {
		t.Error("the manifest has changed")
	}
	var other *OtherRunError
	for part, want := range map[string]string{"calibrate": "the calibrate examples of mnist7 are not those of the run", "train": "the train examples"} {
		save(t, filepath.Join(dir, manifestFile), testkit.Seal(bytes.Replace(whole, []byte(`"`+part+`": "`), []byte(`"`+part+`": "0`), 1)))
		if run, err = OpenRun(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Evaluate(t.Context(), On{}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", part, err)
		}
		if _, err := resume(t.Context(), dir, spec, Options{}); !errors.As(err, &other) {
			t.Errorf("%s, shown again: %v", part, err)
		}
	}
	save(t, filepath.Join(dir, manifestFile), testkit.Seal(regexp.MustCompile(`"train": "[0-9a-f]{64}",?`).ReplaceAll(older, []byte(`"drain": "",`))))
	if run, err = OpenRun(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), On{}, Options{}); err == nil || !strings.Contains(err.Error(), "the train examples of mnist7 are not those of the run") {
		t.Errorf("%v", err)
	}
}

// TestEvaluateOnWhatTaught: after a fit a run may be calibrated with any file. Who evaluates it on these examples, or foreign inputs, is told.
func TestEvaluateOnWhatTaught(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	calibrate(t, dir, Calibration{Data: g.fresh, OOD: []string{g.far}, Decide: deciders(t, "{sets: {rate: 0.8}, abstain: {at: f1}}")}, Options{})
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		on   On
		want []Finding
	}{
		{On{}, nil},
		{On{Data: g.own}, nil},
		{On{Data: g.fresh}, []Finding{finding.Of(finding.CalibrationScored{Data: g.fresh})}},
		{On{Data: g.own, OOD: []string{g.far}}, []Finding{finding.Of(finding.CalibrationScored{Data: g.far})}},
	} {
		a, err := run.Evaluate(t.Context(), c.on, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Metrics.Findings[len(run.Findings):]; !slices.EqualFunc(got, c.want, Finding.Equal) {
			t.Errorf("%+v: %q, want %q", c.on, notes(got), notes(c.want))
		}
	}
}
