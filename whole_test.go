package starling

import (
	"context"
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
	all = append(all, Whole{Dir: filepath.Join(base, "bad"), Fit: &bad})
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
	if _, want := Fit(t.Context(), bad, Options{}); failed[len(names)] == nil || !strings.Contains(failed[len(names)].Error(), want.Error()) {
		t.Errorf("the bad run: %v, want %v", failed[len(names)], want)
	}
	if run, err := OpenFilterRun(all[len(all)-1].Dir); err != nil || run.Spec.Name == "" {
		t.Error(err)
	}
	if !last.Ended || !strings.Contains(last.Long, "8 of 8 runs done, on 1 machine") {
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
