package smc

import (
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// Over a whole run of two islands no random stream is opened twice: no iteration, no mutation, no island and no particle draws what
// another has drawn. What is opened within an iteration has its number, and the seed and the island of its sampler. Two purposes are
// apart: the trials of a step begin alike, and an order of the examples, whose key has the number of the order, is made again when it is
// needed again.
func TestEveryStreamOfARunIsItsOwn(t *testing.T) {
	for name, kind := range kinds() {
		seen := map[rng.Key]int{} // the iteration that has opened a stream, from 1; 0 for the start
		for island := range 2 {
			s := kind(island)
			note := func(k int, keys []rng.Key) {
				for _, key := range keys {
					if key.Seed != s.Seed || key.Island != island {
						t.Fatalf("%s: island %d with seed %d draws by %+v", name, island, s.Seed, key)
					}
					if key.Purpose == rng.Order || key.Purpose == rng.Search {
						continue
					}
					if k > 0 && key.Iteration != k-1 {
						t.Fatalf("%s: iteration %d draws by %+v", name, k-1, key)
					}
					if before, ok := seen[key]; ok {
						t.Fatalf("%s: island %d, iteration %d draws by %+v once more, after %d", name, island, k, key, before)
					}
					seen[key] = k
				}
			}
			var st *State
			var err error
			note(0, rng.Opened(func() { st, err = s.Init(t.Context()) }))
			for k := 1; err == nil && !s.Done(st); k++ {
				note(k, rng.Opened(func() { _, err = s.Step(t.Context(), st) }))
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s draws nothing", name)
		}
	}
}

// The runs of a Restarting, one for each step of ψ, and of its islands, draw by seeds of their own; and the batches of its steps follow the
// orders of its own seed.
func TestEveryStreamOfRestartsIsItsOwn(t *testing.T) {
	m := newLocation(3)
	m.learned = 2
	seen := map[rng.Key]bool{}
	for island := range 2 {
		r := &Restarting{
			Model: m, Prior: m.problem().prior, Move: mcmc.Metropolis{SD: 0.3}, Particles: 5, Batch: 11, Block: 4, Learn: By[nn.Adam]{Rate: 0.01},
			Seed: 4, Island: island,
		}
		st := Restarts{Psi: []float64{0, 0}}
		for k := range 6 {
			var err error
			keys := rng.Opened(func() { _, err = r.Step(t.Context(), &st) })
			if err != nil {
				t.Fatal(err)
			}
			seeds := map[uint64]bool{}
			for _, key := range keys {
				seeds[key.Seed] = true
				if key.Purpose == rng.Order && key.Seed == r.Seed {
					continue // consecutive steps have parts of one order
				}
				if key.Island != island {
					t.Fatalf("island %d draws by %+v", island, key)
				}
				if key.Purpose != rng.Order && seen[key] {
					t.Fatalf("step %d of island %d draws by %+v once more", k, island, key)
				}
				seen[key] = true
			}
			if len(seeds) != 2 || !seeds[r.Seed] {
				t.Errorf("step %d of island %d draws by the seeds %v: want its own, and %d for the batches", k, island, seeds, r.Seed)
			}
		}
	}
}
