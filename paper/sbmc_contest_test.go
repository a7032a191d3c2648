package paper

import (
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
