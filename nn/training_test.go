package nn

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
)

// TestTrainingRows: a Training has the training examples, and neither those of validation nor those of test, which are as many and have
// other values. Its log-likelihood is the sum of the binary cross-entropies of the training examples.
func TestTrainingRows(t *testing.T) {
	part := func(name string, x ...float32) *data.Set {
		return &data.Set{Name: name, Shape: []int{1}, F32: x, Labels: []int32{0, 1, 1}, Classes: 2}
	}
	p := &data.Problem{Train: part("train", -1, 0.5, 2), Validate: part("validate", 3, -2, 0.25), Test: part("test", 1, 1.5, -3)}
	net := mustNet(t, []int{1}, []Layer{Dense{Units: 1}}, Bernoulli{})
	m, err := NewTraining(net, p, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	w, b := 0.75, -0.5
	theta, ll := make([]float64, net.Dim()), make([]float64, 1)
	theta[0], theta[1] = w, b
	if err := m.LogLik(t.Context(), nil, theta, ll, nil); err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i, x := range p.Train.F32 {
		z := w*float64(x) + b
		if p.Train.Labels[i] == 0 {
			z = -z
		}
		want -= math.Log1p(math.Exp(-z))
	}
	if m.Examples() != 3 || !golden.Near(ll[0], want, 1e-6, 1e-6) {
		t.Errorf("log-likelihood %v of %d examples, want %v of the 3 that train", ll[0], m.Examples(), want)
	}
}
