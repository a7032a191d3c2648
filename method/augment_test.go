package method

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// A descent takes its gradients on images that are changed by its restart and epoch, and its looks at the validation examples as they are: the
// same descent is made here on images that are changed beforehand, by a gradient without augmentation.
func TestDescentsAugment(t *testing.T) {
	const batch, epochs, rate, seed = 16, 3, 0.1, 5
	net, train, validate := mlp(t), blobs(1, 50), blobs(2, 30)
	train.Shape, validate.Shape = []int{1, 1, 5}, []int{1, 1, 5} // images of one row
	augment := &data.Augment{Crop: 1, Flip: true}
	s := looking{Search: Search{Restarts: 2, Epochs: epochs, Batch: batch, Rate: rate, Patience: epochs}, seed: seed, augment: augment}
	got := s.fit(t, net, 0.5, train, validate, 2)

	looks, err := nn.NewModel(net, validate, pool.New(1))
	if err != nil {
		t.Fatal(err)
	}
	p := prior(t, net, 0.5)
	for k := range 2 {
		theta, ll, grad, slope := make([]float64, net.Dim()), make([]float64, 1), make([]float64, net.Dim()), make([]float64, net.Dim())
		p.Sample(rng.Key{Seed: seed, Purpose: rng.Start, Particle: k}.Stream(), theta)
		best := math.Inf(1)
		for epoch := 1; epoch <= epochs; epoch++ {
			changed := *train
			changed.F32 = slices.Clone(train.F32)
			for i := range 50 {
				c := augment.Draw(rng.Key{Seed: seed, Purpose: rng.Augment, Particle: k, Iteration: epoch, Island: i}.Stream())
				data.ChangeImage(c, train.F32[5*i:][:5], changed.F32[5*i:][:5], 1, 5)
			}
			m, err := nn.NewModel(net, &changed, pool.New(1))
			if err != nil {
				t.Fatal(err)
			}
			order := make([]int32, 50)
			rng.Key{Seed: seed, Purpose: rng.Batch, Particle: k, Iteration: epoch}.Stream().Perm(order)
			for rows := range data.Batches(order, batch) {
				if err := m.LogLik(t.Context(), rows, theta, ll, grad); err != nil {
					t.Fatal(err)
				}
				p.LogDensity(theta, slope)
				for i := range theta {
					theta[i] += rate * (grad[i]/float64(len(rows)) + slope[i]/50)
				}
			}
			if err := looks.LogLik(t.Context(), nil, theta, ll, nil); err != nil {
				t.Fatal(err)
			}
			best = min(best, -ll[0]/30)
		}
		wantNear(t, "parameters", got.restarts[k].Theta, theta, 1e-12)
		wantNear(t, "best NLL", []float64{got.NLL[k]}, []float64{best}, 1e-12)
	}
}
