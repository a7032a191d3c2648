package bnn

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
)

// TestLast: the last particles of all islands come first, dead ones are passed over, and the weights of those that are taken are
// in their old proportions.
func TestLast(t *testing.T) {
	log := math.Log
	dead := math.Inf(-1)
	e := &Ensemble{
		LogWeights:  []float64{log(.1), log(.2), dead, log(.3), log(.05), log(.35)},
		Island:      []int32{0, 0, 0, 1, 1, 1},
		LogEvidence: []float64{0, 0},
	}
	if e.Alive() != 5 {
		t.Fatalf("%d alive", e.Alive())
	}
	for m, want := range [][]float64{
		1: {0, 1, 0, 0, 0, 0}, // the last of island 0 that has a weight
		2: {0, .2, 0, 0, 0, .35},
		3: {.1, .2, 0, 0, 0, .35},
		4: {.1, .2, 0, 0, .05, .35},
		5: {.1, .2, 0, .3, .05, .35},
	} {
		if m == 0 {
			continue
		}
		sum := 0.0
		for _, w := range want {
			sum += w
		}
		for j, l := range e.Last(m) {
			if got := math.Exp(l); !golden.Near(got, want[j]/sum, 1e-14, 0) {
				t.Errorf("%d particles: weight %d is %v, want %v", m, j, got, want[j]/sum)
			}
		}
	}
	one := &Ensemble{LogWeights: []float64{log(.4), log(.3), log(.2), log(.1)}, Island: make([]int32, 4), LogEvidence: []float64{0}}
	if got := one.Last(2); !math.IsInf(got[1], -1) || !golden.Near(math.Exp(got[2]), 2./3, 1e-14, 0) || !golden.Near(math.Exp(got[3]), 1./3, 1e-14, 0) {
		t.Errorf("the last two of four: %v", got)
	}
	if e.LogWeights[0] != log(.1) {
		t.Error("the ensemble's own weights have changed")
	}
	for _, m := range []int{0, 6} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d of 5 particles", m)
				}
			}()
			e.Last(m)
		}()
	}
}

// TestEvaluateAlone: what is evaluated on the test examples alone has the bits of the scores that it has otherwise, and keeps no prediction.
func TestEvaluateAlone(t *testing.T) {
	e, set := random(t, 20, 300)
	few := e.Last(3)
	groups := []data.Group{{Name: "same", Set: set}}
	got, err := e.EvaluateClasses(t.Context(), set, groups, [][]float64{e.LogWeights}, [][]float64{few}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.EvaluateClasses(t.Context(), set, groups, [][]float64{e.LogWeights, few}, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].Groups) != 1 || got[1].Groups != nil || got[1].Test != nil || got[1].Evaluation.Groups != nil {
		t.Fatalf("%d evaluations", len(got))
	}
	if fmt.Sprint(*got[0].Test) != fmt.Sprint(*want[0].Test) {
		t.Error("another prediction")
	}
	for w, v := range got {
		same := want[w]
		if v.NLL != same.NLL || v.Accuracy != same.Accuracy || v.Brier != same.Brier || v.ECE != same.ECE || v.AURC != same.AURC {
			t.Errorf("weighting %d has other scores: %v, want %v", w, v.Evaluation, same.Evaluation)
		}
	}
}
