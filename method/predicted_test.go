package method

import (
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
)

// A descent and the means of VI begin with log σ of 0 for any input, so that σ is 1: the rows of the last layer that give it are 0. All
// other weights, those that particles share too, are drawn.
func TestPredictedScalesBeginAtZero(t *testing.T) {
	layers := []nn.Layer{nn.Dense{Units: 5, NoBias: true, Name: "in"}, nn.Tanh, nn.Dense{Units: 2, NoBias: true, Name: "out"}}
	for _, random := range []string{"in, out", "in", "out"} {
		net, err := nn.NewPartly([]int{3}, layers, nn.Gaussian{SD: nn.Predicted}, func(module string) nn.Role {
			if random == module || random == "in, out" {
				return nn.RoleRandom
			}
			return nn.RoleLearned
		})
		if err != nil {
			t.Fatal(err)
		}
		set := regression(20)
		job := table(t, net, set.F32, set.Values, 1)
		r := &restart{search: bound(t, job, Search{Restarts: 1, Epochs: 1})}
		if err := r.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		v := approximated(t, job, VI{Epochs: 1})
		d := net.Dim()
		m := v.first[:d:d]
		if net.Partly() {
			m = net.Join(m, v.first[2*d:])
		}
		for name, whole := range map[string][]float64{"descent": r.Theta, "VI": m} {
			for i, x := range whole { // 15 weights and 5 of the mean, then 5 of log σ: no layer has a bias
				if zero := i >= 20; zero != (x == 0) {
					t.Errorf("%s random: %s begins with value %d at %v", random, name, i, x)
				}
			}
		}
	}
}

// bound binds a search to a job.
func bound(t *testing.T, job *Job, s Search) *search {
	t.Helper()
	s.Complete(0, false, nil)
	b, err := newSearch(s, job.Seed, job.Net.Whole(), bnn.Whole(job.Prior, job.Net), nil, &data.Problem{Train: job.Data.Train}, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
