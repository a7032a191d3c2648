package paper

import (
	"math"
	"testing"

	"github.com/starling-smc/starling"
)

// TestContestPresets: mnist7 is the winner of the contest and mnist7-chains what it ran before, as their cells ran, but for what they decide.
func TestContestPresets(t *testing.T) {
	for preset, cell := range map[string]string{"mnist7": "sghmc-in-time", "mnist7-chains": contestBefore} {
		want, err := starling.Preset(preset, "seed=3", "decide={temperature: true}")
		if err != nil {
			t.Fatal(err)
		}
		got, err := specOf(SBMCContest.cell(t, cell), 3, false, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got.Name = want.Name; string(got.YAML()) != string(want.YAML()) {
			t.Errorf("cell %s has\n%s\n%s has\n%s", cell, got.YAML(), preset, want.YAML())
		}
	}
}

// TestContestMeasures: what decides the contest is of the calibration images and the foreign inputs beside them, counted here by hand.
func TestContestMeasures(t *testing.T) {
	table := Table{Name: "small", Kind: Fits, Figures: SBMCContest.Figures, Cells: []Cell{{Name: "small", Config: preset("mnist7"), Changes: []string{
		"decide={temperature: true}", "map.restarts=2", "map.epochs=3", "method.mcmc.chains=2", "method.mcmc.keep=4", "method.mcmc.epochs=20"}}}}
	done, run, err := table.ran(t, t.TempDir(), "small")
	if err != nil {
		t.Fatal(err)
	}
	d := done.(*fitDone)
	p, err := d.Spec.Load("", d.Schema)
	if err != nil {
		t.Fatal(err)
	}
	known, err := d.Posterior.Predict(t.Context(), p.Calibrate, nil)
	if err != nil {
		t.Fatal(err)
	}
	temperature := d.Decision.Temperature.Posterior
	var nll, tempered float64
	for i, label := range p.Calibrate.Labels {
		probs := known.Probs[8*i:][:8]
		sum := 0.
		for _, q := range probs {
			sum += math.Pow(q, 1/temperature)
		}
		nll -= math.Log(probs[label]) / 2000
		tempered -= math.Log(math.Pow(probs[label], 1/temperature)/sum) / 2000
	}
	want := map[string]float64{"calibration_nll": nll, "calibration_tempered": tempered}
	for _, g := range p.Foreign {
		foreign, err := d.Posterior.Predict(t.Context(), g.Set, nil)
		if err != nil {
			t.Fatal(err)
		}
		pairs := 0.
		for _, f := range foreign.Epistemic {
			for _, k := range known.Epistemic {
				if f > k {
					pairs++
				} else if f == k {
					pairs += .5
				}
			}
		}
		want["calibration_auroc_"+g.Name] = pairs / float64(len(foreign.Epistemic)*len(known.Epistemic))
	}
	if len(want) != 6 || temperature == 1 {
		t.Fatalf("%d figures, T = %v", len(want), temperature)
	}
	for name, w := range want {
		if got := float64(run.Figures[name][0]); !(math.Abs(got-w) < 1e-9) {
			t.Errorf("%s is %v, want %v", name, got, w)
		}
	}
}
