package smc

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// displaced is the root mean square distance of particles from where they were, relative to that from their mean.
func displaced(from, to []float64, d int) float64 {
	var moved, spread float64
	for i := range d {
		mean, n := 0.0, float64(len(to)/d)
		for j := i; j < len(to); j += d {
			mean += to[j] / n
		}
		for j := i; j < len(to); j += d {
			moved += (to[j] - from[j]) * (to[j] - from[j])
			spread += (to[j] - mean) * (to[j] - mean)
		}
	}
	return math.Sqrt(moved / spread)
}

// Steps leave the bytes of as many single steps, and Undo takes all of them back. They are fewer at the end of the path and of the
// warm-up.
func TestSteps(t *testing.T) {
	for name, kind := range kinds() {
		single, many := kind(0), kind(0)
		a, _ := run(t, single)
		b, err := many.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for calls := 1; !many.Done(b); calls++ {
			before, _ := b.MarshalBinary()
			k, from, warm := b.K, slices.Clone(b.Theta), warmsUp(many.Path, b)
			if _, err := many.Steps(context.Background(), b, 3); err != nil {
				t.Fatal(err)
			}
			many.Undo(b)
			if undone, _ := b.MarshalBinary(); !bytes.Equal(undone, before) {
				t.Errorf("%s: Undo after %d iterations leaves other bytes", name, b.K)
			}
			info, err := many.Steps(context.Background(), b, 3)
			if err != nil {
				t.Fatal(err)
			}
			began := make([]float64, 0, len(from))
			for _, a := range many.lineage {
				began = append(began, from[int(a)*b.D:(int(a)+1)*b.D]...)
			}
			if want := displaced(began, b.Theta, b.D); !golden.Near(float64(info.Displacement), want, 1e-9, 0) {
				t.Errorf("%s: displacement %v, want %v", name, info.Displacement, want)
			}
			if info.K != b.K || b.K != k+3 && !many.Done(b) && !(warm && !warmsUp(many.Path, b)) {
				t.Errorf("%s: %d iterations in place of 3, K = %d", name, b.K-k, info.K)
			}
			if got := Calls(many.Path, b, 3); got != calls {
				t.Errorf("%s: %d calls counted after %d, K = %d", name, got, calls, b.K)
			}
		}
		want, _ := a.MarshalBinary()
		if got, _ := b.MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("%s: three iterations at a time end with other bytes", name)
		}
	}
}

// The Info of several iterations says of them what the ones of single iterations say, together.
func TestStepsJoin(t *testing.T) {
	for _, name := range []string{"learn constant", "tempering hmc", "bootstrap"} {
		s, one := kinds()[name](0), kinds()[name](0)
		s.Resample.When, one.Resample.When = BelowRatio(0.9), BelowRatio(0.9)
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Steps(t.Context(), st, 4)
		if err != nil {
			t.Fatal(err)
		}
		ess, variance, made, resampled, moves, ancestors := 0., 0., 0., false, 0, make([]int32, st.J)
		themselves(ancestors)
		var last Info
		st, err = one.Init(t.Context())
		for k := 0; k < 4 && !one.Done(st) && err == nil; k++ {
			last, err = one.Step(t.Context(), st)
			ess, variance, made = ess+last.ESS, variance+float64(last.LogWeightVar), made+1
			resampled, moves = resampled || last.Resampled, moves+last.Mutations
			next := slices.Clone(ancestors)
			for j, a := range one.ancestors {
				next[j] = ancestors[a]
			}
			ancestors = next
		}
		if err != nil {
			t.Fatal(err)
		}
		parents := len(slices.Compact(slices.Sorted(slices.Values(ancestors))))
		near := func(got, sum float64) bool { return math.Abs(got-sum/made) <= 1e-12*math.Abs(got) }
		if !near(info.ESS, ess) || !near(float64(info.LogWeightVar), variance) || info.Resampled != resampled || info.Mutations != moves || info.Dead != last.Dead ||
			info.Parents != parents || info.K != last.K || info.Ancestors != last.Ancestors || info.LogZ != last.LogZ || (info.Loss == nil) != (last.Loss == nil) {
			t.Errorf("%s: four iterations as one say %+v, the last one %+v; the mean ESS is %v, %d parents", name, info, last, ess/made, parents)
		}
		if !resampled {
			t.Errorf("%s: nothing was resampled", name)
		}
	}
}
