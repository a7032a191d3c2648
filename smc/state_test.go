package smc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// growing is a path of data: the posterior of the first 5, 10, … examples, each stage on fresh rows. It is here to show
// that the loop takes such a path as a value.
type growing struct{ n int }

func (growing) Start() Stage { return Stage{Lambda: 1, Rows: []int32{}} }
func (g growing) Next(st *State) (Stage, error) {
	rows := make([]int32, min(g.n, 5*(st.K+1)))
	for i := range rows {
		rows[i] = int32(i)
	}
	return Stage{Lambda: 1, Rows: rows, Fresh: true}, nil
}
func (g growing) Done(st *State) bool { return 5*st.K >= g.n }
func (growing) Budget(*State) int     { return 0 }

// location is y_i ~ N(θ_0, 1), θ_1 … θ_{d−1} ~ N(0, 1) seen once each through a likelihood of their own: a model whose
// examples can be taken in any part. calls counts particles × examples.
type location struct {
	d     int
	y     []float64
	calls *int
}

func (m location) Dim() int      { return m.d }
func (m location) Examples() int { return len(m.y) }
func (m location) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	if m.calls != nil {
		*m.calls += len(ll) * len(rows)
	}
	clear(grad)
	for j := range ll {
		ll[j] = 0
		for _, i := range rows {
			k := int(i) % m.d
			r := m.y[i] - theta[j*m.d+k]
			ll[j] -= 0.5*r*r + 0.5*log2Pi
			if grad != nil {
				grad[j*m.d+k] += r
			}
		}
	}
	return nil
}

func newLocation(d int) location {
	m := location{d: d, y: make([]float64, 41)}
	for i := range m.y {
		m.y[i] = 2 + math.Sin(float64(7*i))*1.5
	}
	return m
}

// problem returns the location model's posterior for a prior N(0, 4): each component on its own.
func (m location) problem() problem {
	p := problem{name: "location", model: m, prior: normal{d: m.d, sd: 2}}
	for k := range m.d {
		n, sum, square := 0.0, 0.0, 0.0
		for i := k; i < len(m.y); i += m.d {
			n, sum, square = n+1, sum+m.y[i], square+m.y[i]*m.y[i]
		}
		a := n + 0.25
		p.mean, p.vars = append(p.mean, sum/a), append(p.vars, 1/a)
		p.logZ += -0.5*n*log2Pi - 0.5*square + 0.5*sum*sum/a - 0.5*math.Log(4*a)
	}
	return p
}

// kinds are runs of every kind; each returns a fresh sampler for an island.
func kinds() map[string]func(island int) *Sampler {
	m := newLocation(3)
	base := func(island int) *Sampler {
		return &Sampler{
			Model: m, Prior: m.problem().prior, Path: Tempering{}, Move: mcmc.HMC{Steps: 3}, Mutations: Mutations{Count: 3},
			Resample: Resampler{When: Always}, Particles: 150, Seed: 6, Island: island,
		}
	}
	with := func(change func(s *Sampler)) func(int) *Sampler {
		return func(island int) *Sampler {
			s := base(island)
			change(s)
			return s
		}
	}
	start := make([]float64, 150*3)
	for i := range start {
		start[i] = float64(i%5) - 1
	}
	return map[string]func(int) *Sampler{
		"tempering hmc":         base,
		"tempering langevin":    with(func(s *Sampler) { s.Move = mcmc.HMC{} }),
		"adaptive mutations":    with(func(s *Sampler) { s.Mutations = Mutations{Eta: 0.05, Max: 8} }),
		"tempering pcn":         with(func(s *Sampler) { s.Move, s.Mutations.Count = mcmc.PCN{}, 9 }),
		"ladder, systematic":    with(func(s *Sampler) { s.Path, s.Resample = Ladder{0.02, 0.1, 0.4, 1}, Resampler{Scheme: Systematic} }),
		"tempering, stratified": with(func(s *Sampler) { s.Path, s.Resample = Tempering{ESS: 0.8}, Resampler{Scheme: Stratified, Ratio: 0.7} }),
		"tempering, residual":   with(func(s *Sampler) { s.Resample.Scheme = Residual }),
		"own step sizes":        with(func(s *Sampler) { s.Move = mcmc.HMC{Steps: 2, Each: true, Jitter: 0.1} }),
		"growing data":          with(func(s *Sampler) { s.Path = growing{len(m.y)} }),
		"chains": with(func(s *Sampler) {
			s.Path, s.Mutations, s.Start, s.Keep, s.Resample = Fixed{Epochs: 70}, Mutations{}, start, 4*150, Resampler{}
			s.Move = mcmc.HMC{Steps: 8, Start: 0.3, Accept: 0.75, Jitter: 0.2, Each: true, Phases: mcmc.ChainPhases(8)}
		}),
		"short chains": with(func(s *Sampler) {
			s.Path, s.Mutations, s.Resample = Fixed{Epochs: 20}, Mutations{}, Resampler{}
			s.Move = mcmc.HMC{Phases: mcmc.HalfPhases(1)}
		}),
		"chains of pcn": with(func(s *Sampler) {
			s.Path, s.Mutations, s.Resample, s.Keep = Fixed{Epochs: 30}, Mutations{}, Resampler{}, 300
			s.Move = mcmc.PCN{Freeze: 0.5}
		}),
	}
}

// Stopped after any iteration, packed, unpacked by a fresh sampler and continued, every kind of run ends in the same
// bytes as one that never stopped; and so do islands, on any number of threads.
func TestStopAndContinueAndThreadsGiveTheSameBytes(t *testing.T) {
	ctx := context.Background()
	for name, make := range kinds() {
		t.Run(name, func(t *testing.T) {
			want, err := make(1).RunIsland(ctx, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			st, err := make(1).Init(ctx)
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for s := make(1); !s.Done(st); s = make(1) {
				if _, err := s.Step(ctx, st); err != nil {
					t.Fatal(err)
				}
				saved, _ := st.MarshalBinary()
				st = new(State)
				if err := st.UnmarshalBinary(saved); err != nil {
					t.Fatal(err)
				}
				steps++
				if steps == 2 { // another machine takes it from here
					if got, err := make(1).RunIsland(ctx, saved, nil); err != nil || !bytes.Equal(got, want) {
						t.Errorf("continued after 2 steps: bytes differ, error %v", err)
					}
				}
			}
			if got, _ := st.MarshalBinary(); !bytes.Equal(got, want) || steps < 3 {
				t.Errorf("stopped after each of %d steps: bytes differ", steps)
			}
			for _, threads := range []int{1, 2, 7} {
				workers := pool.New(threads)
				islands := []*Sampler{make(0), make(1), make(2)}
				for _, s := range islands {
					s.Pool = workers
				}
				states, err := RunIslands(ctx, workers, islands, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := states[1].MarshalBinary(); !bytes.Equal(got, want) {
					t.Errorf("%d threads: bytes differ", threads)
				}
				if slices.Equal(states[0].Theta, states[1].Theta) {
					t.Error("two islands are the same")
				}
			}
		})
	}
}

// Whatever happened, what a particle remembers is what would be evaluated where it stands, bit by bit; counts of
// evaluations are those that the model saw.
func TestCachesAndCountsAreTrue(t *testing.T) {
	ctx := context.Background()
	for name, make := range kinds() {
		s := make(0)
		m := s.Model.(location)
		m.calls = new(int)
		s.Model = m
		st, err := s.Init(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for !s.Done(st) {
			stage, err := s.Path.Next(st)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Step(ctx, st); err != nil {
				t.Fatal(err)
			}
			if *m.calls != st.Gradients+st.Values {
				t.Fatalf("%s: %d evaluations counted, the model saw %d", name, st.Gradients+st.Values, *m.calls)
			}
			fresh := mcmc.NewPopulation(st.J, st.D, st.GradLL != nil)
			copy(fresh.Theta, st.Theta)
			if err := s.target(stage).Evaluate(ctx, &fresh); err != nil {
				t.Fatal(err)
			}
			*m.calls = st.Gradients + st.Values
			if !slices.Equal(fresh.LL, st.LL) || !slices.Equal(fresh.LP, st.LP) || !slices.Equal(fresh.GradLL, st.GradLL) || !slices.Equal(fresh.GradLP, st.GradLP) {
				t.Fatalf("%s, iteration %d: a cache is not what is evaluated anew", name, st.K)
			}
		}
	}
}

// A move costs S gradients and not S+1, a new temperature nothing.
func TestNothingIsPaidTwice(t *testing.T) {
	s := kinds()["tempering hmc"](0)
	st, infos := run(t, s)
	if want := 41 * 150 * (1 + len(infos)*3*3); st.Gradients != want || st.Values != 0 {
		t.Errorf("%d stages cost %d gradients and %d values, want %d and 0", len(infos), st.Gradients, st.Values, want)
	}
	s = kinds()["tempering pcn"](0)
	st, infos = run(t, s)
	if want := 41 * 150 * (1 + len(infos)*9); st.Values != want || st.Gradients != 0 {
		t.Errorf("%d stages cost %d gradients and %d values, want 0 and %d", len(infos), st.Gradients, st.Values, want)
	}
	s = kinds()["chains"](0)
	if st, _ = run(t, s); st.Gradients != 41*150*71 || st.Epochs() != 70 {
		t.Errorf("chains of 70 epochs made %v and cost %d gradients", st.Epochs(), st.Gradients)
	}
}

// Where nobody moves, everything that belongs to a particle must be what belongs to the ancestor it names.
func TestEverythingMovesWithItsAncestor(t *testing.T) {
	m := newLocation(3)
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: Ladder{0.05, 0.2, 1}, Particles: 40, Seed: 9,
		Move: mcmc.HMC{Step: 1e9, Each: true}, Resample: Resampler{When: Always}, // every proposal is far off
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for j := range st.Tuning { // marks that only resampling moves: the step is fixed, nothing is accepted
		st.Tuning[j] += 1e-9 * float64(j)
		st.Accept[j] = float64(j)
	}
	var first State
	first.copy(st)
	for !s.Done(st) {
		info, err := s.Step(context.Background(), st)
		if err != nil {
			t.Fatal(err)
		}
		if info.Acceptance != 0 {
			t.Fatalf("acceptance %v, the test needs 0", info.Acceptance)
		}
		distinct := map[int32]bool{}
		for j, r := range st.Roots {
			distinct[r] = true
			row := func(x []float64, j int) []float64 { return x[j*3 : j*3+3] }
			if !slices.Equal(row(st.Theta, j), row(first.Theta, int(r))) || !slices.Equal(row(st.GradLL, j), row(first.GradLL, int(r))) ||
				!slices.Equal(row(st.GradLP, j), row(first.GradLP, int(r))) || st.LL[j] != first.LL[r] || st.LP[j] != first.LP[r] ||
				st.Tuning[j] != first.Tuning[r] || st.Accept[j] != first.Accept[r] {
				t.Fatalf("iteration %d: particle %d is not a copy of its first ancestor %d", st.K, j, r)
			}
		}
		if info.Ancestors != len(distinct) || info.Parents < info.Ancestors || !info.Resampled {
			t.Errorf("%d ancestors and %d parents reported, %d ancestors counted", info.Ancestors, info.Parents, len(distinct))
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(st.Roots)))); n > 25 {
		t.Errorf("%d of 40 ancestors left: nothing was selected", n)
	}
}

// Resampling draws new numbers in every iteration, island and run.
func TestResamplingDrawsAnew(t *testing.T) {
	ancestors := func(seed uint64, island, iteration int) []int32 {
		s := kinds()["tempering hmc"](island)
		s.Seed = seed
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		st.K = iteration
		if err := s.prepare(st); err != nil {
			t.Fatal(err)
		}
		s.before.copy(st)
		s.resample(st, nil)
		return slices.Clone(s.ancestors)
	}
	seen := [][]int32{ancestors(1, 0, 0)}
	for _, other := range [][]int32{ancestors(2, 0, 0), ancestors(1, 1, 0), ancestors(1, 0, 1), ancestors(1, 0, 2)} {
		for _, one := range seen {
			if slices.Equal(one, other) {
				t.Error("the same ancestors twice")
			}
		}
		seen = append(seen, other)
	}
}

// late weighs everything after the move, as momentum weights will: the change of target at the ancestors, less the
// energy errors.
type late struct{}

func (late) Before([]float64) []float64 { return nil }
func (late) After(change, energy []float64) []float64 {
	for j := range change {
		change[j] -= energy[j]
	}
	return change
}

// What a weighting hears after the move is the change of target of the particle's ancestor and the sum of the energy
// errors of all mutations.
func TestWeightingHearsOfAncestorsAndEnergies(t *testing.T) {
	m := newLocation(3)
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: Ladder{0.01, 1}, Particles: 30, Seed: 14, Mutations: Mutations{Count: 3},
		Move: scripted(func(int, []float64) {}), Weighting: late{}, Resample: Resampler{When: Always},
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for last := 0.0; !s.Done(st); last = st.Lambda {
		if _, err := s.Step(context.Background(), st); err != nil {
			t.Fatal(err)
		}
		// Nobody moved, so the particle's own likelihood is its ancestor's; scripted moves have energy error j + 1 each.
		offset := st.LogW[0] - ((st.Lambda-last)*st.LL[0] - 3)
		for j, l := range st.LogW {
			if want := (st.Lambda-last)*st.LL[j] - 3*float64(j+1) + offset; !near(l, want, 1e-12, 1e-9) {
				t.Fatalf("λ = %v: particle %d has log-weight %v, want %v", st.Lambda, j, l, want)
			}
		}
	}
}

// A path of data instead of temperatures: evidence and moments with the same loop.
func TestPathOfData(t *testing.T) {
	m := newLocation(2)
	checkPosterior(t, m.problem(), replicate(t, m.problem(), 20, Sampler{
		Path: growing{len(m.y)}, Move: mcmc.HMC{Steps: 4}, Mutations: Mutations{Count: 5}, Particles: 300, Seed: 10,
	}))
}

// The evidence of runs that never resample is that of importance sampling: weights multiply over the stages.
func TestWeightsAccumulateWithoutResampling(t *testing.T) {
	p := conjugate()
	for name, s := range map[string]Sampler{
		"never":          {Path: Ladder{0.1, 0.3, 0.6, 1}, Resample: Resampler{When: Never}},
		"below a third":  {Path: Ladder{0.1, 0.3, 0.6, 1}, Resample: Resampler{Ratio: 0.33}},
		"own adaptation": {Path: Tempering{ESS: 0.6}, Resample: Resampler{Ratio: 0.4}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Move, s.Mutations, s.Particles, s.Seed = mcmc.HMC{Steps: 3}, Mutations{Count: 5}, 300, 11
			checkPosterior(t, p, replicate(t, p, 30, s))
		})
	}
}

// With a fixed ladder and a fixed move the estimate of the evidence is unbiased, for any number of particles and every
// way of resampling (section 3.2): the mean of Z over runs is Z. Two percent would be found.
func TestEvidenceIsUnbiased(t *testing.T) {
	p := conjugate()
	runs := 3000
	if testing.Short() {
		runs = 500
	}
	for _, scheme := range []Scheme{Multinomial, Systematic, Stratified, Residual} {
		for _, when := range []When{Always, BelowRatio} {
			t.Run(fmt.Sprint(scheme, " ", when), func(t *testing.T) {
				z := make([]float64, 0, runs)
				for _, st := range replicate(t, p, runs, Sampler{
					Path: Ladder{0.05, 0.2, 0.5, 1}, Move: mcmc.HMC{Step: 0.4}, Mutations: Mutations{Count: 2},
					Particles: 8, Seed: 12, Resample: Resampler{Scheme: scheme, When: when},
				}) {
					z = append(z, math.Exp(st.LogZ-p.logZ))
				}
				meanIs(t, "Z / true Z", z, 1, 0, 8)
			})
		}
	}
}

// Every scheme gives n·w children on average, systematic and stratified within one or two of it.
func TestSchemesAreUnbiased(t *testing.T) {
	w := []float64{0, 0.07, 0.31, 0, 0.22, 0.4}
	const n, rounds = 5, 4000
	for _, scheme := range []Scheme{Multinomial, Systematic, Stratified, Residual} {
		uniform := rng.Key{Seed: 13, Purpose: rng.Resample, Island: int(scheme)}.Stream().Float64
		children := make([][]float64, len(w))
		ancestors := make([]int32, n)
		for range rounds {
			scheme.Ancestors(w, uniform, ancestors)
			count := make([]float64, len(w))
			for _, a := range ancestors {
				count[a]++
			}
			for j, c := range count {
				children[j] = append(children[j], c)
				if off := math.Abs(c - n*w[j]); scheme == Systematic && off >= 1 || scheme == Stratified && off >= 2 || scheme == Residual && c < math.Floor(n*w[j]) {
					t.Errorf("%v: %v children of weight %v", scheme, c, w[j])
				}
			}
		}
		for j, c := range children {
			meanIs(t, fmt.Sprint(scheme, ": children of ", j), c, n*w[j], 1e-9, len(w))
		}
	}
	// Cumulated weights that end a little below 1 must not lead to a dead particle, or beyond the end.
	ancestors := make([]int32, 3)
	Multinomial.Ancestors([]float64{0.5, 0.4999999, 0}, list([]float64{0.99999999, 0.2, 0.7}), ancestors)
	if !slices.Equal(ancestors, []int32{1, 0, 1}) {
		t.Errorf("ancestors %v", ancestors)
	}
}

// After an error, a cancelled context in the middle of an iteration included, the state is the last complete one.
func TestStepIsAllOrNothing(t *testing.T) {
	for name, make := range kinds() {
		want, err := make(0).RunIsland(context.Background(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for after := 1; after <= 3; after++ {
			ctx, cancel := context.WithCancel(context.Background())
			s := make(0)
			st, err := s.Init(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Step(ctx, st); err != nil {
				t.Fatal(err)
			}
			before, _ := st.MarshalBinary()
			inner := s.Model
			s.Model = &interrupted{inner, after, cancel}
			for err == nil { // moves of one evaluation make an iteration or two until then
				before, _ = st.MarshalBinary()
				_, err = s.Step(ctx, st)
			}
			if at := fmt.Sprintf("island 0, iteration %d", st.K); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), at) {
				t.Errorf("%s: error %v", name, err)
			}
			if got, _ := st.MarshalBinary(); !bytes.Equal(got, before) {
				t.Errorf("%s: the state changed", name)
			}
			s.Model = inner
			if err := s.Run(context.Background(), st, nil); err != nil {
				t.Fatal(err)
			}
			if got, _ := st.MarshalBinary(); !bytes.Equal(got, want) {
				t.Errorf("%s: going on after the error gives other bytes", name)
			}
		}
	}
}

// interrupted is a model whose user loses patience during call number after.
type interrupted struct {
	mcmc.Model
	after  int
	cancel context.CancelFunc
}

func (m *interrupted) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if m.after--; m.after == 0 {
		m.cancel()
		return ctx.Err()
	}
	return m.Model.LogLik(ctx, rows, theta, ll, grad)
}

func TestKeptStatesAreEvenOverTheSecondHalf(t *testing.T) {
	s := kinds()["chains"](0)
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var spent []float64
	var want []float64
	if err := s.Run(context.Background(), st, func(st *State, info Info) error {
		if n := len(st.KeptLL) / st.J; n > len(spent) {
			spent = append(spent, info.Epochs)
			want = append(want, st.Theta...)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// 70 epochs: moves of 5 until 10, of 8 until 66, then one of the 4 that are left. Due at 43.75, 52.5, 61.25, 70.
	if !slices.Equal(spent, []float64{50, 58, 66, 70}) || !slices.Equal(st.Kept, want) {
		t.Errorf("kept after %v epochs", spent)
	}
	if theta, logw := st.Ensemble(); len(theta) != 4*150*3 || logw != nil {
		t.Errorf("ensemble of %d numbers", len(theta))
	}
	last := kinds()["short chains"](0)
	st, _ = run(t, last)
	if theta, logw := st.Ensemble(); len(theta) != 150*3 || len(logw) != 150 {
		t.Errorf("ensemble of %d numbers and %d weights", len(theta), len(logw))
	}
}

func TestSettingsAreRefusedWithReasons(t *testing.T) {
	nan := math.NaN()
	for want, change := range map[string]func(s *Sampler){
		"must be set":              func(s *Sampler) { s.Model = nil },
		"0 particles":              func(s *Sampler) { s.Particles = 0 },
		"prior of 2":               func(s *Sampler) { s.Prior = normal{d: 2, sd: 1} },
		"start of 5 numbers":       func(s *Sampler) { s.Start = make([]float64, 5) },
		"epochs":                   func(s *Sampler) { s.Path = Fixed{} },
		"not above":                func(s *Sampler) { s.Path = Ladder{0.5, 0.5, 1} },
		"not 1":                    func(s *Sampler) { s.Path = Ladder{0.5} },
		"tempering at ESS":         func(s *Sampler) { s.Path = Tempering{ESS: 1} },
		"only a Fixed path":        func(s *Sampler) { s.Keep = 150 },
		"not a multiple":           func(s *Sampler) { s.Path, s.Keep = Fixed{100}, 151 },
		"has moves for":            func(s *Sampler) { s.Path, s.Keep = Fixed{100}, 1500 },
		"exclude each other":       func(s *Sampler) { s.Mutations = Mutations{Count: 3, Eta: 0.1} },
		"streams can tell":         func(s *Sampler) { s.Mutations.Count = 5000 },
		"island 16777216":          func(s *Sampler) { s.Island = 1 << 24 },
		"unknown scheme":           func(s *Sampler) { s.Resample.Scheme = 9 },
		"ratio":                    func(s *Sampler) { s.Resample.Ratio = nan },
		"leapfrogs":                func(s *Sampler) { s.Move = mcmc.HMC{Steps: -1} },
		"set one of them":          func(s *Sampler) { s.Move = mcmc.HMC{Step: 1, Start: 1} },
		"phases end at":            func(s *Sampler) { s.Move = mcmc.HMC{Phases: mcmc.ChainPhases(3)[:2]} },
		"must lie between 0 and 1": func(s *Sampler) { s.Move = mcmc.PCN{Step: 2} },
		"not Gaussian":             func(s *Sampler) { s.Prior = struct{ mcmc.Prior }{s.Prior} },
		"needs a Gaussian prior":   func(s *Sampler) { s.Move, s.Prior = mcmc.PCN{}, struct{ mcmc.Prior }{s.Prior} },
		"starts with": func(s *Sampler) {
			s.Start = make([]float64, 450)
			s.Start[7] = nan
		},
	} {
		s := kinds()["tempering hmc"](0)
		change(s)
		if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	s := kinds()["tempering hmc"](0)
	st, _ := run(t, s)
	if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), "end") {
		t.Errorf("a step beyond the end: %v", err)
	}
	for want, change := range map[string]func(st *State){
		"does not belong": func(st *State) { st.Examples++ },
		"log-weights":     func(st *State) { st.LogW = st.LogW[1:] },
		"need gradients":  func(st *State) { st.GradLL, st.GradLP = nil, nil },
	} {
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change(st)
		if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// A NaN log-weight stops the run and names island, iteration and particle; a dead particle is counted.
func TestBadLikelihoods(t *testing.T) {
	sick := func(at float64) Sampler {
		return Sampler{
			Model: density{1, func(theta, grad []float64) float64 {
				if grad != nil {
					grad[0] = 0
				}
				if theta[0] > 5 {
					return at
				}
				return 0
			}},
			Prior: normal{d: 1, sd: 1}, Path: Ladder{0.5, 1}, Move: mcmc.HMC{Step: 0.01}, Resample: Resampler{When: Never},
			Particles: 4, Start: []float64{0, 0, 9, 0},
		}
	}
	s := sick(math.NaN())
	if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), "particle 2") {
		t.Errorf("NaN at the start gives %v", err)
	}
	s = sick(math.Inf(-1))
	st, infos := run(t, &s)
	if infos[1].Dead != 1 || !near(st.LogZ, math.Log(0.75), 1e-12, 0) || !near(infos[1].ESS, 3, 1e-12, 0) {
		t.Errorf("one of four dead: %+v, log Z %v", infos[1], st.LogZ)
	}
	s = sick(math.Inf(-1))
	s.Start = []float64{9, 9, 9, 9}
	if st, err := s.Init(context.Background()); err != nil {
		t.Error(err)
	} else if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), "all 4 particles are dead") {
		t.Errorf("all dead gives %v", err)
	}
	m := newLocation(1)
	m.y[17] = math.NaN() // reached by the fourth stage of a path of data
	s = Sampler{Model: m, Prior: m.problem().prior, Path: growing{len(m.y)}, Move: mcmc.HMC{}, Particles: 3, Island: 2}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), st, nil); err == nil || !strings.Contains(err.Error(), "island 2, iteration 3: particle 0 has log-weight NaN") {
		t.Errorf("NaN on the way gives %v", err)
	}
}

func TestIslandsStopTogether(t *testing.T) {
	islands := []*Sampler{kinds()["tempering hmc"](0), kinds()["tempering hmc"](1), kinds()["tempering hmc"](2)}
	broken := errors.New("disk full")
	_, err := RunIslands(context.Background(), pool.New(2), islands, func(_ *State, info Info) error {
		if info.Island == 1 && info.K == 2 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := RunIslands(ctx, pool.New(2), islands, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Bytes that are no state are refused, whatever they are.
func FuzzUnmarshal(f *testing.F) {
	st, err := kinds()["chains"](0).Init(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	b, _ := st.MarshalBinary()
	f.Add(b)
	f.Add(b[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		if st.UnmarshalBinary(b) == nil {
			if err := st.check(); err != nil {
				t.Error(err)
			}
		}
	})
}
