package starling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestStopAndGoOn stops runs of every kind after every few events, each time on another number of threads and by other
// kernels: in the end the folder has the same bytes as that of a run that was never stopped. The long test stops them more often.
func TestStopAndGoOn(t *testing.T) {
	long := testkit.Long(t, 1)
	for name, spec := range small(t) {
		t.Run(name, func(t *testing.T) {
			result, done := kept(t, spec)
			want := contents(t, done)
			dir := filepath.Join(t.TempDir(), "run")
			stops := 0
			for ; ; stops++ {
				restore, err := lanes.SetKernel(lanes.Kernels()[stops%len(lanes.Kernels())])
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				events, last, every := 0, 3+stops%5, time.Hour
				if stops == 0 || long && stops%2 == 0 {
					every = time.Nanosecond
				}
				switch {
				case len(result.Trace) < 5:
					last = 5 + stops%3
				case !long && len(result.Trace) > 10: // three or four stops
					last = len(result.Trace)/4 + stops%5
				case len(result.Trace) > 20:
					last *= 2
				}
				_, err = resume(ctx, dir, spec, Options{
					Threads: []int{2, 7, 1}[stops%3], Every: every,
					Progress: func(e Event) {
						if n, ok := e.(*Notice); ok && strings.Contains(n.Text, "too few moves") { // before the work begins
							return
						}
						if events++; events == last {
							cancel()
						}
					},
				})
				cancel()
				restore()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) || stops > 200 {
					t.Fatal(err)
				}
				if _, err := os.Stat(dir); stops < 3 && errors.Is(err, fs.ErrNotExist) {
					continue // nothing was done, so nothing is left
				}
				if m := readManifest(t, dir); m.Status != runs.Interrupted {
					t.Fatalf("after an interrupt: status %q", m.Status)
				}
				if _, err := OpenRun(dir); err == nil || !strings.Contains(err.Error(), "--resume") {
					t.Fatalf("an unfinished run opens: %v", err)
				}
			}
			if got := contents(t, dir); got != want {
				t.Errorf("after %d stops:\n%s\nwithout:\n%s", stops, got, want)
			}
			if stops == 0 && len(result.Trace)+len(result.NLL) > 0 && name != "point" {
				t.Error("never stopped")
			}
			r, err := resume(context.Background(), dir, spec, Options{})
			if err != nil || contents(t, dir) != want {
				t.Fatalf("a run that is done, gone on with: %v", err)
			}
			if fingerprint(t, r) != fingerprint(t, result) {
				t.Error("a run that is done gives another result when it is gone on with")
			}
		})
	}
}

// TestKilledAnywhere copies the folder again and again while a run is at work, which is what a killed process would have
// left, and goes on in the copies: in every fourth, in the long test in all.
func TestKilledAnywhere(t *testing.T) {
	long := testkit.Long(t, 1)
	spec := trees(t)
	_, done := kept(t, spec)
	want := contents(t, done)
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	var copies []string
	f, err := TakeFolder(dir, FitRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := fitted(t, spec, Options{Folder: f, Every: 1, Progress: func(Event) {
		copies = append(copies, filepath.Join(root, fmt.Sprint("copy", len(copies))))
		testkit.CopyLive(t, copies[len(copies)-1], dir)
	}})
	if len(copies) < 20 {
		t.Errorf("only %d copies", len(copies))
	}
	// As the result is written at the end, file by file, from where the sampler ended.
	last := copies[len(copies)-1]
	for _, file := range []string{checkpointFile, traceFile} {
		save(t, filepath.Join(last, file), read(t, dir, file))
	}
	files := resultFiles(t, r)
	for i, file := range files {
		name := filepath.Join(root, fmt.Sprint("end", i))
		if err := os.CopyFS(name, os.DirFS(last)); err != nil {
			t.Fatal(err)
		}
		for _, file := range files[:i+1] {
			w, err := os.Create(filepath.Join(name, file.Name))
			if err == nil {
				err = errors.Join(file.Write(w), w.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		save(t, filepath.Join(name, "."+file.Name+".123"), []byte("half"))
		if _, err := OpenRun(name); err == nil {
			t.Errorf("a run whose manifest does not say that it is done opens, %s written", file.Name)
		}
		copies = append(copies, name)
	}
	for i, dir := range copies {
		if !long && i%4 > 0 && i < len(copies)-len(files) { // all where the result is being written
			continue
		}
		if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
			t.Errorf("%s: %v", dir, err)
		} else if got := contents(t, dir); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", dir, got, want)
		}
	}
}

// interruptAfter leaves a run as an interrupt after some events does.
func interruptAfter(t *testing.T, dir string, spec Spec, events int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := resume(ctx, dir, spec, Options{Every: 1, Progress: func(Event) {
		if events--; events == 0 {
			cancel()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestDamagedCheckpoint: a checkpoint that is damaged is named in a notice, and the one before taken; if that is damaged as
// well, the run is refused as a *DataError.
func TestDamagedCheckpoint(t *testing.T) {
	spec := trees(t)
	_, done := kept(t, spec)
	want := contents(t, done)
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 40)
	other := filepath.Join(t.TempDir(), "other")
	interruptAfter(t, other, trees(t, "seed=9"), 40)
	good := read(t, dir, checkpointFile)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for name, damaged := range map[string][]byte{"cut": good[:len(good)-9], "flipped": flipped, "of another run": read(t, other, checkpointFile)} {
		for _, files := range [][]string{{checkpointFile}, {checkpointFile, previousFile}} {
			here := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				save(t, filepath.Join(here, file), damaged)
			}
			before := contents(t, here)
			var told []string
			_, err := resume(t.Context(), here, spec, Options{Every: 1, Progress: func(e Event) {
				if n, ok := e.(*Notice); ok {
					told = append(told, n.Text)
				}
			}})
			var bad *DataError
			switch {
			case len(files) == 2:
				if !errors.As(err, &bad) || contents(t, here) != before {
					t.Errorf("%s, both of them: %T %v", name, err, err)
				}
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case len(told) != 1 || !strings.Contains(told[0], filepath.Join(here, checkpointFile)+" is refused") || contents(t, here) != want:
				t.Errorf("%s: told %q\n%s\nwant\n%s", name, told, contents(t, here), want)
			}
		}
	}
}

// TestRefusedToGoOn: another config is told by its values. Whatever is refused is left as it is.
func TestRefusedToGoOn(t *testing.T) {
	spec := trees(t)
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 50)
	var bad *DataError
	for name, c := range map[string]struct {
		spec   Spec
		file   string
		change func(b []byte) []byte
		target any
		want   []string
	}{
		"config": {spec: trees(t, "method.smc.islands=4", "map.rate=0.2", "prior.anchor.s=0.6"), target: new(*OtherRunError), want: []string{
			"method.smc.islands: 4, but the run was begun with 3",
			"map.rate: 0.2, but the run was begun with 0.1", "prior.anchor.s: 0.6, but the run was begun with 0.5"}},
		"method": {spec: trees(t, "method={mcmc: {chains: 3}}"), target: new(*OtherRunError), want: []string{
			"method.mcmc.chains: 3, but the run was begun without it", "method.mcmc.move.hmc.accept", "\n… and "}},
		"version": {spec: spec, file: manifestFile, change: func(b []byte) []byte {
			return testkit.Seal(bytes.Replace(b, []byte(`"version": "`), []byte(`"version": "9.`), 1))
		}, target: new(*OtherRunError), want: []string{"begun by starling 9." + version + ", this is " + version}},
		"data": {spec: spec, file: manifestFile, change: func(b []byte) []byte {
			return testkit.Seal(bytes.Replace(b, []byte(`"train": "`), []byte(`"train": "0`), 1))
		}, target: new(*OtherRunError), want: []string{"train examples are not those of the run"}},
		"manifest": {spec: spec, file: manifestFile, change: func(b []byte) []byte { return b[:len(b)/2] }, target: &bad, want: []string{manifestFile}},
		"trace": {spec: spec, file: traceFile, change: func(b []byte) []byte {
			_, rest, _ := bytes.Cut(b, []byte("\n"))
			return rest
		}, target: &bad, want: []string{traceFile + " is not as the run wrote it"}},
	} {
		here := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			save(t, filepath.Join(here, c.file), c.change(read(t, here, c.file)))
		}
		before, manifest := contents(t, here), read(t, here, manifestFile)
		_, err := resume(t.Context(), here, c.spec, Options{})
		if err == nil || !errors.As(err, c.target) {
			t.Errorf("%s: %T %v", name, err, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if contents(t, here) != before || !bytes.Equal(manifest, read(t, here, manifestFile)) {
			t.Errorf("%s: the folder has changed", name)
		}
	}
	// A run that is done is not another one's either.
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	var other *OtherRunError
	if _, err := resume(t.Context(), dir, trees(t, "seed=99"), Options{}); !errors.As(err, &other) {
		t.Errorf("another run in the folder of one that is done: %v", err)
	}
}

// TestChangedTestRows: a run whose file of test rows has changed is neither resumed nor evaluated again.
func TestChangedTestRows(t *testing.T) {
	rows := filepath.Join(t.TempDir(), "rows.txt")
	save(t, rows, []byte("3\n14\n15\n"))
	spec := regression(t, "both", "data.split={test_rows: "+rows+"}")
	dir := filepath.Join(t.TempDir(), "run")
	interruptAfter(t, dir, spec, 5)
	save(t, rows, []byte("3\n14\n16\n"))
	if _, err := resume(t.Context(), dir, spec, Options{}); !errors.As(err, new(*OtherRunError)) || !strings.Contains(err.Error(), "examples are not those of the run") {
		t.Errorf("resumed with other test rows: %v", err)
	}
	save(t, rows, []byte("15\n3\n14\n"))
	r, err := resume(t.Context(), dir, spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Data.Test.Len(); n != 3 || r.Data.Validate.Len() != 5 || r.Data.Train.Len() != 52 || r.Metrics.N != 3 {
		t.Errorf("%d rows test, %d validate", n, r.Data.Validate.Len())
	}
	run, err := OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := run.Evaluate(t.Context(), On{}, Options{}); err != nil || a.Metrics.NLL != r.Metrics.NLL {
		t.Errorf("evaluated again: %v", err)
	}
	save(t, rows, []byte("3\n14\n16\n"))
	if _, err := run.Evaluate(t.Context(), On{}, Options{}); err == nil || !strings.Contains(err.Error(), "examples of testdata/wave.csv are not those of the run") {
		t.Errorf("evaluated with other test rows: %v", err)
	}
}

// TestStoppedInSearch: of a run that was stopped in the search of point estimates, an hour after it began, and resumed a day
// later, the hour counts and the day does not.
func TestStoppedInSearch(t *testing.T) {
	now := time.Unix(1e9, 0)
	spec := trees(t, "map={restarts: 3, epochs: 4}",
		"method.smc={particles: 3, start: sgd, path: {constant: {iterations: 3, batch: 9}}, move: {leapfrog: {step: 0.05}}}")
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Threads: 1, Every: time.Hour, now: func() time.Time { return now }}
	o.Progress = func(e Event) {
		if p, ok := e.(*Progress); ok && p.Phase == "MAP" && p.Share > 0.5 && ctx.Err() == nil {
			now = now.Add(time.Hour)
			cancel()
		}
	}
	if _, err := resume(ctx, dir, spec, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	now = now.Add(24 * time.Hour)
	r, err := resume(t.Context(), dir, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	if m := readManifest(t, dir); m.WorkSeconds != 3600 || r.Trace[0].Seconds != 3600 {
		t.Errorf("the manifest has %v s, the first iteration %v, want 3600", m.WorkSeconds, r.Trace[0].Seconds)
	}
}
