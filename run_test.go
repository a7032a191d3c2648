package starling

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestOpenTrace: figures are taken from the trace of a run that is done, so it has to be whole. One that noted no progress, as
// chains and tempering did once, is.
func TestOpenTrace(t *testing.T) {
	for method, noted := range map[string]bool{
		"smc: {particles: 4, islands: 2, path: {linear: {iterations: 4, batch: 9}}, move: {leapfrog: {step: 0.01}}}": true,
		"smc: {particles: 4, islands: 2, path: {tempering: {}}}":                                                     false,
		"mcmc: {chains: 2, epochs: 4, keep: last}":                                                                   false,
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := WriteRun(dir, fit(t, trees(t, "method={"+method+"}"), Options{})); err != nil {
			t.Fatal(err)
		}
		whole := strings.SplitAfter(strings.TrimSpace(string(read(t, dir, traceFile)))+"\n", "\n")
		whole = whole[:len(whole)-1]
		n := len(whole)
		second := slices.IndexFunc(whole, func(line string) bool { return strings.HasPrefix(line, `{"island":1,`) })
		old := regexp.MustCompile(`"progress":[^,]*,`).ReplaceAllString(strings.Join(whole, ""), "")
		for _, c := range []struct {
			what, trace string
			ok          bool
		}{
			{"all of it", strings.Join(whole, ""), true},
			{"no progress", old, !noted},
			{"nothing", "", false},
			{"an empty line", "\n", false},
			{"one that lacks its first line", strings.Join(whole[1:], ""), false},
			{"one that lacks a line", strings.Join(slices.Concat(whole[:1], whole[2:]), ""), false},
			{"one that lacks its last line", strings.Join(whole[:n-1], ""), false},
			{"one that lacks the first island's last line", strings.Join(slices.Concat(whole[:second-1], whole[second:]), ""), false},
			{"one that lacks the first island", strings.Join(whole[second:], ""), false},
			{"one that lacks the second island", strings.Join(whole[:second], ""), false},
			{"a line twice", strings.Join(slices.Concat(whole[:2], whole[1:]), ""), false},
			{"islands the wrong way round", strings.Join(slices.Concat(whole[second:], whole[:second]), ""), false},
			{"a third island", strings.Join(whole, "") + strings.ReplaceAll(strings.Join(whole[second:], ""), `"island":1`, `"island":2`), false},
		} {
			if err := os.WriteFile(filepath.Join(dir, traceFile), []byte(c.trace), 0o666); err != nil {
				t.Fatal(err)
			}
			var bad *DataError
			_, err := OpenRun(dir)
			if c.ok != (err == nil) || err != nil && (!errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(dir, traceFile)+": ")) {
				t.Errorf("%s: the trace is %s: %v", method, c.what, err)
			}
		}
	}
}
