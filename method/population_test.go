package method

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/smc"
)

// The numbers of the table in docs/parts.md, and the ends of the rule. A linear model of p inputs takes 4p operations an example.
func TestParticlesFor(t *testing.T) {
	for _, c := range []struct {
		each    float64
		islands int
		want    int
	}{
		{12 * 4, 1, 400}, {3000 * 40, 1, 400}, {60 * 260, 1, 400}, {500 * 736, 1, 130}, {3000 * 736, 1, 20}, {1000 * 3720, 1, 10},
		{125000, 1, 400}, {125001, 1, 390}, {4.99e6, 1, 10}, {5.01e6, 1, 10}, {1e15, 1, 10}, {2.5e6, 1, 20}, {2.51e6, 1, 10},
		{1, 2, 400}, {1, 3, 260}, {1, 8, 100}, {1, 100, 10}, {1, 1000, 10}, {500 * 736, 4, 130}, {500 * 736, 8, 100},
		{math.Inf(1), 1, 10},
	} {
		if got := particlesFor(c.each, c.islands); got != c.want {
			t.Errorf("%v operations a particle, %d islands: %d particles, want %d", c.each, c.islands, got, c.want)
		}
	}
}

// A method has its number of particles once the data are known, and keeps a number that it was given. Paths of batches need no data.
func TestParticlesAreCompleted(t *testing.T) {
	known := Sizes{Examples: 1000, Operations: 500 * 736}
	for what, c := range map[string]struct {
		m     Method
		sizes Sizes
		want  int
	}{
		"before the data are known": {SMC{}, Sizes{}, 0},
		"auto":                      {SMC{}, known, 130},
		"completed twice":           {SMC{}.Settle(Around{}, unheard()), known, 130},
		"known already":             {settleWith(SMC{}.Settle(Around{}, unheard()), Around{}, known, unheard()), Sizes{Examples: 1000, Operations: 1}, 130},
		"given":                     {SMC{Particles: 7}, known, 7},
		"a ladder":                  {SMC{Path: smc.Ladder{Temperatures: []float64{1}}}, known, 130},
		"batches":                   {SMC{Path: smc.Schedule[smc.Full]{Iterations: 3}}, Sizes{}, 10},
		"each at a restart":         {SMC{Path: smc.Schedule[smc.Full]{Iterations: 3}, Start: FromRestarts{}}, known, 10},
		"learned layers":            {SMC{}.Settle(Around{Partly: true}, unheard()), Sizes{Examples: 1000, Operations: 1}, 10},
	} {
		m := c.m.Settle(Around{}, unheard()).(SMC)
		if c.sizes.Examples > 0 {
			m = settleWith(m, Around{}, c.sizes, unheard()).(SMC)
		}
		if m.Particles != c.want {
			t.Errorf("%s: %d particles, want %d", what, m.Particles, c.want)
		}
		if want := "1 island of"; (c.want > 0) != strings.HasPrefix(m.Title(), want) {
			t.Errorf("%s: the title is %q", what, m.Title())
		}
	}
	few := SMC{Path: smc.Tempering{ESS: 0.05}}.Settle(Around{}, unheard())
	said := strings.Join(faults(func(f *config.Faults) { settleWith(few, Around{}, Sizes{Examples: 1000, Operations: 1e15}, f) }), "\n")
	if !strings.Contains(said, "tempering keeps a share of 0.05 of 10 particles effective: at most one") {
		t.Errorf("ten particles of which tempering keeps none: %q", said)
	}
}
