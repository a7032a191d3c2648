package nn

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
)

// TestGuess: a network whose weights are 0 does not look at its inputs. Its mean NLL is that of the guess, where its biases and the
// standard deviation are the guess's.
func TestGuess(t *testing.T) {
	x := make([]float32, 2*6)
	for i := range x {
		x[i] = float32(i%5) - 1.5
	}
	classes := &data.Set{Name: "classes", Shape: []int{2}, F32: x, Labels: []int32{0, 1, 2, 2, 2, 1}, Classes: 3}
	two := &data.Set{Name: "two", Shape: []int{2}, F32: x, Labels: []int32{0, 1, 1, 1, 1, 1}, Classes: 2}
	values := &data.Set{Name: "values", Shape: []int{2}, F32: x, Values: []float32{1, 20, 2, 20, 4, 26, 1, 22, 3, 20, 1, 30}, Outputs: 2}
	means := []float64{2, 23}
	sds := []float64{math.Sqrt(8. / 6), math.Sqrt(86. / 6)}
	one := &data.Set{Name: "one", Shape: []int{2}, F32: x, Values: []float32{1, 2, 4, 1, 3, 1}, Outputs: 1}
	for name, c := range map[string]struct {
		set     *data.Set
		lik     Likelihood
		outputs int
		last    []float64 // of θ: biases, and the likelihood's own parameters
	}{
		"classes":   {classes, Categorical{}, 3, []float64{0, 0, 0}},
		"two":       {two, Bernoulli{}, 1, []float64{0}},
		"fixed":     {values, Gaussian{SD: 0.5}, 2, means},
		"learned":   {one, Gaussian{SD: Learned}, 1, []float64{2, math.Log(sds[0])}},
		"predicted": {values, Gaussian{SD: Predicted}, 4, []float64{means[0], means[1], math.Log(sds[0]), math.Log(sds[1])}},
	} {
		net := mustNet(t, []int{2}, []Layer{Dense{Units: c.outputs}}, c.lik)
		m, err := NewModel(net, c.set, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		theta, ll := make([]float64, net.Dim()), make([]float64, 1)
		copy(theta[net.Dim()-len(c.last):], c.last)
		if err := m.LogLik(t.Context(), nil, theta, ll, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := c.lik.Guess(c.set), -ll[0]/6; !golden.Near(got, want, 1e-6, 1e-6) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if g := (Gaussian{SD: Learned}).Guess(&data.Set{Shape: []int{1}, F32: make([]float32, 2), Values: []float32{3, 3}, Outputs: 1}); !math.IsNaN(g) {
		t.Errorf("equal values: %v", g)
	}
}
