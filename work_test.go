package starling

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/starling-smc/starling/cluster"
)

// submitted has the worker of a cluster carry out a task that a submitter may have made up, and returns how its run ends.
func submitted(t *testing.T, o any, change func(c cluster.Cluster, task *cluster.Task)) error {
	t.Helper()
	c := cluster.InMemory(0, 0)
	working(t, c, 1)
	task := taskOfThis()
	task.Phase = "restarts"
	task.Config = stored(t, c, o)
	if change != nil {
		change(c, &task)
	}
	return (&cluster.Coordinator{Cluster: c}).Do(t.Context(), []cluster.Task{task}, func(int, cluster.End) error { return nil })
}

// stored puts JSON into the store.
func stored(t *testing.T, c cluster.Cluster, v any) cluster.Content {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	content, err := cluster.Save(t.Context(), c.Blocks, cluster.Shared, text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A worker reads no file of its machine because a config names it: files come with the task, or the run fails.
func TestWorkerReadsWhatComes(t *testing.T) {
	spec := trees(t)
	init := asIs(t)
	flight, err := PresetFiltering("range-bearing", "method={smcmc: {particles: 60, burn: 10}}", "scans={file: testdata/scans/own.jsonl}")
	if err != nil {
		t.Fatal(err)
	}
	part := func(s Spec) any { return order{Does: "part", Config: string(s.YAML())} }
	whole := func(w whole) func(cluster.Cluster, *cluster.Task) {
		return func(c cluster.Cluster, task *cluster.Task) {
			task.Earlier = []cluster.Input{{Name: "config", Content: stored(t, c, wholeOrder{w.kind().Name, string(w.yaml()), ""})}}
		}
	}
	but := func(s Spec, missing string) func(cluster.Cluster, *cluster.Task) {
		return func(c cluster.Cluster, task *cluster.Task) {
			files := files{Blocks: c.Blocks}
			if err := files.add(t.Context(), &s, ""); err != nil {
				t.Fatal(err)
			}
			for _, in := range files.inputs {
				if in.Name != namedFile+missing {
					task.Data = append(task.Data, in)
				}
			}
		}
	}
	for name, err := range map[string]error{
		"testdata/trees.csv":       submitted(t, part(spec), nil),
		init.Model.Init:            submitted(t, part(init), but(init, init.Model.Init)),
		"trees.csv":                submitted(t, order{Does: "run"}, whole(wholeFit{&spec})),
		"testdata/scans/own.jsonl": submitted(t, order{Does: "run"}, whole(wholeFilter{&flight})),
	} {
		if failed := (*cluster.FailedError)(nil); !errors.As(err, &failed) || !strings.Contains(filepath.ToSlash(failed.Reason), name+", and the task does not bring it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// tellAway counts what Progress is told of machines that leave tasks to others.
func tellAway(left *atomic.Int64) func(Event) {
	return func(e Event) {
		if n, ok := e.(*Notice); ok && strings.Contains(n.Text, "machine small: this worker leaves the task to others") {
			left.Add(1)
		}
	}
}

// A machine with too little memory, or a cache that is too small, leaves its tasks to others: runs have their bytes and no such error, and their
// submitters are told once.
func TestUnfitWorkers(t *testing.T) {
	spec := trees(t, "map=null")
	_, dir := kept(t, spec)
	want := contents(t, dir)
	for name, o := range map[string]WorkOptions{"memory": {Memory: 1 << 20}, "cache": {CacheBytes: 1}} {
		t.Run(name, func(t *testing.T) {
			o.Name, o.Machine, o.Slots, o.Cache = "s", "small", 1, filepath.Join(t.TempDir(), "cache")
			for _, whole := range []bool{false, true} {
				c := cluster.InMemory(0, 0)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go NewWorker(c, o).Run(ctx)
				var left atomic.Int64
				told := tellAway(&left)
				others := sync.OnceFunc(func() { working(t, c, 1) })
				progress := func(e Event) {
					if told(e); left.Load() > 0 {
						others()
					}
				}
				dir, err := filepath.Join(t.TempDir(), "run"), error(nil)
				if whole {
					var failed []error
					failed, err = MakeElsewhere(ctx, c, []Whole{{Dir: dir, Fit: &spec}}, "", progress)
					err = errors.Join(append(failed, err)...)
				} else {
					_, err = resume(ctx, dir, spec, Options{Cluster: &c, Progress: progress})
				}
				if err != nil || contents(t, dir) != want || left.Load() != 1 {
					t.Errorf("whole run: %v: %v, told %d times", whole, err, left.Load())
				}
			}
		})
	}
}
