package smc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// nutsChains runs independent chains of NUTS, from draws of the prior, and returns all states of each one's
// second half, coordinate by coordinate, and the number of divergent trajectories in it.
func nutsChains(t *testing.T, p problem, move mcmc.NUTS, chains, epochs int) (states [][][]float64, divergent int) {
	t.Helper()
	for c := range chains {
		s := Sampler{Model: p.model, Prior: p.prior, Path: Fixed{Epochs: epochs}, Move: move, Particles: 1, Keep: Spread{States: epochs / 2}, Seed: 9, Island: c}
		st, infos := run(t, &s)
		for _, info := range infos {
			if info.Progress > 0.5 {
				divergent += info.Divergent
			}
		}
		coordinates := make([][]float64, st.D)
		for i, x := range st.Kept {
			coordinates[i%st.D] = append(coordinates[i%st.D], x)
		}
		states = append(states, coordinates)
	}
	return states, divergent
}

// nutsMoments turns a golden case into a problem for chains: with means and variances of the coordinates that have them.
func nutsMoments(t *testing.T, c golden.Case) problem {
	t.Helper()
	if p, ok := problemOf(t, c); ok {
		return p
	}
	var want struct {
		Mean, Var []float64
		EV        float64 `json:"E_v"`
		VarV      float64 `json:"Var_v"`
	}
	decode(t, c.Expected, &want)
	p := problem{name: c.Name, mean: want.Mean, vars: want.Var}
	if c.Kind == "funnel" { // the others have heavy tails
		p.mean, p.vars = []float64{want.EV}, []float64{want.VarV}
	}
	target := targetOf(t, c)
	p.prior = normal{d: target.d, sd: 3}
	p.model = over(target, p.prior)
	return p
}

// Means and variances of every golden target, from 40 chains of NUTS that know nothing of it. The chains are independent, so the
// bound is that of a mean of 40 numbers, exceeded once in 10⁶ runs, all targets together. A mean of the Gaussian and
// logistic targets that is off by .1 to .3 standard deviations would be found. At the default acceptance trajectories diverge in
// the tails of the bananas, which asks for a higher one. The wide centred funnel may be missed, but then trajectories diverge.
// Chains do not pass between 25 narrow modes, and R-hat says so. The usual test has 20 chains and finds errors 1.9 times as large; it
// leaves out the bananas and 50 dimensions.
func TestNUTSFindsGoldenMoments(t *testing.T) {
	testkit.Statistics(t)
	long := testkit.Long(t, 1)
	cases := golden.Read(t, "conjugate.json")
	tests := 0
	for _, c := range cases {
		tests += 2 * len(nutsMoments(t, c).mean)
	}
	for _, c := range cases {
		p := nutsMoments(t, c)
		if !long && (c.Kind == "banana" || len(p.mean) > 10) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			number := 20
			if long {
				number = 40
			}
			move, epochs := mcmc.NUTS{}, 6000
			if c.Kind == "banana" {
				move.Accept, epochs = 0.99, 40000
			}
			chains, divergent := nutsChains(t, p, move, number, epochs)
			wide := c.Name == "funnel_s3_d2"
			if wide && divergent == 0 {
				t.Error("nothing diverges in the wide funnel")
			}
			found := 0.0
			for i := range p.mean {
				if c.Name == "gmm25_spacing2_var0.03" {
					if r := mcmc.RHat(coordinate(chains, i)); !(r > 1.5) {
						t.Errorf("coordinate %d has a split R-hat of %v over 25 modes", i, r)
					}
					continue
				}
				var means, squares []float64
				for _, chain := range chains {
					mean, square := 0.0, 0.0
					for _, x := range chain[i] {
						mean += x / float64(len(chain[i]))
						square += (x - p.mean[i]) * (x - p.mean[i]) / float64(len(chain[i]))
					}
					means, squares = append(means, mean), append(squares, square)
				}
				if wide {
					continue
				}
				found = max(found, meanIs(t, "mean", means, p.mean[i], 0, tests)/math.Sqrt(p.vars[i]))
				meanIs(t, "variance", squares, p.vars[i], 0, tests)
			}
			t.Logf("a mean that is off by %.2f standard deviations would be found", found)
		})
	}
}

// coordinate returns the values of a coordinate, of all chains as many.
func coordinate(chains [][][]float64, i int) (values [][]float64) {
	least := math.MaxInt
	for _, chain := range chains {
		least = min(least, len(chain[i]))
	}
	for _, chain := range chains {
		values = append(values, chain[i][:least])
	}
	return values
}

// costly is a move whose cost depends on the state: it goes from 0 to 1 and back. A move that ends at 1 takes nine evaluations,
// one that ends at 0 takes one.
type costly struct{ scripted }

func (costly) Traits() mcmc.Traits { return mcmc.Traits{Varies: true} }
func (costly) Mutate(_ context.Context, _ *mcmc.Work, _ *mcmc.Target, p *mcmc.Population, _ []float64, _ mcmc.StepContext) (mcmc.Outcome, error) {
	out := nothingDone(p)
	for j := range p.J {
		p.Theta[j] = 1 - p.Theta[j]
		out.Values[j] = 1 + 8*int(p.Theta[j])
		p.LL[j]++ // counts the moves
	}
	return out, nil
}

// States of moves whose cost varies are kept evenly by moves: of m in the second half, every stride-th, the stride a power of 2
// so that n to 2n−1 are held, and of these n at the end. By shares of the budget, nine in ten would lie in the long moves.
func TestStatesAreKeptByMoves(t *testing.T) {
	for _, c := range []struct{ epochs, keep int }{{1000, 7}, {1000, 30}, {1000, 100}, {1000, 400}, {2000, 64}, {20, 3}} {
		s := Sampler{
			Model: density{1, func([]float64, []float64) float64 { return 0 }}, Prior: normal{d: 1, sd: 1}, Path: Fixed{Epochs: c.epochs},
			Move: costly{}, Particles: 2, Start: []float64{0, 0}, Keep: Spread{States: 2 * c.keep},
		}
		st, err := s.Init(context.Background())
		var late []int // the moves that began in the second half
		for last := 0.0; err == nil && !s.Done(st); {
			var info Info
			if _, err = s.Step(context.Background(), st); err != nil {
				break
			}
			s.Undo(st) // what is kept must survive
			if info, err = s.Step(context.Background(), st); last >= 0.5 {
				late = append(late, info.K)
			}
			last = info.Progress
		}
		if err != nil {
			t.Fatal(err)
		}
		// By the definition: all late moves, thinned by 2 as long as there are 2n, then n of them evenly.
		var want []float64
		for stride := 1; ; stride *= 2 {
			if held := len(late) / stride; held < 2*c.keep {
				n := min(c.keep, held)
				for i := 1; i <= n; i++ {
					at := int(math.Ceil(float64(i*held)/float64(n))) * stride
					want = append(want, float64(late[at-1]), float64(late[at-1]))
				}
				break
			}
		}
		if !slices.Equal(st.KeptLL, want) || len(st.Kept) != len(want) {
			t.Errorf("%+v: of moves %v kept %v, want %v", c, late, st.KeptLL, want)
		}
		long := 0.0
		for _, x := range st.Kept {
			long += x / float64(len(st.Kept))
		}
		if c.keep >= 100 && !(math.Abs(long-0.5) < 0.01) {
			t.Errorf("%+v: %v of the states kept are those of long moves", c, long)
		}
	}
}
