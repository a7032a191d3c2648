package starling

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/spec"
)

// Files that every run has.
const (
	configFile     = "config.yaml"
	manifestFile   = "manifest.json"
	traceFile      = "trace.jsonl"
	checkpointFile = "checkpoint"
	previousFile   = "checkpoint.previous"
)

// trees is the config of testdata/trees.yaml, with changes.
func trees(t testing.TB, sets ...string) Spec {
	t.Helper()
	return parsed(t, "testdata/trees.yaml", sets...)
}

// parsed is the config of a file, with changes.
func parsed(t testing.TB, file string, sets ...string) Spec {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ParseSpec(file, text, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func preset(t *testing.T, name string, sets ...string) Spec {
	t.Helper()
	spec, err := Preset(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func fitted(t testing.TB, spec Spec, o Options) *Result {
	t.Helper()
	r, err := Fit(context.Background(), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// planned is the plan of a run on one thread.
func planned(t testing.TB, s Spec, files bool) *spec.Plan {
	t.Helper()
	p, err := s.Plan("", 0, method.Job{Pool: pool.New(1), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// kept fits a Spec into a folder, in one go.
func kept(t testing.TB, spec Spec) (r *Result, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	f, err := TakeFolder(dir, FitRuns)
	if err != nil {
		t.Fatal(err)
	}
	r = fitted(t, spec, Options{Folder: f})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return r, dir
}

// resume goes on with a run in a folder.
func resume(ctx context.Context, dir string, spec Spec, o Options) (*Result, error) {
	f, err := ResumeFolder(dir, FitRuns)
	if err != nil {
		return nil, err
	}
	o.Folder = f
	r, err := Fit(ctx, spec, o)
	return r, errors.Join(err, f.Close())
}

// contents is what testkit.Contents says of a run's folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	return testkit.Contents(t, dir)
}

// fingerprint is the checksum of what a run results in, but for its times.
func fingerprint(t *testing.T, r *Result) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "trace %x\n", sha256.Sum256(timeless(t, r.Trace)))
	for _, f := range resultFiles(t, r) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %x\n", f.Name, sha256.Sum256(b.Bytes()))
	}
	return out.String()
}

// resultFiles are the files of a result.
func resultFiles(t *testing.T, r *Result) []runs.File {
	t.Helper()
	files, err := r.files(FitRuns.Most)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// timeless is a trace without its seconds.
func timeless(t *testing.T, trace []TraceLine) []byte {
	t.Helper()
	type line struct {
		Island, K int
		Progress  float64
		method.Iteration
	}
	lines := make([]line, len(trace))
	for i, l := range trace {
		lines[i] = line{l.Island, l.K, l.Progress, l.Iteration}
	}
	b, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readTrace(t *testing.T, dir string) []TraceLine {
	t.Helper()
	lines, err := runs.ReadTrace(read(t, dir, traceFile))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := method.ReadTrace(lines)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func readManifest(t *testing.T, dir string) (m Manifest) {
	t.Helper()
	if err := json.Unmarshal(read(t, dir, manifestFile), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func save(t testing.TB, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes a file of a finished run, and the manifest too, so that the run seems to have written it.
func rewrite(t *testing.T, dir, file string, text []byte) {
	t.Helper()
	save(t, filepath.Join(dir, file), text)
	listed := regexp.MustCompile(`("` + regexp.QuoteMeta(file) + `": )"[0-9a-f]{64}"`)
	manifest := listed.ReplaceAll(read(t, dir, manifestFile), fmt.Appendf(nil, `$1"%x"`, sha256.Sum256(text)))
	save(t, filepath.Join(dir, manifestFile), testkit.Seal(manifest))
}

// regression is a small run that predicts numbers.
func regression(t *testing.T, standardise string, sets ...string) Spec {
	t.Helper()
	spec, err := ParseSpec("wave.yaml", []byte(`
name: wave
data: {csv: {file: testdata/wave.csv, target: y}}
model: {layers: [{dense: 8}, swish, {dense: 1}], likelihood: {gaussian: {sd: learned}}}
prior: {normal: {variance: 1}}
method: {smc: {particles: 12, move: {hmc: {steps: 4, mutations: 2}}}}
`), append(sets, "data.standardise="+standardise)...)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// npy is the bytes of an array of float64.
func npy(t *testing.T, shape []int, values ...float64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := data.WriteNPY(&b, shape, values); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readNPY(t *testing.T, name string) *data.Array {
	t.Helper()
	a, err := data.ReadNPY(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// member is particle j as an ensemble of one.
func member(e *bnn.Ensemble, j int) *bnn.Ensemble {
	d := e.Net.Dim()
	return &bnn.Ensemble{
		Net: e.Net, Theta: e.Theta[j*d : (j+1)*d],
		LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0},
	}
}

// split takes an ensemble's islands apart.
func split(t *testing.T, e *bnn.Ensemble) []*bnn.Ensemble {
	t.Helper()
	parts := make([]bnn.Island, len(e.LogEvidence))
	d := e.Net.Dim()
	for j, w := range e.LogWeights {
		p := &parts[e.Island[j]]
		p.LogWeights = append(p.LogWeights, w)
		for _, x := range e.Theta[j*d : (j+1)*d] {
			p.Theta = append(p.Theta, float64(x))
		}
	}
	ensembles := make([]*bnn.Ensemble, len(parts))
	for i, p := range parts {
		var err error
		if ensembles[i], err = bnn.Combine(e.Net, []bnn.Island{p}, bnn.Equal{}); err != nil {
			t.Fatal(err)
		}
	}
	return ensembles
}
