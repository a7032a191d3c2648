package method

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// drawing are methods whose random numbers are looked at: those of small, and others with several members or islands, and batches.
func drawing() map[string]Method {
	all := map[string]Method{
		"multi-swag":  SWAG{Averaging: Averaging{Members: 2, Warmup: 1, Snapshots: 3}, Rank: 2, Draws: 3},
		"swa of one":  SWA{Averaging{Members: 1, Warmup: 2, Snapshots: 2}},
		"vi, batches": VI{Epochs: 5, Batch: 7, Draws: 3},
		"batches":     SMC{Particles: 3, Islands: 2, Start: FromPrior{}, Path: smc.Schedule[smc.Constant]{Epochs: 2, Rule: smc.Constant{Batch: 9}}, Move: mcmc.Epoch{Batch: 4, Step: 0.01}},
		"sghmc":       MCMC{Chains: 2, Start: "prior", Epochs: 12, Keep: 2, Move: mcmc.SGHMC{Batch: 9, Step: 0.001}},
	}
	for name, c := range small {
		all[name] = c.m
	}
	return all
}

// No random stream is opened twice in a run: no epoch, no restart, no member, no island and no step draws what another has drawn. These
// repeat themselves on purpose: the networks by which VI judges its epochs, and of which its ensemble is made; those of SWAG, by which it
// has measured their spread; the trials of a step; and the order of the examples in a sampler, which is made again when it is needed again.
// A mask of dropout may be asked for twice; but each example has one of its own in each epoch.
func TestEveryStreamOfAMethodIsItsOwn(t *testing.T) {
	for name, m := range drawing() {
		m = m.Settle(around(m), unheard())
		if !m.Needs().Search {
			m = m.Settle(around(m), unheard())
		}
		for part, role := range roles {
			if part != "all" && !m.Needs().Partly {
				continue
			}
			job := partly(t, 2, role).provide(m)
			if job.Init != nil {
				job.Init = make([]float64, job.Net.Parameters())
			}
			count, batches, masks := map[rng.Key]int{}, 0, 0
			for _, k := range rng.Opened(func() { do(t, job, m) }) {
				if k.Seed != job.Seed {
					t.Fatalf("%s, %s random: a run with seed %d draws by %+v", name, part, job.Seed, k)
				}
				again := k.Purpose == rng.Search || k.Purpose == rng.Order || k.Purpose == rng.Dropout
				if _, ok := m.(VI); ok {
					again = again || k.Purpose == rng.Draw
				}
				if _, ok := m.(SWAG); ok {
					again = again || k.Purpose == rng.Draw && count[k] == 1
				}
				if count[k]++; count[k] > 1 && !again {
					t.Fatalf("%s, %s random: it draws once more by %+v", name, part, k)
				}
				switch {
				case k.Purpose == rng.Batch:
					batches++
				case k.Purpose == rng.Dropout && k.Iteration > 0 && count[k] == 1:
					masks++
				}
			}
			if _, ok := m.(AsIs); !ok && len(count) == 0 {
				t.Errorf("%s, %s random: it draws nothing", name, part)
			}
			want := epochs(m, job)
			if batches != want {
				t.Errorf("%s, %s random: %d epochs have an order of the examples, want %d", name, part, batches, want)
			}
			if n := job.Data.Train.Len(); m.Needs().Dropout && masks != want*n {
				t.Errorf("%s: %d masks in %d epochs of %d examples", name, masks, want, n)
			}
		}
	}
}

// epochs is the number of epochs that descents make, each of which has an order of the examples.
func epochs(m Method, job *Job) (n int) {
	if job.Search != nil {
		n = job.Search.Restarts * job.Search.Epochs
	}
	switch m := m.(type) {
	case VI:
		n += m.Epochs
	case SWAG:
		n += m.Members * m.epochs()
	case SWA:
		n += m.Members * m.epochs()
	}
	return n
}

// The networks of an ensemble that is drawn are different ones.
func TestDrawnNetworksDiffer(t *testing.T) {
	for name, m := range map[string]Method{
		"vi": VI{Epochs: 3, Draws: 9}, "swag": SWAG{Averaging: Averaging{Snapshots: 3}, Rank: 2, Draws: 5},
		"multi-swag": SWAG{Averaging: Averaging{Members: 2, Snapshots: 3}, Rank: 2, Draws: 4},
		"mcmc":       MCMC{Chains: 3, Start: "prior", Epochs: 40, Keep: 6, Move: mcmc.Metropolis{SD: 0.02}},
	} {
		m = m.Settle(around(m), unheard()).Settle(around(m), unheard())
		e := do(t, newJob(t, 1).provide(m), m).Posterior
		seen, d := map[string]int{}, e.Net.Dim()
		for j := range e.Size() {
			key := fmt.Sprint(e.Theta[j*d : (j+1)*d])
			if before, ok := seen[key]; ok {
				t.Errorf("%s: networks %d and %d are the same", name, before, j)
			}
			seen[key] = j
		}
	}
}
