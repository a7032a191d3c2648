package paper

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/method"
)

// What is to unlearn is the last network of its descent, in every set, whatever the validation images say.
func TestOverfitIsTheLast(t *testing.T) {
	found := 0
	for _, c := range SMCSGHMC.Cells {
		from := ""
		if c.Needs != nil {
			from = c.Needs[0].Cell
		}
		begins := strings.HasSuffix(from, "-"+overfit)
		if !begins && !strings.HasSuffix(c.Name, "-"+overfit) {
			continue
		}
		found++
		spec, err := specOf(c, 1, false, "out/"+Folder(c.Name, 1, false), "")
		if err != nil {
			t.Fatal(err)
		}
		if m := spec.MAP; m != nil && (m.Keep != method.KeepLastEpoch || m.Restarts != 1 || m.Patience != 0) {
			t.Errorf("%s keeps %s of %d restarts", c.Name, m.Keep, m.Restarts)
		}
		want := ""
		if begins {
			want = filepath.Join("out", Folder(from, 1, false), "posterior.safetensors")
		}
		if spec.Model.Init != want || begins && !strings.HasPrefix(from, c.Name[:strings.IndexByte(c.Name, '-')]) {
			t.Errorf("%s begins at %q, want %q", c.Name, spec.Model.Init, want)
		}
	}
	if found != 2*5 {
		t.Errorf("%d cells, want 5 of each set", found)
	}
}

// Figures of unlearning are computed once more by other roads: predictions of each network alone, averaged here, the scores of the network
// that all begin at, and the course of its descent.
func TestUnlearning(t *testing.T) {
	small := images{name: "digits", set: "mnist7", layers: "\n    - dense: 16\n    - relu\n    - dense: 8"}
	cells := small.cells()
	dir := t.TempDir()
	p, err := data.Load("mnist7", "")
	if err != nil {
		t.Fatal(err)
	}
	o := starling.Options{}
	run := func(name string, sets ...string) (*fitDone, map[string]float64) {
		t.Helper()
		c := cells[slices.IndexFunc(cells, func(c Cell) bool { return c.Name == "digits-"+name })]
		c.Reduced = append(append(c.Reduced[:len(c.Reduced):len(c.Reduced)], "data={set: mnist7}"), sets...)
		at := filepath.Join(dir, Folder(c.Name, 1, true))
		work, err := (&Table{Kind: Fits}).Work(c, 1, true, at, "")
		if err != nil {
			t.Fatal(err)
		}
		folder, err := starling.TakeFolder(at, starling.FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		with := o
		with.Folder = folder
		if _, err := work.Run(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		done, err := work.Open(t.Context(), at, o)
		if err != nil {
			t.Fatal(err)
		}
		f := map[string]float64{}
		if err := done.(*fitDone).unlearning(p, f); err != nil {
			t.Fatal(err)
		}
		return done.(*fitDone), f
	}
	is := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}

	network, overfitted := run(overfit, "map.epochs=100", "map.rate=0.01")
	val := network.Courses[0].Val
	is("the end", overfitted["validate_end"], float64(val[len(val)-1]), 1e-5)
	is("the least", overfitted["validate_least"], float64(slices.Min(val)), 0)
	is("its epoch", overfitted["validate_least_at"], float64(1+slices.Index(val, slices.Min(val))), 0)
	if !(overfitted["validate_least"] < .9*overfitted["validate_end"] && overfitted["train_end"] < .1*overfitted["validate_end"]) {
		t.Errorf("the network is not overfitted: %v", overfitted)
	}
	if _, any := overfitted["validate_start"]; any {
		t.Error("a draw has the figures of a start")
	}

	const particles, kept = 4, 4
	moved, f := run("unlearned-4e-4", "method.smc.move.epoch.step=0.02")
	_, again := run("retrained")
	for name, f := range map[string]map[string]float64{"unlearned": f, "retrained": again} {
		for _, part := range []string{"train", "validate"} {
			is(name+": "+part+"_start", f[part+"_start"], overfitted[part+"_end"], 1e-5)
		}
		is(name+": accuracy at the start", f["start_accuracy"], 100*float64(*network.Metrics.Accuracy), 1e-9)
		is(name+": NLL at the start", f["start_nll"], float64(network.Metrics.NLL), 1e-6)
		is(name+": ECE at the start", f["start_ece"], float64(*network.Metrics.ECE), 1e-6)
	}
	is("one ensemble of equal networks", f["validate_ensemble_start"], f["validate_start"], 1e-6)
	for part, set := range map[string]*data.Set{"train": p.Train, "validate": p.Validate} {
		sum, single, total := make([]float64, set.Len()), 0.0, 0.0
		for j := particles * (kept - 1); j < particles*kept; j++ {
			one, err := bnn.Combine(moved.Posterior.Net, []bnn.Island{{Theta: wide(moved.Posterior, j)}}, bnn.Equal{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := one.Predict(t.Context(), set, pool.New(0))
			if err != nil {
				t.Fatal(err)
			}
			w := math.Exp(moved.Posterior.LogWeights[j])
			total += w
			for i, y := range set.Labels {
				q := v.Probs[i*v.Classes+int(y)]
				sum[i] += w * q
				single -= math.Log(q) / float64(particles*set.Len())
			}
		}
		together := 0.0
		for _, s := range sum {
			together -= math.Log(s/total) / float64(set.Len())
		}
		is(part+"_end", f[part+"_end"], single, 1e-5)
		is(part+"_ensemble_end", f[part+"_ensemble_end"], together, 1e-5)
		if !(together < .98*single) {
			t.Errorf("%s: the ensemble has %v and single networks %v: too near to tell them apart", part, together, single)
		}
	}
	least, at := f["validate_start"], 0
	for k, l := range moved.Trace {
		if v := float64(*l.Unlearning.Val); v < least {
			least, at = v, k+1
		}
	}
	is("the least of single networks", f["validate_least"], least, 0)
	is("its iteration", f["validate_least_at"], float64(at), 0)

	if err := os.RemoveAll(filepath.Join(dir, Folder("digits-"+overfit, 1, true))); err != nil {
		t.Fatal(err)
	}
	run(overfit, "map.epochs=2")
	if err := moved.unlearning(p, map[string]float64{}); !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), "trained anew") {
		t.Errorf("another network at the same place: %v", err)
	}
}
