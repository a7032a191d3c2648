package smc

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// Batch sizes, moments and powers of blocks against reference values.
func TestGoldenSchedules(t *testing.T) {
	for _, c := range golden.Read(t, "schedules.json") {
		t.Run(c.Name, func(t *testing.T) {
			switch c.Kind {
			case "schedule":
				goldenSchedule(t, c)
			case "sda_step":
				goldenStep(t, c)
			case "sda_run":
				goldenRun(t, c)
			default:
				t.Fatalf("unknown kind %q", c.Kind)
			}
		})
	}
}

func goldenSchedule(t *testing.T, c golden.Case) {
	var in struct {
		Scheme         string
		K, N, C, Kappa int
	}
	var want struct{ M []int }
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	path, ok := map[string]interface{ Size(k, n int) int }{
		"constant":  Schedule[Constant]{Iterations: in.K, Rule: Constant{in.C}},
		"full":      Schedule[Full]{Iterations: in.K, Rule: Full{}},
		"ctr":       Schedule[ConstantToRefine]{Iterations: in.K, Rule: ConstantToRefine{in.C}},
		"linear":    Schedule[Linear]{Iterations: in.K, Rule: Linear{in.C, in.Kappa}},
		"automated": Schedule[Automated]{Iterations: in.K, Rule: Automated{in.C, in.Kappa}},
	}[in.Scheme]
	if !ok {
		t.Fatalf("unknown scheme %q", in.Scheme)
	}
	for k, n := range want.M {
		if got := path.Size(k, in.N); got != n {
			t.Fatalf("n_%d = %d, want %d", k, got, n)
		}
	}
}

// sdaState is a state in which the annealed and the newest examples have the given log-likelihoods.
func sdaState(w []number, annealed, ll []float64) *State {
	st := &State{Population: mcmc.NewPopulation(len(w), 1, mcmc.Needs{}), LogW: make([]float64, len(w))}
	st.CarryAnnealed()
	copy(st.LL, ll)
	copy(st.AnnealedLL, annealed)
	for j, v := range w {
		st.LogW[j] = rng.Log(float64(v))
	}
	return st
}

func goldenStep(t *testing.T, c golden.Case) {
	var in struct {
		Weights, Omega []number
		OmegaHat       []number `json:"Omega_hat"`
		Stage          string
		Beta           number
		DeltaS         number `json:"delta_S"`
	}
	var want struct {
		Var  number `json:"Var_Omega_hat"`
		Cov  number
		Next number `json:"beta_next"`
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	negative := func(x []number) []float64 {
		y := floats(x)
		for i := range y {
			y[i] = -y[i]
		}
		return y
	}
	st := sdaState(in.Weights, negative(in.Omega), negative(in.OmegaHat))
	if _, _, err := weights.Normalise(st.LogW, "particle"); err != nil {
		t.Fatal(err)
	}
	st.Lambda, st.Mu, st.K = float64(in.Beta), 1, 1
	if in.Stage != "first" {
		st.Annealed = 1
	}
	w := make([]float64, st.J)
	weights.Exp(st.LogW, w)
	if got := moments(w, st.LL, st.LL); !golden.Near(got, float64(want.Var), 1e-10, 1e-12) {
		t.Errorf("variance %v, want %v", got, want.Var)
	}
	if got := moments(w, st.AnnealedLL, st.LL); len(in.Omega) > 0 && !golden.Near(got, float64(want.Cov), 1e-10, 1e-12) {
		t.Errorf("covariance %v, want %v", got, want.Cov)
	}
	if got := (SDA{Entropy: float64(in.DeltaS)}).raise(st); !golden.Near(got, float64(want.Next), 1e-10, 1e-12) {
		t.Errorf("β = %v, want %v", got, want.Next)
	}
}

// goldenRun follows a path whose particles' log-likelihoods are written down.
func goldenRun(t *testing.T, c golden.Case) {
	var in struct {
		N, C, Kappa, K int
		First          number `json:"beta_init"`
		Again          number `json:"beta_reset"`
		DeltaS         number `json:"delta_S"`
		Weights        []number
		Minibatch      [][]number `json:"minibatch_loglik"`
		Scale          []number   `json:"ll_scale"`
	}
	var want struct { // those of the reading that is ours (data-annealing-smc, section 5, A11)
		M    []int    `json:"M_immediate"`
		Beta []number `json:"beta_immediate"`
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	if in.First != in.Again {
		t.Fatalf("blocks come in with powers %v and %v: smooth annealing has one for all", in.First, in.Again)
	}
	path := SDA{Iterations: in.K, Batch: in.C, Grow: in.Kappa, First: float64(in.First), Entropy: float64(in.DeltaS)}
	st := sdaState(in.Weights, nil, nil)
	if _, _, err := weights.Normalise(st.LogW, "particle"); err != nil {
		t.Fatal(err)
	}
	st.Examples = in.N
	st.Stage, _ = path.Start(in.N)
	for k := range in.K {
		stage, err := path.Next(st)
		if err != nil {
			t.Fatal(err)
		}
		st.Stage = stage
		if got := stage.Annealed + stage.Rows.size(in.N); got != want.M[k] || !golden.Near(stage.Lambda, float64(want.Beta[k]), 1e-10, 1e-12) {
			t.Fatalf("iteration %d: %d examples, β = %v; want %d and %v", k, got, stage.Lambda, want.M[k], want.Beta[k])
		}
		for j, blocks := range in.Minibatch {
			st.LL[j], st.AnnealedLL[j] = 0, 0
			at := 0
			for b, l := range blocks {
				switch {
				case at < stage.Annealed:
					st.AnnealedLL[j] += float64(in.Scale[k] * l)
				case at < stage.Rows.To:
					st.LL[j] += float64(in.Scale[k] * l)
				}
				if at += in.Kappa; b == 0 {
					at = in.C
				}
			}
		}
		st.K++
	}
	if !path.Done(st) {
		t.Error("the path does not end")
	}
}

// What is left out is 500, and growth by as much as the first batch has.
func TestBatchSizes(t *testing.T) {
	for in, want := range map[[2]int][2]int{{}: {500, 500}, {7, 0}: {7, 7}, {7, 5}: {7, 5}, {0, 5}: {500, 5}} {
		if first, grow := BatchSizes(in[0], in[1]); first != want[0] || grow != want[1] {
			t.Errorf("%v gives %d and %d, want %v", in, first, grow, want)
		}
	}
}

// A path anneals examples in if and only if it says so, also behind a tempered start.
func TestPathsSayWhetherTheyAnnealIn(t *testing.T) {
	m := newLocation(2)
	for name, path := range batches(t, 30) {
		for _, path := range []Targets{path, TemperedStart{Then: path}} {
			st, infos := run(t, &Sampler{
				Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.Unadjusted{Step: 0.02}, Weighting: Momentum{}, Particles: 50, Seed: 7,
			})
			annealed := slices.ContainsFunc(infos, func(i Info) bool { return i.Annealed > 0 })
			if path.Traits().AnnealsIn != annealed || (st.AnnealedLL != nil) != annealed {
				t.Errorf("%s, %T: anneals in %v, examples annealed in: %v, room for them: %v", name, path, path.Traits().AnnealsIn, annealed, st.AnnealedLL != nil)
			}
		}
	}
}

// Blocks of any size that a config can name are those of all examples at once.
func TestHugeBlocks(t *testing.T) {
	const huge = 1 << 62
	for rule, want := range map[Rule]int{Linear{7, huge}: 41, Automated{7, huge}: 7, Constant{huge}: 41, ConstantToRefine{huge}: 41} {
		if got := rule.Rows(3, 20, 41).size(41); got != want {
			t.Errorf("%v: %d examples, want %d", rule, got, want)
		}
	}
	for _, rule := range []Rule{Constant{41}, ConstantToRefine{41}} { // all examples as they stand, which no iteration evaluates anew
		if got := rule.Rows(3, 20, 41); got != (Rows{}) {
			t.Errorf("%v of all examples takes the places %v", rule, got)
		}
	}
	st := &State{Examples: 41, K: 1, Stage: Stage{Lambda: 1, Mu: 1, Rows: Rows{0, 7}}}
	if stage, err := (SDA{Batch: 7, Grow: 1<<63 - 1}).Next(st); err != nil || stage.Rows != (Rows{7, 41}) {
		t.Errorf("smooth annealing takes %+v, error %v", stage.Rows, err)
	}
}
