package starling

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// scansOf filters scans of testdata/scans through a model, with the default method but for what is set.
func scansOf(t *testing.T, file, model string, sets ...string) (*Filtered, []filtering.Step) {
	t.Helper()
	s, err := ParseFiltering("config", []byte("seed: 1\nmodel:\n"+model+"scans: {file: testdata/scans/"+file+"}\n"), sets...)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := TakeFolder(filepath.Join(t.TempDir(), "run"), FilterRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	r, err := Filter(t.Context(), s, FilterOptions{Options: Options{Folder: folder}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := OpenFilterRun(folder.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []filtering.Step
	for step, err := range run.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, *step)
	}
	return r, steps
}

// matched are the true states of the tracks, scan by scan.
func matched(m ssm.Model, steps []filtering.Step) (truth [][][]float64) {
	next := filtering.NewMatcher(m)
	for i := range steps {
		truth = append(truth, next.Next(&steps[i]))
	}
	return truth
}

const crossModel = `  clutter:
    acceleration: 0.1414
    returns: {rate: 0.9, sd: 1}
    clutter: {rate: 10, region: [-100, 100, -100, 100]}
    start:
      - {mean: [-50, -40, 1.7, 1.3], sd: [1, 1, 0.5, 0.5]}
      - {mean: [-50, 40, 1.7, -1.3], sd: [1, 1, 0.5, 0.5]}
      - {mean: [55, 2, -1.8, 0], sd: [1, 1, 0.5, 0.5]}
`

// Three targets that cross, with .9 returns each and ten of clutter a scan, which another program simulated: no track is lost, and the
// uncertainty is right. NEES is within 25 % of four, the coverage of 95 % intervals within .05, and no estimate is 8 m from its target. With one ancestor for
// all targets a target is lost, and the run says so by its R-hat.
func TestCrossingTargets(t *testing.T) {
	testkit.Statistics(t)
	r, steps := scansOf(t, "cross_1.jsonl", crossModel)
	m := r.Metrics
	if m.NEES == nil || !(*m.NEES >= 3 && *m.NEES <= 5) || !(math.Abs(float64(m.Coverage)-0.95) <= 0.05) || !(m.RMSE <= 1) {
		t.Errorf("NEES %v, coverage %v, RMSE %v", *m.NEES, m.Coverage, m.RMSE)
	}
	truth := matched(r.Spec.Model, steps)
	for k, s := range steps {
		for i, target := range s.Tracks {
			if d := math.Hypot(float64(target.Mean[0])-truth[k][i][0], float64(target.Mean[1])-truth[k][i][1]); !(d < 8) {
				t.Errorf("scan %d: track %s is %.1f m from its target", k+1, target.ID, d)
			}
		}
	}
	if !finding.Has(r.Findings, finding.SparseTargets{}) || finding.Warnings(r.Findings) > 0 {
		t.Errorf("findings: %v", r.Notes())
	}
}

// One target whose start has a standard deviation of 50 m, with 200 returns of sd .1: it is found in the first scan.
func TestVagueStart(t *testing.T) {
	testkit.Statistics(t)
	r, steps := scansOf(t, "vague.jsonl", `  clutter:
    acceleration: 0.5
    returns: {rate: 200, sd: 0.1}
    clutter: {rate: 100, region: [-100, 100, -100, 100]}
    start: [{mean: [0, 0, 0, 0], sd: [50, 50, 2, 2]}]
`)
	truth := matched(r.Spec.Model, steps)
	for k, s := range steps {
		if d := math.Hypot(float64(s.Tracks[0].Mean[0])-truth[k][0][0], float64(s.Tracks[0].Mean[1])-truth[k][0][1]); !(d < 0.1) || s.Tracks[0].Lost {
			t.Errorf("scan %d: %.2g m from the target, lost: %v", k+1, d, s.Tracks[0].Lost)
		}
	}
	if finding.Has(r.Findings, finding.LostTarget{}) || finding.Has(r.Findings, finding.IdleScans{}) {
		t.Errorf("findings: %v", r.Notes())
	}
}

// An outlier of 40 standard deviations, in the scan at 34.4 s, is named: by its surprise, which all methods have, and, where one filter has
// all particles, by the two ancestors that it leaves.
func TestOutlierIsNamed(t *testing.T) {
	testkit.Statistics(t)
	const model = `  range_bearing:
    acceleration: 0.1414
    sensors: [[0, 0]]
    sd_range: 1
    sd_bearing: 0.01745
    start: {mean: [-80, 60, 0.5, -2], sd: [1, 1, 0.5, 0.5]}
`
	for _, method := range []string{"{smcmc: {particles: 4000, repeat: 1}}", "{bootstrap: {particles: 1000}}"} {
		r, steps := scansOf(t, "rbout_1.jsonl", model, "method="+method)
		d := r.Metrics.Doubts
		if d.Surprising == nil || d.Surprising.Time != "34.40496" || !(d.Surprising.Value <= 0.0001) || d.Surprising.Scans > 2 {
			t.Errorf("%s: surprise %+v", method, d.Surprising)
		}
		if !finding.Has(r.Findings, finding.SurprisingScans{}) {
			t.Errorf("%s: findings: %v", method, r.Notes())
		}
		if method[1] == 's' && (d.FewAncestors == nil || !(steps[29].Ancestors < 20) || !finding.Has(r.Findings, finding.FewAncestors{})) {
			t.Errorf("%s: %d ancestors, findings: %v", method, steps[29].Ancestors, r.Notes())
		}
	}
}

// Healthy runs raise no alarm: neither of few ancestors, nor of lost targets, nor of surprise.
func TestHealthyRunsRaiseNoAlarm(t *testing.T) {
	testkit.Statistics(t)
	for preset, sets := range map[string][]string{
		"clutter3-crossing": {"scans.simulate=2"}, "range-bearing": {"scans.simulate=20"}, "gaussian-m500": nil,
	} {
		s, err := PresetFiltering(preset, sets...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Filter(t.Context(), s, FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []finding.Kind{finding.FewAncestors{}, finding.LostTarget{}, finding.SurprisingScans{}, finding.IdleScans{}, finding.SparseTargets{}} {
			if finding.Has(r.Findings, k) {
				t.Errorf("%s: %v", preset, r.Notes())
			}
		}
	}
}

// ancestors: target needs a model that says which coordinates are a target's, and ancestors: joint is for all.
func TestAncestorsOfModelsWithoutTargets(t *testing.T) {
	const text = "model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[1]]}}\nscans: {simulate: 1}\nmethod: {smcmc: {ancestors: "
	if _, err := ParseFiltering("config", []byte(text+"target}}")); err == nil {
		t.Error("a model without targets takes ancestors: target")
	}
	for _, name := range []string{"joint", "null"} {
		if _, err := ParseFiltering("config", []byte(text+name+"}}")); err != nil {
			t.Error(err)
		}
	}
	if _, err := ParseFiltering("config", []byte(text+"all}}")); err == nil {
		t.Error("ancestors: all is taken")
	}
}
