package starling

import (
	"math"
	"slices"
	"testing"
)

// near allows for the rounding of a step that is kept as its logarithm.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12 }

// TestSettingsAreCarriedOut: what a config says of a sampler is what its trace shows.
func TestSettingsAreCarriedOut(t *testing.T) {
	chain := func(settings string) []TraceLine {
		return fitted(t, trees(t, "map=null", "prior={normal: {fan_in: 2}}", "method={mcmc: {chains: 2, start: prior, "+settings+"}}"), Options{}).Trace
	}
	islands := func(settings string) []TraceLine {
		return fitted(t, trees(t, "map=null", "prior={normal: {fan_in: 2}}", "method={smc: {"+settings+"}}"), Options{}).Trace
	}

	// Chains of several leapfrogs: short moves in the first tenth, then whole ones; the step follows until half, then stands.
	steps := func(trace []TraceLine, epochs float64) (moves []float64, changes, still int) {
		last := TraceLine{}
		for _, l := range trace {
			if l.Island > 0 {
				break
			}
			moves = append(moves, l.Epochs-last.Epochs)
			switch {
			case l.K == 1:
			case last.Epochs < epochs/2 && l.Step != last.Step:
				changes++
			case last.Epochs >= epochs/2 && l.Step == last.Step:
				still++
			}
			last = l
		}
		return moves, changes, still
	}
	moves, changes, still := steps(chain("epochs: 200, keep: last, move: {hmc: {steps: 20, jitter: 0}}"), 200)
	short, long, trials := 0, 0, moves[0]-5 // of the step, before the first move
	for i, m := range moves[1:] {
		switch {
		case m == 5 && long == 0:
			short++
		case m == 20 || i == len(moves)-2 && m < 20:
			long++
		}
	}
	if short+long != len(moves)-1 || long < 8 || !(trials > 0 && trials <= 200./16) || trials+float64(5*short) < 10 || changes < 5 || still < 4 {
		t.Errorf("trials of %v, then moves of %v epochs; the step changed %d times, then stood %d times", trials, moves, changes, still)
	}
	moves, changes, still = steps(chain("epochs: 1000, keep: last, move: {hmc: {steps: 1}}"), 1000)
	if len(moves) < 1000-1000/16 || slices.Max(moves[1:]) != 1 || changes < 430 || still < 490 {
		t.Errorf("%d moves of %v and at most %v epochs; the step changed %d times, then stood %d times", len(moves), moves[0], slices.Max(moves[1:]), changes, still)
	}
	for _, l := range chain("epochs: 40, keep: last, move: {hmc: {steps: 4, step: 0.01, jitter: 0}}") {
		if !near(l.Step, 0.01) || l.Epochs != 4*float64(l.K) || l.Resampled || l.Mutations != 1 {
			t.Errorf("a fixed step of 0.01 and moves of 4: %+v", l.Info)
		}
	}
	jittered := map[float64]bool{}
	for _, l := range chain("epochs: 40, keep: last, move: {hmc: {steps: 4, step: 0.2, jitter: 0.5}}") {
		jittered[float64(l.Acceptance)] = true
	}
	if len(jittered) < 10 {
		t.Errorf("acceptances of a jittered step: %v", jittered)
	}

	// Islands: temperatures that keep the share of particles that tempering says, moves as often as they say, resampling when
	// it says.
	for _, c := range []struct {
		settings string
		ok       func(l, before TraceLine) bool
	}{
		{"particles: 40, move: {hmc: {steps: 1, mutations: 3}}", func(l, _ TraceLine) bool {
			return l.Mutations == 3 && l.Resampled && (l.Lambda == 1 || math.Abs(l.ESS/40-0.5) <= 0.03)
		}},
		{"particles: 40, path: {tempering: {ess: 0.8}}, move: {pcn: {step: 0.25, mutations: {eta: 0.3, max: 7}}}, resample: {when: {ess: 0.7}}",
			func(l, _ TraceLine) bool {
				return near(l.Step, 0.25) && l.Mutations >= 2 && l.Mutations <= 7 && l.Resampled == (l.ESS < 0.7*40)
			}},
		{"particles: 40, move: {hmc: {steps: 2, mutations: 1}}, resample: {when: never}", func(l, before TraceLine) bool {
			return !l.Resampled && l.ESS <= 40 && l.Ancestors+l.Dead <= 40 && l.Gradients-before.Gradients >= 2*40*72
		}},
		{"particles: 4, path: {constant: {iterations: 9, batch: 10}}, move: {leapfrog: {steps: 1, step: 0.01}}", func(l, _ TraceLine) bool {
			return l.Examples == 10 && near(l.Step, 0.01) && l.Lambda == 7.2
		}},
		{"particles: 4, path: {full: {iterations: 9}}, move: {leapfrog: {steps: 1, step: 0.01}}", func(l, _ TraceLine) bool {
			return l.Examples == 72 && l.Lambda == 1
		}},
		{"particles: 4, path: {ctr: {iterations: 10, batch: 9}}, move: {leapfrog: {step: 0.01}}", func(l, _ TraceLine) bool {
			return l.Examples == map[bool]int{false: 9, true: 72}[l.K == 10]
		}},
		{"particles: 4, path: {linear: {iterations: 10, batch: 9, grow: 20}}, move: {leapfrog: {step: 0.01}}", func(l, _ TraceLine) bool {
			return l.Examples == map[bool]int{false: min(9+20*(l.K-1), 72), true: 72}[l.K == 10]
		}},
		{"particles: 4, path: {automated: {iterations: 10, batch: 9, grow: 9}}, move: {leapfrog: {step: 0.01}}", func(l, _ TraceLine) bool {
			return l.Examples == map[bool]int{false: int(9 * math.Round((9+7*float64(l.K-1))/9)), true: 72}[l.K == 10]
		}},
		{"particles: 4, path: {sda: {iterations: 40, batch: 24, grow: 24}}, move: {leapfrog: {step: 0.01}}", func(l, before TraceLine) bool {
			return l.Examples >= before.Examples && l.Annealed%24 == 0 && l.Annealed <= l.Examples && l.Lambda <= 1
		}},
	} {
		trace := islands(c.settings)
		var before TraceLine
		for _, l := range trace {
			if !c.ok(l, before) {
				t.Errorf("%s: k %d: %+v", c.settings, l.K, l.Info)
				break
			}
			before = l
		}
		if len(trace) < 3 {
			t.Errorf("%s: only %d iterations", c.settings, len(trace))
		}
	}
	if trace := islands("particles: 6, start: tempered, path: {full: {iterations: 5}}, move: {leapfrog: {step: 0.01}}"); len(trace) <= 5 ||
		!(trace[0].Lambda < 1) || trace[0].Progress != 0 || trace[len(trace)-1].Lambda != 1 {
		t.Errorf("a tempered start of %d iterations: %+v", len(trace), trace[0].Info)
	}
}
