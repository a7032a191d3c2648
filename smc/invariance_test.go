package smc

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// tensors is a density whose coordinates form blocks, as those of a network do.
type tensors struct {
	density
	ends []int
}

func (m tensors) Blocks() []int { return m.ends }

// frozenMoves are the moves of chains that accept or reject: every row of the table with its defaults, and HMC with each scale,
// with each way to say where a trajectory ends, and with and without jitter.
func frozenMoves() map[string]mcmc.Kernel {
	moves := map[string]mcmc.Kernel{
		"hmc, none":      mcmc.HMC{Steps: 5, Scale: mcmc.None},
		"hmc, tensor":    mcmc.HMC{Steps: 4, Scale: mcmc.Tensor},
		"hmc, diagonal":  mcmc.HMC{Steps: 4, Scale: mcmc.Diagonal},
		"hmc, dense":     mcmc.HMC{Steps: 3, Scale: mcmc.Dense},
		"hmc, jitter":    mcmc.HMC{Steps: 4, Scale: mcmc.Diagonal, Jitter: 0.5},
		"hmc, length":    mcmc.HMC{Length: 1.2, Scale: mcmc.Tensor, Jitter: 0.2},
		"hmc, langevin":  mcmc.HMC{Steps: 1}.ForChains(),
		"hmc, by steps":  mcmc.HMC{Steps: 3}.ForChains(),
		"hmc, no jitter": mcmc.HMC{Length: mcmc.AutoLength, Accept: 0.75},
	}
	for _, row := range mcmc.Moves {
		if row.Part.Traits().Invariant() {
			moves[row.Name] = row.Part.ForChains()
		}
	}
	moves["metropolis"] = mcmc.Metropolis{SD: 0.5} // its step has no default
	return moves
}

// Check 4 after freezing: 20,000 chains from exact draws, with the step, the length and the scale that another chain on the
// target learned, keep their moments for four moves. The targets are a Gaussian of unequal and correlated coordinates, which is
// what scales are for, and the golden banana, where no scale fits. A right move fails once in 10⁶ runs of the whole test. The
// bounds are 6 standard errors: .042 standard deviations for a mean of the Gaussian, and 3 % for a standard deviation.
func TestCheck4FrozenMovesLeaveTheirTargetInvariant(t *testing.T) {
	moves := frozenMoves()
	gaussian, draw, tests := correlated()
	bent, drawBent, testsBent := goldenBanana(t)
	accepted := func(t *testing.T, acceptance float64) {
		if !(acceptance > 0.1 && acceptance < 0.99) {
			t.Errorf("acceptance %v: the test asks for moves that are accepted, but not always", acceptance)
		}
	}
	for name, move := range moves {
		t.Run(name+"/gaussian", func(t *testing.T) {
			t.Parallel()
			accepted(t, staysFrozen(t, gaussian, move, 2*len(moves), draw, tests))
		})
		t.Run(name+"/banana", func(t *testing.T) {
			t.Parallel()
			accepted(t, staysFrozen(t, bent, move, 2*len(moves), drawBent, testsBent))
		})
	}
}

// correlated is a Gaussian target of two pairs of correlated coordinates, each a block.
func correlated() (p problem, draw func(z, x []float64), tests []func(x []float64) float64) {
	sd, rho := []float64{0.3, 1.5, 0.6, 2}, []float64{0.8, -0.6}
	precision := make([][]float64, 4)
	for i := range precision {
		precision[i] = make([]float64, 4)
		k, r := i^1, rho[i/2]
		precision[i][i] = 1 / (sd[i] * sd[i] * (1 - r*r))
		precision[i][k] = -r / (sd[i] * sd[k] * (1 - r*r))
		tests = append(tests,
			func(x []float64) float64 { return x[i] / sd[i] },
			func(x []float64) float64 { return x[i]*x[i]/(sd[i]*sd[i]) - 1 },
			func(x []float64) float64 { return x[i]*x[k]/(sd[i]*sd[k]) - r })
	}
	p = problem{prior: normal{d: 4, sd: 3}}
	p.model = tensors{over(quadratic(precision, make([]float64, 4), 0), p.prior), []int{2, 4}}
	return p, func(z, x []float64) {
		for i := 0; i < 4; i += 2 {
			r := rho[i/2]
			x[i], x[i+1] = sd[i]*z[i], sd[i+1]*(r*z[i]+math.Sqrt(1-r*r)*z[i+1])
		}
	}, tests
}

// goldenBanana is the banana of the golden cases, each coordinate a block.
func goldenBanana(t *testing.T) (p problem, draw func(z, x []float64), tests []func(x []float64) float64) {
	t.Helper()
	for _, c := range golden.Read(t, "conjugate.json") {
		if c.Kind == "banana" {
			target := targetOf(t, c)
			p = problem{prior: normal{d: target.d, sd: 3}}
			p.model = tensors{over(target, p.prior), []int{1, 2}}
			draw, tests = bananaCase(t, c)
		}
	}
	return p, draw, tests
}

// bananaCase is how to draw from a golden banana, and functions of mean 0 under it.
func bananaCase(t *testing.T, c golden.Case) (draw func(z, x []float64), tests []func(x []float64) float64) {
	t.Helper()
	var in struct{ S2, B float64 }
	var want struct {
		Mean, Var []float64
		Third     float64 `json:"E_x0sq_x1"`
	}
	decode(t, c.Inputs, &in)
	decode(t, c.Expected, &want)
	draw = func(z, x []float64) {
		x[0] = math.Sqrt(in.S2) * z[0]
		x[1] = in.B*(x[0]*x[0]-in.S2) + z[1]
	}
	return draw, []func(x []float64) float64{
		func(x []float64) float64 { return x[0] - want.Mean[0] },
		func(x []float64) float64 { return x[1] - want.Mean[1] },
		func(x []float64) float64 { return x[0]*x[0] - want.Var[0] },
		func(x []float64) float64 { return x[1]*x[1] - want.Var[1] },
		func(x []float64) float64 { return x[0] * x[1] },
		func(x []float64) float64 { return x[0]*x[0]*x[1] - want.Third },
	}
}

// staysFrozen is stays for a move of chains after freezing, with all that a chain on the target learned. It returns the acceptance.
func staysFrozen(t *testing.T, p problem, move mcmc.Kernel, cases int, draw func(z, x []float64), tests []func(x []float64) float64) (acceptance float64) {
	t.Helper()
	learner := Sampler{Model: p.model, Prior: p.prior, Path: Fixed{Epochs: 4000}, Move: move, Particles: 1, Seed: 9}
	learned, _ := run(t, &learner)
	s := exactly(p, move, draw)
	path := Fixed{Epochs: 1e6}
	s.Path = path
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	st.K, st.Spent, st.Tuning = learned.K, path.Epochs/2, learned.Tuning // not a first iteration, at which a move would prepare
	s.tuned, s.counted = len(st.Tuning), true                            // one scale for all, as a chain has it, and not one for each fold
	tuning := slices.Clone(st.Tuning)
	var info Info
	for range 4 {
		if info, err = s.Step(context.Background(), st); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(st.Tuning, tuning) {
		t.Error("the move learns in the second half of its budget")
	}
	stayed(t, st, cases, tests)
	return float64(info.Acceptance)
}

// In the second half of a chain step and length are the same in every move, but for the last, which the budget may cut short.
// A chain that is written to bytes and read back, into another sampler, before every fifth move is the same to the last bit: what
// is learned in windows, and what is frozen, is in the state.
func TestFrozenChainsKeepStepAndLength(t *testing.T) {
	p, _, _ := correlated()
	for name, move := range frozenMoves() {
		if _, ok := move.(mcmc.HMC); !ok {
			continue
		}
		sampler := func() *Sampler {
			return &Sampler{Model: p.model, Prior: p.prior, Path: Fixed{Epochs: 1500}, Move: move, Particles: 1, Keep: Spread{States: 10}, Seed: 3}
		}
		st, infos := run(t, sampler())
		frozen := slices.IndexFunc(infos, func(info Info) bool { return info.Progress >= 0.5 }) + 1 // the next move begins there
		if rest := len(infos) - frozen; rest < 50 {
			t.Errorf("%s: only %d moves in the second half", name, rest)
		}
		for i, info := range infos[frozen:] {
			if info.Step != infos[frozen].Step || info.Leapfrogs != infos[frozen].Leapfrogs && frozen+i < len(infos)-1 {
				t.Errorf("%s: move %d has step %v and %d leapfrogs, the first frozen one %v and %d",
					name, info.K, info.Step, info.Leapfrogs, infos[frozen].Step, infos[frozen].Leapfrogs)
			}
		}

		s := sampler()
		again, err := s.Init(context.Background())
		for err == nil && !s.Done(again) {
			if again.K%5 == 0 {
				packed, _ := again.MarshalBinary()
				s, again = sampler(), new(State)
				if err = again.UnmarshalBinary(packed); err != nil {
					break
				}
			}
			_, err = s.Step(context.Background(), again)
		}
		if err != nil {
			t.Fatal(err)
		}
		want, _ := st.MarshalBinary()
		if got, _ := again.MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("%s: a chain that was stopped has other bytes", name)
		}
	}
}
