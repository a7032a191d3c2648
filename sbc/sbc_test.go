package sbc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/rng"
)

// Two islands, whose states lie side by side: three series of four states, and one of an island that was lost in part.
func TestThin(t *testing.T) {
	island := []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}
	flat := make([]float64, len(island)) // no series has an autocorrelation
	if keep, tau := thin([][]float64{flat}, island, 3); len(keep) != len(island) || tau == tau {
		t.Errorf("kept %v by %v", keep, tau)
	}
	// Of a series that rises all the time, τ is far above 1: the last state of each series is kept, of every island.
	s := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream()
	var values []float64
	island = nil
	for p := range int32(2) {
		for range 60 {
			for range 3 {
				island = append(island, p)
			}
		}
	}
	level := make([]float64, 3)
	for j := range island {
		level[j%3] = float64(0.95*level[j%3]) + s.Normal()
		values = append(values, level[j%3])
	}
	keep, tau := thin([][]float64{flat, values}[1:], island, 3)
	stride := int(math.Ceil(tau))
	if !(tau > 2) || stride >= 60 {
		t.Fatalf("τ is %v", tau)
	}
	var want []int
	for p := range 2 {
		for at := range 60 {
			if (59-at)%stride == 0 {
				for k := range 3 {
					want = append(want, 180*p+3*at+k)
				}
			}
		}
	}
	if !slices.Equal(keep, want) {
		t.Errorf("kept %v, want %v", keep, want)
	}
}

// Islands keep their weights, whichever of their states are kept.
func TestKeptWeights(t *testing.T) {
	log := math.Log
	e := &bnn.Ensemble{
		Island: []int32{0, 0, 0, 1, 1}, LogEvidence: []float64{0, 0}, LogWeights: []float64{log(0.3), log(0.2), log(0.1), log(0.1), log(0.3)},
	}
	got := kept(e, []int{0, 2, 4})
	for i, want := range []float64{0.45, 0.15, 0.4} {
		if !(math.Abs(got[i]-want) <= 1e-12) {
			t.Errorf("weights %v", got)
		}
	}
}

// The prediction that is ranked orders networks by the probability of a class, or by a mean.
func TestPredicted(t *testing.T) {
	if got := predicted(2, 3, []float32{1, 2, 9}); got != 2 {
		t.Errorf("the second of two targets is %v", got)
	}
	if got := predicted(0, 4, []float32{-1.5}); got != -1.5 {
		t.Errorf("a logit is %v", got)
	}
	out := []float32{0.3, -1, 2}
	if got, want := predicted(0, 4, out), -1-math.Log(math.Exp(float64(out[0]))+math.Exp(2)); !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("log-odds %v, want %v", got, want)
	}
}

// The shape of ranks that are not uniform, and p over all quantities.
func TestSummarise(t *testing.T) {
	c := &Check{Probes: []int32{4}}
	var lines []Line
	const n = 100
	for i := range n {
		u := (float64(i) + 0.5) / n
		lines = append(lines, Line{Ranks: []float64{u, 0.4 * u, 0.25 + u/2}, Networks: 30 + i, Effective: 20})
	}
	lines[3] = Line{Failed: "by itself"}
	s, err := c.Summarise(lines)
	if err != nil {
		t.Fatal(err)
	}
	var shapes []Shape
	least := 1.0
	for _, q := range s.Quantities {
		shapes, least = append(shapes, q.Shape), min(least, q.P)
	}
	if !slices.Equal(shapes, []Shape{Even, High, Wide}) || s.P != 3*least || s.Uniform || s.Failed != 1 || s.Why != "fit 4: by itself" || s.Networks != 30 {
		t.Errorf("%v, %+v", shapes, s)
	}
	for i := range 81 {
		lines[i] = Line{Failed: "by itself"}
	}
	if _, err := c.Summarise(lines); err == nil {
		t.Error("19 ranks are enough")
	}
}
