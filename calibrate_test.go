package starling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/runs"
)

// grown are files of trees in a folder: those to learn from, fresh ones to calibrate with, those of one class, and inputs that are no trees.
type grown struct{ own, fresh, one, far string }

func grow(t *testing.T) grown {
	t.Helper()
	dir := t.TempDir()
	lines := slices.Collect(bytes.Lines(read(t, "testdata", "trees.csv")))
	put := func(name string, rows [][]byte) string {
		file := filepath.Join(dir, name)
		save(t, file, slices.Concat(rows...))
		return file
	}
	far := [][]byte{[]byte("width,height,mass,age\n")}
	for i := range 12 {
		far = append(far, fmt.Appendf(nil, "%d,%d,30,%d\n", i-9, 20+i, 100+i))
	}
	ashes := slices.DeleteFunc(slices.Clone(lines[1:]), func(line []byte) bool { return !bytes.HasSuffix(line, []byte(",ash\n")) })
	return grown{
		put("own.csv", lines[:51]), put("fresh.csv", slices.Concat(lines[:1], lines[51:])), put("one.csv", slices.Concat(lines[:1], ashes)), put("far.csv", far),
	}
}

// spec is the config of trees on these files, with changes.
func (g grown) spec(t *testing.T, sets ...string) Spec {
	t.Helper()
	return trees(t, append([]string{"data.csv.file=" + g.own, "data.csv.target=kind"}, sets...)...)
}

// deciders reads a block decide.
func deciders(t *testing.T, text string) *decide.Settings {
	t.Helper()
	d, _, err := config.Parse[decideBlock]("test", []byte("decide: "+text), nil, decide.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	return d.Decide
}

func calibrate(t *testing.T, dir string, c Calibration, o Options) []Finding {
	t.Helper()
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, found, err := run.Calibrate(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	if d != run.Decision || run.Manifest.Files[decisionFile] != readManifest(t, dir).Files[decisionFile] {
		t.Error("the run that was read has another decision")
	}
	return found
}

// arrays are the settings of trees on arrays with the rows of the tables, and what names the fresh ones.
func (g grown) arrays(t *testing.T) (set string, fresh Calibration) {
	t.Helper()
	put := func(file string) (inputs, targets string) {
		var x [][]float64
		var y []byte
		for line := range strings.Lines(string(read(t, filepath.Dir(file), filepath.Base(file)))) {
			cells := strings.Split(strings.TrimSpace(line), ",")
			if cells[0] == "width" {
				continue
			}
			row := make([]float64, 4)
			for j := range row {
				if _, err := fmt.Sscan(cells[j], &row[j]); err != nil {
					t.Fatal(err)
				}
			}
			x, y = append(x, row), append(y, byte(slices.Index([]string{"ash", "birch", "cedar"}, cells[4])))
		}
		inputs, targets = strings.TrimSuffix(file, ".csv")+".npy", strings.TrimSuffix(file, ".csv")+".idx"
		save(t, inputs, npy(t, []int{len(x), 4}, slices.Concat(x...)...))
		save(t, targets, idx(y...))
		return inputs, targets
	}
	x, y := put(g.own)
	fresh.Data, fresh.Labels = put(g.fresh)
	return "data={train: {inputs: " + x + ", targets: " + y + "}, standardise: inputs}", fresh
}

// idx is an IDX file of labels.
func idx(labels ...byte) []byte {
	return append([]byte{0, 0, 8, 1, 0, 0, 0, byte(len(labels))}, labels...)
}

// TestCalibrateReplacesTheDecision: no other file of the run changes, verify finds all of them whole, and who reads the run decides by the new
// decision, wherever the process was killed.
func TestCalibrateReplacesTheDecision(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	was := folder(t, dir)
	if found := calibrate(t, dir, Calibration{Data: g.fresh}, Options{}); len(found) > 0 {
		t.Errorf("found %q", notes(found))
	}
	is := folder(t, dir)
	if is[decisionFile] == was[decisionFile] || is[manifestFile] == was[manifestFile] || strings.Count(is[manifestFile], "\n") != strings.Count(was[manifestFile], "\n") {
		t.Errorf("decision %s\nwas %s", is[decisionFile], was[decisionFile])
	}
	for _, name := range []string{decisionFile, manifestFile} {
		delete(was, name)
		delete(is, name)
	}
	if !maps.Equal(was, is) {
		t.Error("another file has changed")
	}
	m := readManifest(t, dir)
	if run, err := OpenRun(dir); err != nil || run.Decision.Learnt == nil || run.Decision.Foreign == nil || !m.Finished.Equal(run.Manifest.Finished) {
		t.Errorf("read back: %+v, %v", run.Decision, err)
	}
	want := predictions(t, dir, g.far)
	if err := os.Rename(filepath.Join(dir, decisionFile), filepath.Join(dir, decisionFile+".next")); err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, decisionFile), []byte("{}"))
	if got := predictions(t, dir, g.far); got != want {
		t.Errorf("a process was killed before it moved the new decision into its place: predictions\n%s\nwant\n%s", got, want)
	}
	if v, err := VerifyRun(dir); err != nil || v.Count(runs.Differs, runs.Missing, runs.Unlisted) > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// folder are the files in a folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		all[e.Name()] = string(read(t, dir, e.Name()))
	}
	return all
}

// predictions is the CSV of a run's predictions for a file.
func predictions(t *testing.T, dir, file string) string {
	t.Helper()
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	if _, err := run.Predictor(Options{}).File(context.Background(), file, out); err != nil {
		t.Fatal(err)
	}
	return string(read(t, filepath.Dir(out), filepath.Base(out)))
}

// TestCalibrateRefused: what cannot be learnt is told, and the run keeps the decision that it had.
func TestCalibrateRefused(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	x := filepath.Join(filepath.Dir(g.own), "x.npy")
	save(t, x, npy(t, []int{2, 4}, make([]float64, 8)...))
	labels := filepath.Join(filepath.Dir(g.own), "labels.idx")
	save(t, labels, idx(0, 3))
	few := filepath.Join(filepath.Dir(g.own), "few.csv")
	save(t, few, slices.Concat(slices.Collect(bytes.Lines(read(t, filepath.Dir(g.fresh), "fresh.csv")))[:8]...))
	five := filepath.Join(filepath.Dir(g.own), "five.npy")
	save(t, five, npy(t, []int{1, 6}, make([]float64, 6)...))
	was := folder(t, dir)
	for name, x := range map[string]struct {
		c      Calibration
		decide string
		config bool // the error is a *ConfigError, else a *DataError
		says   string
	}{
		"no examples":    {Calibration{}, "", true, "has no calibration examples of its own: name labelled examples that it has not seen, by --data FILE"},
		"no such file":   {Calibration{Data: "none.csv"}, "", true, "no file none.csv"},
		"inputs alone":   {Calibration{Data: x}, "", true, "the file of their labels is needed"},
		"label":          {Calibration{Data: x, Labels: labels}, "", false, "label 3, want 0 to 2, the classes of the run: leave the examples of other classes out"},
		"foreign shape":  {Calibration{Data: g.fresh, OOD: []string{five}}, "", false, "five.npy"},
		"foreign twice":  {Calibration{Data: g.fresh, OOD: []string{g.far, g.far}}, "", true, "there is a group far already"},
		"few for sets":   {Calibration{Data: few}, "", true, "a rate of 0.9"},
		"few for a risk": {Calibration{Data: g.fresh}, "{abstain: {at: {risk: 0.01}}}", true, "299"},
		"no foreign":     {Calibration{Data: g.fresh}, "{abstain: {by: classifier, at: f1}}", true, "foreign inputs"},
		"one class":      {Calibration{Data: g.one, OOD: []string{g.far}}, "{abstain: {by: classifier, at: f1}}", false, "nothing was learnt, and the run in " + dir + " keeps what it had: "},
		"for numbers":    {Calibration{Data: g.fresh}, "{abstain: {by: sd, at: {coverage: 0.9}}}", true, "by sd is for numbers"},
	} {
		if x.decide != "" {
			x.c.Decide = deciders(t, x.decide)
		}
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = run.Calibrate(t.Context(), x.c, Options{})
		var config *ConfigError
		var data *DataError
		if err == nil || errors.As(err, &config) != x.config || errors.As(err, &data) == x.config || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %T %v, want %s", name, err, err, x.says)
		}
		if !maps.Equal(folder(t, dir), was) {
			t.Fatalf("%s: a file has changed", name)
		}
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	wrong := Calibration{Data: g.fresh, Decide: &decide.Settings{Sets: &decide.Sets{Rate: 2}}}
	if _, _, err := run.Calibrate(t.Context(), wrong, Options{}); !errors.As(err, new(*ConfigError)) || !strings.Contains(err.Error(), "decide.sets.rate: want a number above 0, below 1, have 2") {
		t.Errorf("a rate of 2: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := run.Calibrate(ctx, Calibration{Data: g.fresh}, Options{}); !errors.Is(err, context.Canceled) || !maps.Equal(folder(t, dir), was) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestCalibrateInPart: examples that refuse one piece teach the others, and what was refused is told.
func TestCalibrateInPart(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	found := calibrate(t, dir, Calibration{Data: g.one, OOD: []string{g.far}, Decide: deciders(t, "{sets: {rate: 0.5}, abstain: {by: classifier, at: f1}}")}, Options{})
	if said := strings.Join(notes(found), "\n"); !strings.Contains(said, "the classifier of wrong answers needs examples of several classes") {
		t.Errorf("found %q", said)
	}
	if run, err := OpenRun(dir); err != nil || run.Decision.Sets == nil || run.Decision.Classifier != nil || run.Decision.Abstain != nil {
		t.Errorf("%+v, %v", run, err)
	}
}

// TestCalibrateFindings: what a run says of its decision is said of the decision that it has, not of the one that was replaced, and the rest
// of what it says stays.
func TestCalibrateFindings(t *testing.T) {
	g := grow(t)
	run, dir := kept(t, g.spec(t))
	others := run.Findings
	unkept := Calibration{Data: g.own, Decide: deciders(t, "{abstain: {at: {risk: 0.08}}}")}
	for _, c := range []struct {
		Calibration
		every, seen bool // row abstains; the examples train
	}{{unkept, true, true}, {unkept, true, true}, {Calibration{Data: g.fresh}, false, false}} {
		told := calibrate(t, dir, c.Calibration, Options{})
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		for by, found := range map[string][]Finding{"calibrate tells": told, "the run says": run.Findings} {
			if finding.Has(found, finding.RiskNotKept{}) != c.every || finding.Has(found, finding.CalibrationSeen{}) != c.seen {
				t.Errorf("%s %q", by, notes(found))
			}
		}
		rest := slices.DeleteFunc(slices.Clone(run.Findings), Finding.OfDecision)
		if !slices.EqualFunc(rest, others, Finding.Equal) || !slices.Equal(run.Manifest.Notes, run.Notes()) {
			t.Errorf("the run says %q, notes %q", notes(rest), run.Manifest.Notes)
		}
	}
}

// TestCalibrateDeciding: the settings are those of the run's config or the defaults, and may be changed as a config may.
func TestCalibrateDeciding(t *testing.T) {
	plain, own := &Run{}, &Run{Spec: Spec{Decide: deciders(t, "{sets: {score: aps, rate: 0.5}}")}}
	for _, x := range []struct {
		run  *Run
		sets []string
		want string // of the block, or of the error
	}{
		{plain, nil, "{temperature: true, sets: {rate: 0.9}, abstain: {at: {coverage: 0.9}}}"},
		{plain, []string{"decide.sets.rate=0.99", "decide.temperature=false"}, "{sets: {rate: 0.99}, abstain: {at: {coverage: 0.9}}}"},
		{plain, []string{"decide.abstain={by: energy, at: {pass: 0.95}}", "decide.sets=null"}, "{temperature: true, abstain: {by: energy, at: {pass: 0.95}}}"},
		{own, nil, "{sets: {score: aps, rate: 0.5}}"},
		{own, []string{"decide.sets.rate=0.6"}, "{sets: {score: aps, rate: 0.6}}"},
		{own, []string{"decide.sets.rate=1"}, "error: --set decide.sets.rate=1"},
		{own, []string{"decide.sets.rat=0.6"}, "error: --set decide.sets.rat=0.6"},
		{own, []string{"seed=3"}, "error: --set seed=3"},
		{own, []string{"decide.sets=null"}, "error: decides nothing"},
		{own, []string{"decide=null"}, "error: decide is null, which leaves nothing to learn"},
	} {
		got, err := x.run.Deciding(x.sets...)
		if words, bad := strings.CutPrefix(x.want, "error: "); bad {
			if !errors.As(err, new(*ConfigError)) || !strings.Contains(err.Error(), words) {
				t.Errorf("%q: %v, want %s", x.sets, err, words)
			}
			continue
		}
		if is, want := config.Encode(decideBlock{got}, decide.Families()...), config.Encode(decideBlock{deciders(t, x.want)}, decide.Families()...); err != nil || !bytes.Equal(is, want) {
			t.Errorf("%q: %s, %v; want %s", x.sets, is, err, want)
		}
	}
}

// TestCalibrateWithoutItsData: where the run's own data are gone, a temperature cannot be learnt; what needs no validation examples can, and
// the threshold of the energy stays.
func TestCalibrateWithoutItsData(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	if err := os.Rename(g.own, g.own+".away"); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	was := run.Decision.Foreign
	if _, _, err = run.Calibrate(t.Context(), Calibration{Data: g.fresh}, Options{}); !errors.As(err, new(*DataError)) ||
		!strings.Contains(err.Error(), "which teach the temperature, cannot be read") || !strings.Contains(err.Error(), "--set decide.temperature=false") {
		t.Errorf("%v", err)
	}
	literal := Calibration{Data: g.fresh, OOD: []string{g.far}, Decide: deciders(t, "{abstain: {by: {classifier: {literal: true}}, at: f1}}")}
	if _, _, err = run.Calibrate(t.Context(), literal, Options{}); !errors.As(err, new(*DataError)) || !strings.Contains(err.Error(), "from which a literal classifier learns, cannot be read") {
		t.Errorf("%v", err)
	}
	d, found, err := run.Calibrate(t.Context(), Calibration{Data: g.fresh, Decide: deciders(t, "{sets: {rate: 0.8}}")}, Options{})
	if err != nil || d.Sets == nil || *d.Foreign != *was {
		t.Errorf("%+v, %v", d, err)
	}
	if said := strings.Join(notes(found), "\n"); !strings.Contains(said, "whether calibration examples have trained, too, is not known: ") {
		t.Errorf("found %s", said)
	}
}

// TestCalibrateOtherWeights: a decision that was learnt for another posterior is refused, and calibration makes another.
func TestCalibrateOtherWeights(t *testing.T) {
	g := grow(t)
	_, dir := kept(t, g.spec(t))
	_, other := kept(t, g.spec(t, "seed=9"))
	calibrate(t, dir, Calibration{Data: g.fresh}, Options{})
	calibrate(t, other, Calibration{Data: g.fresh}, Options{})
	want := read(t, dir, decisionFile)
	rewrite(t, dir, decisionFile, read(t, other, decisionFile))
	if _, err := OpenRun(dir); !errors.As(err, new(*DataError)) || !strings.Contains(err.Error(), decisionFile+": was learnt for another posterior than the run's: learn it again with starling calibrate") {
		t.Errorf("%v", err)
	}
	run, err := OpenUndecided(dir)
	if err == nil {
		_, _, err = run.Calibrate(t.Context(), Calibration{Data: g.fresh}, Options{})
	}
	if got := read(t, dir, decisionFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %s\nwant\n%s", err, got, want)
	}
}

// TestCalibrateOfMemory: a program gives the examples of its memory again.
func TestCalibrateOfMemory(t *testing.T) {
	g := grow(t)
	own := &data.Slices{}
	for i := range 60 {
		k := i % 3
		own.Inputs, own.Labels = append(own.Inputs, []float64{float64(k) + float64(i%7)/4, float64(i % 5), 1, float64(i % 11)}), append(own.Labels, k)
	}
	spec := trees(t, "data={memory: {}}")
	spec.Data.Memory = &data.Memory{Train: own}
	_, dir := kept(t, spec)
	_, fresh := g.arrays(t)
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Calibrate(t.Context(), fresh, Options{}); err == nil || !strings.Contains(err.Error(), "were in a program's memory") {
		t.Errorf("%v", err)
	}
	run.Spec.Data.Memory = spec.Data.Memory
	if d, _, err := run.Calibrate(t.Context(), fresh, Options{}); err != nil || d.Temperature == nil || d.Sets.Examples != 40 {
		t.Errorf("%+v, %v", d, err)
	}
	more := &data.Slices{Inputs: own.Inputs[:30], Labels: own.Labels[:30]}
	run.Spec.Data.Memory = &data.Memory{Train: own, Calibrate: more}
	if d, _, err := run.Calibrate(t.Context(), Calibration{}, Options{}); err != nil || d.Sets.Examples != 30 {
		t.Errorf("in memory, too: %+v, %v", d, err)
	}
}
