package starling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/smc"
)

// TestSamplingEvent: one island has not begun, two run, one has ended.
func TestSamplingEvent(t *testing.T) {
	r := &run{}
	r.Spec.Method.MCMC = &MCMC{}
	w := newWatch(t.Context(), r, slices.Repeat([]*smc.Sampler{{Particles: 5}}, 4))
	w.islands[1].info = smc.Info{K: 3, Progress: 0.5, Lambda: 0.25, Epochs: 8, ESS: 4, Acceptance: 0.75, Step: 0.5, Ancestors: 2}
	w.islands[2].info = smc.Info{K: 2, Progress: 0.25, Lambda: 0.5, Epochs: 4, ESS: 3, Acceptance: 0.25, Step: 0.25, Ancestors: 5}
	w.islands[3].info = smc.Info{K: 9, Progress: 1, Lambda: 1, Epochs: 20, ESS: 1, Acceptance: 0.125, Step: 3, Ancestors: 1}
	want := &Sampling{
		Islands: 4, Done: 1, Share: 1.75 / 4, Epochs: 32.0 / 4, Temperature: 0.25,
		Iteration: 2.5, ESS: 3.5, Acceptance: 0.5, Step: 0.375, Ancestors: 3.5, Particles: 5,
	}
	if d := cmp.Diff(want, w.event()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDescentShare: nothing is done, none has ended, one has, one takes longer than those before, all have.
func TestDescentShare(t *testing.T) {
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
		if got := descent(c.made, c.ended, 100); got != c.want {
			t.Errorf("%v, ended %v: share %v, want %v", c.made, c.ended, got, c.want)
		}
	}
}

// TestStuckChains: steps that are far too long are never accepted, and the notes say which chains they are; short ones
// are no trouble.
func TestStuckChains(t *testing.T) {
	const method = "method={mcmc: {chains: 2, epochs: 6, keep: last, move: {hmc: {steps: 1, step: "
	notes := fit(t, trees(t, method+"1000}}}}"), Options{}).Notes
	if len(notes) != 3 || !strings.Contains(notes[1], "chain 0 is stuck") || !strings.Contains(notes[2], "chain 1 is stuck") {
		t.Errorf("chains that cannot move: notes %q", notes)
	}
	if notes := fit(t, trees(t, method+"1e-4}}}}"), Options{}).Notes; len(notes) != 1 {
		t.Errorf("chains that move: notes %q", notes)
	}
}

// TestChainsNote against the trace: the range over chains of their last log-likelihoods and of their mean acceptance in
// the second half.
func TestChainsNote(t *testing.T) {
	r := fit(t, trees(t, "method={mcmc: {chains: 3, epochs: 20, keep: last, move: {hmc: {steps: 1}}}}"), Options{})
	var end, acceptance []float64
	for c := range 3 {
		chain := r.Trace[20*c : 20*c+20]
		end = append(end, float64(chain[19].LogLikelihood))
		sum := 0.0
		for _, line := range chain[10:] {
			sum += line.Acceptance / 10
		}
		acceptance = append(acceptance, sum)
	}
	slices.Sort(end)
	slices.Sort(acceptance)
	want := fmt.Sprintf("log-likelihoods of %.1f to %.1f; they accepted %.2f to %.2f of", end[0], end[2], acceptance[0], acceptance[2])
	if !strings.Contains(r.Notes[0], want) {
		t.Errorf("note %q, want %q", r.Notes[0], want)
	}
}
