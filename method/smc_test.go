package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// still are islands that hardly move.
func still(start Place) SMC {
	return SMC{
		Particles: 3, Islands: 2, Combine: bnn.Equal{}, Start: start, Weight: smc.Momentum{},
		Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: mcmc.Unadjusted{Steps: 1, Step: 1e-9},
		Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Never{}},
	}
}

// Where particles are to begin: all at the best restart, each at one of its own, all at the trained network, or at draws of the
// prior that differ.
func TestIslandsStart(t *testing.T) {
	for _, row := range Places {
		start, m := row.Name, still(row.Part)
		job := newJob(t, 2).provide(m)
		out := do(t, job, m)
		d := job.Net.Dim()
		switch start {
		case "prior", "tempered":
			var first []float32
			for j := range 6 {
				if first = append(first, out.Posterior.Theta[j*d]); slices.Contains(first[:j], first[j]) {
					t.Errorf("start %s: particle %d begins where another does", start, j)
				}
			}
		case "map":
			if !(away(out.Posterior, job.Points.Best()) <= 1e-6) || job.Points.Chosen == 0 {
				t.Errorf("start map: %v from restart %d", away(out.Posterior, job.Points.Best()), job.Points.Chosen)
			}
		case "sgd":
			if len(job.Points.Theta) != 6*d || !(away(out.Posterior, job.Points.Theta) <= 1e-6) {
				t.Errorf("start sgd: %d restarts, %v from them", len(job.Points.Theta)/d, away(out.Posterior, job.Points.Theta))
			}
		case "init":
			if !(away(out.Posterior, job.Init) <= 1e-6) || out.Findings[0].Words() != "all particles began at model.init, not at draws of the prior" {
				t.Errorf("start init: %v from the network; found %q", away(out.Posterior, job.Init), words(out.Findings))
			}
		default: // TestRunFromUntrained, too
			begun, _ := m.start().begin(job, 0, 3)
			second, _ := m.start().begin(job, 1, 3)
			if _, ok := row.Part.(FromUntrained); !ok || !(away(out.Posterior, append(begun, second...)) <= 1e-6) {
				t.Errorf("start %s: %T, %v from its draws", start, row.Part, away(out.Posterior, append(begun, second...)))
			}
		}
		// Islands that begin at points have no evidence: none is shown, and none is used.
		drawn := start == "prior" || start == "tempered"
		if has := slices.ContainsFunc(out.Trace, func(l TraceLine) bool { return l.LogZ != 0 }); has != drawn || (out.Posterior.LogEvidence[1] != 0) != drawn {
			t.Errorf("start %s: evidences %v, in the trace: %v", start, out.Posterior.LogEvidence, has)
		}
		if start != "init" && has(out.Findings, "began-at-init") {
			t.Errorf("start %s: found %q", start, words(out.Findings))
		}
	}
}

// Tempering from a trained network is one step, and estimates no evidence.
func TestTemperingFromInit(t *testing.T) {
	m := SMC{Particles: 3, Move: mcmc.HMC{Steps: 1, Step: 1e-9, Mutations: mcmc.Mutations{Count: 1}}}.Settle(Around{Init: true}, unheard()).(SMC)
	job := newJob(t, 1).provide(m)
	out := do(t, job, m)
	if !(away(out.Posterior, job.Init) <= 1e-6) || len(out.Trace) != 1 || out.Trace[0].LogZ != 0 || !has(out.Findings, "began-at-init-tempering") {
		t.Errorf("%v from the network, %d iterations, evidence %v, found %q", away(out.Posterior, job.Init), len(out.Trace), out.Trace[0].LogZ, words(out.Findings))
	}
}

// Islands count as the method says.
func TestCombine(t *testing.T) {
	for _, row := range bnn.Combinations {
		m := SMC{Particles: 6, Islands: 3, Combine: row.Part}.Settle(Around{}, unheard()).(SMC)
		out := do(t, newJob(t, 2), m)
		omega := make([]float64, 3)
		for j, l := range out.Posterior.LogWeights {
			omega[out.Posterior.Island[j]] += math.Exp(l)
		}
		want := row.Part.LogWeights(out.Posterior.LogEvidence)
		if _, _, err := weights.Normalise(want, "island"); err != nil {
			t.Fatal(err)
		}
		for p, w := range omega {
			if !(math.Abs(w-math.Exp(want[p])) <= 1e-12) {
				t.Errorf("%s: island %d has weight %v, want %v", row.Name, p, w, math.Exp(want[p]))
			}
		}
		if spread := slices.Max(omega) - slices.Min(omega); row.Part.NeedsEvidence() != (spread > 1e-3) {
			t.Errorf("%s: the weights of the islands are %v", row.Name, omega)
		}
	}
}

// What settings mean to the sampler.
func TestSamplersOfIslands(t *testing.T) {
	automated := smc.Schedule[smc.Automated]{Iterations: 9, Rule: smc.Automated{Batch: 7, Grow: 7}}
	for _, c := range []struct {
		m        SMC
		path     smc.Targets
		move     mcmc.Move
		weight   smc.Weigher
		resample smc.Resampler
	}{
		{SMC{}, smc.Tempering{}, mcmc.HMC{Length: mcmc.AutoLength, Accept: 0.9, Jitter: 0.2, Mutations: mcmc.Mutations{Max: 50}}, nil, smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Always{}}},
		{
			SMC{Path: automated, Start: FromTempered{}, Move: mcmc.Unadjusted{Step: 0.1}}, smc.TemperedStart{Then: automated},
			mcmc.Unadjusted{Steps: 3, Step: 0.1}, smc.Momentum{}, smc.Resampler{Scheme: smc.Multinomial{}, When: smc.BelowRatio(0.5)},
		},
		{
			SMC{Path: automated, Move: mcmc.Unadjusted{Steps: 1, Step: 0.1}, Weight: smc.Momentum{Literal: true}, Resample: smc.Resampler{Scheme: smc.Residual{}, When: smc.Never{}}},
			automated, mcmc.Unadjusted{Steps: 1, Step: 0.1}, smc.Momentum{Literal: true}, smc.Resampler{Scheme: smc.Residual{}, When: smc.Never{}},
		},
	} {
		c.m.Islands, c.m.Particles = 3, 4
		m := c.m.Settle(Around{}, unheard()).(SMC)
		job := newJob(t, 1)
		phases, err := m.Phases(job)
		if err != nil {
			t.Fatal(err)
		}
		if len(phases) != 1 || len(phases[0].Parts) != 3 {
			t.Fatalf("%d phases", len(phases))
		}
		for i, part := range phases[0].Parts {
			s := part.(*island).sampler
			if s.Particles != 4 || s.Keep != nil || s.Seed != job.Seed || s.Island != i || s.Resample != c.resample || s.Weighting != c.weight || s.Start != nil ||
				fmt.Sprintf("%#v", []any{s.Path, s.Move}) != fmt.Sprintf("%#v", []any{c.path, c.move}) {
				t.Errorf("%s: island %d is %+v", m.Title(), i, s)
			}
		}
	}
}

// Weights that leave out the change of target estimate no evidence, and islands are not weighted by it. Bootstrap weights have their
// temperature, and with it the occasion to resample, by whether layers are learned.
func TestWeightsWithoutEvidence(t *testing.T) {
	for _, row := range smc.Weightings {
		m := SMC{Path: smc.Schedule[smc.Full]{Iterations: 9}, Move: mcmc.Unadjusted{Step: 0.1}, Weight: row.Part, Combine: bnn.Evidence{}}
		if row.Part.Traits().NotInvariant == "" {
			m.Move = mcmc.HMC{}
		}
		m = m.Settle(Around{}, unheard()).(SMC)
		all := config.NewFaults()
		m.Settle(Around{}, all)
		refused := slices.ContainsFunc(all.All(), func(f config.Fault) bool {
			return strings.Contains(f.Message, "islands cannot be weighted by evidence")
		})
		if follows := !row.Part.Traits().Untargeted; refused == follows || m.comparable() != follows || m.Sampling().estimates() != follows {
			t.Errorf("%s: combine by evidence refused: %v; comparable: %v; estimates an evidence: %v", row.Name, refused, m.comparable(), m.Sampling().estimates())
		}
	}
	m := SMC{Path: smc.Schedule[smc.Full]{Iterations: 9}, Move: mcmc.Unadjusted{Step: 0.1}, Weight: smc.Bootstrap{}}
	for learn, want := range map[smc.Learner]SMC{
		nil:                         {Weight: smc.Bootstrap{Temperature: smc.Temperature{Both: smc.Examples}}, Resample: smc.Resampler{When: smc.BelowHalf}},
		smc.By[nn.Adam]{Rate: 0.01}: {Weight: smc.Bootstrap{Temperature: smc.Temperature{Both: 1}}, Resample: smc.Resampler{When: smc.Always{}}},
	} {
		m.Learn = learn
		if got := m.Settle(Around{Partly: learn != nil}, unheard()).(SMC); got.Weight != want.Weight || got.Resample.When != want.Resample.When {
			t.Errorf("learning by %v: %+v, resampled %v", learn, got.Weight, got.Resample.When)
		}
	}
}

// That an epoch is one leapfrog is said where a mini-batch has all examples that an iteration sees, which on a path of batches are fewer
// than all.
func TestOneBatchOfPath(t *testing.T) {
	for batch, want := range map[int]int{8: 0, 9: 1, 20: 1} {
		m := still(FromPrior{})
		m.Path, m.Move = smc.Schedule[smc.Constant]{Iterations: 3, Rule: smc.Constant{Batch: 9}}, mcmc.Epoch{Step: 1e-6, Batch: batch}
		said := 0
		for _, f := range do(t, newJob(t, 1).provide(m), m).Findings {
			if f.Kind == "one-batch" {
				said++
			}
		}
		if said != want {
			t.Errorf("batches of 9, mini-batches of %d: said %d times", batch, said)
		}
	}
}
