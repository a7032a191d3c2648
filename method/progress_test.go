package method

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// watching follows a method on 40 examples.
func watching(m Method) *watch {
	return &watch{sampling: m.Sampling(), examples: 40, islands: make([]islandProgress, m.Sampling().Islands)}
}

// One chain has not begun, two run, one has ended: what is shown is of the two that run, the share and the epochs of all.
func TestStatusOfChains(t *testing.T) {
	w := watching(MCMC{Chains: 4, Move: mcmc.HMC{}})
	var told figures
	words := w.sampling.words
	w.sampling.words = func(f figures) (long, short string) { told = f; return words(f) }
	w.islands[1].info = smc.Info{K: 3, Progress: 0.5, Lambda: 0.25, Epochs: 8000, ESS: 4, Acceptance: 0.75, Step: 0.5, Ancestors: 2}
	w.islands[2].info = smc.Info{K: 2, Progress: 0.25, Lambda: 0.5, Epochs: 4000, ESS: 3, Acceptance: 0.25, Step: 0.25, Ancestors: 5}
	w.islands[3].info = smc.Info{K: 9, Progress: 1, Lambda: 1, Epochs: 20000, ESS: 1, Acceptance: 0.125, Step: 3, Ancestors: 1}
	want := Status{Phase: "4 chains", Share: 1.75 / 4, Long: "8,000 epochs  accepted 0.50  step 0.38", Short: "8,000 ep  acc 0.50  step 0.38"}
	if d := cmp.Diff(want, w.status()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	figuresWant := figures{epochs: 32000.0 / 4, lambda: 0.25, iteration: 2.5, ess: 3.5, acceptance: 0.5, step: 0.375, ancestors: 3.5}
	if d := cmp.Diff(figuresWant, told, cmp.AllowUnexported(figures{}), cmpopts.EquateApprox(0, 0)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Where none runs, those that have ended are shown.
	w.islands = w.islands[3:]
	want = Status{Phase: "4 chains", Share: 1, Ended: true, Long: "20,000 epochs  accepted 0.12  step 3", Short: "20,000 ep  acc 0.12  step 3"}
	if d := cmp.Diff(want, w.status()); d != "" {
		t.Errorf("at the end (-want +got):\n%s", d)
	}
}

// Chains without an accept step show no acceptance.
func TestStatusOfBiasedChains(t *testing.T) {
	w := watching(MCMC{Chains: 2, Move: mcmc.SGHMC{Batch: 5, Step: 0.1}})
	w.islands[0].info = smc.Info{K: 3, Progress: 0.5, Epochs: 8000, Acceptance: numeral.Number(math.NaN()), Step: 0.1}
	if d := cmp.Diff(Status{Phase: "2 chains", Share: 0.25, Long: "4,000 epochs", Short: "4,000 ep"}, w.status()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Islands show the power of the likelihood on a path of temperatures, and iteration and examples on one of batches.
func TestStatusOfIslands(t *testing.T) {
	epochs := smc.Schedule[smc.Constant]{Epochs: 17, Rule: smc.Constant{Batch: 9}} // of 5 iterations
	info := smc.Info{K: 7, Progress: 0.25, Lambda: 0.25, Examples: 1500, ESS: 4.25, Acceptance: 0.75, Ancestors: 3}
	for _, c := range []struct {
		path        smc.Path
		every       int // of a line of the trace
		long, short string
	}{
		{smc.Tempering{}, 1, "λ 0.25  ESS 4.2/10  accepted 0.75  ancestors 3", "λ 0.25  ESS 4  acc 0.75  anc 3"},
		{epochs, 0, "epoch 7  1,500 examples  ESS 4.2/10  ancestors 3", "ep 7  n 1500  ESS 4.2  anc 3"},
		{epochs, 2, "epoch 14  1,500 examples  ESS 4.2/10  ancestors 3", "ep 14  n 1500  ESS 4.2  anc 3"},
		{epochs, 3, "epoch 17  1,500 examples  ESS 4.2/10  ancestors 3", "ep 17  n 1500  ESS 4.2  anc 3"},
		{smc.Schedule[smc.Full]{Iterations: 30}, 4, "iteration 28  1,500 examples  ESS 4.2/10  ancestors 3", "k 28  n 1500  ESS 4.2  anc 3"},
		{smc.Schedule[smc.Full]{Iterations: 9}, 1, "iteration 7  1,500 examples  ESS 4.2/10  ancestors 3", "k 7  n 1500  ESS 4.2  anc 3"},
		{smc.SDA{Iterations: 9}, 1, "iteration 7  1,500 examples  ESS 4.2/10  ancestors 3", "k 7  n 1500  ESS 4.2  anc 3"},
	} {
		w := watching(SMC{Particles: 10, Islands: 2, Path: c.path, Move: mcmc.HMC{}, Trace: IslandTrace{Trace: Trace{c.every}}})
		w.islands[0] = islandProgress{info: info, first: 0.0625}
		got := w.status()
		got.Share = 0 // TestShare
		if d := cmp.Diff(Status{Phase: "islands 2×10", Long: c.long, Short: c.short}, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.path, d)
		}
	}
}

// Smooth annealing shows the power of the newest block, whatever the examples so far stand for.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		scale  bool
		lambda float64
	}{{false, .5}, {true, 2}} {
		w := watching(SMC{Particles: 5, Islands: 1, Path: smc.SDA{Scale: c.scale}, Move: mcmc.HMC{}})
		w.islands[0].info = smc.Info{K: 3, Progress: 0.5, Lambda: c.lambda, Examples: 10}
		var got float64
		w.sampling.words = func(f figures) (long, short string) { got = f.lambda; return "", "" }
		if w.status(); got != .5 {
			t.Errorf("scale %v: power %v, want 0.5", c.scale, got)
		}
	}
}

// The share of the work that is done: islands that have not begun take as long as the others on average. Temperatures grow
// geometrically: an island at 1/4 after 3 iterations, the first of which led to 1/64, has one more to go. Batches cost as much
// as they have examples.
func TestShare(t *testing.T) {
	tempering, full := smc.Tempering{}, smc.Schedule[smc.Full]{Iterations: 10}
	linear := smc.Schedule[smc.Linear]{Iterations: 10, Rule: smc.Linear{Batch: 4, Grow: 4}} // 4, 8 … 36 of 40 examples, and all of them
	for _, c := range []struct {
		path    smc.Path
		islands []islandProgress
		want    float64
	}{
		{tempering, []islandProgress{{info: smc.Info{K: 3, Progress: 0.25, Lambda: 0.25}, first: 1.0 / 64}}, 0.75},
		{tempering, []islandProgress{{info: smc.Info{K: 3, Progress: 0.25, Lambda: 0.25}, first: 1.0 / 64}, {}}, 0.375},
		{tempering, []islandProgress{{info: smc.Info{K: 3, Progress: 0.25, Lambda: 0.25}, first: 1.0 / 64}, {info: smc.Info{K: 8, Progress: 1, Lambda: 1}, first: 0.1}}, 11.0 / 12},
		{tempering, []islandProgress{{info: smc.Info{K: 1, Progress: 0.1, Lambda: 0.1}, first: 0.1}}, 0.1},
		{tempering, []islandProgress{{info: smc.Info{K: 1, Progress: 1, Lambda: 1}, first: 1}}, 1},
		{full, []islandProgress{{info: smc.Info{K: 3, Progress: 0.3, Lambda: 1}, first: 1}, {}}, 0.15},
		{linear, []islandProgress{{info: smc.Info{K: 5, Progress: 0.5, Lambda: 2}, first: 10}}, 60.0 / 220},
		{linear, []islandProgress{{info: smc.Info{K: 10, Progress: 1, Lambda: 1}, first: 10}, {}}, 0.5},
		{full, []islandProgress{{info: smc.Info{K: 3, Progress: 0.3, Lambda: 1}, first: 1}, {info: smc.Info{K: 1, Progress: 1}, lost: true}}, 0.3},
		{full, []islandProgress{{info: smc.Info{K: 1, Progress: 1}, lost: true}, {}}, 0},
		{full, []islandProgress{{info: smc.Info{K: 1, Progress: 1}, lost: true}}, 1},
		{linear, []islandProgress{{info: smc.Info{K: 4, Lambda: 2}, first: 0.1}}, 0}, // on the way to the first batch
		{smc.SDA{Iterations: 10}, []islandProgress{{info: smc.Info{K: 5, Progress: 0.5, Lambda: 0.1}, first: 0.1}, {}}, 0.25},
	} {
		w := watching(SMC{Particles: 5, Islands: len(c.islands), Path: c.path, Move: mcmc.HMC{}})
		w.islands = c.islands
		if got := w.share(); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%v, %+v: share %v, want %v", c.path, c.islands, got, c.want)
		}
	}
}

// A line of the trace tells how far its island is, and its first line where it began.
func TestWatch(t *testing.T) {
	islands := SMC{Particles: 5, Islands: 2, Path: smc.Tempering{}, Move: mcmc.HMC{}}
	w, told := watching(islands), 0
	w.tell = func(s Status) { told++ }
	for k, lambda := range []float64{0.01, 0.1} {
		fields, err := json.Marshal(Iteration{Info: smc.Info{Lambda: lambda, ESS: 3}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.step(runs.TraceLine{Part: 1, K: k + 1, Progress: lambda, Fields: fields}); err != nil {
			t.Fatal(err)
		}
	}
	want := islandProgress{info: smc.Info{Island: 1, K: 2, Progress: 0.1, Lambda: 0.1, ESS: 3}, first: 0.01}
	if !reflect.DeepEqual(w.islands, []islandProgress{{}, want}) || told != 2 {
		t.Errorf("after %d lines: %+v, want %+v", told, w.islands, want)
	}
	malformed := runs.TraceLine{Part: 1, K: 3, Fields: []byte(`{"ess": "low"}`)}
	if w.step(malformed) == nil || w.resumed([]runs.TraceLine{malformed}) == nil {
		t.Error("a malformed line is taken")
	}
	// Of a run that is resumed, all that was kept is told at once.
	kept, again := []runs.TraceLine{{Part: 1, K: 1, Progress: 0.01, Fields: []byte(`{"temperature":0.01}`)}, {Part: 1, K: 2, Progress: 0.1, Fields: []byte(`{"temperature":0.1,"ess":3}`)}}, watching(islands)
	told = 0
	again.tell = func(s Status) {
		if told++; !s.Resumed {
			t.Error("not told as what was done before")
		}
	}
	if err := again.resumed(kept); err != nil || !reflect.DeepEqual(again.islands[1], want) || told != 1 {
		t.Errorf("resumed: %+v, want %+v; told %d times, %v", again.islands, want, told, err)
	}
}

// Nothing is done, none has ended, one has, one takes longer than those before, all have.
func TestSearchShare(t *testing.T) {
	for _, c := range []struct {
		made  []int
		ended []bool
		want  float64
	}{
		{[]int{0, 0}, []bool{false, false}, 0},
		{[]int{30, 0}, []bool{false, false}, 30.0 / 200},
		{[]int{40, 10}, []bool{true, false}, 50.0 / 80},
		{[]int{40, 60, 0}, []bool{true, false, false}, 100.0 / (40 + 61 + 40)},
		{[]int{40, 61}, []bool{true, true}, 1},
	} {
		if got := searched(c.made, c.ended, 100); got != c.want {
			t.Errorf("%v, ended %v: share %v, want %v", c.made, c.ended, got, c.want)
		}
	}
}

// A search tells of the best restart so far, in the targets' own units, and of what it knows of it.
func TestStatusOfSearch(t *testing.T) {
	begun := func(epochs int, ended bool, nll, accuracy float64, at int) *restart {
		r := &restart{search: &search{validate: new(nn.Model), Search: Search{Keep: KeepBestEpoch}}, descent: descent{Epochs: epochs, Ended: ended, Accuracy: accuracy}}
		if !math.IsInf(nll, 1) {
			r.descent.Watch.Theta, r.descent.Watch.Best, r.descent.Watch.BestAt = []float64{1}, nll, at
		}
		return r
	}
	none := math.Inf(1)
	for _, c := range []struct {
		scale    float64
		restarts []*restart
		want     Status
	}{
		{0, []*restart{begun(3, false, 0.5, 0.8125, 2), begun(1, false, 0.75, 1, 1)}, Status{Phase: "MAP", Share: 4.0 / 200, Long: "0 of 2 starts, epoch 2  validation 81.2 %"}},
		{2, []*restart{begun(3, false, 0.5, math.NaN(), 2), begun(30, true, 0.25, math.NaN(), 0)}, Status{Phase: "MAP", Share: 33.0 / 60, Long: "1 of 2 starts, epoch 0  validation NLL 2.250"}},
		{0, []*restart{begun(5, true, none, math.NaN(), 0), begun(5, true, none, math.NaN(), 0)}, Status{Phase: "MAP", Share: 1, Ended: true, Long: "best of 2 starts"}},
	} {
		var got Status
		w := newSearchWatch(c.restarts, 100, c.scale, func(s Status) { got = s })
		for k, r := range c.restarts {
			if err := w.step(runs.TraceLine{Part: k, K: r.K()}); err != nil {
				t.Fatal(err)
			}
		}
		c.want.Short = c.want.Long
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
