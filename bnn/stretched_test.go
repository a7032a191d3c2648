package bnn

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// disagreeing is an ensemble of three weighted particles with a noise of 3, and two examples with targets.
func disagreeing(t *testing.T) (*Ensemble, *data.Set) {
	t.Helper()
	theta := []float64{1, 0, 2, -4, 5, 1} // outputs of the two examples, for each particle
	e := combine(t, denseNet(t, 2, 1, nn.Gaussian{SD: 3}), []Island{{Theta: theta, LogWeights: []float64{math.Log(2), 0, 0}}}, Equal{})
	set := indicators(2)
	set.Values, set.Outputs = []float32{4, -1}, 1
	return e, set
}

// TestStretchedPredicts: means and weights stay, standard deviations grow by the factor; the density is that of the stretched mixture by its
// definition; the ensemble itself stays as it is.
func TestStretchedPredicts(t *testing.T) {
	e, set := disagreeing(t)
	const c = 0.6
	of := func(e *Ensemble) *EvaluatedRegression {
		all, err := e.EvaluateRegression(t.Context(), set, nil, []float64{0.1}, [][]float64{e.LogWeights}, pool.New(2))
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	was, wide, still := of(e), of(e.Stretched(c)), of(e)
	for i, y := range []float64{4, -1} {
		mu := [][]float64{{1, 2, 5}, {0, -4, 1}}[i]
		mean := 0.5*mu[0] + 0.25*mu[1] + 0.25*mu[2]
		density := 0.0
		for j, w := range []float64{0.5, 0.25, 0.25} {
			z := (y - mean - c*(mu[j]-mean)) / (3 * c)
			density += w * math.Exp(-z*z/2) / (3 * c * math.Sqrt(2*math.Pi))
		}
		wantNear(t, "moments", []float64{wide.Mean[i], wide.Aleatoric[i], wide.Epistemic[i], wide.LogDensity[i]},
			[]float64{mean, 3 * c, c * was.Epistemic[i], math.Log(density)}, 1e-6, 1e-6)
		wantNear(t, "quantile", []float64{wide.Quantiles[i] - mean}, []float64{c * (was.Quantiles[i] - mean)}, 1e-6, 1e-6)
	}
	if !slices.Equal(still.LogDensity, was.LogDensity) {
		t.Error("the ensemble itself has changed")
	}
}

// TestByWidth: the loss at each width is that of the stretched ensemble, for any number of threads.
func TestByWidth(t *testing.T) {
	e, set := disagreeing(t)
	for _, threads := range []int{1, 3} {
		n, nll, err := e.ByWidth(t.Context(), set, e.LogWeights, pool.New(threads))
		if err != nil || n != 2 {
			t.Fatalf("%d examples, %v", n, err)
		}
		for _, c := range []float64{0.3, 1, 2.5} {
			l, err := e.Stretched(c).LogDensity(t.Context(), set, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := nll(c); got != -uq.Mean(l) {
				t.Errorf("at %v: %v, want %v", c, got, -uq.Mean(l))
			}
		}
	}
	set.Values = nil
	if _, _, err := e.ByWidth(t.Context(), set, e.LogWeights, nil); err == nil {
		t.Error("a set without targets has a loss")
	}
}

// TestSum: the checksum is that of the ensemble which is read back, and another one for another parameter or weight.
func TestSum(t *testing.T) {
	e, _ := random(t, 140, 3)
	sum := func(e *Ensemble) string {
		s, err := e.Sum()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := sum(e)
	var b bytes.Buffer
	if err := WritePosterior(&b, e); err != nil {
		t.Fatal(err)
	}
	read, err := ReadPosterior(b.Bytes(), e.Net)
	if err != nil || sum(read) != want {
		t.Errorf("read back the sum is %s, was %s (%v)", sum(read), want, err)
	}
	read.Theta[len(read.Theta)-1] += 0.25
	heavier := *e
	heavier.LogWeights = slices.Clone(e.LogWeights)
	heavier.LogWeights[3] += 1e-9
	if sum(read) == want || sum(&heavier) == want {
		t.Error("another parameter, or another weight, has the same sum")
	}

	// Of the same θ behind another frozen layer, too.
	partly, err := nn.Random{nn.LastLayer}.Network([]int{2}, []nn.Layer{nn.Dense{Units: 3}, nn.Tanh, nn.Dense{Units: 1}}, nn.Gaussian{SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	behind := func(x float64) *Ensemble {
		net, err := partly.Frozen().With([]float64{x, 0.5, -0.5, 1, 2, -1, 0, 0, 0.5})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Combine(net, []Island{{Theta: make([]float64, 2*net.Dim())}}, Equal{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if one, again, other := sum(behind(1)), sum(behind(1)), sum(behind(1.5)); one != again || one == other {
		t.Error("another frozen layer has the same sum")
	}
}
