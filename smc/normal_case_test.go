package smc

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/starling-smc/starling/mcmc"
)

// narrow is the likelihood exp(−|θ − (1, 1, 1)|²/(2·.05²)), not normalised. With the prior N(0, I₃) it takes the particles far,
// and makes them few.
func narrow() density {
	return density{3, func(theta, grad []float64) (l float64) {
		for i, x := range theta {
			l -= (x - 1) * (x - 1) / (2 * 0.05 * 0.05)
			if grad != nil {
				grad[i] = -(x - 1) / (0.05 * 0.05)
			}
		}
		return l
	}}
}

// With all defaults moves arrive: log Z = 1.5 ln(.0025/1.0025) − 1.5/1.0025 within the bounds in each of 20 seeds, and their mean
// within .1. Over 60 seeds the root of the mean squared error was .106 for four leapfrogs, .115 for a length, and .142 for pCN.
// A normal error exceeds .45, 3.9 times .115, in any of 20 seeds with probability .002. It exceeds .1 in the mean with probability
// .002 for pCN, and 1e-4 for HMC. These bounds are wanted, so a change of the bits fails by chance more often than once in 10⁶.
// With one move a stage, as before, log Z was −9.3 to −31.
//
// The first move of a stage is accepted about as often as aimed at: its step is found by trials of 16 copies, and adapted later.
// Trials end within .1 of the aim, as they see it.
func TestNormalCase(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole test looks at samplers of one thread, whose bits are the same everywhere")
	}
	truth := 1.5*math.Log(0.0025/1.0025) - 1.5/1.0025
	for name, c := range map[string]struct {
		move        mcmc.Kernel
		each, aim   float64
		lowest, top float64 // of the first move's acceptance, over stages
	}{
		"steps":  {mcmc.HMC{Steps: 4}, 0.45, 0.65, 0.4, 1}, // steps that are limited by the length of the trajectory are accepted more often
		"length": {mcmc.HMC{}, 0.45, 0.9, 0.7, 1},
		"pCN":    {mcmc.PCN{}, 0.9, 0.25, 0.03, 0.65},
	} {
		t.Run(name, func(t *testing.T) {
			var mean, first, stages float64
			for seed := range uint64(20) {
				begins := true
				s := &Sampler{Model: narrow(), Prior: normal{d: 3, sd: 1}, Path: Tempering{}, Particles: 500, Seed: seed}
				s.Move = firstMoves{c.move, &begins, func(acceptance float64) {
					first, stages = first+acceptance, stages+1
					if acceptance < c.lowest || acceptance > c.top {
						t.Errorf("seed %d: the first move of a stage has acceptance %v, aim %v", seed, acceptance, c.aim)
					}
				}}
				st, infos := run(t, s)
				if !(math.Abs(st.LogZ-truth) <= c.each) {
					t.Errorf("seed %d: log Z %v, truth %v", seed, st.LogZ, truth)
				}
				mean += st.LogZ / 20
				for _, info := range infos {
					if info.Mutations < 4 || info.Mutations == 50 || info.ScaleKept || info.Stuck && info.Acceptance > 0.1 {
						t.Errorf("seed %d: a stage that did not travel: %+v", seed, info)
					}
				}
			}
			if !(math.Abs(mean-truth) <= 0.1) {
				t.Errorf("mean log Z %v, truth %v", mean, truth)
			}
			t.Logf("log Z %.3f, truth %.3f; first moves accepted %.3f", mean, truth, first/stages)
		})
	}
}

// firstMoves tells the acceptance of the first move after each Begin.
type firstMoves struct {
	mcmc.Kernel
	begins *bool
	tell   func(acceptance float64)
}

func (m firstMoves) Traits() mcmc.Traits {
	t := m.Kernel.Traits()
	t.Repeats = mcmc.Mutations{}
	return t
}

func (m firstMoves) Begin(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, weights, tuning []float64, now mcmc.StepContext) (mcmc.Trials, error) {
	*m.begins = true
	return m.Kernel.(mcmc.Beginner).Begin(ctx, w, t, p, weights, tuning, now)
}

func (m firstMoves) Mutate(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	out, err := m.Kernel.Mutate(ctx, w, t, p, tuning, now)
	if *m.begins && err == nil {
		*m.begins = false
		sum := 0.0
		for _, a := range out.Probability {
			sum += a / float64(p.J)
		}
		m.tell(sum)
	}
	return out, err
}

// lost is a likelihood that is finite at the first evaluations, those of the start, and nowhere after: every move is refused.
type lost struct {
	density
	left *atomic.Int64
}

func (m lost) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if m.left.Add(-int64(len(ll))) >= 0 {
		return m.density.LogLik(ctx, rows, theta, ll, grad)
	}
	for j := range ll {
		ll[j] = math.Inf(-1)
	}
	clear(grad)
	return nil
}

// A stage whose particles cannot move makes all its moves and is stuck, whatever refuses them. Where a count was given, the
// acceptance alone tells.
func TestStuckStages(t *testing.T) {
	nowhere := func() mcmc.Model {
		left := new(atomic.Int64)
		left.Store(50)
		return lost{narrow(), left}
	}
	for name, c := range map[string]struct {
		model mcmc.Model
		move  mcmc.HMC
		moves int
	}{
		"nowhere to go":           {nowhere(), mcmc.HMC{Steps: 2}, 50},
		"nowhere to go, of eight": {nowhere(), mcmc.HMC{Steps: 2, Mutations: mcmc.Mutations{Max: 8}}, 8},
		"nowhere to go by eta":    {nowhere(), mcmc.HMC{Steps: 2, Mutations: mcmc.Mutations{Eta: 0.05, Max: 9}}, 9},
		"a step too large":        {narrow(), mcmc.HMC{Steps: 2, Step: 1e6}, 50},
		"a step too small":        {narrow(), mcmc.HMC{Steps: 2, Step: 1e-9}, 50},
		"a count":                 {narrow(), mcmc.HMC{Steps: 2, Step: 1e6, Mutations: mcmc.Mutations{Count: 3}}, 3},
	} {
		s := &Sampler{Model: c.model, Prior: normal{d: 3, sd: 1}, Path: Tempering{}, Move: c.move, Particles: 50}
		if _, info := step(t, s); !info.Stuck || info.Mutations != c.moves {
			t.Errorf("%s: %d moves, acceptance %v, stuck %v", name, info.Mutations, info.Acceptance, info.Stuck)
		}
	}
	// Moves without accept or reject, and chains, are never stuck: a small step of a count is not either.
	s := &Sampler{Model: narrow(), Prior: normal{d: 3, sd: 1}, Path: Tempering{}, Move: mcmc.HMC{Steps: 2, Step: 1e-9, Mutations: mcmc.Mutations{Count: 2}}, Particles: 50}
	if _, info := step(t, s); info.Stuck || info.Mutations != 2 {
		t.Errorf("accepted moves of a count: %+v", info)
	}
}

// Particles that descend from one ancestor teach no scale: their spread is what the moves have made of it. They do where the last
// moves went on until the particles had travelled.
func TestScaleIsKept(t *testing.T) {
	s := &Sampler{Model: narrow(), Prior: normal{d: 3, sd: 1}, Path: Ladder{[]float64{0.002, 0.006, 1}}, Move: mcmc.HMC{Steps: 4, Mutations: mcmc.Mutations{Count: 2}}, Particles: 50}
	for _, c := range []struct{ related, parted, kept bool }{{false, false, false}, {true, false, true}, {true, true, false}} {
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(context.Background(), st); err != nil {
			t.Fatal(err)
		}
		if st.Parted != 0 {
			t.Error("two moves of a count have parted the particles")
		}
		if c.related {
			clear(st.Roots)
		}
		if c.parted {
			st.Parted = 1
		}
		before := append([]float64(nil), st.Tuning...)
		info, err := s.Step(context.Background(), st)
		if err != nil {
			t.Fatal(err)
		}
		const header = 7
		kept := slices.Equal(st.Tuning[header:], before[header:]) // a diagonal and a factor for each fold
		if info.ScaleKept != c.kept || kept != c.kept {
			t.Errorf("%+v: scale kept %v, as reported %v", c, kept, info.ScaleKept)
		}
	}
	s.Move = mcmc.HMC{Steps: 4, Mutations: mcmc.UntilTravelled}
	if st, info := step(t, s); st.Parted != 1 || info.Mutations == mcmc.UntilTravelled.Max {
		t.Errorf("after %d moves until the particles have travelled: parted %d", info.Mutations, st.Parted)
	}
}

// With a written step and no scale the bits are those of version 18e4f66, before moves learned scales: its hash.
func TestBitsOfFixedMoves(t *testing.T) {
	for name, c := range map[string]struct {
		move mcmc.Kernel
		want string
	}{
		"hmc": {mcmc.HMC{Steps: 4, Step: 0.05, Jitter: 0.2, Mutations: mcmc.Mutations{Count: 3}}, "663d7613bea59a8b"},
		"pcn": {mcmc.PCN{Step: 0.3, Mutations: mcmc.Mutations{Count: 3}}, "81f6d830c90eeeb3"},
	} {
		s := &Sampler{Model: narrow(), Prior: normal{d: 3, sd: 1}, Path: Tempering{}, Move: c.move, Resample: Resampler{When: Always{}}, Particles: 100, Seed: 3}
		st, _ := run(t, s)
		h := sha256.New()
		binary.Write(h, binary.LittleEndian, append(append([]float64{st.LogZ}, st.Theta...), st.LL...))
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
