package starling

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenNotDone: a folder of no run and a run that is not done are told from one that is damaged.
func TestOpenNotDone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := WriteRun(dir, fit(t, trees(t), Options{})); err != nil {
		t.Fatal(err)
	}
	put := func(file, text string) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
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
	for _, status := range []string{running, interrupted, failed} {
		put(manifestFile, `{"status": "`+status+`"}`)
		want(status+", without a config", "is "+status+" and has lost its config: open "+filepath.Join(dir, configFile), true)
	}
	put(configFile, config)
	for _, status := range []string{running, interrupted, failed} {
		put(manifestFile, `{"status": "`+status+`"}`)
		want(status, "is "+status+"; to go on with it: starling fit", true)
	}
	put(configFile, "an older: one")
	want("a run that is not done with a config that means nothing now", "--resume", true)
	put(manifestFile, `{"sta`)
	want("a damaged manifest", manifestFile, false)
	remove(manifestFile)
	want("a run killed before it had a manifest", "without a manifest; to go on with it", true)
	remove(configFile)
	want("a folder", "is no run's folder", true)
	if _, err := OpenRun(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestMetricsErrors: metrics that are damaged or missing are named. (TestRunFolder reads good ones of every kind.)
func TestMetricsErrors(t *testing.T) {
	r := &Run{Dir: t.TempDir()}
	for _, text := range []string{"", "[]", `{"nll": "much"}`, `{"groups": 3}`, `{"groups": [1]}`, `{"groups": {"correct": 1}}`, `{"spread": {"test": {"n": "1"}}}`} {
		if text != "" {
			if err := os.WriteFile(filepath.Join(r.Dir, metricsFile), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var bad *DataError
		if _, err := r.ReadMetrics(); !errors.As(err, &bad) || !strings.Contains(err.Error(), metricsFile) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestManifestThreads: seconds mean little without the number of threads that took them.
func TestManifestThreads(t *testing.T) {
	for _, threads := range []int{1, 3} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := resume(t.Context(), dir, trees(t), Options{Threads: threads}); err != nil {
			t.Fatal(err)
		}
		if m, err := readManifest(dir); err != nil || m.Threads != threads {
			t.Errorf("%d threads, the manifest says %d, %v", threads, m.Threads, err)
		}
	}
}
