package bnn

import (
	"context"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Predict returns the weighted mean of the particles' class probabilities for every example of a set, with entropies and
// energies. A bernoulli network has the two classes 0 and 1. Targets of the set are ignored. p may be nil. An error says that
// the set does not fit the network or that the network is for regression, or is the error of ctx.
func (e *Ensemble) Predict(ctx context.Context, set *data.Set, p *nn.Pool) (*uq.Predictive, error) {
	all, err := e.PredictUnder(ctx, set, [][]float64{e.LogWeights}, false, p)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// PredictUnder is Predict under several weightings of the same particles, given as normalised log-weights; with the moments of their answers
// (uq.Tops), if tops asks for them.
func (e *Ensemble) PredictUnder(ctx context.Context, set *data.Set, logWeights [][]float64, tops bool, p *nn.Pool) ([]*uq.Predictive, error) {
	mixed, err := e.mix(ctx, set, logWeights, tops, p)
	if err != nil {
		return nil, err
	}
	predictives := make([]*uq.Predictive, len(mixed))
	for w := range mixed {
		predictives[w] = mixed[w].predictive(e.Net.Classes())
	}
	return predictives, nil
}

// stretched are the predictions under one weighting, a mixture for each stretch of examples.
type stretched []*uq.Mixture

// mix averages the particles' predictions under several weightings of them, given as normalised log-weights: the network is
// evaluated once for all weightings.
func (e *Ensemble) mix(ctx context.Context, set *data.Set, logWeights [][]float64, tops bool, p *nn.Pool) ([]stretched, error) {
	probabilities, err := e.probabilities()
	if err != nil {
		return nil, err
	}
	classes := e.Net.Classes()
	weights, alive := exponentials(logWeights)
	mixtures := make([]stretched, len(weights))
	err = e.stream(ctx, set, alive, p, func(count int) func(particle int, out []float32) {
		member := uq.NewMember(count, classes)
		var here []*uq.Mixture
		for w := range weights {
			m := uq.NewMixture(count, classes)
			if tops {
				m.WatchTops()
			}
			mixtures[w], here = append(mixtures[w], m), append(here, m)
		}
		return func(particle int, out []float32) {
			probabilities(member, out)
			for w, m := range here {
				m.Add(weights[w][particle], member)
			}
		}
	})
	return mixtures, err
}

// predictive is the prediction for all examples.
func (s stretched) predictive(classes int) *uq.Predictive {
	all := &uq.Predictive{Classes: classes}
	for _, m := range s {
		part := m.Predictive()
		all.Probs = append(all.Probs, part.Probs...)
		all.Total = append(all.Total, part.Total...)
		all.Aleatoric = append(all.Aleatoric, part.Aleatoric...)
		all.Epistemic = append(all.Epistemic, part.Epistemic...)
		all.Energy = append(all.Energy, part.Energy...)
		all.MeanLogits = append(all.MeanLogits, part.MeanLogits...)
		if part.Tops != nil {
			if all.Tops == nil {
				all.Tops = new(uq.Tops)
			}
			all.Tops.Append(part.Tops)
		}
	}
	return all
}

// probabilities returns the rule by which outputs become the probabilities of classes.
func (e *Ensemble) probabilities() (func(*uq.Member, []float32), error) {
	outputs, classes := e.Net.Outputs(), e.Net.Classes()
	switch {
	case e.Net.Likelihood().Regression():
		return nil, fmt.Errorf("a network with %s likelihood predicts numbers, not classes", e.Net.Likelihood())
	case classes == outputs: // one logit a class
		return uq.Softmax, nil
	case classes == 2 && outputs == 1: // the logit of class 1
		return uq.Sigmoid, nil
	}
	return nil, fmt.Errorf("a network with %s likelihood predicts %d classes from %d outputs: no rule gives their probabilities", e.Net.Likelihood(), classes, outputs)
}

// exponentials returns the weights of several weightings and, in order, the particles that have a weight in at least one of
// them.
func exponentials(logWeights [][]float64) (weights [][]float64, alive []int) {
	for _, logw := range logWeights {
		w := make([]float64, len(logw))
		for j, l := range logw {
			w[j] = rng.Exp(l)
		}
		weights = append(weights, w)
	}
	for j := range weights[0] {
		if slices.ContainsFunc(weights, func(w []float64) bool { return w[j] > 0 }) {
			alive = append(alive, j)
		}
	}
	return weights, alive
}

// EvaluatedClasses is a prediction of class probabilities and its scores, or the scores alone.
type EvaluatedClasses struct {
	Test   *uq.Predictive
	Groups []*uq.Predictive
	*uq.Evaluation
}

// EvaluateClasses predicts and scores a labelled test set and groups of out-of-distribution (OOD) inputs, under several
// weightings of the particles at once, given as normalised log-weights. Under the weightings alone it scores the probabilities of
// the test set alone (uq.Score), and keeps no prediction; their evaluations come after the others. tops is as in PredictUnder.
func (e *Ensemble) EvaluateClasses(ctx context.Context, test *data.Set, groups []data.Group, logWeights, alone [][]float64, tops bool, p *nn.Pool) ([]EvaluatedClasses, error) {
	if test.Labels == nil {
		return nil, fmt.Errorf("data set %q has no class labels to score against", test.Name)
	}
	known, err := e.mix(ctx, test, slices.Concat(logWeights, alone), tops, p)
	if err != nil {
		return nil, err
	}
	classes := e.Net.Classes()
	if test.Classes > classes {
		return nil, fmt.Errorf("data set %q has %d classes, the network predicts %d", test.Name, test.Classes, classes)
	}
	evaluated := make([]EvaluatedClasses, len(known))
	ood := make([][]uq.OOD, len(logWeights))
	for _, g := range groups {
		predictives, err := e.PredictUnder(ctx, g.Set, logWeights, tops, p)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		for w, predictive := range predictives {
			evaluated[w].Groups = append(evaluated[w].Groups, predictive)
			ood[w] = append(ood[w], uq.OOD{Name: g.Name, Predictive: predictive})
		}
	}
	p.Run(len(evaluated), func(w int) {
		predictive := known[w].predictive(classes)
		known[w] = nil // which is as large
		if w >= len(logWeights) {
			evaluated[w].Evaluation = uq.Score(predictive.Probs, classes, test.Labels)
			return
		}
		evaluated[w].Test = predictive
		evaluated[w].Evaluation = uq.Evaluate(predictive, test.Labels, ood[w])
	})
	return evaluated, nil
}

// Evaluate returns the scores of EvaluateClasses under the ensemble's own weights.
func (e *Ensemble) Evaluate(ctx context.Context, test *data.Set, groups []data.Group, p *nn.Pool) (*uq.Evaluation, error) {
	evaluated, err := e.EvaluateClasses(ctx, test, groups, [][]float64{e.LogWeights}, nil, false, p)
	if err != nil {
		return nil, err
	}
	return evaluated[0].Evaluation, nil
}

// stream passes the network's outputs to consumers. consumer is called once for each stretch of count examples, in
// order, and returns a function, which stream calls for each of the particles, in order, with the outputs [count, K] of
// that stretch. Several stretches run at the same time.
func (e *Ensemble) stream(ctx context.Context, set *data.Set, particles []int, p *nn.Pool, consumer func(count int) func(particle int, out []float32)) error {
	model, err := nn.NewModel(e.Net, set, p)
	if err != nil {
		return err
	}
	n, k := model.Examples(), e.Net.Outputs()
	var consumers []func(particle int, out []float32)
	for first := 0; first < n; first += stretch {
		consumers = append(consumers, consumer(min(stretch, n-first)))
	}
	most, block := e.pass(len(particles), n)
	out, own := make([]float32, min(most, len(particles))*block*k), new(wide)
	for first := 0; first < n; first += block {
		rows := span(first, min(first+block, n))
		here := consumers[first/stretch : (first+len(rows)+stretch-1)/stretch]
		for model, group := range e.passes(model, particles, most) {
			outputs := out[:len(group)*len(rows)*k]
			if err := e.outputs(ctx, model, rows, group, own, outputs); err != nil {
				return err
			}
			p.Run(len(here), func(r int) {
				lo, hi := r*stretch, min((r+1)*stretch, len(rows))
				for i, j := range group {
					here[r](j, outputs[(i*len(rows)+lo)*k:(i*len(rows)+hi)*k])
				}
			})
		}
	}
	return nil
}

// span lists the examples from first to end, without end.
func span(first, end int) []int32 {
	rows := make([]int32, end-first)
	for i := range rows {
		rows[i] = int32(first + i)
	}
	return rows
}

// wide is memory for what the particles of a pass have of their own. The next pass uses it again.
type wide struct {
	narrow []float32
	theta  []float64
	linear // of a linearised ensemble
}

// of returns what some of an ensemble's particles have of their own as float64. They are in increasing order.
func (w *wide) of(e *Ensemble, particles []int) ([]float64, error) {
	d := e.Net.Dim()
	w.theta = slices.Grow(w.theta[:0], len(particles)*d)
	for len(particles) > 0 {
		n := 1
		for n < len(particles) && particles[n] == particles[0]+n {
			n++
		}
		w.narrow = slices.Grow(w.narrow[:0], n*d)[:n*d]
		if err := e.parameters(particles[0], n, 0, d, w.narrow); err != nil {
			return nil, err
		}
		w.theta, particles = widen(w.theta, w.narrow), particles[n:]
	}
	return w.theta, nil
}
