package starling

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/cluster"
	"github.com/starling-smc/starling/method"
)

// Whole runs that workers make have the folders of runs that are made here, whatever is tried of them before; one that fails is told, and
// the others are made.
func TestMakeElsewhere(t *testing.T) {
	specs := small(t)
	names := []string{"smc", "chains-pcn", "decided", "bernoulli", "as-is", "regression"}
	base := t.TempDir()
	var all []Whole
	var want []string
	for _, name := range names {
		spec := specs[name]
		_, dir := kept(t, spec)
		want = append(want, contents(t, dir))
		all = append(all, Whole{Dir: filepath.Join(base, name), Fit: &spec})
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	stopEarly(t, all[0].Dir, *all[0].Fit, Options{Every: time.Nanosecond}) // it goes on there
	bad := lostOf(t, "24", "0.05")
	column := trees(t, "data.csv.target=nosuch")
	all = append(all, Whole{Dir: filepath.Join(base, "bad"), Fit: &bad}, Whole{Dir: filepath.Join(base, "column"), Fit: &column})
	flight, err := PresetFiltering("range-bearing", "scans.simulate=4", "method={smcmc: {particles: 60, burn: 10}}")
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, Whole{Dir: filepath.Join(base, "filter"), Filter: &flight})
	c := cluster.InMemory(0, 0)
	working(t, c, 2)
	var last method.Status
	failed, err := MakeElsewhere(ctx, c, all, "", func(e Event) {
		if p, ok := e.(*Progress); ok {
			last = p.Status
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if failed[i] != nil {
			t.Errorf("%s: %v", names[i], failed[i])
		} else if got := contents(t, all[i].Dir); got != w {
			t.Errorf("%s:\n%s\nwant:\n%s", names[i], got, w)
		}
	}
	_, says := Fit(t.Context(), bad, Options{})
	wrong := `config.yaml:3:48: data.csv.target: testdata/trees.csv: no column "nosuch" among "width", "height", "mass", "age", "kind"`
	for i, want := range []string{says.Error(), wrong} { // no place on the worker's machine: results of two workers are compared
		if got := failed[len(names)+i]; got == nil || got.Error() != want {
			t.Errorf("a bad run: %v, want %v", got, want)
		}
	}
	if run, err := OpenFilterRun(all[len(all)-1].Dir); err != nil || run.Spec.Name == "" {
		t.Error(err)
	}
	if !last.Ended || !strings.Contains(last.Long, "9 of 9 runs done, on 1 machine") {
		t.Errorf("%+v", last)
	}
	if failed, err = MakeElsewhere(ctx, cluster.InMemory(0, 0), all[:2], "", nil); err != nil || failed[0] != nil { // done: nobody is asked
		t.Error(failed, err)
	}
	if run, err := OpenRun(all[0].Dir); err != nil || run.Manifest.From != whence(all[0].Dir) {
		t.Errorf("the way to the run's files is %q: %v", run.Manifest.From, err)
	}
}

// What a killed worker leaves in its cache goes with the start of the next one; what is in use stays.
func TestWorkerSweeps(t *testing.T) {
	w := &workshop{WorkOptions: WorkOptions{Cache: t.TempDir()}}
	used, remove, err := w.temp()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	left, err := os.MkdirTemp(w.Cache, tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(w.Cache, tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{used, left} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.sweep()
	for dir, there := range map[string]bool{used: true, left: false, fresh: true} {
		if _, err := os.Stat(dir); (err == nil) != there {
			t.Errorf("%s is there: %v", dir, err == nil)
		}
	}
}

// Two workers that make the same whole run, one that fails or not, have the same result.
func TestWholeTwice(t *testing.T) {
	spec, bad := trees(t, "map=null"), lostOf(t, "24", "0.05")
	flight, err := PresetFiltering("range-bearing", "scans.simulate=4", "method={smcmc: {particles: 60, burn: 10}}")
	if err != nil {
		t.Fatal(err)
	}
	all := []Whole{{Fit: &spec}, {Fit: &bad}, {Filter: &flight}}
	for i := range all {
		all[i].Dir = filepath.Join(t.TempDir(), "run")
	}
	sums := map[cluster.Sum]cluster.Sum{}
	for range 2 {
		c := cluster.InMemory(0, 0)
		working(t, c, 1)
		m := &making{Cluster: c, all: all}
		if err := m.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := (&cluster.Coordinator{Cluster: c}).Do(t.Context(), m.tasks, func(i int, end cluster.End) error {
			id, sum := m.tasks[i].Digest(), cluster.SumOf(end.Result)
			if was, is := sums[id]; is && was != sum {
				t.Errorf("run %d has another result", i)
			}
			sums[id] = sum
			if strings.Contains(string(end.Beside), "last good state") {
				t.Errorf("%s", end.Beside)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(sums) != len(all) {
		t.Errorf("%d tasks", len(sums))
	}
}

// A whole run that was begun here goes on from there elsewhere.
func TestMakeElsewhereSeeds(t *testing.T) {
	spec, dir := trees(t), filepath.Join(t.TempDir(), "run")
	_, whole := kept(t, spec)
	stopEarly(t, dir, spec, Options{Every: time.Nanosecond})
	c := cluster.InMemory(0, 0)
	m := &making{Cluster: c, all: []Whole{{Dir: dir, Fit: &spec}}}
	if err := m.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, _, err := c.Values.Value(t.Context(), "state."+m.tasks[0].Run().String()+"."+m.tasks[0].Digest().String())
	if err != nil || !strings.Contains(string(state), `"saved":[{`) {
		t.Errorf("no state of it is there: %s, %v", state, err)
	}
	working(t, c, 1)
	if failed, err := MakeElsewhere(t.Context(), c, m.all, "", nil); err != nil || failed[0] != nil || contents(t, dir) != contents(t, whole) {
		t.Error(failed, err)
	}
}

// A folder that has kept another run is no state of this one: the run is made, and the folder stays as it is.
func TestOtherState(t *testing.T) {
	spec, dir := trees(t, "map=null"), filepath.Join(t.TempDir(), "run")
	stopEarly(t, dir, trees(t, "map=null", "seed=9"), Options{Every: time.Nanosecond})
	before := contents(t, dir)
	c := cluster.InMemory(0, 0)
	working(t, c, 1)
	if _, err := MakeElsewhere(t.Context(), c, []Whole{{Dir: dir, Fit: &spec}}, "", nil); !errors.As(err, new(*OtherRunError)) || !strings.Contains(err.Error(), "seed") {
		t.Error(err)
	}
	if contents(t, dir) != before {
		t.Error("the folder was changed")
	}
	fresh := filepath.Join(filepath.Dir(dir), "fresh")
	if failed, err := MakeElsewhere(t.Context(), c, []Whole{{Dir: fresh, Fit: &spec}}, "", nil); err != nil || failed[0] != nil {
		t.Error(failed, err)
	}
}
