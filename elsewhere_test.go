package starling

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/server"
)

// working starts a worker process' slots on a cluster until the test ends.
func working(t *testing.T, c cluster.Cluster, slots int) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- NewWorker(c, WorkOptions{
			Name: "w", Machine: "m", Slots: slots, Cache: filepath.Join(t.TempDir(), "cache"),
			Note: func(task cluster.Task, err error) { t.Logf("part %d of %s: %v", task.Part, task.Phase, err) },
		}).Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// keptElsewhere fits a Spec into a folder by the workers of a cluster.
func keptElsewhere(t *testing.T, spec Spec, c cluster.Cluster) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if _, err := resume(t.Context(), dir, spec, Options{Cluster: &c}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// onNATS is a cluster on an embedded server.
func onNATS(t *testing.T) cluster.Cluster {
	t.Helper()
	s, err := server.Start(server.Options{Dir: filepath.Join(t.TempDir(), "store")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := broker.Connect(t.Context(), broker.Options{Dial: s.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b.Cluster()
}

// Every method gives the folder of a single process through the queue in memory, and through NATS.
func TestElsewhereSameBytes(t *testing.T) {
	clusters := map[string]cluster.Cluster{"memory": cluster.InMemory(0, 0), "NATS": onNATS(t)}
	for _, c := range clusters {
		working(t, c, 2)
	}
	specs := small(t)
	for i, name := range slices.Sorted(maps.Keys(specs)) {
		if testing.Short() && i%5 > 0 { // with the race detector each run takes seconds
			continue
		}
		spec := specs[name]
		t.Run(name, func(t *testing.T) {
			_, dir := kept(t, spec)
			want := contents(t, dir)
			for by, c := range clusters {
				if got := contents(t, keptElsewhere(t, spec, c)); got != want {
					t.Errorf("by %s:\n%s\nhere:\n%s", by, got, want)
				}
			}
		})
	}
}

// Examples in a program's memory cannot travel, and the error says what to do.
func TestElsewhereMemory(t *testing.T) {
	c := cluster.InMemory(0, 0)
	spec, err := ParseSpec("deciding.yaml", []byte(deciding))
	if err != nil {
		t.Fatal(err)
	}
	spec.Data.Memory = threeSlices(1)
	_, err = Fit(t.Context(), spec, Options{Cluster: &c})
	if config := (*ConfigError)(nil); !errors.As(err, &config) || !strings.Contains(err.Error(), "write them to files") {
		t.Error(err)
	}
}

// A run that is stopped asks the workers to stop, and what they have done stays: resumed with the cluster, or without, it ends with the
// same bytes. A run that was begun here goes on there from where it is.
func TestElsewhereResumed(t *testing.T) {
	for i, spec := range []Spec{
		trees(t, "method.smc={particles: 6, islands: 3, path: {full: {iterations: 40}}, move: {leapfrog: {steps: 2, step: 0.05}}}", "map=null"),
		trees(t, "method.smc={particles: 12, islands: 2, pilot: true}", "map.restarts=2"),
		many(t), // files of kept states go along
	} {
		if testing.Short() && i > 0 {
			break
		}
		_, whole := kept(t, spec)
		want := contents(t, whole)
		for _, name := range []string{"there, there", "there, here", "here, there"} {
			c := cluster.InMemory(0, 0)
			working(t, c, 2)
			ways := map[string]Options{"here": {Every: time.Nanosecond}, "there": {Cluster: &c}}
			first, then, _ := strings.Cut(name, ", ")
			dir := filepath.Join(t.TempDir(), "run")
			stopEarly(t, dir, spec, ways[first])
			if _, err := resume(t.Context(), dir, spec, ways[then]); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := contents(t, dir); got != want {
				t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
			}
		}
	}
}

// Without workers nothing is done, and the progress says so; an interrupt ends the wait.
func TestElsewhereWaits(t *testing.T) {
	c := cluster.InMemory(0, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err := Fit(ctx, trees(t, "map=null"), Options{Cluster: &c, Progress: func(e Event) {
		if p, ok := e.(*Progress); ok && strings.Contains(p.Long, "waiting for workers") {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A part that cannot go on ends the run at once, in its own words.
func TestElsewhereFails(t *testing.T) {
	c := cluster.InMemory(0, 0)
	working(t, c, 1)
	spec := lostOf(t, "24", "0.05")
	_, want := Fit(t.Context(), spec, Options{})
	_, got := Fit(t.Context(), spec, Options{Cluster: &c})
	if want == nil || got == nil || !strings.Contains(got.Error(), want.Error()) {
		t.Errorf("elsewhere: %v\nhere: %v", got, want)
	}
}

// stopEarly begins a run in a folder and stops it.
func stopEarly(t *testing.T, dir string, spec Spec, o Options) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Progress = func(e Event) {
		if p, ok := e.(*Progress); ok && p.Share > 0.1 {
			stop()
		}
	}
	if _, err := resume(ctx, dir, spec, o); !errors.Is(err, context.Canceled) {
		t.Fatal("not stopped:", err)
	}
}

// A file that changes between its reading and its sending ends the run: no part is computed with other examples than those of the manifest.
func TestElsewhereChanged(t *testing.T) {
	c := cluster.InMemory(0, 0)
	working(t, c, 1)
	spec, file := trees(t, "map=null"), filepath.Join(t.TempDir(), "trees.csv")
	text := read(t, "testdata", "trees.csv")
	save(t, file, text)
	spec.Data.CSV.File = file
	_, err := Fit(t.Context(), spec, Options{Cluster: &c, Progress: func(e Event) {
		if _, ok := e.(*Loaded); ok {
			save(t, file, append(text, text[bytes.LastIndexByte(text[:len(text)-1], '\n')+1:]...)) // the last row twice
		}
	}})
	if failed := (*cluster.FailedError)(nil); !errors.As(err, &failed) || !strings.Contains(err.Error(), "have changed since") {
		t.Error(err)
	}
}
