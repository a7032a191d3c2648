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

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/mcmc"
)

// finish takes a saved state, or a new one, to the end of the path, bytes in, bytes out.
func finish(ctx context.Context, s *Sampler, saved []byte) ([]byte, error) {
	st := new(State)
	var err error
	if saved == nil {
		st, err = s.Init(ctx)
	} else {
		err = st.UnmarshalBinary(saved)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx, st, nil); err != nil {
		return nil, err
	}
	return st.MarshalBinary()
}

// Stopped after any iteration, packed, unpacked by a fresh sampler and continued, every kind of run ends in the same
// bytes as one that never stopped; and so do islands, on any number of threads.
func TestStopAndContinueAndThreadsGiveTheSameBytes(t *testing.T) {
	ctx := context.Background()
	for name, make := range kinds() {
		t.Run(name, func(t *testing.T) {
			want, err := finish(ctx, make(1), nil)
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
					if got, err := finish(ctx, make(1), saved); err != nil || !bytes.Equal(got, want) {
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
			moved := State{Psi: slices.Clone(st.Psi), Population: st.Population} // as the iteration sees it
			if _, err := s.Step(ctx, st); err != nil {
				t.Fatal(err)
			}
			if *m.calls != st.Gradients+st.Values {
				t.Fatalf("%s: %d evaluations counted, the model saw %d", name, st.Gradients+st.Values, *m.calls)
			}
			fresh := st.Population.Blank()
			copy(fresh.Theta, st.Theta)
			if err := s.target(stage, &moved).Evaluate(ctx, &fresh); err != nil {
				t.Fatal(err)
			}
			*m.calls = st.Gradients + st.Values
			if !same(fresh.LL, st.LL) || !same(fresh.LP, st.LP) || !same(fresh.GradLL, st.GradLL) ||
				!same(fresh.AnnealedLL, st.AnnealedLL) || !same(fresh.AnnealedGrad, st.AnnealedGrad) {
				t.Fatalf("%s, iteration %d: a cache is not what is evaluated anew", name, st.K)
			}
		}
	}
}

// same is equality up to the order of sums.
func same(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return golden.Near(a, b, 1e-12, 1e-12) })
}

// A move costs S gradients and not S+1, a new temperature nothing but the trials that find its step. Moves evaluate all 150
// particles at once, and trials 32 copies.
func TestNothingIsPaidTwice(t *testing.T) {
	for name, c := range map[string]struct{ calls, trial int }{ // of the model: in an iteration, and in a trial
		"tempering hmc": {3 * 3, 3}, "tempering pcn": {9, 1},
	} {
		s := kinds()[name](0)
		counted := &populations{Model: s.Model}
		s.Model = counted
		st, infos := run(t, s)
		if counted.large != 1+len(infos)*c.calls {
			t.Errorf("%s: %d stages took %d evaluations of the population, want %d", name, len(infos), counted.large, 1+len(infos)*c.calls)
		}
		// 14 trials of a stage at most, and one at least.
		if n := counted.small / c.trial; counted.small%c.trial != 0 || n < len(infos) || n > 14*len(infos) {
			t.Errorf("%s: %d stages took %d evaluations of copies in trials of %d", name, len(infos), counted.small, c.trial)
		}
		cost := 41 * (150*counted.large + 32*counted.small)
		if want := [2]int{cost, 0}; name == "tempering hmc" && want != [2]int{st.Gradients, st.Values} {
			t.Errorf("%s: %d gradients and %d values, want %v", name, st.Gradients, st.Values, want)
		}
		if want := [2]int{0, cost}; name == "tempering pcn" && want != [2]int{st.Gradients, st.Values} {
			t.Errorf("%s: %d gradients and %d values, want %v", name, st.Gradients, st.Values, want)
		}
		if spent := 41*(counted.large-1) + 41*32*counted.small/150; st.Spent > spent || st.Spent < spent-len(infos) {
			t.Errorf("%s: a particle spent %d, want %d, less a fraction a stage", name, st.Spent, spent)
		}
	}
	s := kinds()["chains"](0)
	counted := &populations{Model: s.Model}
	s.Model = counted
	st, _ := run(t, s)
	// Chains have trials of four copies, and ascents of one after another. Those before a move, and the searches after them, are each rounded to
	// whole epochs of a chain.
	if want := 41 * (150*counted.large + counted.few); st.Gradients != want || counted.few == 0 {
		t.Errorf("chains: %d gradients, want %d", st.Gradients, want)
	}
	if epochs := float64(counted.large-1) + float64(counted.few)/150; !(st.Epochs() >= 70 && st.Epochs() < 71 && math.Abs(st.Epochs()-epochs-1) < 1) {
		t.Errorf("chains of 70 epochs made %v and evaluated %v", st.Epochs(), epochs)
	}
}

// populations counts the calls of a model with 150 particles, those with 32, and the particles of the others.
type populations struct {
	mcmc.Model
	large, small, few int
}

func (m *populations) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	switch len(ll) {
	case 150:
		m.large++
	case 32:
		m.small++
	default:
		m.few += len(ll)
	}
	return m.Model.LogLik(ctx, rows, theta, ll, grad)
}

// Where nobody moves, everything that belongs to a particle must be what belongs to the ancestor it names.
func TestEverythingMovesWithItsAncestor(t *testing.T) {
	m := newLocation(3)
	s := &Sampler{
		Model: m, Prior: m.problem().prior, Path: Ladder{[]float64{0.05, 0.2, 1}}, Particles: 40, Seed: 9,
		Move: mcmc.HMC{Steps: 1, Step: 1e9}, Resample: Resampler{When: Always{}}, // every proposal is far off
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
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
				st.LL[j] != first.LL[r] || st.LP[j] != first.LP[r] {
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

// After an error, a cancelled context in the middle of an iteration included, the state is the last complete one.
func TestStepIsAllOrNothing(t *testing.T) {
	for name, make := range kinds() {
		want, err := finish(context.Background(), make(0), nil)
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
			s.Model = &interrupted{inner.(mcmc.Partial), after, cancel}
			for err == nil { // moves of one evaluation make an iteration or two until then
				before, _ = st.MarshalBinary()
				_, err = s.Step(ctx, st)
			}
			if at := fmt.Sprintf("island 0, iteration %d:", st.K+1); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), at) {
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
	mcmc.Partial
	after  int
	cancel context.CancelFunc
}

func (m *interrupted) call(ctx context.Context) error {
	if m.after--; m.after == 0 {
		m.cancel()
	}
	return ctx.Err()
}

func (m *interrupted) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if err := m.call(ctx); err != nil {
		return err
	}
	return m.Partial.LogLik(ctx, rows, theta, ll, grad)
}

func (m *interrupted) LearnedGradient(ctx context.Context, rows []int32, psi, theta, weights, grad []float64) error {
	if err := m.call(ctx); err != nil {
		return err
	}
	return m.Partial.LearnedGradient(ctx, rows, psi, theta, weights, grad)
}

func (m *interrupted) At(psi []float64) mcmc.Model { return &interruptedAt{m.Partial.At(psi), m} }

// interruptedAt is the model at ψ.
type interruptedAt struct {
	mcmc.Model
	of *interrupted
}

func (m *interruptedAt) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if err := m.of.call(ctx); err != nil {
		return err
	}
	return m.Model.LogLik(ctx, rows, theta, ll, grad)
}

func TestKeptStatesAreEvenOverTheSecondHalf(t *testing.T) {
	s := kinds()["chains"](0)
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var spent, want, wantLL []float64
	if err := s.Run(context.Background(), st, func(st *State, info Info) error {
		if n := len(st.KeptLL) / st.J; n > len(spent) {
			spent = append(spent, info.Epochs)
			want, wantLL = append(want, st.Theta...), append(wantLL, st.LL...)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	// 70 epochs: trials of the step for less than two, moves of 5 until 9, of 8 until 65, then one of the 5 that are left. Due at
	// 43.75, 52.5, 61.25, 70.
	for i, epochs := range spent {
		spent[i] = math.Floor(epochs)
	}
	if !slices.Equal(spent, []float64{49, 57, 65, 70}) || !slices.Equal(st.Kept, want) || !slices.Equal(st.KeptLL, wantLL) {
		t.Errorf("kept after %v epochs", spent)
	}
	if e := st.Ensemble(); len(e.Theta) != 4*150*3 || e.LogW != nil || e.Times != 4 {
		t.Errorf("ensemble of %d numbers at %d times", len(e.Theta), e.Times)
	}
	last := kinds()["short chains"](0)
	st, _ = run(t, last)
	if e := st.Ensemble(); len(e.Theta) != 150*3 || len(e.LogW) != 150 || e.Times != 1 {
		t.Errorf("ensemble of %d numbers and %d weights", len(e.Theta), len(e.LogW))
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

// A run that is interrupted again and again, each time saved and restored as it is, ends with the same bytes as one that was
// not: by a watch that fails, or by a context that ends within an iteration.
func TestRunsStopAndContinue(t *testing.T) {
	full := errors.New("disk full")
	for name, make := range kinds() {
		want, err := finish(context.Background(), make(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cancelled := range []bool{false, true} {
			st, err := make(0).Init(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for stops := 0; ; stops++ {
				ctx, cancel := context.WithCancel(context.Background())
				seen := 0
				err := make(0).Run(ctx, st, func(*State, Info) error {
					if seen++; seen < 2 {
						return nil
					}
					if cancelled {
						cancel()
						return nil
					}
					return full
				})
				cancel()
				got, _ = st.MarshalBinary()
				st = new(State)
				if err := st.UnmarshalBinary(got); err != nil {
					t.Fatal(err)
				}
				if err == nil {
					break
				}
				if !errors.Is(err, full) && !errors.Is(err, context.Canceled) || stops > 1000 {
					t.Fatalf("%s, stop %d: %v", name, stops, err)
				}
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s, cancelled %v: other bytes", name, cancelled)
			}
		}
	}
}

// A state that does not hold together is refused for what is wrong with it.
func TestStatesAreRefusedWithReasons(t *testing.T) {
	for want, change := range map[string]func(st *State){
		"has 149 log-weights":                    func(st *State) { st.LogW = st.LogW[1:] },
		"counts -1 iterations":                   func(st *State) { st.K = -1 },
		"remembers iteration -2, of 0":           func(st *State) { st.Memory = []int{-2} },
		"remembers iteration 9, of 0":            func(st *State) { st.Memory = []int{0, 9} },
		"65 numbers that the path remembers":     func(st *State) { st.Memory = make([]int, 65) },
		"has 3 momenta":                          func(st *State) { st.Momentum = make([]float64, 3) },
		"counts -3 examples of the model":        func(st *State) { st.Examples = -3 },
		"counts -4 examples evaluated":           func(st *State) { st.Spent = -4 },
		"counts -5 gradients":                    func(st *State) { st.Gradients = -5 },
		"counts -6 values":                       func(st *State) { st.Values = -6 },
		"has 8 examples annealed in and a batch": func(st *State) { st.Annealed, st.Rows = 8, Rows{7, 12} },
		"a batch from 12 to 7":                   func(st *State) { st.Annealed, st.Rows = 7, Rows{12, 7} },
		"has 7 examples annealed in, but no log": func(st *State) { st.Annealed, st.Rows, st.AnnealedLL, st.AnnealedGrad = 7, Rows{7, 12}, nil, nil },
		"has first ancestor 150":                 func(st *State) { st.Roots[3] = 150 },
		"of 150 ancestors and 149 numbers":       func(st *State) { st.Genealogy.Acted = st.Genealogy.Acted[1:] },
		"of 1 lags with 0 variances":             func(st *State) { st.Genealogy.Variance = nil },
		"an ancestor that is none of the":        func(st *State) { st.Genealogy.Ancestors[3] = 150 },
	} {
		st, err := kinds()["sda"](0).Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		change(st)
		b, _ := st.MarshalBinary()
		if err := new(State).UnmarshalBinary(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
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
