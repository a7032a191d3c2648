package smc

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// What every path of the table answers. A row without a case fails by name.
func TestEveryPathAnswers(t *testing.T) {
	for _, row := range Paths {
		c, ok := caseOf(t, row.Name)
		if !ok {
			continue
		}
		p := c.path(10)
		got := p.Traits()
		if got.Caption = ""; got != c.traits || p.String() != c.title {
			t.Errorf("%s answers %q, %+v, want %q, %+v", row.Name, p, got, c.title, c.traits)
		}
		if name := Paths.Name(p); name != row.Name {
			t.Errorf("the table calls %s %q", row.Name, name)
		}
	}
	for _, p := range []Path{Schedule[ConstantToRefine]{Iterations: 9}, Schedule[Linear]{Iterations: 9}, Schedule[Automated]{Iterations: 9}} {
		if p.Traits().Evidence.Sure() {
			t.Errorf("%s of 9 iterations has no last tenth, and is sure of its evidence", p)
		}
	}
	if !(SDA{Scale: true}).Traits().Evidence.Scaled {
		t.Error("smooth annealing with a scale does not say so")
	}
}

// Whatever a path says of its evidence holds in runs: where it is sure, the last target is the posterior of all examples.
func TestEvidenceIsWhatPathsSay(t *testing.T) {
	m := newLocation(2)
	for name, path := range batches(t, 12) {
		_, infos := run(t, &Sampler{Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.Unadjusted{Step: 0.02}, Particles: 30, Seed: 7})
		says, last := path.Traits().Evidence, infos[len(infos)-1]
		if says.Sure() && (last.Examples != 41 || last.Lambda != 1) || says.Batch > 0 && last.Examples != says.Batch {
			t.Errorf("%s says %+v and ends with %d examples at λ = %v", name, says, last.Examples, last.Lambda)
		}
		for _, info := range infos {
			if says.Every && (info.Examples != 41 || info.Lambda != 1) {
				t.Errorf("%s says that every target is the posterior, and iteration %d is not", name, info.K)
			}
			if scale := 41 / float64(info.Examples); says.Scaled && !path.Traits().AnnealsIn && !golden.Near(info.Lambda, scale, 1e-12, 0) {
				t.Errorf("%s, iteration %d: λ = %v, want the scale %v", name, info.K, info.Lambda, scale)
			}
		}
	}
}

// Of few iterations and of many examples: where a row of batches is sure, its last target is the posterior, whatever the data.
func TestSurePathsEndAtThePosterior(t *testing.T) {
	for name, c := range pathCases {
		for _, iterations := range []int{1, 3, 9, 10, 40} {
			path := c.path(iterations)
			if !path.Traits().Batches || !path.Traits().Evidence.Sure() {
				continue
			}
			const n = 1_000_000_007
			stage, err := path.Next(&State{K: iterations - 1, Examples: n})
			if err != nil || stage.Lambda != 1 || stage.Rows.size(n) != n {
				t.Errorf("%s of %d iterations is sure of its evidence and ends at %+v, %v", name, iterations, stage, err)
			}
		}
	}
}

// The work that is done: a schedule counts the examples of its batches, tempering estimates the iterations to come.
func TestWork(t *testing.T) {
	share := func(p Path, info Info, first float64) float64 {
		done, all := p.Work(info, first, 41)
		return done / all
	}
	linear := Schedule[Linear]{Iterations: 10, Rule: Linear{10, 10}} // 10, 20, 30, 40, 41 …: 346 in all
	for progress, want := range map[float64]float64{0: 0, 0.1: 10. / 346, 0.4: 100. / 346, 0.9: 305. / 346, 1: 1} {
		if got := share(linear, Info{Progress: progress}, 0); !golden.Near(got, want, 1e-12, 0) {
			t.Errorf("linear at %v: %v of the work is done, want %v", progress, got, want)
		}
	}
	if got := share(SDA{}, Info{Progress: 0.3}, 0); got != 0.3 {
		t.Errorf("smooth annealing at .3: %v", got)
	}
	for _, c := range []struct {
		k             int
		first, lambda float64
		want          float64
	}{
		{1, 0.01, 0.01, 0.1}, {1, 1, 1, 1}, {5, 0.01, 0.1, 5. / 9}, {9, 0.01, 1, 1},
	} {
		if got := share(Tempering{}, Info{K: c.k, Lambda: c.lambda}, c.first); !golden.Near(got, c.want, 1e-12, 0) {
			t.Errorf("tempering from %v at %v after %d iterations: %v, want %v", c.first, c.lambda, c.k, got, c.want)
		}
	}
}

// The power of the newest block, and how many blocks have come in, as a run shows them.
func TestBlocks(t *testing.T) {
	info := Info{Lambda: 0.8, Examples: 20}
	if p := (SDA{}).Traits().Power(info, 40); p != 0.8 {
		t.Errorf("power %v without a scale", p)
	}
	if p := (SDA{Scale: true}).Traits().Power(info, 40); p != 0.4 {
		t.Errorf("power %v with a scale of 2, want .4", p)
	}
	if p := (Tempering{}).Traits().Power(info, 40); p != 0.8 {
		t.Errorf("tempering shows power %v", p)
	}
	s := SDA{Iterations: 40, Batch: 7, Grow: 5}
	m := newLocation(2)
	last, blocks := Rows{}, 0
	st, err := (&Sampler{Model: m, Prior: m.problem().prior, Path: s, Move: mcmc.Unadjusted{Step: 0.02}, Particles: 30}).Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Sampler{Model: m, Prior: m.problem().prior, Path: s, Move: mcmc.Unadjusted{Step: 0.02}, Particles: 30}).Run(t.Context(), st, func(st *State, info Info) error {
		if st.Rows != last {
			blocks++
			last = st.Rows
		}
		if got := s.Blocks(info.Annealed); got != blocks {
			t.Errorf("iteration %d: %d blocks, counted %d", info.K, got, blocks)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if blocks < 3 {
		t.Errorf("%d blocks show too little", blocks)
	}
}

// Blocks that come in at power 1, scaled, are the batches of Linear: two roads to the same weights, evidence and particles, but for
// rounding. Below 1, a block begins at the power that was asked for, also the later ones.
func TestFirstPowerOfABlock(t *testing.T) {
	m := newLocation(2)
	end := func(path Path) *State {
		st, infos := run(t, &Sampler{
			Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.Unadjusted{Steps: 3, Step: 0.05}, Weighting: Momentum{}, Particles: 40, Seed: 6,
		})
		if !slices.ContainsFunc(infos, func(i Info) bool { return i.Resampled }) {
			t.Errorf("%v never resampled: the test asks for it", path)
		}
		return st
	}
	st, want := end(SDA{Iterations: 8, Batch: 7, Grow: 5, First: 1, Scale: true}), end(Schedule[Linear]{Iterations: 8, Rule: Linear{7, 5}})
	if !golden.Near(st.LogZ, want.LogZ, 1e-9, 0) {
		t.Errorf("log Z is %v, and %v by Linear", st.LogZ, want.LogZ)
	}
	for j := range st.Theta {
		if !golden.Near(st.Theta[j], want.Theta[j], 1e-9, 1e-9) {
			t.Fatalf("parameter %d is %v, and %v by Linear", j, st.Theta[j], want.Theta[j])
		}
	}
	path := SDA{Iterations: 60, Batch: 7, Grow: 5, First: 0.3}
	s := &Sampler{Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.Unadjusted{Steps: 3, Step: 0.05}, Weighting: Momentum{}, Particles: 100, Seed: 6}
	last, blocks := Rows{}, 0
	_, infos := run(t, s)
	for _, info := range infos {
		if rows := (Rows{info.Annealed, info.Examples}); rows != last {
			if blocks, last = blocks+1, rows; info.Lambda != 0.3 {
				t.Errorf("iteration %d: a block begins at %v, want .3", info.K, info.Lambda)
			}
		}
	}
	if blocks < 3 {
		t.Errorf("%d blocks show too little", blocks)
	}
}

// Defaults fill in what was left out, and nothing else.
func TestPathsAreCompleted(t *testing.T) {
	for _, c := range []struct{ got, want config.Defaulter }{
		{&Tempering{}, &Tempering{ESS: 0.5}}, {&Tempering{ESS: 0.3}, &Tempering{ESS: 0.3}},
		{&Constant{}, &Constant{500}}, {&ConstantToRefine{}, &ConstantToRefine{500}},
		{&Linear{}, &Linear{500, 500}}, {&Linear{Batch: 7}, &Linear{7, 7}}, {&Automated{Grow: 3}, &Automated{500, 3}},
		{&Schedule[Full]{}, &Schedule[Full]{Iterations: 200}}, {&Schedule[Full]{Iterations: 3}, &Schedule[Full]{Iterations: 3}},
		{&SDA{Batch: 7, Exact: true}, &SDA{Iterations: 200, Batch: 7, Grow: 7, First: 0.1, Entropy: 1, Exact: true}},
		{&Resampler{}, &Resampler{Scheme: Multinomial{}}}, {&Resampler{Residual{}, Never{}}, &Resampler{Residual{}, Never{}}},
	} {
		if c.got.Defaults(); !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("with defaults %+v, want %+v", c.got, c.want)
		}
	}
}

// Weightings suit the moves that they are for, and say whether they follow the targets and count energy errors. Each row has a case.
func TestEveryWeightingAnswers(t *testing.T) {
	cases := map[string]struct {
		w                          Weighting
		invariant, follows, counts bool
	}{
		"momentum": {Momentum{}, false, true, true}, "literal": {Momentum{Literal: true}, false, false, true}, "reversal": {Reversal{}, true, true, false},
		"bootstrap": {Bootstrap{}, false, false, false}, "equal": {Equal{}, false, false, false},
	}
	for _, row := range Weightings {
		c, ok := cases[row.Name]
		if !ok {
			t.Errorf("the weighting %s has no case", row.Name)
			continue
		}
		w := c.w.Traits()
		if (w.NotInvariant == "") != c.invariant || (w.NotOthers == "") == c.invariant || w.Untargeted == c.follows || w.Energy != c.counts || Weightings.Name(c.w) != row.Name {
			t.Errorf("%s says %+v and is called %s", row.Name, w, Weightings.Name(c.w))
		}
	}
	if name := Occasions.Name(BelowRatio(0.3)); name != "ess" || len(Occasions) != 3 {
		t.Errorf("an effective sample size below .3 is called %q", name)
	}
}

// fresher is a user's own weighting: minus the energy error, plus the log-likelihood where the particle stands now.
type fresher struct{}

func (fresher) Traits() WeightTraits { return WeightTraits{} }
func (fresher) After(m Moved) []float64 {
	increments := make([]float64, m.Population.J)
	for j := range increments {
		increments[j] = m.Population.LL[j] - m.Energy[j]
	}
	return increments
}

// A weighting sees the population after the move. User-defined parts that say nothing of each other are not validated.
func TestWeightingsSeeThePopulation(t *testing.T) {
	m := newLocation(3)
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: growing{len(m.y)}, Particles: 30, Seed: 14, Weighting: fresher{}, Resample: Resampler{When: Always{}},
		Move: scripted(func(_ int, theta []float64) {
			for i := range theta {
				theta[i] += 0.25
			}
		}),
	}
	st, err := s.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for !s.Done(st) {
		if _, err := s.Step(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		offset := st.LogW[0] - (st.LL[0] - 1)
		for j, l := range st.LogW {
			if want := st.LL[j] - float64(j+1) + offset; !golden.Near(l, want, 1e-12, 1e-9) {
				t.Fatalf("iteration %d: particle %d has log-weight %v, want %v", st.K, j, l, want)
			}
		}
	}
}

// Particles that start where they are told are not weighted for it: nobody knows the distribution they come from.
func TestGivenStartsAreNotWeighted(t *testing.T) {
	m := newLocation(2)
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: Schedule[Full]{Iterations: 2}, Move: mcmc.Unadjusted{Step: 0.02},
		Start: []float64{0, 0, 1, 1, 2, 2, 3, 3}, Particles: 4,
	}
	st, err := s.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for j, l := range st.LogW {
		if !golden.Near(l, -math.Log(4), 1e-14, 0) || st.LogZ != 0 {
			t.Errorf("particle %d starts with log-weight %v, the evidence at %v", j, l, st.LogZ)
		}
	}
	s.Start = nil
	if st, err = s.Init(t.Context()); err != nil || st.LogZ == 0 {
		t.Errorf("draws from the prior are weighted: the evidence is at %v, error %v", st.LogZ, err)
	}
}
