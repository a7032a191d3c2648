package bnn

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Predictions go through the particles a few at a time and add each to what its examples have so far, particle after
// particle: memory does not grow with their number, and no sum depends on the number of threads.
const (
	together = 16   // particles in one pass of the network
	stretch  = 1024 // examples of one task that turns outputs into predictions
)

// Predict is the weighted mean of the particles' class probabilities for every example of a set, with its entropies.
// A bernoulli network has the two classes 0 and 1. Targets of the set are not looked at. p may be nil. An error says that the
// set does not fit the network, that the network is one for regression, or is that of ctx.
func (e *Ensemble) Predict(ctx context.Context, set *data.Set, p *nn.Pool) (*uq.Predictive, error) {
	classes := e.Net.Outputs()
	switch e.Net.Likelihood().(type) {
	case nn.Bernoulli:
		classes = 2
	case nn.Gaussian:
		return nil, fmt.Errorf("a network with gaussian likelihood predicts values, not classes")
	}
	weights := e.weights()
	var mixtures []*uq.Mixture
	err := e.stream(ctx, set, p, func(first, count int) func(particle int, out []float32) {
		m, probs := uq.NewMixture(count, classes), make([]float64, count*classes)
		mixtures = append(mixtures, m)
		return func(particle int, out []float32) {
			if classes > e.Net.Outputs() {
				uq.Sigmoid(probs, out)
			} else {
				uq.Softmax(probs, out, classes)
			}
			m.Add(weights[particle], probs)
		}
	})
	if err != nil {
		return nil, err
	}
	all := &uq.Predictive{Classes: classes}
	for _, m := range mixtures {
		part := m.Predictive()
		all.Probs = append(all.Probs, part.Probs...)
		all.Total = append(all.Total, part.Total...)
		all.Aleatoric = append(all.Aleatoric, part.Aleatoric...)
		all.Epistemic = append(all.Epistemic, part.Epistemic...)
	}
	return all, nil
}

// Evaluate predicts a labelled test set and the foreign groups, and scores them.
func (e *Ensemble) Evaluate(ctx context.Context, test *data.Set, groups []data.Group, p *nn.Pool) (*uq.Evaluation, error) {
	if test.Labels == nil {
		return nil, fmt.Errorf("data set %q has no class labels to score against", test.Name)
	}
	known, err := e.Predict(ctx, test, p)
	if err != nil {
		return nil, err
	}
	if test.Classes > known.Classes {
		return nil, fmt.Errorf("data set %q has %d classes, the network predicts %d", test.Name, test.Classes, known.Classes)
	}
	var foreign []uq.Foreign
	for _, g := range groups {
		predictive, err := e.Predict(ctx, g.Set, p)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		foreign = append(foreign, uq.Foreign{Name: g.Name, Predictive: predictive})
	}
	return uq.Evaluate(known, test.Labels, foreign), nil
}

// Values is an ensemble's prediction of n examples' values, each array [n, Outputs]. The mixture's variance is
// Aleatoric² + Epistemic².
type Values struct {
	Outputs   int
	Mean      []float64 // Σ_j W_j μ_j
	Aleatoric []float64 // √(Σ_j W_j σ_j²): the noise that the particles believe in
	Epistemic []float64 // √(Σ_j W_j (μ_j − Mean)²): what they disagree on
	Quantiles []float64 // [n, Outputs, quantiles]: those of the mixture that were asked for
}

// PredictValues is the regression counterpart of Predict, for a network with gaussian likelihood; quantiles are those of
// the mixture to find, each between 0 and 1, and may be nil.
func (e *Ensemble) PredictValues(ctx context.Context, set *data.Set, quantiles []float64, p *nn.Pool) (*Values, error) {
	gaussian, ok := e.Net.Likelihood().(nn.Gaussian)
	if !ok {
		return nil, fmt.Errorf("a network with classes predicts probabilities, not values")
	}
	k := e.Net.Outputs()
	v := &Values{Outputs: k, Mean: make([]float64, set.Len()*k), Aleatoric: make([]float64, set.Len()*k), Epistemic: make([]float64, set.Len()*k)}
	weights := e.weights()
	noise, sum := 0.0, 0.0
	share := make([]float64, len(weights)) // of each particle's weight in the sum up to it
	for j, w := range weights {
		sd := e.noise(gaussian, j)
		noise += float64(w * float64(sd*sd))
		if sum += w; w > 0 {
			share[j] = w / sum
		}
	}
	err := e.stream(ctx, set, p, func(first, count int) func(particle int, out []float32) {
		mean, spread := v.Mean[first*k:(first+count)*k], v.Epistemic[first*k:(first+count)*k]
		return func(particle int, out []float32) {
			for i, mu := range out { // West (1979): mean and sum of squares in one pass
				d := float64(mu) - mean[i]
				mean[i] += float64(share[particle] * d)
				spread[i] += float64(weights[particle] * float64(d*(float64(mu)-mean[i])))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, s := range v.Epistemic {
		v.Aleatoric[i] = math.Sqrt(noise / sum)
		v.Epistemic[i] = math.Sqrt(s / sum)
	}
	return v, nil
}

// stream passes the network's outputs to consumers. consumer is called once for each stretch of examples, in order;
// what it returns is then called with the outputs [count, K] of that stretch for every particle that has weight, in
// order, while other stretches are served at the same time.
func (e *Ensemble) stream(ctx context.Context, set *data.Set, p *nn.Pool, consumer func(first, count int) func(particle int, out []float32)) error {
	model, err := nn.NewModel(e.Net, set, p)
	if err != nil {
		return err
	}
	n, k, d := model.Examples(), e.Net.Outputs(), e.Net.Dim()
	var consumers []func(particle int, out []float32)
	for first := 0; first < n; first += stretch {
		consumers = append(consumers, consumer(first, min(stretch, n-first)))
	}
	var alive []int
	for j, w := range e.weights() {
		if w > 0 {
			alive = append(alive, j)
		}
	}
	theta := make([]float64, min(together, len(alive))*d)
	out := make([]float32, min(together, len(alive))*n*k)
	for len(alive) > 0 {
		group := alive[:min(together, len(alive))]
		alive = alive[len(group):]
		for i, j := range group {
			for l, x := range e.Theta[j*d : (j+1)*d] {
				theta[i*d+l] = float64(x)
			}
		}
		outputs := out[:len(group)*n*k]
		if err := model.Outputs(ctx, nil, theta[:len(group)*d], outputs); err != nil {
			return err
		}
		p.Run(len(consumers), func(r int) {
			lo, hi := r*stretch, min((r+1)*stretch, n)
			for i, j := range group {
				consumers[r](j, outputs[(i*n+lo)*k:(i*n+hi)*k])
			}
		})
	}
	return nil
}
