package bnn

import (
	"context"
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Regression is the prediction of an ensemble with gaussian likelihood for n examples: for each output a mixture of
// normals, Σ_j W_j N(μ_j, σ_j²), [n, Outputs]. The mixture's variance is Aleatoric² + Epistemic². A particle's σ_j is one number
// for all examples, or the network's prediction for each of them.
type Regression struct {
	Outputs   int       // target values of an example
	Mean      []float64 // Σ_j W_j μ_j
	Aleatoric []float64 // √(Σ_j W_j σ_j²): the noise in the particles' likelihoods
	Epistemic []float64 // √(Σ_j W_j (μ_j − Mean)²): the disagreement of the particles
	Quantiles []float64 // [n, Outputs, quantiles]: the requested quantiles of the mixture
}

// EvaluatedRegression is the prediction for a test set with its scores, and the predictions for OOD groups.
type EvaluatedRegression struct {
	Regression
	Groups     []*Regression
	LogDensity []float64 // [n], nats: log Σ_j W_j Π_k N(y_k; μ_jk, σ_jk²), of all outputs together
	CRPS       []float64 // [n, Outputs], in the unit of the output
	PIT        []float64 // [n, Outputs]: the mixture's CDF at the target (probability integral transform)
}

// PredictRegression is the counterpart of Predict for a network with gaussian likelihood. quantiles are the levels, each
// between 0 and 1, of the quantiles of the mixture to compute; nil: none.
func (e *Ensemble) PredictRegression(ctx context.Context, set *data.Set, quantiles []float64, p *nn.Pool) (*Regression, error) {
	return e.PredictAmounts(ctx, set, nil, quantiles, p)
}

// PredictAmounts is PredictRegression for a network that learns the logarithms of amounts, standardised by logs (data.Standard.Log): the
// prediction is the mixture of log-normal distributions of the amounts, in their unit (uq.LogNormals). Without logs, nil, it is PredictRegression.
func (e *Ensemble) PredictAmounts(ctx context.Context, set *data.Set, logs *data.Standard, quantiles []float64, p *nn.Pool) (*Regression, error) {
	all, err := e.predictRegression(ctx, set, logs, quantiles, [][]float64{e.LogWeights}, p)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (e *Ensemble) predictRegression(ctx context.Context, set *data.Set, logs *data.Standard, quantiles []float64, logWeights [][]float64, p *nn.Pool) ([]*Regression, error) {
	all := make([]*Regression, len(logWeights))
	for w := range all {
		all[w] = newRegression(set.Len(), e.Net.Targets(), len(quantiles))
	}
	err := e.mixtures(ctx, set, logWeights, p, func(i, w int, outputs []uq.Normals) { all[w].set(i, laws(outputs, logs), quantiles) })
	return all, err
}

// EvaluateRegression predicts a test set with targets and OOD groups, and scores the prediction for the test set. It does so
// under several weightings of the particles at once, given as normalised log-weights.
func (e *Ensemble) EvaluateRegression(ctx context.Context, set *data.Set, groups []data.Group, quantiles []float64, logWeights [][]float64, p *nn.Pool) ([]*EvaluatedRegression, error) {
	return e.EvaluateAmounts(ctx, set, groups, nil, quantiles, logWeights, p)
}

// EvaluateAmounts is EvaluateRegression as PredictAmounts is PredictRegression: predictions and scores, the densities too, are of the amounts.
func (e *Ensemble) EvaluateAmounts(ctx context.Context, set *data.Set, groups []data.Group, logs *data.Standard, quantiles []float64, logWeights [][]float64, p *nn.Pool) ([]*EvaluatedRegression, error) {
	n, k := set.Len(), e.Net.Targets()
	if err := e.hasTargets(set); err != nil {
		return nil, err
	}
	evaluated := make([]*EvaluatedRegression, len(logWeights))
	for w := range evaluated {
		evaluated[w] = &EvaluatedRegression{
			Regression: *newRegression(n, k, len(quantiles)),
			LogDensity: make([]float64, n), CRPS: make([]float64, n*k), PIT: make([]float64, n*k),
		}
	}
	err := e.mixtures(ctx, set, logWeights, p, func(i, w int, outputs []uq.Normals) {
		v, truth := evaluated[w], truth(set, i, k)
		laws := laws(outputs, logs)
		v.set(i, laws, quantiles)
		if logs != nil {
			logs.Unscale(truth)
		}
		v.LogDensity[i] = uq.LogDensities(outputs, truth)
		for c, y := range truth {
			v.PIT[i*k+c] = outputs[c].CDF(y)
			if logs != nil {
				v.LogDensity[i] -= y // d ln y = dy/y
				y = rng.Exp(y)
			}
			v.CRPS[i*k+c] = laws[c].CRPS(y)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		values, err := e.predictRegression(ctx, g.Set, logs, nil, logWeights, p)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g.Name, err)
		}
		for w, v := range values {
			evaluated[w].Groups = append(evaluated[w].Groups, v)
		}
	}
	return evaluated, nil
}

// law is what a mixture predicts for one target.
type law interface {
	Moments() (mean, aleatoric, epistemic float64)
	Quantile(q float64) float64
	CRPS(y float64) float64
}

// laws are those of the targets whose mixtures are given: of the mixtures themselves or, with logs, of the amounts whose logarithms they are
// when logs has restored them, which it does in place.
func laws(outputs []uq.Normals, logs *data.Standard) []law {
	all := make([]law, len(outputs))
	for c := range outputs {
		n := &outputs[c]
		if all[c] = n; logs == nil {
			continue
		}
		for j, mean := range n.Mean {
			n.Mean[j], n.SD[j] = logs.Mean[c]+float64(logs.SD[c]*mean)/logs.To, float64(logs.SD[c]*n.SD[j])/logs.To
		}
		all[c] = (*uq.LogNormals)(n)
	}
	return all
}

// LogDensity is the log of the ensemble's predictive density at the targets y_i of a set's examples, in nats, for a
// network with gaussian likelihood and K target values:
//
//	log p(y_i) = log Σ_j W_j Π_k N(y_ik; μ_ijk, σ_ijk²)
//
// This is the mixture's density, not the normal density of its mean and variance. An error says that the set has no such
// targets, that it does not fit the network or that the network predicts classes, or is the error of ctx.
func (e *Ensemble) LogDensity(ctx context.Context, set *data.Set, p *nn.Pool) ([]float64, error) {
	if err := e.hasTargets(set); err != nil {
		return nil, err
	}
	l := make([]float64, set.Len())
	err := e.mixtures(ctx, set, [][]float64{e.LogWeights}, p, func(i, _ int, outputs []uq.Normals) {
		l[i] = uq.LogDensities(outputs, truth(set, i, len(outputs)))
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func newRegression(n, outputs, quantiles int) *Regression {
	return &Regression{
		Outputs: outputs,
		Mean:    make([]float64, n*outputs), Aleatoric: make([]float64, n*outputs), Epistemic: make([]float64, n*outputs),
		Quantiles: make([]float64, n*outputs*quantiles),
	}
}

// set stores the prediction for example i.
func (v *Regression) set(i int, outputs []law, quantiles []float64) {
	for c := range outputs {
		at := i*v.Outputs + c
		v.Mean[at], v.Aleatoric[at], v.Epistemic[at] = outputs[c].Moments()
		for l, q := range quantiles {
			v.Quantiles[at*len(quantiles)+l] = outputs[c].Quantile(q)
		}
	}
}

func (e *Ensemble) hasTargets(set *data.Set) error {
	if n, k := set.Len(), e.Net.Targets(); len(set.Values) != n*k {
		return fmt.Errorf("data set %q has %d target values for %d examples, the network predicts %d each", set.Name, len(set.Values), n, k)
	}
	return nil
}

// truth returns the k targets of example i.
func truth(set *data.Set, i, k int) []float64 {
	y := make([]float64, k)
	for c := range y {
		y[c] = float64(set.Values[i*k+c])
	}
	return y
}

// mixtures calls visit for every example i and weighting w with the mixtures of the example's outputs under that
// weighting. Several examples are visited at the same time. outputs is valid until visit returns. Examples are evaluated
// a block at a time, so that memory does not grow with their number.
func (e *Ensemble) mixtures(ctx context.Context, set *data.Set, logWeights [][]float64, p *nn.Pool, visit func(i, w int, outputs []uq.Normals)) error {
	if !e.Net.Likelihood().Regression() {
		return fmt.Errorf("a network for classes predicts probabilities, not numbers")
	}
	model, err := nn.NewModel(e.Net, set, p)
	if err != nil {
		return err
	}
	weightings, alive := e.weightings(logWeights)
	own := make([][]float64, len(alive))
	for a, j := range alive {
		own[a] = e.own(j)
	}
	k, targets := e.Net.Outputs(), e.Net.Targets()
	return e.blocks(ctx, model, alive, func(first, n int, out []float32) {
		const few = 16 // examples of one task: a score can be slow
		p.Run((n+few-1)/few, func(task int) {
			for w, weighting := range weightings {
				outputs := weighting.normals(targets)
				mean, sd := make([]float64, targets), make([]float64, targets)
				for i := task * few; i < min((task+1)*few, n) && ctx.Err() == nil; i++ {
					for j, a := range weighting.alive {
						df := e.Net.Likelihood().Predicts(out[(a*n+i)*k:][:k], own[a], mean, sd)
						for c := range outputs {
							outputs[c].Mean[j], outputs[c].SD[j], outputs[c].DF[j] = mean[c], sd[c], df
						}
					}
					if e.width != 0 {
						for c := range outputs {
							outputs[c].Stretch(e.width)
						}
					}
					visit(first+i, w, outputs)
				}
			}
		})
	})
}

// weighting holds the particles that are alive under one set of weights.
type weighting struct {
	weights []float64 // their sum is 1
	alive   []int     // their indices among the particles alive under any set
}

func (e *Ensemble) weightings(logWeights [][]float64) (all []weighting, alive []int) {
	weights, alive := exponentials(logWeights)
	for _, of := range weights {
		var w weighting
		sum := 0.0
		for a, j := range alive {
			if of[j] > 0 {
				sum += of[j]
				w.weights, w.alive = append(w.weights, of[j]), append(w.alive, a)
			}
		}
		for j := range w.weights {
			w.weights[j] /= sum
		}
		all = append(all, w)
	}
	return all, alive
}

// normals returns k mixtures whose means and standard deviations are not set yet.
func (w *weighting) normals(k int) []uq.Normals {
	normals := make([]uq.Normals, k)
	for c := range normals {
		normals[c] = uq.Normals{Weights: w.weights, SD: make([]float64, len(w.alive)), Mean: make([]float64, len(w.alive)), DF: make([]float64, len(w.alive))}
	}
	return normals
}
