package smc

import (
	"fmt"
	"math"
	"testing"
)

// Every path of the table has curves that a report can draw: with an ID, a title, an axis and a caption, and finite values.
func TestCurvesAreWhole(t *testing.T) {
	for _, row := range Paths {
		ids := map[string]bool{}
		for _, c := range row.Part.Curves(60) {
			if c.ID == "" || ids[c.ID] || c.Title == "" || c.Axis == "" || c.Caption == "" {
				t.Errorf("%s has a curve %q twice, or without a word: %+v", row.Name, c.ID, c)
			}
			ids[c.ID] = true
			if y := c.Of(Info{Examples: 30, Lambda: 0.5}); math.IsNaN(y) || math.IsInf(y, 0) {
				t.Errorf("%s: %s is %v", row.Name, c.ID, y)
			}
		}
		if len(ids) == 0 {
			t.Errorf("%s has no curve", row.Name)
		}
	}
}

// The curves of smooth annealing, with a scale and without: examples, power of the newest block, number of blocks.
func TestCurvesOfSmoothAnnealing(t *testing.T) {
	path := SDA{Batch: 10, Grow: 20}
	for _, c := range []struct {
		scale bool
		info  Info
		want  string
	}{
		{false, Info{Examples: 10, Lambda: 0.1}, "[10 0.1 1]"},
		{false, Info{Examples: 30, Annealed: 10, Lambda: 1}, "[30 1 2]"},
		{false, Info{Examples: 50, Annealed: 30, Lambda: 0.5}, "[50 0.5 3]"},
		{false, Info{Examples: 60, Annealed: 50, Lambda: 0.5}, "[60 0.5 4]"},
		{true, Info{Examples: 30, Annealed: 10, Lambda: 0.5}, "[30 0.25 2]"}, // of 60 examples
	} {
		path.Scale = c.scale
		var got []float64
		for _, curve := range path.Curves(60) {
			got = append(got, curve.Of(c.info))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("scale %v, %+v: %v, want %s", c.scale, c.info, got, c.want)
		}
	}
}

// An effective sample size decides on resampling only where there is a ratio.
func TestRatios(t *testing.T) {
	for when, want := range map[Occasion]float64{Always{}: 0, Never{}: 0, BelowRatio(0.3): 0.3} {
		if got := when.Ratio(); got != want {
			t.Errorf("%T has ratio %v, want %v", when, got, want)
		}
	}
}
