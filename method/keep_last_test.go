package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/nn"
)

// With keep: last a restart ends with the bits that a search without patience passes through in its last epoch, its scores are those of that
// state, and the chosen restart has the least of them. The best epochs are other ones here, and so is the best restart: the test has power.
func TestKeepLast(t *testing.T) {
	net, train, validate := mlp(t), blobs(1, 60), blobs(2, 500)
	const restarts, epochs = 6, 40
	best := looking{Search: Search{Restarts: restarts, Rate: 0.5, Batch: 16, Epochs: epochs, Patience: epochs}, seed: 3}
	ends := make([][]float64, restarts)
	best.watch = func(r *restart) error {
		ends[r.number] = slices.Clone(r.Theta)
		return nil
	}
	other := best.fit(t, net, 0.5, train, validate, 1)
	last := best
	last.watch, last.Keep, last.Patience = nil, KeepLastEpoch, 0
	got := last.fit(t, net, 0.5, train, validate, 2)
	chosen := 0
	for k, r := range got.restarts {
		nll, accuracy := scored(t, net, validate, ends[k])
		if !slices.Equal(got.at(k, 1), ends[k]) || got.Epoch[k] != epochs || r.Epochs != epochs {
			t.Errorf("restart %d keeps epoch %d of %d, or other parameters", k, got.Epoch[k], r.Epochs)
		}
		if got.NLL[k] != nll || got.Accuracy[k] != accuracy {
			t.Errorf("restart %d: NLL %v and accuracy %v, its last state has %v and %v", k, got.NLL[k], got.Accuracy[k], nll, accuracy)
		}
		if nll < got.NLL[chosen] {
			chosen = k
		}
		if other.Epoch[k] == epochs || !(nll > other.NLL[k]) {
			t.Errorf("restart %d: the best epoch is %d, the test shows nothing", k, other.Epoch[k])
		}
		if a, b := fmt.Sprint(r.course(0, 0)), fmt.Sprint(other.restarts[k].course(0, 0)); a != b {
			t.Errorf("restart %d goes another way:\n%s\n%s", k, a, b)
		}
	}
	if got.Chosen != chosen {
		t.Errorf("restart %d is chosen, %d has the least NLL: %v", got.Chosen, chosen, got.NLL)
	}
	if got.Chosen == other.Chosen {
		t.Errorf("restart %d is chosen by the best epochs, too: the test shows nothing", chosen)
	}

	// A given network is epoch 0, scored, and not returned to.
	last.first = other.Best()
	given := last.fit(t, net, 0.5, train, validate, 1)
	if r := given.restarts[0]; given.Epoch[0] != epochs || len(r.Val) != epochs+1 || r.Val[0] != other.NLL[other.Chosen] || given.NLL[0] != r.Val[epochs] || slices.Equal(given.at(0, 1), last.first) {
		t.Errorf("from a given network: epoch %d, %d scores, NLL %v", given.Epoch[0], len(r.Val), given.NLL[0])
	}

	// The same bits, if it is stopped after every epoch.
	want, dir := got.figures(), filepath.Join(t.TempDir(), "run")
	last.first, last.watch = nil, func(*restart) error { return context.Canceled }
	for stops := 0; ; stops++ {
		r, err := last.again(t.Context(), t, dir, net, train, validate, 2)
		if err == nil {
			if r.figures() != want || stops < 5 {
				t.Errorf("stopped %d times: other results", stops)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || stops > restarts*epochs {
			t.Fatal(err)
		}
	}
}

// The best restart so far is told by the last states, and not by better ones that are gone.
func TestStatusOfKeepLast(t *testing.T) {
	r := []*restart{{search: &search{validate: new(nn.Model), Search: Search{Keep: KeepLastEpoch}}}, {}}
	r[1].search = r[0].search
	var got Status
	w := newSearchWatch(r, 10, 0, func(s Status) { got = s })
	for _, step := range []struct {
		part          int
		nll, accuracy float64
		want          string
	}{
		{0, 0.25, 0.9, "0 of 2 starts, epoch 1  validation 90.0 %"}, {1, 0.5, 0.8, "0 of 2 starts, epoch 1  validation 90.0 %"},
		{0, 0.75, 0.7, "0 of 2 starts, epoch 1  validation 80.0 %"}, {1, math.NaN(), 0.6, "0 of 2 starts, epoch 2  validation 70.0 %"},
	} {
		at := r[step.part]
		at.Theta, at.Epochs, at.Val, at.Accuracy = []float64{1}, at.Epochs+1, append(at.Val, step.nll), step.accuracy
		if err := w.step(runs.TraceLine{Part: step.part, K: at.Epochs}); err != nil || got.Long != step.want {
			t.Errorf("told %q, want %q (%v)", got.Long, step.want, err)
		}
	}
}

// Descents begin where start says: with nothing given at the prior's draws, as ever, and by He at draws of its own, in both with log σ of a
// network that predicts it at 0. Steps are so short that nothing moves.
func TestDescentsStart(t *testing.T) {
	net, err := nn.New([]int{3}, []nn.Layer{nn.Dense{Units: 5}, nn.Tanh, nn.Dense{Units: 2}}, nn.Gaussian{SD: nn.Predicted})
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]bnn.Start{"prior": bnn.FromPrior{}, "he": bnn.He{}} {
		r := looking{Search: Search{Restarts: 2, Epochs: 1, Rate: 1e-300, Start: start}, seed: 6}.fit(t, net, 0.3, regression(20), nil, 1)
		for k := range 2 {
			want, s := make([]float64, net.Dim()), rng.Key{Seed: 6, Purpose: rng.Start, Particle: k}.Stream()
			if name == "he" {
				s.Normals(want[:15])
				for i := range 15 {
					want[i] *= math.Sqrt(2) / math.Sqrt(3)
				}
				s.Normals(want[20:30])
				for i := 20; i < 30; i++ {
					want[i] *= math.Sqrt(2) / math.Sqrt(5)
				}
			} else {
				prior(t, net, 0.3).Sample(s, want)
				want[31] = 0
			}
			clear(want[25:30])
			wantNear(t, fmt.Sprintf("%s: restart %d begins at", name, k), r.at(k, 1), want, 1e-290)
		}
	}
	s, given := Search{}, Search{Start: bnn.He{}}
	s.Complete(0, true, net.Layers())
	given.Complete(0, true, net.Layers())
	if s.Start != (bnn.FromPrior{}) || given.Start != (bnn.He{}) {
		t.Errorf("a network without a normalisation begins by %T, and a given start became %T", s.Start, given.Start)
	}
}

// What cannot be is refused, with its place and the mend.
func TestSearchRefuses(t *testing.T) {
	judged, blind := Around{Judged: true}, Around{}
	for _, c := range []struct {
		s      Search
		around Around
		want   []string
	}{
		{Search{Keep: KeepLastEpoch}, judged, nil},
		{Search{Keep: KeepLastEpoch}, blind, nil},
		{Search{Schedule: nn.Cosine{Warmup: 299}}, judged, nil},
		{Search{Schedule: nn.Cosine{Warmup: 300}}, judged, []string{"schedule.cosine.warmup: a warm-up of 300 epochs leaves none of 300 epochs for the fall: want fewer"}},
		{Search{Schedule: nn.Cosine{Warmup: 5}, Epochs: 4}, judged, []string{"schedule.cosine.warmup: a warm-up of 5 epochs leaves none of 4 epochs for the fall: want fewer"}},
		{Search{Keep: "first"}, judged, []string{"keep: unknown name \"first\" (known: best, last)"}},
		{Search{Keep: KeepLastEpoch, Patience: 7}, judged, []string{
			"map.patience: ends a restart early, and keep: last keeps the state of the last of 300 epochs: leave patience out, or take keep: best"}},
		{Search{Keep: KeepBestEpoch}, blind, []string{
			"map.keep: best is the state of the smallest loss on the validation examples, and the data hold none out: take keep: last, or data with validation examples"}},
	} {
		c.s.Complete(0, c.around.Judged, nil)
		got := faults(func(f *config.Faults) {
			c.s.Check(f)
			c.s.CheckWithin(c.around, f)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}
