package mcmc

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// someMoves are moves of every row of Moves: as tests move boldly, as chains and as populations have them by default, and those whose
// settings ask for further random numbers.
func someMoves(t *testing.T) map[string]Move {
	t.Helper()
	all := map[string]Move{
		"leapfrog, mini-batches": Unadjusted{Steps: 2, Step: 0.01, Gradient: &MiniBatch{Batch: 4}},
		"epoch, own orders":      Epoch{Batch: 4, Step: 0.01, Order: ownOrder},
		"hmc, fixed, jitter":     HMC{Steps: 3, Step: 0.1, Jitter: 0.3},
	}
	for _, row := range Moves {
		c, ok := caseOf(t, row.Name)
		if !ok {
			continue
		}
		for name, m := range map[string]Move{"bold": c.bold, "chains": c.plain.ForChains(), "population": c.plain.ForPopulation(Mutations{}, false)} {
			if config.Check(m) == nil {
				all[row.Name+", "+name] = m
			}
		}
	}
	return all
}

// examples is a regression of n examples on 3 inputs.
func examples(n int) linear {
	m := linear{noise: 0.5}
	s := rng.Key{Seed: 12, Purpose: rng.Synthetic}.Stream()
	for range n {
		x := []float64{1, s.Normal(), s.Normal()}
		m.x, m.y = append(m.x, x), append(m.y, 0.5-x[1]+0.2*x[2]+s.Normal())
	}
	return m
}

// prior3 is a prior of the coefficients of examples that is not centred.
func prior3() normal { return normal{[]float64{0.5, -1, 0.2}, []float64{1, 0.7, 2}} }

// ready is a population at draws of the prior, evaluated, and what the move tunes.
func ready(t *testing.T, m Move, target *Target, particles int) (p Population, tuning []float64) {
	t.Helper()
	d := target.Model.Dim()
	p = NewPopulation(particles, d, m.Traits().Needs)
	for j := range particles {
		s := rng.Key{Seed: 4, Purpose: rng.Synthetic, Particle: j}.Stream()
		target.Prior.Sample(s, p.Theta[j*d:(j+1)*d])
		if p.Momentum != nil {
			s.Normals(p.Momentum[j*d : (j+1)*d])
		}
	}
	if err := target.Evaluate(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	tuning, err := m.Tuning(target, p.J)
	if err != nil {
		t.Fatal(err)
	}
	return p, tuning
}

// begins lets a move prepare for a stage, if it does, for particles of equal weight.
func begins(t *testing.T, m Move, w *Work, target *Target, p *Population, tuning []float64, now StepContext) (trials Trials) {
	t.Helper()
	b, ok := m.(Beginner)
	if !ok {
		return trials
	}
	trials, err := b.Begin(t.Context(), w, target, p, slices.Repeat([]float64{1 / float64(p.J)}, p.J), tuning, now)
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

// All random numbers of a move have the seed, the island, the iteration and the mutation that the move is given, and each stream is
// either one that all particles share or each particle's own: so no two moves, and no two particles, draw the same numbers. A move's
// trials share theirs: they differ in the step alone.
func TestEveryMoveDrawsByItsKey(t *testing.T) {
	const particles = 5
	target := &Target{Model: examples(11), Prior: prior3(), Lambda: 0.3}
	for name, m := range someMoves(t) {
		p, tuning := ready(t, m, target, particles)
		var w Work
		drawn := 0
		for _, iteration := range []int{7, 8} {
			for mutation := range 3 {
				now := StepContext{Key: rng.Key{Seed: 91, Island: 3, Iteration: iteration, Mutation: mutation}}
				keys := rng.Opened(func() {
					if mutation == 0 {
						begins(t, m, &w, target, &p, tuning, now)
					}
				})
				moved := rng.Opened(func() {
					if _, err := m.Mutate(t.Context(), &w, target, &p, tuning, now); err != nil {
						t.Fatal(err)
					}
				})
				for _, k := range slices.Concat(keys, moved) {
					if k.Seed != 91 || k.Island != 3 || k.Iteration != iteration || k.Mutation != mutation {
						t.Fatalf("%s: in iteration %d, mutation %d of island 3 with seed 91 it draws by %+v", name, iteration, mutation, k)
					}
				}
				of := map[rng.Purpose][]int{} // the particles of a purpose
				for _, k := range moved {
					if k.Purpose != rng.Search {
						of[k.Purpose] = append(of[k.Purpose], k.Particle)
					}
				}
				for purpose, list := range of {
					slices.Sort(list)
					if !slices.Equal(list, []int{0}) && !slices.Equal(list, []int{0, 1, 2, 3, 4}) {
						t.Errorf("%s: streams of purpose %d are those of particles %v: want one for all, or each its own", name, purpose, list)
					}
				}
				drawn += len(moved)
			}
		}
		if drawn == 0 {
			t.Errorf("%s draws nothing", name)
		}
	}
}
