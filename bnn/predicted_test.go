package bnn

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// TestPredictedNoiseByHand: two particles of weights ¼ and ¾ predict N(1, 2²) and N(5, 1) for the first example, N(−1, 1) and
// N(−1, 3²) for the second. All that follows is written out from these eight numbers.
func TestPredictedNoiseByHand(t *testing.T) {
	net := denseNet(t, 2, 2, nn.Gaussian{SD: nn.Predicted})
	theta := append(columns([][]float64{{1, math.Ln2}, {-1, 0}}), columns([][]float64{{5, 0}, {-1, math.Log(3)}})...)
	e := combine(t, net, []Island{{Theta: theta, LogWeights: []float64{0, math.Log(3)}}}, Equal{})
	set := indicators(2)
	set.Values, set.Outputs = []float32{3, -1}, 1
	levels := []float64{0.5, 0.95}
	all, err := e.EvaluateRegression(t.Context(), set, []data.Group{{Name: "same", Set: set}}, levels, [][]float64{e.LogWeights}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := all[0]
	near := func(what string, got []float64, want ...float64) {
		t.Helper()
		wantNear(t, what, got, want, 1e-6, 1e-6)
	}
	near("means", v.Mean, 4, -1)
	near("noise", v.Aleatoric, math.Sqrt(1+0.75), math.Sqrt(0.25+6.75))
	near("spread", v.Epistemic, math.Sqrt(0.25*9+0.75), 0)
	near("a group's noise", v.Groups[0].Aleatoric, v.Aleatoric...)

	pdf := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	near("log density", v.LogDensity, math.Log(0.25*pdf(1)/2+0.75*pdf(-2)), math.Log(pdf(0)*(0.25+0.75/3)))
	near("PIT", v.PIT, 0.25*cdf(1)+0.75*cdf(-2), 0.5)
	density, err := e.LogDensity(t.Context(), set, nil)
	if err != nil {
		t.Fatal(err)
	}
	near("log density alone", density, v.LogDensity...)

	q := v.Quantiles
	near("the CDF at the quantiles", []float64{0.25*cdf((q[0]-1)/2) + 0.75*cdf(q[0]-5), 0.25*cdf((q[1]-1)/2) + 0.75*cdf(q[1]-5)}, levels...)
	near("the median of a symmetric mixture", q[2:3], -1)
	near("the CDF at its quantile", []float64{0.25*cdf(q[3]+1) + 0.75*cdf((q[3]+1)/3)}, 0.95)

	absolute := func(m, s float64) float64 { return m*math.Erf(m/s/math.Sqrt2) + 2*s*pdf(m/s) } // E|N(m, s²)|
	root := math.Sqrt
	near("CRPS", v.CRPS,
		0.25*absolute(2, 2)+0.75*absolute(-2, 1)-0.5*(absolute(0, root(8))/16+absolute(0, root(2))*9/16+absolute(-4, root(5))*6/16),
		0.25*absolute(0, 1)+0.75*absolute(0, 3)-0.5*(absolute(0, root(2))/16+absolute(0, root(18))*9/16+absolute(0, root(10))*6/16))
}

// A particle's numbers for chains to compare are the means of the target values, without log σ.
func TestParticlesOfPredictedNoise(t *testing.T) {
	e, set := regression(t, nn.Predicted, 6, 5)
	one, err := (&Ensemble{Net: e.Net, Theta: e.Theta[3*e.Net.Dim() : 4*e.Net.Dim()], LogWeights: []float64{0}}).PredictRegression(t.Context(), set, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Particles(t.Context(), set, nil, func(i int, values [][]float64) {
		if len(values) != 2 || len(values[0]) != e.Size() || values[0][3] != one.Mean[2*i] || values[1][3] != one.Mean[2*i+1] {
			t.Errorf("example %d: %v", i, values)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
