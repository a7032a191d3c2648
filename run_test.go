package starling

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/method"
)

// TestRunFolder writes a run of every kind, reads it back, and evaluates it anew: the same metrics byte for byte.
func TestRunFolder(t *testing.T) {
	for name, spec := range small(t) {
		t.Run(name, func(t *testing.T) {
			result, dir := kept(t, spec)
			if f, err := TakeFolder(dir, FitRuns); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a run's folder is taken for another: %v", err)
				f.Close()
			}
			if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
				t.Errorf("left beside the run: %v", left)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !IsRunFile(filepath.Join(dir, e.Name())) {
					t.Errorf("%s is said to be no file of the run", e.Name())
				}
			}
			config := read(t, dir, configFile)
			if again, err := ParseSpec("config.yaml", config); err != nil || string(again.YAML()) != string(config) {
				t.Errorf("config.yaml does not resolve to itself: %v\n%s", err, config)
			}
			run, err := OpenRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			if run.Chosen != result.Chosen || run.Posterior.Size() != result.Posterior.Size() {
				t.Errorf("read back: restart %d of %d particles, was %d of %d", run.Chosen, run.Posterior.Size(), result.Chosen, result.Posterior.Size())
			}
			if got, want := strings.Join(run.Notes(), "\n"), strings.Join(result.Notes(), "\n"); got != want || strings.Join(run.Manifest.Notes, "\n") != want {
				t.Errorf("notes %q and in the manifest %q, were %q", got, run.Manifest.Notes, want)
			}
			if got, want := timeless(t, run.Trace), timeless(t, result.Trace); !bytes.Equal(got, want) {
				t.Error("the trace reads back differently")
			}
			if err := run.Differs(result.Spec); err != nil {
				t.Errorf("the run differs from its own Spec: %v", err)
			}
			assessment, err := run.Evaluate(t.Context(), On{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var anew bytes.Buffer
			if err := assessment.Metrics.WriteJSON(&anew); err != nil {
				t.Fatal(err)
			}
			kept := read(t, dir, metricsFile)
			if anew.String() != string(kept) {
				t.Errorf("metrics.json:\n%s\nevaluated anew:\n%s", kept, anew.String())
			}
			metrics, err := run.ReadMetrics()
			if err != nil {
				t.Fatal(err)
			}
			anew.Reset()
			if err := metrics.WriteJSON(&anew); err != nil || anew.String() != string(kept) {
				t.Errorf("metrics.json:\n%s\nread and written: %v\n%s", kept, err, anew.String())
			}
			checkTrace(t, readTrace(t, dir), result)
		})
	}
}

// checkTrace wants lines by island, then by iteration from 1, that end where the sampler ends.
func checkTrace(t *testing.T, trace []TraceLine, r *Result) {
	t.Helper()
	last := map[int]TraceLine{}
	for _, l := range trace {
		if l.K != last[l.Island].K+1 || l.Island > 0 && len(last) < l.Island {
			t.Errorf("island %d, k %d stands after k %d", l.Island, l.K, last[l.Island].K)
		}
		last[l.Island] = l
	}
	sampling := r.Spec.Way().Sampling()
	if sampling == nil {
		if len(last) != 0 && (len(last) > 1 || last[0].ELBO == nil || last[0].Progress != 1) {
			t.Errorf("a trace where nothing was sampled, and no approximation was fitted to its end: %+v", last)
		}
		return
	}
	if len(last) != sampling.Islands {
		t.Errorf("a trace of %d islands, want %d", len(last), sampling.Islands)
	}
	end := 1 / temperature(r.Spec)
	left := 0 // of the posterior, whose islands are those that were not lost
	for island := range len(last) {
		i, l := island-left, last[island]
		if l.Lost != "" {
			left++
			if l.Progress != 1 {
				t.Errorf("island %d was lost at progress %v", island, l.Progress)
			}
			continue
		}
		evidence := 0.0
		if sampling.Drawn {
			evidence = r.Posterior.LogEvidence[i]
		}
		if l.Progress != 1 || float64(l.LogZ) != evidence || !sampling.Path.Traits().Batches && l.Lambda != end {
			t.Errorf("island %d ends at progress %v, λ %v, log Z %v; posterior has %v", island, l.Progress, l.Lambda, l.LogZ, r.Posterior.LogEvidence[i])
		}
	}
	if len(r.Posterior.LogEvidence) != len(last)-left {
		t.Errorf("the posterior has %d islands, of %d, of which %d were lost", len(r.Posterior.LogEvidence), len(last), left)
	}
	if sampling.Chains() != (len(last) > 0 && (sampling.Particles == 1 || len(last[0].Chains) == sampling.Particles)) {
		t.Errorf("%d particles of a %s", sampling.Particles, sampling.Unit)
	}
}

// temperature is T of a config's posterior, 1 but of a cold one.
func temperature(s Spec) float64 {
	switch m := s.Method.(type) {
	case method.SMC:
		return cmp.Or(m.Temperature, 1)
	case method.MCMC:
		return cmp.Or(m.Temperature, 1)
	}
	return 1
}

// TestOpenRunErrors: a file of a run that is damaged, missing or does not fit the others is named.
func TestOpenRunErrors(t *testing.T) {
	_, dir := kept(t, trees(t))
	if _, err := OpenRun(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	for _, file := range []string{configFile, manifestFile, schemaFile, posteriorFile, restartsFile, coursesFile, traceFile} {
		path := filepath.Join(dir, file)
		whole := read(t, dir, file)
		var bad *DataError
		for _, part := range [][]byte{whole[:len(whole)/2], nil} {
			save(t, path, part)
			if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s cut to %d bytes: %T %v", file, len(part), err, err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenRun(dir); file != manifestFile && !errors.As(err, &bad) || !strings.Contains(err.Error(), file) && file != manifestFile {
			t.Errorf("without %s: %T %v", file, err, err)
		}
		save(t, path, whole)
	}
	// Files of other runs: of other inputs, of another network, of other data under the same name.
	_, other := kept(t, regression(t, "inputs"))
	for _, file := range []string{schemaFile, posteriorFile} {
		whole := read(t, dir, file)
		rewrite(t, dir, file, read(t, other, file))
		var bad *DataError
		if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), file+": ") {
			t.Errorf("%s of another run: %T %v", file, err, err)
		}
		rewrite(t, dir, file, whole)
	}
	save(t, filepath.Join(dir, manifestFile), testkit.Seal(bytes.Replace(read(t, dir, manifestFile), []byte(`"train": "`), []byte(`"train": "0`), 1)))
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	var bad *DataError
	if _, err := run.Evaluate(t.Context(), On{}, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "train examples") {
		t.Errorf("other data: %T %v", err, err)
	}
	m := readManifest(t, dir)
	m.Findings = []byte(`[{"kind": "as-is", "nunbers": {}}]`)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, manifestFile), testkit.Seal(text))
	if _, err := OpenRun(dir); !errors.As(err, &bad) || !strings.Contains(err.Error(), manifestFile+`: findings: byte 46: unknown key "nunbers": did you mean "numbers"?`) {
		t.Errorf("a misspelt key of a finding: %v", err)
	}
}

// TestEveryFileIsChecked: one bit of any file that is read of a run is an error that names the file, whatever it changes.
func TestEveryFileIsChecked(t *testing.T) {
	_, dir := kept(t, trees(t))
	for _, file := range []string{configFile, manifestFile, schemaFile, posteriorFile, restartsFile, coursesFile, traceFile, metricsFile} {
		whole := read(t, dir, file)
		for i := range 24 {
			flipped := bytes.Clone(whole)
			flipped[i*len(whole)/24] ^= 1 << (i % 8)
			save(t, filepath.Join(dir, file), flipped)
			run, err := OpenRun(dir)
			if err == nil && file == metricsFile {
				_, err = run.ReadMetrics()
			}
			var bad *DataError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, file)) {
				t.Errorf("%s, byte %d: %v", file, i*len(whole)/24, err)
			}
		}
		save(t, filepath.Join(dir, file), whole)
	}
	if _, err := OpenRun(dir); err != nil {
		t.Error(err)
	}
}

// TestOpenNotDone: a folder of no run and a run that is not done are told from one that is damaged.
func TestOpenNotDone(t *testing.T) {
	_, dir := kept(t, trees(t))
	put := func(file, text string) { save(t, filepath.Join(dir, file), []byte(text)) }
	remove := func(file string) {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what, says string, notDone bool) {
		t.Helper()
		var unfinished *NotDoneError
		var bad *DataError
		_, err := OpenRun(dir)
		if errors.As(err, &unfinished) != notDone || errors.As(err, &bad) == notDone || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %T %v", what, err, err)
		}
	}
	config := string(read(t, dir, configFile))
	put(configFile, "model: [")
	want("a damaged config", configFile, false)
	remove(configFile)
	want("a run that is done, without a config", configFile, false)
	statuses := []string{runs.Running, runs.Interrupted, runs.Failed}
	for _, status := range statuses {
		put(manifestFile, string(testkit.Seal([]byte(`{"kind": "fit", "status": "`+status+`", "checksum": ""}`))))
		want(status+", without a config", "is "+status+" and has lost its config: "+filepath.Join(dir, configFile), true)
	}
	put(configFile, config)
	for _, status := range statuses {
		put(manifestFile, string(testkit.Seal([]byte(`{"kind": "fit", "status": "`+status+`", "checksum": ""}`))))
		want(status, "is "+status+"; to go on with it: starling fit", true)
	}
	put(configFile, "an older: one")
	want("a run that is not done with a config that means nothing now", "--resume", true)
	put(manifestFile, `{"sta`)
	want("a damaged manifest", manifestFile, false)
	remove(manifestFile)
	want("a run that has lost its manifest", "without a manifest; to go on with it", true)
	remove(configFile)
	want("a folder", "holds no run", true)
	if _, err := OpenRun(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestMetricsErrors: metrics that are damaged, misspelt or missing are named. (TestRunFolder reads good ones of every kind.)
func TestMetricsErrors(t *testing.T) {
	_, dir := kept(t, trees(t))
	whole := string(read(t, dir, metricsFile))
	for _, text := range []string{"", "[]", `{"nll": "much"}`, `{"groups": 3}`, `{"groups": [1]}`, `{"groups": {"correct": 1}}`, `{"spread": {"test": {"n": "1"}}}`,
		strings.Replace(whole, `"nll"`, `"nl"`, 1), strings.Replace(whole, `"auroc"`, `"aurok"`, 1), whole + "{}"} {
		rewrite(t, dir, metricsFile, []byte(text))
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		var bad *DataError
		if _, err := run.ReadMetrics(); !errors.As(err, &bad) || !strings.Contains(err.Error(), metricsFile) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// TestManifest: seconds mean little without the number of threads that took them, and a run without its version.
func TestManifest(t *testing.T) {
	release, revision := Version()
	for _, threads := range []int{1, 3} {
		dir := filepath.Join(t.TempDir(), "run")
		r, err := resume(t.Context(), dir, trees(t), Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if m := readManifest(t, dir); m.Threads != threads || m.Kind != "fit" || m.Version != release || m.Revision != revision ||
			m.Kernel == "" || len(m.Data) != 3 || m.Status != runs.Done || m.Finished.Before(m.Started) || !r.Manifest.Finished.Equal(m.Finished) {
			t.Errorf("%d threads, the manifest says %+v", threads, m)
		}
	}
}

// TestOpenTrace: figures are taken from the trace of a run that is done, so it has to have every iteration of every island.
func TestOpenTrace(t *testing.T) {
	for _, method := range []string{
		"smc: {particles: 4, islands: 2, path: {linear: {iterations: 4, batch: 9}}, move: {leapfrog: {step: 0.01}}}",
		"smc: {particles: 4, islands: 2, path: {tempering: {}}}",
		"mcmc: {chains: 2, epochs: 64, keep: last, move: {hmc: {steps: 1}}}",
	} {
		_, dir := kept(t, trees(t, "method={"+method+"}"))
		whole := strings.SplitAfter(strings.TrimSpace(string(read(t, dir, traceFile)))+"\n", "\n")
		whole = whole[:len(whole)-1]
		n := len(whole)
		second := slices.IndexFunc(whole, func(line string) bool { return strings.HasPrefix(line, `{"island":1,`) })
		for _, c := range []struct {
			what  string
			trace []string
			ok    bool
		}{
			{"all of it", whole, true},
			{"nothing", nil, false},
			{"one that lacks its last line", whole[:n-1], false},
			{"one that lacks the second island", whole[:second], false},
			{"one that has a third island", append(slices.Clone(whole), strings.ReplaceAll(strings.Join(whole[second:], ""), `"island":1`, `"island":2`)), false},
			{"one whose first line is of another kind", append([]string{strings.Replace(whole[0], `"ess":`, `"ess":"much","was":`, 1)}, whole[1:]...), false},
		} {
			rewrite(t, dir, traceFile, []byte(strings.Join(c.trace, "")))
			var bad *DataError
			_, err := OpenRun(dir)
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, traceFile)+": ")) {
				t.Errorf("%s: the trace is %s: %v", method, c.what, err)
			}
		}
	}
}

// TestOn: what a run can be evaluated on. What cannot be asked for is a *ConfigError, what does not fit a *DataError.
func TestOn(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		save(t, filepath.Join(dir, name), []byte(text))
		return filepath.Join(dir, name)
	}
	train, again := file("train.csv", testkit.Table(60, "yes", "no")), file("again.csv", "y,b,a\nno,0.001,50\nyes,0,51\nno,0,49\n")
	other := file("other.csv", "a,same,b\n10,7,5\n90,7,5\n")
	_, folder := kept(t, tiny(t, "{csv: {file: "+train+", target: y}}", "categorical", 2))
	run, err := OpenRun(folder)
	if err != nil {
		t.Fatal(err)
	}
	var config *ConfigError
	var bad *DataError
	for name, c := range map[string]struct {
		on     On
		n      int
		groups string
		target any
		want   string
	}{
		"own":            {On{}, 6, "", nil, ""},
		"table":          {On{Data: again}, 3, "", nil, ""},
		"OOD":            {On{Data: again, OOD: []string{other}}, 3, "other", nil, ""},
		"own, OOD":       {On{OOD: []string{other, again}}, 6, "other again", nil, ""},
		"twice":          {On{OOD: []string{other, other}}, 0, "", &config, "there is a group other already"},
		"labels alone":   {On{Labels: again}, 0, "", &config, "need a file of inputs"},
		"no such":        {On{Data: "mnist8"}, 0, "", &config, `unknown data set "mnist8"`},
		"no file":        {On{OOD: []string{"mnist8"}}, 0, "", &config, "and no file mnist8"},
		"set of another": {On{Data: "mnist7"}, 0, "", &bad, "mnist7: examples of shape [1 28 28], the run was trained on examples of shape [2]"},
		"other class":    {On{Data: file("class.csv", "a,b,y\n1,2,maybe\n")}, 0, "", &bad, `"maybe" is not a class of the run ("no", "yes")`},
		"no target":      {On{Data: other}, 0, "", &bad, `lacks the target, column "y" of the run`},
		"array alone":    {On{Data: "examples/images-test.npy"}, 0, "", &config, "the file of their labels is needed"},
	} {
		a, err := run.Evaluate(t.Context(), c.on, Options{})
		if c.target != nil {
			if err == nil || !errors.As(err, c.target) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %T %v, want %q", name, err, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var groups []string
		for _, g := range a.Problem.Groups {
			groups = append(groups, g.Name)
		}
		if a.Metrics.N != c.n || strings.Join(groups, " ") != c.groups {
			t.Errorf("%s: %d examples, groups %q", name, a.Metrics.N, groups)
		}
	}
	// A data.json that says otherwise than the training examples gives other examples, which the run was not made of.
	schema := *run.Schema
	inputs := *schema.Inputs
	inputs.Mean, schema.Inputs = []float64{0, 0}, &inputs
	run.Schema = &schema
	if _, err := run.Evaluate(t.Context(), On{}, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "are not those of the run") {
		t.Errorf("another data.json: %v", err)
	}
	save(t, train, []byte("a,b\n"))
	if err := os.Remove(train); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), On{}, Options{}); !errors.As(err, &bad) || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the run's own data") {
		t.Errorf("data that are gone: %T %v", err, err)
	}
}

// tiny is a Spec that is fitted in a moment.
func tiny(t *testing.T, from, likelihood string, outputs int, sets ...string) Spec {
	t.Helper()
	spec, err := ParseSpec("tiny.yaml", fmt.Appendf(nil, `
data: %s
model: {layers: [{dense: 4}, tanh, {dense: %d}], likelihood: %s}
prior: {normal: {variance: 1}}
method: {smc: {particles: 6, islands: 2, move: {hmc: {steps: 3, mutations: 2}}, resample: {when: never}}}
`, from, outputs, likelihood), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
