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
	"github.com/starling-smc/starling/uq"
)

// The weights of one iteration are normalised again, and equal weights leave dead particles dead.
func TestWeightsOfAnIteration(t *testing.T) {
	dead := math.Inf(-1)
	all := []float64{math.Log(.1), dead, math.Log(.3), math.Log(.1), math.Log(.4), math.Log(.1)}
	for i, c := range []struct{ got, want []float64 }{
		{only(all, 0, 3), []float64{.25, 0, .75, 0, 0, 0}},
		{only(all, 3, 6), []float64{0, 0, 0, 1. / 6, 4. / 6, 1. / 6}},
		{equalWeights(all), []float64{.2, 0, .2, .2, .2, .2}},
	} {
		for j, want := range c.want {
			if got := math.Exp(c.got[j]); math.Abs(got-want) > 1e-15 {
				t.Errorf("case %d: weight %d is %v, want %v", i, j, got, want)
			}
		}
	}
	if math.Abs(all[4]-math.Log(.4)) > 0 {
		t.Error("the weights of the posterior have changed")
	}
}

// Slow figures are kept for the run that they are of, and for no other.
func TestKeptFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	table := Table{Figures: []Measure{{Name: "a"}, {Name: "b", Slow: true}, {Name: "c", Slow: true}}}
	all := map[string]Values{"a": {1}, "b": {2}, "c": {uq.Number(math.NaN())}}
	if kept, err := readFigures(dir, "x"); kept != nil || err != nil {
		t.Fatal(kept, err)
	}
	if err := table.keepFigures(dir, "x", all, nil); err != nil {
		t.Fatal(err)
	}
	kept, err := readFigures(dir, "x")
	if err != nil || len(kept) != 2 || kept["b"][0] != 2 || !math.IsNaN(float64(kept["c"][0])) {
		t.Fatal(kept, err)
	}
	if other, err := readFigures(dir, "y"); other != nil || err != nil {
		t.Errorf("figures of another run: %v, %v", other, err)
	}
	was, _ := os.Stat(figuresFile(dir))
	if err := table.keepFigures(dir, "x", all, kept); err != nil {
		t.Fatal(err)
	}
	if is, _ := os.Stat(figuresFile(dir)); !os.SameFile(was, is) {
		t.Error("figures that are all kept are written again")
	}
	if err := os.WriteFile(figuresFile(dir), []byte(`{"run": "x", "figure": {}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readFigures(dir, "x"); !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), "may be removed") {
		t.Errorf("a file of something else: %v", err)
	}
}

// Sheets have a line for each cell that has their figures, or for each run of it.
func TestSheets(t *testing.T) {
	run := func(cell string, seed uint64, at float64) Run {
		r := Run{Cell: cell, Seed: seed, Protocol: "same", Figures: map[string]Values{}}
		for _, m := range SMCSGHMC.Figures {
			r.Figures[m.Name] = Values{uq.Number(math.NaN())}
		}
		for k, v := range []float64{at, .5, 150, .25, 200, .125} {
			r.Figures[stopped[k]] = Values{uq.Number(v)}
		}
		r.Figures["noise_auroc"] = Values{uq.Number(at / 1000)}
		return r
	}
	single := run("mnist-adamw", 1, 100)
	for _, name := range stopped {
		single.Figures[name] = Values{uq.Number(math.NaN())}
	}
	text, err := SMCSGHMC.More(&SMCSGHMC, "", []Run{run("mnist-smc", 1, 120), run("mnist-smc", 2, 140), single})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| mnist-smc-1 | 120 | 0.5000 | 150 | 0.2500 | 200 | 0.1250 |\n| mnist-smc-2 | 140 | 0.5000 | 150 | 0.2500 | 200 | 0.1250 |\n\n",
		"| mnist-smc | 0.1300 ± 0.0141 | – |", "| mnist-adamw | 0.1000 | – |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Unlearning") || strings.Contains(text, "mnist-adamw-1") {
		t.Errorf("a sheet without figures is shown:\n%s", text)
	}
}

// An iteration that resampled counts once.
func TestResamplings(t *testing.T) {
	spec, err := specOf(SMCSGHMC.Cells[0], 1, false, "", "")
	if err != nil {
		t.Fatal(err)
	}
	d := fitDone{Run: &starling.Run{Spec: spec, Trace: make([]starling.TraceLine, 5)}}
	for k := range d.Trace {
		d.Trace[k].Resampled = k == 0 || k == 2
	}
	if n := d.resamplings(); n != 2 {
		t.Errorf("%d of 5 iterations resampled, want 2", n)
	}
}

// The page shows what the recorded runs say beside the table.
func TestRecordedSheets(t *testing.T) {
	text, err := SMCSGHMC.More(&SMCSGHMC, "", SMCSGHMC.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/results/smc-sghmc.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), strings.TrimSpace(text)) {
		t.Error("docs/results/smc-sghmc.md does not show the sheets that starling reproduce smc-sghmc prints")
	}
}

// What stands beside is computed once more by other roads: predictions of each network alone, averaged here; the scores of an evaluation
// with the other set as foreign inputs; and the metrics of the run.
func TestBeside(t *testing.T) {
	if os.Getenv("STARLING_DATA") == "" {
		t.Skip("STARLING_DATA names no folder of data sets")
	}
	if testing.Short() {
		t.Skip("a run of a convolutional network: minutes without assembly")
	}
	cell := SMCSGHMC.Cells[slices.IndexFunc(SMCSGHMC.Cells, func(c Cell) bool { return c.Name == "mnist-refined" })]
	cell.Reduced = append(slices.Clone(cell.Reduced), "map.epochs=2", "map.patience=2", "data.split={train: 0.01, validate: 0.02}",
		"method.smc.particles=2", "method.smc.move.epoch={step: 0.002, batch: 200}", "method.smc.path.full.iterations=5", "method.smc.keep.after=2")
	o := starling.Options{DataDir: os.Getenv("STARLING_DATA")}
	spec, err := specOf(cell, 1, true, "", "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/run"
	folder, err := starling.TakeFolder(dir, starling.FitRuns)
	if err != nil {
		t.Fatal(err)
	}
	o.Folder = folder
	if _, err := starling.Fit(t.Context(), spec, o); err != nil {
		t.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	o.Folder = nil
	var told []bool // whether each status ended the phase
	o.Progress = func(e starling.Event) { told = append(told, e.(*starling.Progress).Ended) }
	read, err := SMCSGHMC.Read(t.Context(), dir, cell, 1, true, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []bool{false, true}) {
		t.Errorf("figures that take long told of phases %v, want one that began and ended", told)
	}
	if _, err := SMCSGHMC.Read(t.Context(), dir, cell, 1, true, o); err != nil || len(told) != 2 {
		t.Errorf("figures that are kept were computed anew: %v, %v", told, err)
	}
	run, err := starling.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	is := func(name string, want, within float64) {
		t.Helper()
		if got := figure(name)(*read); !(math.Abs(got-want) <= within) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	p, err := run.Spec.Load(o.DataDir, run.Schema)
	if err != nil {
		t.Fatal(err)
	}
	const particles, kept = 2, 3
	nll := func(set *data.Set, first, end int, equal bool) float64 { // of the mixture of some members
		sum, total := make([]float64, set.Len()), 0.0
		for j := first; j < end; j++ {
			one, err := bnn.Combine(run.Posterior.Net, []bnn.Island{{Theta: wide(run.Posterior, j)}}, bnn.Equal{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := one.Predict(t.Context(), set, pool.New(0))
			if err != nil {
				t.Fatal(err)
			}
			w := math.Exp(run.Posterior.LogWeights[j])
			if equal {
				w = 1
			}
			total += w
			for i, y := range set.Labels {
				sum[i] += w * v.Probs[i*v.Classes+int(y)]
			}
		}
		mean := 0.0
		for _, s := range sum {
			mean -= math.Log(s/total) / float64(len(sum))
		}
		return mean
	}
	is("equal_nll", nll(p.Test, 0, particles*kept, true), 1e-6)
	is("members5_nll", nll(p.Test, particles*kept-5, particles*kept, false), 1e-6)
	is("last_nll", figure("nll")(*read), 1e-9)
	is("last_at", 5, 0)
	validated := make([]float64, kept)
	best := 0
	for k := range validated {
		if validated[k] = nll(p.Validate, 0, (k+1)*particles, false); validated[k] < validated[best] {
			best = k
		}
	}
	is("best_at", float64(2+best+1), 0)
	is("best_nll", nll(p.Test, 0, (best+1)*particles, false), 1e-6)
	again, err := run.Evaluate(t.Context(), starling.On{OOD: []string{"fashion-mnist"}}, o)
	if err != nil {
		t.Fatal(err)
	}
	g := again.Metrics.Groups[len(again.Metrics.Groups)-1]
	is("other_auroc", float64(*g.AUROC), 0)
	is("other_auroc_energy", float64(*g.AUROCEnergy), 0)
	is("other_recall", float64(g.ByEnergy.Recall), 0)
	is("noise_specificity", float64(g.ByEnergy.Specificity), 0)
	resampled := 0
	for _, line := range run.Trace {
		if line.Resampled {
			resampled++
		}
	}
	is("resampled", float64(resampled), 0)
	is("train_start", float64(run.Trace[0].AtStart.Train), 0)
	is("validate_end", float64(*run.Trace[len(run.Trace)-1].Unlearning.Val), 0)
	metrics, err := run.ReadMetrics()
	if err != nil {
		t.Fatal(err)
	}
	is("start_nll", float64(metrics.MAP.NLL), 0)
	if a, b := figure("noise_auroc")(*read), figure("perturbed_auroc")(*read); a == b || a == figure("other_auroc")(*read) {
		t.Error("two groups have the same scores")
	}
}

// wide is the parameter vector of a member.
func wide(e *bnn.Ensemble, j int) []float64 {
	theta := make([]float64, e.Net.Dim())
	for i := range theta {
		theta[i] = float64(e.Theta[j*e.Net.Dim()+i])
	}
	return theta
}
