package smc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// fromFourChains is a sampler of 32 particles from 4 chains, with fixed targets and a fixed kernel.
func fromFourChains() Sampler {
	return Sampler{
		Path: Ladder{[]float64{0.05, 0.2, 0.5, 1}}, Move: mcmc.HMC{Steps: 1, Step: 0.4}, Particles: 32, WasteFree: 4, Seed: 21,
	}
}

// With fixed targets and a fixed kernel the mean of Z is the evidence, by every resampling scheme. Correct schemes fail once in 10⁶ runs, all
// together.
func TestWasteFreeEvidenceIsUnbiased(t *testing.T) {
	testkit.Statistics(t)
	p := conjugate()
	runs, small := 1000, 0.22
	if testing.Short() {
		runs, small = 500, 0.35
	}
	for _, row := range Schemes {
		t.Run(row.Name, func(t *testing.T) {
			s := fromFourChains()
			s.Resample.Scheme = row.Part
			z := make([]float64, 0, runs)
			for _, st := range replicate(t, p, runs, s) {
				z = append(z, math.Exp(st.LogZ-p.logZ))
			}
			if found := meanIs(t, "Z / true Z", z, 1, 0, len(Schemes)); !(found <= small) {
				t.Errorf("an error of %v of Z would be found: the test is too weak", found)
			}
		})
	}
}

// By default, with a scale and steps that are learned and temperatures that the particles choose, the posterior and the evidence are right.
func TestWasteFreePosterior(t *testing.T) {
	testkit.Statistics(t)
	p := newLocation(3).problem()
	checkPosterior(t, p, 1, replicate(t, p, 40, Sampler{
		Path: Tempering{ESS: 0.5}, Move: mcmc.HMC{Steps: 3}, Particles: 400, WasteFree: 20, Seed: 22,
	}))
}

// The population after an iteration is the m parents, where they were, and the states that the move leads to from each, one after another.
func TestWasteFreeKeepsParentsAndEveryState(t *testing.T) {
	const particles, m, d = 12, 3, 3
	model := newLocation(d)
	s := &Sampler{
		Model: model, Prior: model.problem().prior, Path: Ladder{[]float64{0.1, 1}}, Particles: particles, WasteFree: m, Seed: 23,
		Move: scripted(func(_ int, theta []float64) {
			if len(theta) != m*d {
				t.Fatalf("%d numbers move, not those of %d parents", len(theta), m)
			}
			for i := range theta {
				theta[i]++
			}
		}),
	}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Clone(st.Theta)
	info, err := s.Step(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mutations != particles/m-1 || !info.Resampled || info.Parents > m || st.Values != particles*model.Examples()+m*info.Mutations {
		t.Errorf("%d moves, resampled %v, %d parents, %d values", info.Mutations, info.Resampled, info.Parents, st.Values)
	}
	for j := range particles {
		root := int(st.Roots[j])
		for i := range d {
			if want := first[root*d+i] + float64(j/m); st.Theta[j*d+i] != want {
				t.Fatalf("particle %d, state %d of chain %d, is at %v, not at %v", j, j/m, j%m, st.Theta[j*d+i], want)
			}
		}
		if st.Roots[j] != st.Roots[j%m] || math.Abs(st.LogW[j]+math.Log(particles)) > 1e-12 {
			t.Errorf("particle %d has root %d and log-weight %v", j, st.Roots[j], st.LogW[j])
		}
		ll := make([]float64, 1)
		if err := model.LogLik(context.Background(), nil, st.Theta[j*d:(j+1)*d], ll, nil); err != nil || ll[0] != st.LL[j] {
			t.Errorf("particle %d has log-likelihood %v, not %v", j, st.LL[j], ll[0])
		}
	}
}

// What an estimate of one run says of the standard deviation over runs: by its 95 % interval the truth is in 85 to 99 % of 400 runs. (With
// a true share at a border, the share of 400 runs is beyond 80 or 99.9 % once in a thousand.)
func TestWasteFreeErrorCovers(t *testing.T) {
	testkit.Statistics(t)
	p := newLocation(5).problem()
	const runs = 400
	covered := 0
	for _, st := range replicate(t, p, runs, Sampler{
		Path: Tempering{ESS: 0.5}, Move: mcmc.HMC{Steps: 3}, Particles: 400, WasteFree: 40, Seed: 24,
	}) {
		if math.Abs(st.LogZ-p.logZ) <= 1.96*st.Genealogy.SD() {
			covered++
		}
	}
	if share := float64(covered) / runs; share < 0.80 || share > 0.999 {
		t.Errorf("the intervals of %v of the runs hold the truth", share)
	}
}

// States of one chain are no independent draws: if they have all the weight of a chain, its family acts as one.
func TestWasteFreeFamiliesAreChains(t *testing.T) {
	before := slices.Repeat([]float64{1. / 6}, 6)
	after := []float64{2. / 9, 1. / 9, 2. / 9, 1. / 9, 2. / 9, 1. / 9} // two chains of three states
	var chains, alone Genealogy
	chains.weighted(before, after, 2)
	alone.weighted(before, after, 0)
	a, b := math.Log(.5/(1./3)), math.Log(.5/(2./3))
	if want := .5 * (a*a + b*b); math.Abs(chains.Variance[0]-want) > 1e-12 {
		t.Errorf("chains: variance %v, want %v", chains.Variance[0], want)
	}
	if !(alone.Variance[0] < chains.Variance[0]/2) {
		t.Errorf("particles: variance %v beside %v of chains", alone.Variance[0], chains.Variance[0])
	}
}

func TestWasteFreeIsRefused(t *testing.T) {
	m := newLocation(2)
	for want, change := range map[string]func(*Sampler){
		"no multiple of the 5 chains":        func(s *Sampler) { s.WasteFree = 5 },
		"fewer than twice the 20 chains":     func(s *Sampler) { s.WasteFree = 20 },
		"want at least 1 chain, have -1":     func(s *Sampler) { s.WasteFree = -1 },
		"weights that are known before them": func(s *Sampler) { s.Move = mcmc.Unadjusted{Steps: 1, Step: 0.1} },
		"how often a move is made":           func(s *Sampler) { s.Move = mcmc.HMC{Steps: 1, Mutations: mcmc.Mutations{Eta: 0.05}} },
		"must be one of temperatures":        func(s *Sampler) { s.Path = Schedule[Constant]{Iterations: 3, Rule: Constant{Batch: 2}} },
		"are drawn anew in every iteration":  func(s *Sampler) { s.Resample.When = BelowHalf },
		"layers that are learned change":     func(s *Sampler) { s.Learn = By[nn.Adam]{} },
	} {
		s := fromFourChains()
		s.Model, s.Prior = m, m.problem().prior
		change(&s)
		if _, err := s.Init(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, have %v", want, err)
		}
	}
}

// Of as many gradients a waste-free sampler has an evidence whose standard deviation over runs is at most .7 of that of the sampler that keeps the
// last states alone, and means whose error is at most .5 of it. Here they are .31 and .22; of 200 runs each the ratio of two standard deviations has
// a relative error of 7 %, so that .7 and .5 are more than ten of them away.
func TestWasteFreeIsWorthItsGradients(t *testing.T) {
	testkit.Statistics(t)
	const runs, chains, moves = 200, 20, 10
	p := conjugate()
	score := func(particles, wasteFree int, repeats mcmc.Mutations) (evidence, mean float64, gradients int) {
		for _, st := range replicate(t, p, runs, Sampler{
			Path: Ladder{[]float64{0.05, 0.2, 0.5, 1}}, Particles: particles, WasteFree: wasteFree, Seed: 25,
			Move: mcmc.HMC{Steps: 3, Step: 0.4, Mutations: repeats},
		}) {
			off := st.LogZ - p.logZ
			evidence += off * off / runs
			for k, m := range p.mean {
				off := moment(st, func(theta []float64) float64 { return theta[k] }) - m
				mean += off * off / runs
			}
			gradients += st.Gradients
		}
		return math.Sqrt(evidence), math.Sqrt(mean), gradients
	}
	z, mean, gradients := score(chains, 0, mcmc.Mutations{Count: moves})
	freeZ, freeMean, freeGradients := score(chains*(moves+1), chains, mcmc.Mutations{})
	if more := float64(freeGradients) / float64(gradients); !(more < 1.1) {
		t.Errorf("the waste-free sampler computed %v times as many gradients", more)
	}
	t.Logf("log Z: %.3f of %.3f, means: %.3f of %.3f", freeZ, z, freeMean, mean)
	if !(freeZ <= 0.7*z) || !(freeMean <= 0.5*mean) {
		t.Errorf("errors of log Z %v and of the means %v, of the other sampler %v and %v", freeZ, freeMean, z, mean)
	}
}
