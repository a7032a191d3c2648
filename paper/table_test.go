package paper

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
)

// Every cell of the table runs: its preset exists under both protocols, and says what the paper says.
func TestCellsHaveConfigs(t *testing.T) {
	if len(DataAnnealing.Cells) != 24 {
		t.Errorf("%d cells, want 6 schedules × 2 data sets × 2 moves", len(DataAnnealing.Cells))
	}
	seen := map[string]bool{}
	for _, c := range DataAnnealing.Cells {
		if seen[c.Name] {
			t.Errorf("two cells are named %s", c.Name)
		}
		seen[c.Name] = true
		for _, reduced := range []bool{false, true} {
			spec, err := c.Spec(7, reduced)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			m := spec.Method.SMC
			steps := 3
			if strings.Contains(c.Name, "-ld-") {
				steps = 1
			}
			if spec.Seed != 7 || !spec.Data.Whole || m.Move.Leapfrog.Steps != steps || m.Move.Leapfrog.Step != 0.002 || (m.Particles == 10) == reduced {
				t.Errorf("%s, reduced %v: %s", c.Name, reduced, spec.YAML())
			}
		}
	}
}

// The printed table is that of the paper: its column sums, taken from the paper by another road.
func TestPublishedFigures(t *testing.T) {
	want := map[string][3]float64{ // sums over the schedules: accuracy, log-likelihood, seconds
		"mnist-ld":    {556.42, -1.5766, 30364.89},
		"mnist-hmc":   {586.93, -0.4250, 35505.05},
		"fashion-ld":  {498.37, -2.8810, 29278.36},
		"fashion-hmc": {535.79, -1.8130, 36206.61},
	}
	got := map[string][3]float64{}
	for _, c := range DataAnnealing.Cells {
		key := c.Name[:strings.LastIndexByte(c.Name, '-')]
		sum := got[key]
		for i := range sum {
			sum[i] += c.Published[i].Mean
		}
		got[key] = sum
	}
	for key, sums := range want {
		for i, w := range sums {
			if math.Abs(got[key][i]-w) > 1e-6 {
				t.Errorf("%s, column %d: sum %v, want %v", key, i, got[key][i], w)
			}
		}
	}
}

func TestRowsAndMeans(t *testing.T) {
	runs := []Run{
		{Cell: "mnist-hmc-ctr", Seed: 2, Protocol: "same", Accuracy: 98},
		{Cell: "mnist-hmc-ctr", Seed: 1, Protocol: "same", Accuracy: 96},
		{Cell: "mnist-hmc-ctr", Seed: 3, Protocol: "reduced: 50 iterations, J = 4", Accuracy: 10},
		{Cell: "mnist-hmc-full", Seed: 1, Protocol: "reduced: 50 iterations, J = 4", Accuracy: 90},
	}
	for _, r := range DataAnnealing.Rows(runs) {
		mean, sd := r.Mean(func(r Run) float64 { return r.Accuracy })
		switch r.Name {
		case "mnist-hmc-ctr":
			if mean != 97 || math.Abs(sd-math.Sqrt2) > 1e-12 || r.Protocol != "same" || len(r.Runs) != 2 || r.Runs[0].Seed != 1 {
				t.Errorf("two full runs give %v ± %v, %+v", mean, sd, r)
			}
		case "mnist-hmc-full":
			if mean != 90 || !math.IsNaN(sd) || !strings.HasPrefix(r.Protocol, "reduced") {
				t.Errorf("a reduced run alone gives %v ± %v, %q", mean, sd, r.Protocol)
			}
		default:
			if !math.IsNaN(mean) || r.Protocol != "" {
				t.Errorf("%s has not run and gives %v, %q", r.Name, mean, r.Protocol)
			}
		}
	}
	merged := Merge(runs, []Run{{Cell: "mnist-hmc-ctr", Seed: 2, Protocol: "same", Accuracy: 97}})
	if len(merged) != 4 || merged[1].Accuracy != 97 {
		t.Errorf("merged: %+v", merged)
	}
	var text, markdown bytes.Buffer
	if err := DataAnnealing.WriteText(&text, runs); err != nil {
		t.Fatal(err)
	}
	if err := DataAnnealing.WriteMarkdown(&markdown, runs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"97.84 ± 0.02", "97.00 ± 1.41", "not run"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
			t.Errorf("%q is missing in\n%s\n%s", want, text.String(), markdown.String())
		}
	}
}

// What came with the program is of cells that the table has, each seed and protocol once, and the page shows it.
func TestRecordedRuns(t *testing.T) {
	runs := DataAnnealing.Recorded()
	if len(runs) == 0 {
		t.Fatal("no run is recorded")
	}
	if merged := Merge(runs, runs); len(merged) != len(runs) {
		t.Errorf("%d runs, %d of them different", len(runs), len(merged))
	}
	placed := 0
	for _, r := range DataAnnealing.Rows(runs) {
		placed += len(r.Runs)
	}
	if placed != len(runs) {
		t.Errorf("%d of %d runs have a cell", placed, len(runs))
	}
	var table bytes.Buffer
	if err := DataAnnealing.WriteMarkdown(&table, runs); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/results/data-annealing.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Error("docs/results/data-annealing.md does not show the recorded runs: starling reproduce data-annealing --markdown writes the table")
	}
}
