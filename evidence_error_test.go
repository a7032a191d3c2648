package starling

import (
	"math"
	"testing"
)

// The log evidence of a run is the logarithm of the mean evidence of its islands, and its standard error their standard deviation, by n − 1,
// over √n.
func TestErrorOfTheEvidence(t *testing.T) {
	spec := trees(t, "map=null", "prior.anchor=null", "method={smc: {particles: 8, islands: 5}}")
	r := fitted(t, spec, Options{})
	judged, err := Criteria[1].Judge(t.Context(), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	logZ := r.Posterior.LogEvidence
	n := float64(len(logZ))
	mean, square, sum := 0.0, 0.0, 0.0
	for _, z := range logZ {
		mean += z / n
	}
	for _, z := range logZ {
		square += (z - mean) * (z - mean) / (n - 1)
		sum += math.Exp(z-mean) / n
	}
	if len(logZ) != 5 || square == 0 {
		t.Fatalf("evidences %v", logZ)
	}
	if want := math.Sqrt(square / n); !(math.Abs(judged.SE-want) <= 1e-9*want) {
		t.Errorf("the standard error is %v, want %v of %v", judged.SE, want, logZ)
	}
	if want := mean + math.Log(sum); !(math.Abs(judged.Value-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("log evidence %v, want %v of %v", judged.Value, want, logZ)
	}
}
