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
		for !many.Done(b) {
			before, _ := b.MarshalBinary()
			k, from, warm := b.K, slices.Clone(b.Theta), many.warmUp(b)
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
			if info.K != b.K || b.K != k+3 && !many.Done(b) && !(warm && !many.warmUp(b)) {
				t.Errorf("%s: %d iterations in place of 3, K = %d", name, b.K-k, info.K)
			}
		}
		want, _ := a.MarshalBinary()
		if got, _ := b.MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("%s: three iterations at a time end with other bytes", name)
		}
	}
}
