package starling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/cluster/broker"
	"github.com/starling-smc/starling/cluster/clustertest"
	"github.com/starling-smc/starling/filtering"
)

// filterOfNodes is a small run of ep with four nodes: two targets in clutter, or a linear model, some of whose measurements the filter does not see.
func filterOfNodes(t *testing.T, model string) Filtering {
	t.Helper()
	const nodes = "method={ep: {nodes: 4, passes: 2, particles: 120, burn: 40}}"
	switch model {
	case "clutter":
		s, err := PresetFiltering("clutter3", "model.clutter.returns.rate=40", "model.clutter.clutter.rate=60", "scans.simulate=5", nodes)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return filteringOf(t, `seed: 3
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 40}}
scans: {simulate: 5, hold: 0.1}
method: {kalman: {}}
against: bootstrap
`, nodes)
}

// filterKept filters into a folder.
func filterKept(t *testing.T, dir string, s Filtering, o FilterOptions) error {
	t.Helper()
	folder, err := ResumeFolder(dir, FilterRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	o.Folder = folder
	_, err = Filter(t.Context(), s, o)
	return err
}

// The folder of a run whose nodes workers have is that of one process, with 1, 2 and 4 workers: through the queue and the wire in memory, and
// through NATS.
func TestNodesElsewhereSameBytes(t *testing.T) {
	for _, model := range []string{"line", "clutter"} {
		s := filterOfNodes(t, model)
		dir := filepath.Join(t.TempDir(), "here")
		if err := filterKept(t, dir, s, FilterOptions{}); err != nil {
			t.Fatal(err)
		}
		want := contents(t, dir)
		memory := cluster.InMemory(0, 0)
		server := clustertest.Serve(t, t.TempDir(), nil)
		b, err := broker.Connect(t.Context(), broker.Options{Dial: server.InProcessConn})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		if err := b.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]cluster.Cluster{"memory": memory, "nats": b.Cluster()} {
			working(t, c, 4)
			for _, workers := range []int{1, 2, 4} {
				dir := filepath.Join(t.TempDir(), name)
				if err := filterKept(t, dir, s, FilterOptions{Options: Options{Cluster: &c}, Workers: workers}); err != nil {
					t.Fatalf("%s, %s, %d workers: %v", model, name, workers, err)
				}
				if got := contents(t, dir); got != want {
					t.Errorf("%s, %s, %d workers:\n%s\nhere:\n%s", model, name, workers, got, want)
				}
			}
		}
	}
}

// Nodes that no worker takes end the run with the scans before, which it is resumed from; the error says which nodes, and for how long. A worker that is
// stopped gives its nodes to another one.
func TestNodesElsewhereResumed(t *testing.T) {
	s := filterOfNodes(t, "line")
	dir := filepath.Join(t.TempDir(), "here")
	if err := filterKept(t, dir, s, FilterOptions{}); err != nil {
		t.Fatal(err)
	}
	want := contents(t, dir)
	c := cluster.InMemory(0, 0)
	dir = filepath.Join(t.TempDir(), "nodes")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- NewWorker(c, WorkOptions{Name: "w", Slots: 2, Cache: t.TempDir()}).Run(ctx) }()
	scans := 0
	err := filterKept(t, dir, s, FilterOptions{Options: Options{Cluster: &c}, Workers: 2, Away: 300 * time.Millisecond, Line: func(*filtering.Line) error {
		if scans++; scans == 3 {
			stop()
			return <-done
		}
		return nil
	}})
	var lost *filtering.LostNodesError
	if !errors.As(err, &lost) || scans != 3 {
		t.Fatalf("%v after %d scans", err, scans)
	}
	working(t, c, 2)
	err = filterKept(t, dir, s, FilterOptions{Options: Options{Cluster: &c}, Workers: 1, Line: func(*filtering.Line) error { scans++; return nil }})
	if err != nil || scans != 5 {
		t.Fatalf("%v after %d scans", err, scans)
	}
	if got := contents(t, dir); got != want {
		t.Errorf("resumed:\n%s\nhere:\n%s", got, want)
	}

	// a worker is stopped after the second scan, and another one is there
	dir = filepath.Join(t.TempDir(), "moved")
	c = cluster.InMemory(0, 0)
	ctx, stop = context.WithCancel(t.Context())
	go func() { done <- NewWorker(c, WorkOptions{Name: "first", Slots: 2, Cache: t.TempDir()}).Run(ctx) }()
	scans = 0
	err = filterKept(t, dir, s, FilterOptions{Options: Options{Cluster: &c}, Workers: 2, Line: func(*filtering.Line) error {
		if scans++; scans == 2 {
			stop()
			working(t, c, 2)
			return <-done
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); got != want {
		t.Errorf("moved:\n%s\nhere:\n%s", got, want)
	}
}

// Methods without nodes are refused with words that say what to do; without workers all nodes are here. Workers refuse orders that make no sense.
func TestNodesElsewhereRefused(t *testing.T) {
	c := cluster.InMemory(0, 0)
	for _, method := range []string{"kalman", "bootstrap", "smcmc", "{ep: {nodes: 1}}"} {
		s := filteringOf(t, "model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 40}}\nscans: {simulate: 5}\nmethod: "+method+"\n")
		_, err := Filter(t.Context(), s, FilterOptions{Options: Options{Cluster: &c}, Workers: 2})
		if fault := new(ConfigError); !errors.As(err, &fault) || !strings.Contains(err.Error(), "want ep with nodes: 2 or more") {
			t.Errorf("%s: %v", method, err)
		}
	}
	notices := ""
	_, err := Filter(t.Context(), filterOfNodes(t, "line"), FilterOptions{Options: Options{Cluster: &c, Progress: func(e Event) {
		if n, ok := e.(*Notice); ok {
			notices += n.Text
		}
	}}})
	if err != nil || !strings.Contains(notices, "no worker is free") {
		t.Errorf("%v: %q", err, notices)
	}
	working(t, c, 3)
	var all sync.WaitGroup
	yaml := filterOfNodes(t, "line").YAML()
	for want, o := range map[string]order{
		"a group of 2 processes has no process 7": {Does: "node", Config: string(yaml), Group: []int{0, 2, 4}},
		"only EP of two nodes or more":            {Does: "node", Config: string(bytes.Replace(yaml, []byte("nodes: 4"), []byte("nodes: 1"), 1)), Group: []int{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"unknown key":                             {Does: "node", Config: "nothing: 1", Group: []int{0, 4}},
	} {
		all.Go(func() {
			task := taskOfThis()
			text, err := json.Marshal(o)
			if err == nil {
				task.Config, err = cluster.Save(t.Context(), c.Blocks, cluster.Shared, text)
			}
			if err != nil {
				t.Error(err)
				return
			}
			task.Phase, task.Part = "nodes", 7
			err = (&cluster.Coordinator{Cluster: c}).Do(t.Context(), []cluster.Task{task}, func(int, cluster.End) error { return nil })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	all.Wait()
}

// A worker whose nodes another one has taken meanwhile does not come back to them: it would shut out the other one.
func TestNodesElsewhereZombie(t *testing.T) {
	c := cluster.InMemory(0, 0)
	working(t, c, 1)
	task := taskOfThis()
	text, err := json.Marshal(order{Does: "node", Config: string(filterOfNodes(t, "line").YAML()), Group: []int{0, 0, 4}})
	if err == nil {
		task.Config, err = cluster.Save(t.Context(), c.Blocks, cluster.Shared, text)
	}
	task.Phase, task.Part = "nodes", 1
	if err == nil {
		err = c.Queue.Put(t.Context(), task)
	}
	x := cluster.NewExchange(c.Wire, 0)
	defer x.Leave()
	if err == nil {
		_, err = x.Join(t.Context(), task.Run(), 0, 2)
	}
	key := "state." + task.Run().String() + "." + task.Digest().String()
	state, revision, errState := c.Values.Value(t.Context(), key)
	if err = errors.Join(err, errState); err == nil && revision > 0 {
		_, err = c.Values.Swap(t.Context(), key, bytes.Replace(state, []byte(`"epoch":1`), []byte(`"epoch":2`), 1), revision)
	}
	if err != nil || revision == 0 {
		t.Fatalf("revision %d: %v", revision, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	joined := 0
	for ; err == nil && joined < 3; joined++ { // a request to join that it had repeated before may still be under way, once
		_, err = x.Join(ctx, task.Run(), 0, 2)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it has joined again %d times: %v", joined, err)
	}
}
