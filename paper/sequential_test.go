package paper

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/ssm"
	"github.com/starling-smc/starling/uq"
)

// made makes the run of a cell in a folder, and reads it.
func made(t *testing.T, table *Table, c Cell, seed uint64, reduced bool) (dir string, run *Run) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	work, err := table.Work(c, seed, reduced, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := starling.TakeFolder(dir, work.Kind())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := work.Run(t.Context(), starling.Options{Folder: folder}); err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if run, err = table.Read(t.Context(), dir, c, seed, reduced, starling.Options{}); err != nil {
		t.Fatal(err)
	}
	return dir, run
}

// The cells have the models and the settings that the paper names.
func TestSequentialCells(t *testing.T) {
	for _, c := range Sequential.Cells {
		work, err := Sequential.Work(c, 3, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		s := work.(filtered).Filtering
		if s.Scans.Simulate != 20 || s.Seed != 3 {
			t.Errorf("%s: %s", c.Name, s.YAML())
		}
		switch m := s.Model.(type) {
		case ssm.LinearGaussian:
			returns := 500
			if strings.HasPrefix(c.Name, "gaussian5000-") {
				returns = 5000
			}
			if m.A[0][0] != .9 || m.Q[0][0] != .08 || m.H[0][0] != 1 || m.R[0][0] != 2 || m.Returns != returns || s.Against != (filter.Kalman{}) {
				t.Errorf("%s: %s", c.Name, s.YAML())
			}
		case ssm.Clutter:
			if m.Targets() != 3 || m.Rate() != 8500 || s.Against != nil {
				t.Errorf("%s: %s", c.Name, s.YAML())
			}
		default:
			t.Errorf("%s has the model %T", c.Name, m)
		}
		want, ok := printedSettings[c.Name]
		if ok == (c.Published == nil) && !strings.HasPrefix(c.Name, "gaussian") {
			t.Errorf("%s has published figures: %v, and settings of the paper: %v", c.Name, c.Published != nil, ok)
		}
		_, method, _ := strings.Cut(string(s.YAML()), "method:")
		for _, part := range strings.Split(want, ", ") {
			if !strings.Contains(strings.NewReplacer("{", "", "}", "", ",", "", "\n", " ", "  ", "").Replace(method), part) {
				t.Errorf("%s: no %s in %s", c.Name, part, method)
			}
		}
	}
}

// printedSettings are those of the cells that run what the paper printed.
var printedSettings = map[string]string{
	"gaussian500-smcmc":    "smcmc: particles: 4000, repeat: 1, burn: 1000, joint: none index: uniform refine: prior, decide: all",
	"gaussian5000-smcmc":   "smcmc: particles: 4000, repeat: 1, burn: 1000, joint: none index: uniform refine: prior, decide: all",
	"gaussian500-as":       "smcmc: particles: 4000, repeat: 1, burn: 1000, joint: none index: uniform refine: prior, order: 1, rows: all, delta: 0.1, power: 2, growth: 1.2, give_up: 1",
	"gaussian5000-as":      "smcmc: particles: 4000, repeat: 1, burn: 1000, joint: none index: uniform refine: prior, order: 1, rows: all, delta: 0.1, power: 2, growth: 1.2, give_up: 1",
	"gaussian500-ep4x500":  "nodes: 4, passes: 2, particles: 2000, burn: 125, joint: none, index: uniform, refine: prior, decide: all, correct: false, normaliser: true",
	"gaussian500-ep8x250":  "nodes: 8, passes: 2, particles: 2000, burn: 62, joint: none, index: uniform, refine: prior",
	"gaussian500-ep4x1000": "nodes: 4, passes: 2, particles: 4000, burn: 250, joint: none, index: uniform, refine: prior",
	"clutter3-smcmc":       "particles: 4000, repeat: 1, burn: 1000, ancestors: joint, joint: prior, index: none, walk: sd: 0.1, decide: all",
	"clutter3-as":          "particles: 4000, repeat: 1, burn: 1000, ancestors: joint, joint: prior, index: none, walk: sd: 0.1, order: 1, rows: all, give_up: 0.01",
	"clutter3-as-literal":  "particles: 4000, repeat: 1, burn: 1000, ancestors: joint, joint: prior, index: none, walk: sd: 0.1, order: 1, rows: all, give_up: 1",
	"clutter3-ep4x500":     "nodes: 4, passes: 2, particles: 2000, burn: 125, ancestors: joint, joint: prior, index: none, walk: sd: 0.1, normaliser: false",
}

// Published figures agree with one another: gains follow from times, and a mean and a median lie between the least and the largest. The
// sums were added up apart, from the paper's own tables.
func TestPublishedOfSequential(t *testing.T) {
	n := 0
	for _, e := range sequentialExamples {
		for _, row := range e.times.rows {
			if gain := 100 * (1 - row.time/e.times.rows[0].time); !(math.Abs(gain-row.gain) <= .01) {
				t.Errorf("%s, %s: a gain of %.3f %%, printed %v", e.name, row.algorithm, gain, row.gain)
			}
			n++
		}
	}
	var sums [2]float64
	for _, all := range []map[string][]accepts{publishedGaussian, publishedClutter} {
		for name, passes := range all {
			for _, a := range passes {
				for i, s := range []Spread{a.first, a.refine} {
					if !(s.Min <= s.Median && s.Median <= s.Max && s.Min <= s.Mean && s.Mean <= s.Max) {
						t.Errorf("%s: %v", name, s)
					}
					sums[i] += s.Min + s.Median + s.Mean + s.Max
					n++
				}
			}
		}
	}
	// Tables II and V: 1,247.37 + 5.842; Tables III and VI: 608.48 + 599.11.
	if !(math.Abs(sums[0]-1253.212) <= 1e-9) || !(math.Abs(sums[1]-1207.59) <= 1e-9) || n != 9+16 {
		t.Errorf("sums %v of %d figures", sums, n)
	}
}

// The figures of a run of Example 1 by other roads: the run's own scores, the distance that the trace has for each scan, and particles.
func TestGaussianMeasures(t *testing.T) {
	c := Sequential.cell(t, "gaussian500-smcmc")
	dir, run := made(t, &Sequential, c, 1, true)
	if run.Protocol != "reduced: 5 scans, a tenth of the particles" || run.Particles != 400 || !(run.Seconds() > 0) {
		t.Errorf("%+v", run)
	}
	r, err := starling.OpenFilterRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	distance, k := 0.0, 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		distance += float64(s.Against.KS[0]) / 5
		if got := float64(run.Figures["index"][k]); !(math.Abs(got-100*float64(*s.Accept.Index)) <= 2e-3) {
			t.Errorf("scan %d: index %v, want %v", k+1, got, *s.Accept.Index)
		}
		k++
	}
	if got := figure("ks")(*run); !(math.Abs(got-distance) <= 1e-5) {
		t.Errorf("KS %v, the trace has %v", got, distance)
	}
	if one := figure("ks_one")(*run); !(one > 0 && one < figure("ks")(*run)) {
		t.Errorf("the one-sided distance %v is not below the two-sided %v", one, figure("ks")(*run))
	}
	refine := Sequential.joined(&Row{Runs: []Run{*run}}, measureOf(t, "refine")).(Spread)
	if m := r.Metrics.Refine; !(math.Abs(refine.Mean-100*float64(m.Mean)) <= 2e-3) || !(math.Abs(refine.Median-100*float64(m.Median)) <= 2e-3) ||
		!(math.Abs(refine.Min-100*float64(m.Min)) <= 1e-3) || !(math.Abs(refine.Max-100*float64(m.Max)) <= 1e-3) {
		t.Errorf("refine %v, the run's scores have %v", refine, *m)
	}
	if figure("terms")(*run) != float64(r.Metrics.Evaluated) || figure("ess")(*run) == 0 || run.Figures["joint"] != nil || run.Figures["rmse"] != nil || run.Figures["tracks"] != nil {
		t.Errorf("%+v", run.Figures)
	}

	// The record keeps a number for each scan.
	var text bytes.Buffer
	if err := jsontext.Write(&text, Sequential.Record([]Run{*run})); err != nil {
		t.Fatal(err)
	}
	if back, err := Sequential.decode(text.Bytes()); err != nil || !reflect.DeepEqual(back, []Run{*run}) {
		t.Errorf("%s\nreads back as\n%+v, %v, want\n%+v", text.String(), back, err, *run)
	}

	// It is the run of this cell, seed and protocol alone.
	for _, other := range []struct {
		cell    string
		seed    uint64
		reduced bool
		want    string
	}{
		{"gaussian5000-smcmc", 1, true, "model.linear_gaussian.returns: 5000, but the run was begun with 500"},
		{"gaussian500-smcmc", 2, true, "seed: 2, but the run was begun with 1"},
		{"gaussian500-smcmc", 1, false, "scans.simulate: 20, but the run was begun with 5"},
	} {
		var bad *starling.DataError
		if _, err := Sequential.Read(t.Context(), dir, Sequential.cell(t, other.cell), other.seed, other.reduced, starling.Options{}); !errors.As(err, &bad) ||
			!strings.Contains(err.Error(), other.want) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("want %q: %v", other.want, err)
		}
	}
	if _, err := DataAnnealing.Read(t.Context(), dir, DataAnnealing.Cells[0], 1, false, starling.Options{}); err == nil {
		t.Error("the run of a filter counts as the cell of a table of fits")
	}
}

// Nodes have an acceptance for each pass, and a critical path.
func TestNodesMeasures(t *testing.T) {
	c := Sequential.cell(t, "gaussian500-ep4x500")
	for name, mean := range map[string]float64{"index": 89.77, "refine": 75.86, "index_first_pass": 89.47, "refine_first_pass": 38.46} {
		if got := c.Published[name].centre(); got != mean {
			t.Errorf("%s is published as %v, want %v", name, got, mean)
		}
	}
	dir, run := made(t, &Sequential, c, 1, true)
	r, err := starling.OpenFilterRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	critical, all, k := 0.0, 0.0, 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]uq.Number{"refine_first_pass": *s.Nodes.Accept[0].Refine, "refine": *s.Nodes.Accept[1].Refine, "index_first_pass": *s.Nodes.Accept[0].Index} {
			if got := run.Figures[name][k]; !(math.Abs(float64(got-100*want)) <= 2e-3) {
				t.Errorf("scan %d: %s is %v, want %v", k+1, name, got, 100*want)
			}
		}
		critical += float64(s.Nodes.Critical)
		for _, n := range s.Nodes.Terms {
			all += float64(n)
		}
		k++
	}
	if figure("critical_terms")(*run) != critical || figure("terms")(*run) != all || !(all > 3.9*critical) || run.Particles != 200 {
		t.Errorf("%v terms, %v on the critical path, want %v and %v; %d particles", figure("terms")(*run), figure("critical_terms")(*run), all, critical, run.Particles)
	}
}

// Decisions by a part of the measurements say how large it is. In Example 1 the first measurement decides exactly, so that both kinds of decision
// give the same samples, and the paper's bound takes more of them than ours (sequential-mcmc-massive-data, section 5, A8).
func TestSubsamplingMeasures(t *testing.T) {
	runs := map[string]*Run{}
	for _, name := range []string{"smcmc", "as", "as-ours"} {
		_, runs[name] = made(t, &Sequential, Sequential.cell(t, "gaussian500-"+name), 2, true)
	}
	for _, name := range []string{"as", "as-ours"} {
		for _, same := range []string{"ks", "ks_one", "index", "refine"} {
			if !slices.Equal(runs[name].Figures[same], runs["smcmc"].Figures[same]) {
				t.Errorf("%s: %s is %v, of all measurements %v", name, same, runs[name].Figures[same], runs["smcmc"].Figures[same])
			}
		}
	}
	paper, ours := Sequential.joined(&Row{Runs: []Run{*runs["as"]}}, measureOf(t, "refine_seen")), Sequential.joined(&Row{Runs: []Run{*runs["as-ours"]}}, measureOf(t, "refine_seen"))
	if runs["smcmc"].Figures["refine_seen"] != nil || !(ours.centre() < 2) || !(paper.centre() > 5*ours.centre()) || !(paper.centre() < 50) {
		t.Errorf("decisions look at %v %% of the measurements by the paper's settings, %v by ours", paper, ours)
	}
}

// measureOf is a measure of Sequential.
func measureOf(t *testing.T, name string) *Measure {
	t.Helper()
	all := Sequential.measures()
	k := slices.IndexFunc(all, func(m Measure) bool { return m.Name == name })
	if k < 0 {
		t.Fatalf("no measure %s", name)
	}
	return &all[k]
}

// A run of Example 2 has tracks and errors of the positions alone, and the pictures show them over the truth.
func TestClutterMeasures(t *testing.T) {
	c := Sequential.cell(t, "clutter3-smcmc")
	c.Reduced = append(slices.Clone(c.Reduced), "scans.simulate=2")
	dir, run := made(t, &Sequential, c, 1, true)
	r, err := starling.OpenFilterRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := Sequential.trueTracks(c, true)
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for target, track := range s.Tracks {
			is := s.Truth[fmt.Sprint(target+1)]
			for axis, at := range [2][]float64{truth[target].X, truth[target].Y} {
				if float64(is[axis]) != at[k] {
					t.Errorf("scan %d: the truth %v is simulated again as %v", k+1, is, at[k])
				}
				e := float64(track.Mean[axis] - is[axis])
				square += e * e / 6
				if got := run.Figures["tracks"][6*k+2*target+axis]; !(math.Abs(float64(got-uq.Number(track.Mean[axis]))) <= 1e-3) {
					t.Errorf("scan %d: a track at %v, want %v", k+1, got, track.Mean[axis])
				}
			}
		}
		if got := float64(run.Figures["rmse"][k]); !(math.Abs(got-math.Sqrt(square)) <= 1e-4*got) {
			t.Errorf("scan %d: RMSE %v, want %v", k+1, got, math.Sqrt(square))
		}
		k++
	}
	if len(run.Figures["joint"]) != 2 || run.Figures["index"] != nil || run.Figures["ks"] != nil {
		t.Errorf("%+v", run.Figures)
	}
	table := Sequential
	table.Cells = []Cell{c}
	pictures, err := drawSequential(&table, []Run{*run})
	if err != nil || len(pictures) != 2 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		if paths := wellFormed(t, p.SVG)["path"]; paths < 5 {
			t.Errorf("%s has %d lines", p.Name, paths)
		}
	}
}

// wellFormed counts the elements of an SVG file.
func wellFormed(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	elements := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
}

// By hand: runs are averaged scan by scan, and then the scans are described.
func TestOverScans(t *testing.T) {
	runs := []Values{{1, 2, 30}, {3, 6}, nil}
	if got, want := overScans(runs), (Spread{2, 4, 12, 30}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := rootsOverScans([]Values{{1, 3}, {7, 3}}).(Spread); got != (Spread{3, 4, 4, 5}) {
		t.Errorf("roots of mean squares: %v", got)
	}
	if got := overScans([]Values{nil, nil}); got != nil {
		t.Errorf("no scans: %v", got)
	}
	nan := overScans([]Values{{uq.Number(math.NaN()), 1}, {1, 1}}).(Spread)
	if !math.IsNaN(nan.Mean) || nan.Median != 1 {
		t.Errorf("a scan that is no number: %v", nan)
	}
	s := Spread{.04, 1.35, 1.352, 3.09}
	if s.text(2) != "0.04 1.35 1.35 3.09" || s.printed(1) != "0.04 1.35 1.352 3.09" || s.printed(3) != "0.040 1.350 1.352 3.090" {
		t.Errorf("%s, %s, %s", s.text(2), s.printed(1), s.printed(3))
	}
}

// Gains are of the cell's runs over those of SMCMC in the same example and protocol.
func TestGains(t *testing.T) {
	run := func(cell string, took, terms uq.Number) Run {
		return Run{Cell: cell, Seed: 1, Protocol: "same", Figures: map[string]Values{seconds: {took}, "terms": {terms}, "critical_terms": {terms / 5}}}
	}
	text, err := writeGains(&Sequential, "", []Run{run("gaussian500-smcmc", 8, 100), run("clutter3-smcmc", 10, 1000), run("clutter3-smcmc-adapted", 4, 1500), run("clutter3-ep4x500", 5, 250)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### Table I, M = 500: gain over SMCMC\n", "| gaussian500-smcmc | 114.75 s | 0 % | 0.0 % | 0.0 % |\n",
		"| clutter3-smcmc | 505.42 min | 0 % | 0.0 % | 0.0 % |\n", "| clutter3-smcmc-adapted | – | – | 60.0 % | −50.0 % |\n",
		"| clutter3-ep4x500 | 59.06 min | 88.31 % | 50.0 % | 75.0 % |\n", "| clutter3-ep4x500 | × 8.0 | × 4 | ÷ 2 | × 16.0 | × 20.0 | × 4.0 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "5,000") {
		t.Errorf("an example without runs is shown:\n%s", text)
	}
}

// The page shows what stands beside the table, and the pictures beside it are those of the recorded runs.
func TestRecordedSequential(t *testing.T) {
	runs := Sequential.Recorded()
	text, err := writeGains(&Sequential, "", runs)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/results/sequential-mcmc.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), strings.TrimSpace(text)) {
		t.Error("docs/results/sequential-mcmc.md does not show the gains that starling reproduce sequential-mcmc prints")
	}
	pictures, err := drawSequential(&Sequential, runs)
	if err != nil || len(pictures) != 3 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, p := range pictures {
		name := "sequential-mcmc-" + p.Name + ".svg"
		if file, err := os.ReadFile("../docs/results/" + name); err != nil || !bytes.Equal(file, p.SVG) || !strings.Contains(string(page), "("+name+")") {
			t.Errorf("%s is not the picture of the recorded runs, or the page does not show it (%v): the page says how it is renewed", name, err)
		}
	}
}

// The terminal's table of filters fits 120 columns.
func TestSequentialFits(t *testing.T) {
	var text bytes.Buffer
	if err := Sequential.WriteText(&text, Sequential.Recorded()); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if n := len([]rune(line)); n > 120 && !strings.Contains(line, ": ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
