package smc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/safetensors"

	"github.com/starling-smc/starling/mcmc"
)

// The best state is θ, weights and ψ of the iteration with the smallest loss, judged at the ends of epochs after ψ has moved.
func TestKeepBest(t *testing.T) {
	for name, epoch := range map[string]int{"learn constant": 4, "learn full": 1, "bootstrap": 4} {
		s := kinds()[name](0)
		inner, judged := s.Judge, []State(nil)
		losses := []float64(nil)
		s.Judge = func(ctx context.Context, st *State) (float64, error) {
			var seen State
			seen.copy(st)
			loss, err := inner(ctx, st)
			judged, losses = append(judged, seen), append(losses, loss)
			return loss, err
		}
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for !s.Done(st) {
			made := len(judged)
			info, err := s.Step(t.Context(), st)
			if err != nil {
				t.Fatal(err)
			}
			if due := st.K%epoch == 0; due != (info.Loss != nil) || due != (len(judged) > made) {
				t.Fatalf("%s, iteration %d of epochs of %d: loss %v", name, st.K, epoch, info.Loss)
			} else if !due {
				continue
			}
			seen := judged[made]
			if float64(*info.Loss) != losses[made] || seen.K != st.K || !slices.Equal(seen.Psi, st.Psi) || !slices.Equal(seen.Theta, st.Theta) || !slices.Equal(seen.LogW, st.LogW) {
				t.Errorf("%s, iteration %d: what was judged is not the state of its end", name, st.K)
			}
			best := slices.Index(losses, slices.Min(losses))
			kept, want := st.Ensemble(), judged[best]
			if st.BestK != want.K || st.BestLoss != losses[best] || !slices.Equal(kept.Theta, want.Theta) || !slices.Equal(kept.LogW, want.LogW) ||
				!slices.Equal(kept.Psi, want.Psi) || kept.Times != 1 {
				t.Errorf("%s, iteration %d: the best is of iteration %d and loss %v, want %d and %v of %v", name, st.K, st.BestK, st.BestLoss, want.K, losses[best], losses)
			}
		}
		if best := slices.Index(losses, slices.Min(losses)); name != "bootstrap" && (best == 0 && epoch == 1 || len(losses) < 3) {
			t.Errorf("%s: losses %v show too little", name, losses)
		}
	}
}

// A loss that is no number is never the best, unless there is no other; of equal ones the first stays.
func TestKeepBestOfOddLosses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		losses []float64
		want   int
	}{{[]float64{nan, 3, nan, 3, 4}, 2}, {[]float64{nan, nan, nan, nan, nan}, 1}, {[]float64{math.Inf(1), -1, nan, -2, math.Inf(-1)}, 5}} {
		s := kinds()["learn full"](0)
		s.Judge = func(_ context.Context, st *State) (float64, error) { return c.losses[st.K-1], nil }
		if st, _ := run(t, s); st.BestK != c.want {
			t.Errorf("losses %v: the best is of iteration %d, want %d", c.losses, st.BestK, c.want)
		}
	}
}

// Without a budget states are kept evenly over the second half of the iterations, with ψ of their times; after a warm-up every
// state is kept, with its weights.
func TestKeepOnSchedules(t *testing.T) {
	for _, c := range []struct {
		name string
		keep Keeper
		want []int
	}{
		{"svgd", Spread{3 * 150}, []int{6, 7, 8}}, // of 8
		{"svgd", Spread{150}, []int{8}},
		{"svgd", Spread{4 * 150}, []int{5, 6, 7, 8}},
		{"learn constant", After{Iterations: 9}, []int{10, 11, 12}},
		{"learn chains", After{Iterations: 12}, []int{13, 14, 15}},
	} {
		s := kinds()[c.name](0)
		s.Keep = c.keep
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var theta, logw, psi []float64
		if err := s.Run(t.Context(), st, func(st *State, _ Info) error {
			if slices.Contains(c.want, st.K) {
				theta, logw, psi = append(theta, st.Theta...), append(logw, st.LogW...), append(psi, st.Psi...)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, after := c.keep.(After); after {
			for i, x := range theta {
				theta[i] = float64(float32(x))
			}
		}
		kept := st.Ensemble()
		if kept.Times != len(c.want) || !slices.Equal(kept.Theta, theta) || !slices.Equal(kept.Psi, psi) {
			t.Errorf("%s with %+v keeps %d times, want %v", c.name, c.keep, kept.Times, c.want)
		}
		if _, spread := c.keep.(Spread); spread != (kept.LogW == nil) {
			t.Errorf("%s with %+v has log-weights %v", c.name, c.keep, kept.LogW)
		}
		sum := 0.0
		for i, l := range kept.LogW {
			sum += math.Exp(l)
			if !golden.Near(l, logw[i]-math.Log(float64(len(c.want))), 1e-12, 1e-12) {
				t.Fatalf("%s: log-weight %d is %v", c.name, i, l)
			}
		}
		if kept.LogW != nil && !golden.Near(sum, 1, 1e-9, 0) {
			t.Errorf("%s: the weights add up to %v", c.name, sum)
		}
	}
}

// An epoch is ⌈N/n⌉ iterations, whose batches go on from one order of the examples into the next.
func TestEpochs(t *testing.T) {
	for _, c := range []struct {
		path Path
		want int
	}{
		{Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 11}}, 4}, {Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 41}}, 1},
		{Schedule[Constant]{Epochs: 3}, 1}, {Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 40}}, 2}, {Schedule[Full]{Epochs: 3}, 1},
		{Schedule[Constant]{Iterations: 3, Rule: Constant{Batch: 11}}, 0}, {Schedule[Linear]{Iterations: 3}, 0}, {Tempering{}, 0}, {SDA{Iterations: 3}, 0},
		{Fixed{Epochs: 3}, 0}, {TemperedStart{Then: Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 11}}}, 4},
	} {
		if got := PerEpoch(c.path, 41); got != c.want {
			t.Errorf("%+v: %d iterations an epoch, want %d", c.path, got, c.want)
		}
	}
	path := Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 11}}
	for k, want := range map[int]Rows{0: {0, 11}, 4: {44, 55}, 11: {121, 132}} {
		stage, err := path.Next(&State{K: k, Examples: 41})
		if err != nil || stage.Rows != want || !golden.Near(stage.Lambda, 41./11, 1e-15, 0) {
			t.Errorf("iteration %d sees %+v, want %v", k, stage, want)
		}
	}
	if path.Done(&State{K: 11, Examples: 41}) || !path.Done(&State{K: 12, Examples: 41}) || path.Progress(&State{K: 6, Examples: 41}) != 0.5 {
		t.Error("3 epochs of 4 iterations do not end after 12")
	}
	if done, all := path.Work(Info{Progress: 0.25}, 0, 41); done != 33 || all != 132 {
		t.Errorf("work %v of %v, want 33 of 132", done, all)
	}
}

// A number that the format of kept states cannot hold is refused with its place and what to do, and not kept as an infinity.
func TestKeptOverflow(t *testing.T) {
	s := kinds()["epoch"](0)
	st, err := s.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keep := After{As: "bfloat16"}
	for _, c := range []struct {
		x  float64
		as safetensors.Format
		ok bool
	}{{3.38e38, "bfloat16", true}, {3.4e38, "bfloat16", false}, {3.4e38, "float32", true}, {-1e39, "float32", false}} {
		one := new(State)
		one.copy(st)
		one.K, one.Theta[one.D+1], keep.As = 1, c.x, c.as
		err := keep.keep(t.Context(), s.keeping(one.Examples), one, 0, nil)
		want := fmt.Sprintf("parameter 1 of particle 1 is %.6g, beyond the range of %s in which states are kept: take a smaller step, or a narrower prior", c.x, c.as)
		if c.ok && err != nil || !c.ok && (!errors.As(err, new(*mcmc.Diverged)) || err.Error() != want) {
			t.Errorf("%v as %s: %v", c.x, c.as, err)
		}
	}
}
