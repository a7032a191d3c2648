package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// lines is a made-up trace of islands, or chains, of healthy particles.
func lines(islands, iterations, particles int) (trace []TraceLine) {
	for i := range islands {
		for k := range iterations {
			noise := float64(2*((k+i)%2) - 1)
			trace = append(trace, TraceLine{Iteration: Iteration{Info: smc.Info{
				Island: i, K: k + 1, Mutations: 1, Resampled: true, Progress: float64(k+1) / float64(iterations), Lambda: float64(k+1) / float64(iterations), Examples: 60,
				ESS: 0.8 * float64(particles), Ancestors: min(particles, 3), Acceptance: 0.5, Displacement: 0.5, LogLikelihood: numeral.Number(-100 + noise),
			}}})
		}
	}
	return trace
}

// sampled are the kinds of findings, without those about ends, which every run has.
func sampled(found []finding.Finding) string {
	var all []string
	for _, f := range found {
		if !strings.HasSuffix(f.Kind, "-end") {
			all = append(all, f.Kind)
		}
	}
	return strings.Join(all, " ")
}

// TestFindings breaks one thing at a time, and finds it and nothing else.
func TestFindings(t *testing.T) {
	tempering := SMC{Islands: 3, Particles: 4, Path: smc.Tempering{}, Move: mcmc.HMC{}, Combine: bnn.Equal{}}
	batches := SMC{Islands: 3, Particles: 4, Path: smc.Schedule[smc.Full]{Iterations: 20}, Move: mcmc.Unadjusted{}, Combine: bnn.Equal{}}
	accepted := batches
	accepted.Move = mcmc.HMC{}
	chains := MCMC{Chains: 4, Epochs: 100, Move: mcmc.HMC{}, Start: "prior"}
	alone := tempering
	alone.Islands = 1
	tells := func(sd, ladder numeral.Number) func([]TraceLine, *bnn.Ensemble) {
		return func(l []TraceLine, e *bnn.Ensemble) {
			half := sd / 2
			l[0].LogZSD, l[19].LogZSD, l[19].LadderBias, e.LogEvidence = &half, &sd, &ladder, e.LogEvidence[:1]
		}
	}
	evidence := []float64{-20.5, -20, -19.5}
	for _, c := range []struct {
		what   string
		method Method
		broken func(trace []TraceLine, e *bnn.Ensemble)
		want   string
	}{
		{"islands", tempering, func([]TraceLine, *bnn.Ensemble) {}, "ancestors evidence-agrees"},
		{"one ancestor on one island", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[19].Ancestors = 1 }, "single-ancestor evidence-agrees"},
		{"moves refused", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[15:20] {
				l[15+i].Acceptance, l[15+i].Stuck = 0.05, true
			}
		}, "ancestors moves-stuck"},
		{"moves refused on the way", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:15] {
				l[i].Acceptance, l[i].Stuck = 0.05, true
			}
		}, "ancestors moves-stuck"},
		{"one stage in which moves were too short", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[7].Stuck = true }, "ancestors moves-stuck"},
		{"most stages, where moves were too short", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range 31 {
				l[20+i].Stuck = true
			}
		}, "ancestors sampling-failed"},
		{"half of the stages of all islands", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Stuck = i%2 == 0
			}
		}, "ancestors moves-stuck"},
		{"stages without a scale", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[5].ScaleKept = true }, "ancestors scale-kept evidence-agrees"},
		{"moves refused, which carried nobody", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:20] {
				l[i].Acceptance, l[i].Displacement, l[i].Stuck = 0, 0, true
			}
		}, "ancestors moves-stuck"},
		{"moves without effect", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[40:60] {
				l[40+i].Displacement = 0.09
			}
		}, "ancestors islands-still"},
		{"moves of some effect", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Displacement = 0.11
			}
		}, "ancestors evidence-agrees"},
		{"moves without effect, until nothing but moves spreads the particles", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:20] {
				if l[i].Displacement = 0.01; i >= 5 {
					l[i].Displacement, l[i].Ancestors = 0.4, 1
				}
			}
		}, "single-ancestor islands-still"},
		{"small moves between resamplings that are rare", tempering, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Displacement, l[i].Resampled = 0.04, i%10 == 0 // ten moves lead 0.04·√10 = 0.13 far
			}
		}, "ancestors evidence-agrees"},
		{"before the posterior", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[59].Lambda = 0.5 }, "stopped-early ancestors evidence-agrees"},
		{"divergent", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[3].Divergent = 20 }, "ancestors evidence-agrees divergent-refused"},
		{"few divergent", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[3].Divergent = 2 }, "ancestors evidence-agrees divergent-refused-few"},
		{"scattered", tempering, func(_ []TraceLine, e *bnn.Ensemble) { e.LogEvidence[0] = -30 }, "ancestors evidence-scatters"},
		{"one island's evidence", tempering, func(_ []TraceLine, e *bnn.Ensemble) { e.LogEvidence = e.LogEvidence[:1] }, "ancestors evidence-of-one"},
		{"one island's evidence and its error", alone, tells(1.9, -0.09), "ancestors evidence-within"},
		{"one island's evidence, rough", alone, tells(2.1, -1), "ancestors evidence-rough"},
		{"one island's evidence, biased", alone, tells(0.5, -0.3), "ancestors evidence-within ladder-bias"},
		{"a bias that is small beside the error", alone, tells(0.7, -0.3), "ancestors evidence-within"},
		{"a bias that is small beside nothing", alone, tells(0.01, -0.09), "ancestors evidence-within"},
		{"several islands, biased", tempering, func(l []TraceLine, e *bnn.Ensemble) {
			for i := range l {
				by := numeral.Number(0.2 * float64(1+l[i].Island))
				l[i].LadderBias = &by
			}
		}, "ancestors evidence-agrees ladder-bias"},
		{"dead", tempering, func(_ []TraceLine, e *bnn.Ensemble) { e.LogWeights[5] = math.Inf(-1) }, "ancestors evidence-agrees dead-networks"},
		{"uneven", tempering, func(_ []TraceLine, e *bnn.Ensemble) { e.LogWeights[5] = math.Log(0.8) }, "ancestors evidence-agrees uneven-weights"},

		{"batches", batches, func([]TraceLine, *bnn.Ensemble) {}, "ancestors evidence evidence-agrees"},
		{"batches, divergent", batches, func(l []TraceLine, _ *bnn.Ensemble) { l[3].Divergent = 2 }, "ancestors evidence evidence-agrees divergent"},
		{"batches, moves without effect", batches, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:20] {
				l[i].Displacement = 0
			}
		}, "ancestors islands-still evidence-unmoved"},
		{"batches, moves that would be refused", batches, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Acceptance, l[i].Displacement = 0, 0.3
			}
		}, "ancestors evidence evidence-agrees"},
		{"batches, moves refused", accepted, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[15:20] {
				l[15+i].Acceptance, l[15+i].Displacement, l[15+i].Stuck = 0.05, 0.3, true
			}
		}, "ancestors islands-stuck evidence-unmoved"},
		{"batches, moves refused that carried the particles", accepted, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Acceptance, l[i].Stuck = 0.05, true
			}
		}, "ancestors evidence evidence-agrees"},
		{"batches, moves refused where all descend from one", accepted, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[15:20] {
				l[15+i].Acceptance, l[15+i].Ancestors = 0.05, 1
			}
		}, "single-ancestor islands-stuck evidence-unmoved"},
		{"a displacement that is no number", tempering, func(l []TraceLine, _ *bnn.Ensemble) { l[7].Displacement = numeral.Number(math.NaN()) }, "ancestors islands-still"},
		{"batches, moves refused on the way", accepted, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:10] {
				l[i].Acceptance, l[i].Stuck = 0.05, true
			}
		}, "ancestors evidence evidence-agrees"},
		{"batches, most moves refused", accepted, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Acceptance, l[i].Displacement, l[i].Stuck = 0.05, 0.2, true
			}
		}, "ancestors sampling-failed evidence-unmoved"},
		{"an optimiser", batches, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].ESS, l[i].Ancestors = 1, 1
			}
		}, "optimiser evidence-optimised"},
		{"one ancestor", batches, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l {
				l[i].Ancestors = 1
			}
		}, "merged evidence-merged evidence-agrees"},

		{"chains", chains, func([]TraceLine, *bnn.Ensemble) {}, ""},
		{"a chain that is stuck", chains, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[20:40] {
				l[20+i].Acceptance = 0.02
			}
		}, "chain-stuck"},
		{"a chain that was stuck at first", chains, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[20:30] {
				l[20+i].Acceptance = 0.02
			}
		}, ""},
		{"a chain that stands still", chains, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[10:20] {
				l[10+i].Displacement = 1e-4
			}
		}, "chains-still"},
		{"a chain that stood still at first", chains, func(l []TraceLine, _ *bnn.Ensemble) {
			for i := range l[:10] {
				l[i].Displacement = 0
			}
		}, ""},
		{"one chain that ends at no number", chains, func(l []TraceLine, _ *bnn.Ensemble) {
			for _, end := range []int{19, 39, 59} {
				l[end].LogLikelihood = -100
			}
			l[79].LogLikelihood = numeral.Number(math.NaN())
		}, "chains-outlying"},
		{"one chain far away", chains, func(l []TraceLine, _ *bnn.Ensemble) { l[79].LogLikelihood = -1e5 }, "chains-outlying"},
	} {
		s := c.method.Sampling()
		trace := lines(s.Islands, 20, s.Particles)
		if s.Path.Traits().Batches {
			for i := range trace {
				trace[i].Lambda = 1
			}
		}
		e := &bnn.Ensemble{LogEvidence: slices.Clone(evidence)}
		for range s.Islands * s.Particles {
			e.LogWeights = append(e.LogWeights, -math.Log(float64(s.Islands*s.Particles)))
		}
		c.broken(trace, e)
		found := s.Findings(trace, e, 60)
		got := sampled(found)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		for _, f := range found {
			if words := f.Words(); words == f.Kind || strings.HasPrefix(words, f.Kind+": ") && f.Kind != "as-is" {
				t.Errorf("%s: a number is missing: %s", c.what, words)
			}
		}
	}
}

// What the finding says of the stages: their number, the one at the lowest power, and what would mend it.
func TestMovesStuck(t *testing.T) {
	trace := lines(2, 10, 4)
	for i, l := range map[int]smc.Info{
		6:  {K: 7, Lambda: 0.5, Acceptance: 0.3, Mutations: 50, Stuck: true},
		12: {Island: 1, K: 3, Lambda: 0.25, Acceptance: 0.0625, Mutations: 40, Displacement: 0.25, Stuck: true},
	} {
		trace[i].Info = l
	}
	for _, c := range []struct {
		move mcmc.Move
		want string
	}{
		{mcmc.HMC{}, "more moves in a stage (method.smc.move.hmc.mutations) or more particles"},
		{mcmc.HMC{Step: 0.1}, "a smaller step (method.smc.move.hmc.step) or leave it out"},
	} {
		s := SMC{Islands: 2, Particles: 4, Path: smc.Tempering{}, Move: c.move, Combine: bnn.Equal{}}.Sampling()
		found := s.Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}, LogEvidence: []float64{-20, -21}}, 60)
		want := "in 2 of 20 stages of 2 islands together the particles did not move far enough. Take " + c.want
		if got := words(found); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		const first = "the first such stage was at λ 0.25 (acceptance 0.06, 40 moves, by 0.25 of their spread)"
		if got := sentences(found); !strings.Contains(got, first) {
			t.Errorf("%q, want %q", got, first)
		}
	}
}

// The spread of copies of one particle is what the moves have made of it, so a finding about them has no displacement in spreads.
func TestMovesStuckFromCopies(t *testing.T) {
	const copies, others = "all particles began as copies of one, and may not have parted", "the particles did not move far enough"
	const first = ": the first such stage was at λ 0.25 (acceptance 0.30, 50 moves"
	for _, c := range []struct {
		parents [2]int
		want    string
	}{
		{[2]int{1, 1}, "In 2 of 10 stages " + copies + first + ")"},
		{[2]int{1, 3}, "In 2 of 10 stages " + others + first + ", from copies of one particle)"},
		{[2]int{3, 1}, "In 2 of 10 stages " + others + first + ", by 1.33 of their spread)"},
		{[2]int{3, 4}, "In 2 of 10 stages " + others + first + ", by 1.33 of their spread)"},
	} {
		trace := lines(1, 10, 4)
		for i, parents := range c.parents {
			trace[3+i].Info = smc.Info{
				K: 4 + i, Lambda: 0.25 * float64(1+i), Acceptance: 0.3, Mutations: 50, Displacement: 1.33, Resampled: true, Parents: parents, Stuck: true,
			}
		}
		s := SMC{Islands: 1, Particles: 4, Path: smc.Tempering{}, Move: mcmc.HMC{}, Combine: bnn.Equal{}}.Sampling()
		if got := sentences(s.Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}, LogEvidence: []float64{-20}}, 60)); !strings.Contains(got, c.want) {
			t.Errorf("parents %v: %q, want %q", c.parents, got, c.want)
		}
	}
}

// What mends islands that are stuck on a path of batches depends on whether the step is written.
func TestIslandsStuck(t *testing.T) {
	trace := lines(1, 20, 4)
	for i := range trace[15:] {
		trace[15+i].Acceptance, trace[15+i].Displacement = 0.05, 0.2
	}
	for step, want := range map[float64]string{
		0:   ". Take more moves in an iteration, or write a smaller step (method.smc.move.hmc.step)",
		0.1: ". Take a smaller step (method.smc.move.hmc.step) or more moves in an iteration, or leave the step out",
	} {
		s := SMC{
			Islands: 1, Particles: 4, Path: smc.Schedule[smc.Full]{Iterations: 20}, Move: mcmc.HMC{Steps: 1, Step: step}, Combine: bnn.Equal{},
		}.Sampling()
		if got := words(s.Findings(trace, &bnn.Ensemble{LogWeights: []float64{0}, LogEvidence: []float64{-20}}, 60)); !strings.Contains(got, want) {
			t.Errorf("step %v: %q, want %q", step, got, want)
		}
	}
}

// TestEnds reads the numbers of what every run has.
func TestEnds(t *testing.T) {
	trace := lines(2, 20, 4)
	trace[19].Acceptance = 0.25
	s := SMC{Islands: 2, Particles: 4, Path: smc.Tempering{}, Move: mcmc.HMC{}, Combine: bnn.Equal{}}.Sampling()
	found := s.Findings(trace[:38], &bnn.Ensemble{LogWeights: []float64{0}}, 60) // the second island ended after 18
	if got, want := found[1].Words(), "the path from the prior to the posterior took 18 to 20 steps; at the end 25 to 50 % of the moves were accepted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	chains := lines(2, 20, 1)
	for i := range chains {
		chains[i].Acceptance = 0.4 + 0.4*numeral.Number(chains[i].Island)
		if chains[i].Progress <= 0.5 {
			chains[i].Acceptance = 0 // while the step is learned
		}
	}
	chains[19].LogLikelihood, chains[39].LogLikelihood = -7, -5
	found = MCMC{Chains: 2, Epochs: 100, Move: mcmc.HMC{}, Start: "prior"}.Sampling().Findings(chains, &bnn.Ensemble{LogWeights: []float64{0}}, 60)
	want := "chains end at log-likelihoods of −7.0 to −5.0; they accepted 0.40 to 0.80 of their moves in the second half"
	if got := found[0].Words(); got != want {
		t.Errorf("%q, want %q", got, fmt.Sprint(want))
	}
	found = MCMC{Chains: 1, Epochs: 100, Move: mcmc.HMC{}, Start: "prior"}.Sampling().Findings(chains[20:], &bnn.Ensemble{LogWeights: []float64{0}}, 60)
	want = "the chain ends at log-likelihood −5.0; it accepted 0.80 of its moves in the second half"
	if got := found[0].Words(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRecord: of the second halves of chains, the log-likelihoods and the gradients over all examples, of all chains together.
func TestRecord(t *testing.T) {
	chains := lines(3, 20, 1)
	for i := range chains {
		chains[i].LogLikelihood = numeral.Number(i)
		chains[i].Gradients = 60 * (1 + 7*chains[i].K) // one at the start, 7 leapfrogs a move
	}
	r := MCMC{Chains: 3, Epochs: 140, Move: mcmc.HMC{Steps: 7}, Start: "prior"}.Sampling().Record(chains)
	want := make([][]float64, 3)
	for c := range want {
		for k := 10; k < 20; k++ {
			want[c] = append(want[c], float64(20*c+k))
		}
	}
	if !slices.EqualFunc(r.LogLikelihoods, want, slices.Equal[[]float64]) || r.Gradients != 3*10*7 {
		t.Errorf("%v gradients and log-likelihoods %v, want 210 and %v", r.Gradients, r.LogLikelihoods, want)
	}
	if r := (SMC{Islands: 3, Particles: 1, Path: smc.Tempering{}, Move: mcmc.HMC{}}).Sampling().Record(chains); r != nil {
		t.Errorf("tempering is recorded as chains: %+v", r)
	}
	if r := (MAP{}).Sampling().Record(nil); r != nil {
		t.Errorf("a point estimate is recorded as chains: %+v", r)
	}
}

// A run whose posterior is a state that validation chose says so, and names the setting.
func TestChosenByValidation(t *testing.T) {
	epochs := smc.Schedule[smc.Constant]{Epochs: 2, Rule: smc.Constant{Batch: 20}}
	for field, m := range map[string]func(smc.Keeper) Method{
		"method.svgd.keep": func(k smc.Keeper) Method { return SVGD{Particles: 4, Epochs: 2, Batch: 20, Keep: k} },
		"method.smc.keep": func(k smc.Keeper) Method {
			return SMC{Particles: 4, Path: epochs, Move: mcmc.Unadjusted{Steps: 1, Step: 0.01}, Keep: k}
		},
	} {
		for keep, want := range map[smc.Keeper]bool{smc.Best{}: true, smc.Last{}: false} {
			found := do(t, newJob(t, 1), m(keep).Settle(Around{}, unheard())).Findings
			at := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Kind == "chosen-by-validation" })
			if at >= 0 != want || want && (found[at].Names["field"] != field || found[at].Names["value"] != "best") {
				t.Errorf("%s: %v: finds %s", field, keep, words(found))
			}
		}
	}
}
