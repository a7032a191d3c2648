package paper

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
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

// Figures beside a table are kept for the run that they are of, and for no other.
func TestKeptFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	table := Table{Figures: []Measure{{Name: "a"}, {Name: "b", Beside: true}, {Name: "c", Beside: true}}}
	all := map[string]uq.Number{"a": 1, "b": 2, "c": uq.Number(math.NaN())}
	if kept, err := readFigures(dir, "x"); kept != nil || err != nil {
		t.Fatal(kept, err)
	}
	if err := table.keepFigures(dir, "x", all, nil); err != nil {
		t.Fatal(err)
	}
	kept, err := readFigures(dir, "x")
	if err != nil || len(kept) != 2 || kept["b"] != 2 || !math.IsNaN(float64(kept["c"])) {
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
		r := Run{Cell: cell, Seed: seed, Protocol: "same", Figures: map[string]uq.Number{}}
		for _, m := range SMCSGHMC.Figures {
			r.Figures[m.Name] = uq.Number(math.NaN())
		}
		for k, v := range []float64{at, .5, 150, .25, 200, .125} {
			r.Figures[stopped[k]] = uq.Number(v)
		}
		r.Figures["noise_auroc"] = uq.Number(at / 1000)
		return r
	}
	single := run("mnist-adamw", 1, 100)
	single.Figures["stop_at"] = uq.Number(math.NaN())
	text, err := writeSheets(&SMCSGHMC, "", []Run{run("mnist-smc", 1, 120), run("mnist-smc", 2, 140), single})
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
