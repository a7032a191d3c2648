package mcmc

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// together runs chains that share a step to the end of their budget, and returns the acceptance of each chain after each move, with the tuned
// values at the end.
func together(t *testing.T, move Move, target *Target, p *Population, budget int, seed uint64) (accepted [][]float64, tuning []float64) {
	t.Helper()
	tuning, err := move.Tuning(target, 1)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	now, spent := at(seed, 0), 0.0
	now.Left = budget
	if m, ok := move.(Beginner); ok {
		trials, err := m.Begin(context.Background(), &w, target, p, slices.Repeat([]float64{1 / float64(p.J)}, p.J), tuning, now)
		if err != nil {
			t.Fatal(err)
		}
		spent += float64(trials.Gradients+trials.Values) / float64(p.J)
	}
	for k := 0; spent < float64(budget); k++ {
		now := at(seed, k)
		now.Progress, now.Left = spent/float64(budget), max(1, budget-int(spent))
		out, err := move.Mutate(context.Background(), &w, target, p, tuning, now)
		if err != nil {
			t.Fatal(err)
		}
		spent += float64(out.Gradients[0] + out.Values[0])
		accepted = append(accepted, slices.Clone(out.Probability))
	}
	return accepted, tuning
}

// wall is N(0, 1) in d coordinates but one, which a likelihood makes narrow: chains that begin at draws of the prior are far from its bulk.
func wall(d int, sd float64) *Target {
	return &Target{Lambda: 1, Prior: normal{make([]float64, d), slices.Repeat([]float64{1}, d)}, Model: &model{d: d, factor: 1, log: func(theta, grad []float64) float64 {
		clear(grad)
		grad[0] = -theta[0] / (sd * sd)
		return -0.5 * theta[0] * theta[0] / (sd * sd)
	}}}
}

// After a move of the warm-up the step is that of dual averaging by the mean acceptance of all chains, with a relaxation of .5/√J, and the
// states of all are points of the scale. After the half nothing changes.
func TestChainsTogetherLearnAsOne(t *testing.T) {
	const chains = 5
	for name, move := range map[string]Move{"hmc": HMC{Steps: 1, Scale: Diagonal}.ForChains(), "pcn": PCN{}.ForChains()} {
		target := wall(8, 0.3)
		p := NewPopulation(chains, 8, Needs{Gradient: true})
		for j := range chains {
			target.Prior.Sample(rng.Key{Seed: 1, Purpose: rng.Init, Particle: j}.Stream(), p.row(p.Theta, j))
		}
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		tuning, err := move.Tuning(target, 1)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		for k, progress := range []float64{0, 0.02, 0.04, 0.5, 0.7} {
			now := at(3, k)
			now.Progress, now.Left = progress, 100
			before := slices.Clone(tuning)
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, now)
			if err != nil {
				t.Fatal(err)
			}
			if progress == WarmUp { // windows end here
				continue
			}
			if progress > WarmUp {
				before[logStep] = before[logStepMean]
				if !slices.Equal(before[movesLearned:], tuning[movesLearned:]) || tuning[logStep] != before[logStep] || tuning[logStepMean] != before[logStepMean] {
					t.Errorf("%s: what was learned changes at %v", name, progress)
				}
				continue
			}
			mean, aim := 0.0, move.Traits().Aim
			for _, a := range out.Probability {
				mean += a / chains
			}
			n := float64(k + 1)
			wrong := before[meanError] + (aim-mean-before[meanError])/(n+10)
			if want := before[centre] - math.Sqrt(n)*math.Sqrt(chains)/0.5*wrong; !golden.Near(tuning[logStep], want, 1e-12, 1e-12) {
				t.Errorf("%s: after a mean acceptance of %v the log step is %v, want %v", name, mean, tuning[logStep], want)
			}
			if name == "hmc" {
				if got := tuning[atPoints]; got != chains*n {
					t.Errorf("%v points after %v moves of %d chains", got, n, chains)
				}
				place := view(tuning, Diagonal, 8).mean
				for i := range place {
					of := 0.0
					for j := range chains {
						of += p.row(p.Theta, j)[i] / chains
					}
					if k == 0 && !golden.Near(place[i], of, 1e-12, 1e-12) {
						t.Errorf("coordinate %d has the mean %v over the points, want %v", i, place[i], of)
					}
				}
			}
		}
	}
}

// Chains of 26 moves of one leapfrog, from draws of a prior with a wall in one of 300 directions: alone, most of a chain's first moves are refused and
// many chains are stuck; ten that share a step find it at once. No chain is stuck, and the mean acceptance of every island's second half lies between .3
// and .8.
func TestShortChainsFindTheirStepTogether(t *testing.T) {
	const d, islands, budget = 300, 8, 26
	for _, sd := range []float64{0.5, 0.1, 0.02} {
		refused := 0
		for _, chains := range []int{10, 1} {
			for island := range islands * 10 / chains {
				target := wall(d, sd)
				p := NewPopulation(chains, d, Needs{Gradient: true})
				for j := range chains {
					target.Prior.Sample(rng.Key{Seed: 2, Purpose: rng.Init, Island: island, Particle: j}.Stream(), p.row(p.Theta, j))
				}
				if err := target.Evaluate(context.Background(), &p); err != nil {
					t.Fatal(err)
				}
				accepted, _ := together(t, HMC{Steps: 1}.ForChains(), target, &p, budget, uint64(100+island))
				late, all := accepted[len(accepted)/2:], 0.0
				for j := range chains {
					sum := 0.0
					for _, a := range late {
						sum += a[j] / float64(len(late))
					}
					if all += sum / float64(chains); sum < 0.1 {
						if refused++; chains > 1 {
							t.Errorf("wall of %v: chain %d of island %d accepts %v of its last moves", sd, j, island, sum)
						}
					}
				}
				if chains > 1 && !(all >= 0.3 && all <= 0.8) {
					t.Errorf("wall of %v: island %d accepts %v of its last moves", sd, island, all)
				}
			}
		}
		if sd == 0.02 && refused < 10 {
			t.Errorf("%d chains alone are stuck: the test has no power", refused)
		}
	}
}

// What chains have learned together leaves the target invariant once it is frozen: exact draws that move by it are exact draws. Of 150 islands of 8
// chains the mean of a coordinate lies within 4.9 standard errors, and its mean square too: a mean square that is off by a fifth is found.
func TestChainsTogetherAreInvariant(t *testing.T) {
	const chains, islands, d = 8, 150, 6
	m := pairs{[]float64{0.1, 3, 1, 2, 0.5, 30}, 0.8}
	target := nearlyFlat(m)
	for name, move := range map[string]HMC{"dense": {Steps: 3}, "tensor": {Scale: Tensor}, "one leapfrog": {Steps: 1, Scale: Diagonal}} {
		move = move.ForChains().(HMC)
		var mean, square [d]float64
		for island := range islands {
			p := NewPopulation(chains, d, Needs{Gradient: true})
			m.draws(t, target, &p, uint64(island))
			_, tuning := together(t, move, target, &p, 120, uint64(island))
			m.draws(t, target, &p, uint64(1000+island))
			var w Work
			for k := range 8 {
				now := at(uint64(2000+island), k)
				now.Progress, now.Left = 0.6, 100
				if _, err := move.Mutate(context.Background(), &w, target, &p, tuning, now); err != nil {
					t.Fatal(err)
				}
			}
			for j := range chains {
				for i, x := range p.row(p.Theta, j) {
					mean[i] += x / m.sd[i] / (chains * islands)
					square[i] += x * x / (m.sd[i] * m.sd[i]) / (chains * islands)
				}
			}
		}
		for i := range mean {
			if se := 1 / math.Sqrt(chains*islands); !(math.Abs(mean[i]) < 4.9*se) || !(math.Abs(square[i]-1) < 4.9*math.Sqrt2*se) {
				t.Errorf("%s: coordinate %d has mean %v and mean square %v", name, i, mean[i], square[i])
			}
		}
	}
}

// A dense scale is found by ascents of all chains, each within its share of its own budget, and chains pay for all of it, but for two evaluations alike.
func TestChainsTogetherAscend(t *testing.T) {
	const chains, d = 4, 3
	target := &Target{Lambda: 1, Prior: normal{make([]float64, d), slices.Repeat([]float64{1e3}, d)}, Model: &model{d: d, factor: 1, log: gaussian(
		[][]float64{{1e4, 0, 0}, {0, 1, 0}, {0, 0, 1e-2}}, []float64{3, -2, 10})}}
	p := NewPopulation(chains, d, Needs{Gradient: true})
	for j := range chains {
		target.Prior.Sample(rng.Key{Seed: 4, Purpose: rng.Init, Particle: j}.Stream(), p.row(p.Theta, j))
	}
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	move := HMC{}.ForChains().(HMC)
	tuning, err := move.Tuning(target, 1)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	now := at(1, 0)
	now.Progress, now.Left = 0.2, 4000
	calls := target.Model.(*model).calls
	out, err := move.Mutate(context.Background(), &w, target, &p, tuning, now)
	if err != nil {
		t.Fatal(err)
	}
	made, paid := target.Model.(*model).calls-calls, 0
	for _, n := range out.Gradients {
		paid += n
		if n > out.Gradients[0] || n < out.Gradients[0]-2 {
			t.Errorf("chains pay %v evaluations", out.Gradients)
		}
	}
	if paid != made {
		t.Errorf("%d evaluations, and %d are paid for", made, paid)
	}
	for i, want := range []float64{0.01, 1, 10} {
		if got := view(tuning, Dense, d).scales[0].sd[i]; !golden.Near(got, want, 0.05, 0) {
			t.Errorf("coordinate %d has scale %v, want %v", i, got, want)
		}
	}
	for j := range chains {
		if x := p.row(p.Theta, j); !(math.Abs(x[0]-3) < 1) {
			t.Errorf("chain %d is at %v after its ascent", j, x)
		}
	}
}

// Ten chains of 26 evaluations search their step with a sixteenth of the budget of all, 16 evaluations: four trials of four copies.
func TestTrialsOfChainsTogether(t *testing.T) {
	const chains = 10
	target := wall(300, 0.02)
	p := NewPopulation(chains, 300, Needs{Gradient: true})
	for j := range chains {
		target.Prior.Sample(rng.Key{Seed: 2, Purpose: rng.Init, Particle: j}.Stream(), p.row(p.Theta, j))
	}
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	move := HMC{Steps: 1}.ForChains().(HMC)
	tuning, err := move.Tuning(target, 1)
	if err != nil {
		t.Fatal(err)
	}
	first := view(tuning, Diagonal, 300).step()
	var w Work
	now := at(1, 0)
	now.Left = 26
	trials, err := move.Begin(context.Background(), &w, target, &p, slices.Repeat([]float64{1. / chains}, chains), tuning, now)
	if err != nil || trials.Gradients != 16 {
		t.Errorf("%d evaluations in trials, want 16 (%v)", trials.Gradients, err)
	}
	if found := view(tuning, Diagonal, 300).step(); !(found < first/4) {
		t.Errorf("trials lead from a step of %v to %v", first, found)
	}
}
