package starling

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// many is a small run that keeps so many states that they are moved to files.
func many(t *testing.T, sets ...string) Spec {
	return regression(t, "both", append([]string{"model.layers=[{dense: 700}, tanh, {dense: 1}]",
		"method={smc: {particles: 10, islands: 2, path: {constant: {iterations: 50, batch: 10}}, move: {leapfrog: {step: 0.001}}, weight: momentum, keep: {after: 3}}}"}, sets...)...)
}

// shards lists the files of kept states in a run's folder.
func shards(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "samples-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestShards: a run whose kept states are moved to files has the posterior of a run in memory, and the same bytes after stops. When it is
// done, the files are gone.
func TestShards(t *testing.T) {
	for i, sets := range [][]string{nil, {"method.smc.keep.as=bfloat16"}} {
		if i > 0 && testing.Short() {
			break
		}
		spec := many(t, sets...)
		inMemory := fitted(t, spec, Options{})
		result, done := kept(t, spec)
		if a, b := fingerprint(t, inMemory), fingerprint(t, result); a != b {
			t.Fatalf("%v: in memory\n%s\nin a folder\n%s", sets, a, b)
		}
		if n := len(result.Posterior.LogWeights); n != 2*10*47 || len(shards(t, done)) > 0 {
			t.Fatalf("%d states are kept, and files %v", n, shards(t, done))
		}
		dir, most := filepath.Join(t.TempDir(), "run"), 0
		for stops := 0; ; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			events := 0
			_, err := resume(ctx, dir, spec, Options{Threads: 1 + stops%2, Every: time.Duration(1 + stops%2*int(time.Hour)), Progress: func(Event) {
				if events++; events == 40 {
					cancel()
				}
			}})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || stops > 20 {
				t.Fatal(err)
			}
			most = max(most, len(shards(t, dir)))
		}
		if most < 2 {
			t.Errorf("at most %d files on the way", most)
		}
		if got, want := contents(t, dir), contents(t, done); got != want {
			t.Errorf("%v: after stops\n%s\nwithout\n%s", sets, got, want)
		}
	}
}

// TestDamagedShards: a file of kept states that is missing, cut, changed, or another run's is named when the run is resumed, and the run
// is not silently smaller. Put back, the run goes on. A file that the checkpoint does not count is written again.
func TestDamagedShards(t *testing.T) {
	if testing.Short() {
		t.Skip("the folder is the same in every build")
	}
	spec, dir := many(t), filepath.Join(t.TempDir(), "run")
	_, done := kept(t, spec)
	interruptAfter(t, dir, spec, 60)
	files := shards(t, dir)
	if len(files) == 0 {
		t.Fatal("no files to damage")
	}
	path := filepath.Join(dir, files[0])
	good := read(t, dir, files[0])
	flipped := slices.Clone(good)
	flipped[len(flipped)-5] ^= 1
	for name, text := range map[string][]byte{"cut": good[:len(good)-4], "flipped": flipped, "another": bytes.Repeat(good, 2), "missing": nil} {
		if save(t, path, text); text == nil {
			os.Remove(path)
		}
		var bad *DataError
		if _, err := resume(t.Context(), dir, spec, Options{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	save(t, path, good)
	save(t, filepath.Join(dir, "samples-0-7"), []byte("from a step that no checkpoint has"))
	if _, err := resume(t.Context(), dir, spec, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, dir), contents(t, done); got != want {
		t.Errorf("after damage\n%s\nwithout\n%s", got, want)
	}
}
