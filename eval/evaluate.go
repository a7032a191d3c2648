package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/uq"
)

// Evaluate scores ensembles on the problem's test part, or on its training part if nothing is held out. combined is the
// weighting of the posterior's islands. evidences says that the islands' evidences estimate the model's; then the posterior
// is also scored under every other weighting of islands. Where e.Chains is given, the problem must be the run's own: chains are
// compared on its validation examples, or on the training examples if there are none. An error is an *InputError, or that of ctx.
func Evaluate(ctx context.Context, e *Ensembles, problem *data.Problem, combined bnn.Combination, evidences bool, p *pool.Pool) (*Assessment, error) {
	a, err := evaluate(ctx, e, problem, combined, evidences, p)
	if changed := problem.Unchanged(); changed != nil {
		return nil, &InputError{changed}
	}
	if err != nil && ctx.Err() == nil {
		err = &InputError{err}
	}
	return a, err
}

func evaluate(ctx context.Context, e *Ensembles, problem *data.Problem, combined bnn.Combination, evidences bool, p *pool.Pool) (*Assessment, error) {
	if e.Last > 0 {
		if alive := e.Posterior.Alive(); e.Last > alive {
			return nil, fmt.Errorf("%d members of the posterior, which has %d", e.Last, alive)
		}
		part := *e
		part.Posterior, part.Chains = last(e.Posterior, e.Last), nil // an evidence, and the chains' agreement, are of all members
		if e.Decision != nil {                                       // and so is what was learnt
			part.Decision = &Decision{Foreign: e.Decision.Foreign}
		}
		e, evidences = &part, false
	}
	_, ess, err := weights.Normalise(slices.Clone(e.Posterior.LogWeights), "particle")
	if err != nil {
		return nil, err
	}
	m := &Metrics{ESS: uq.Number(ess), Cost: e.Cost}
	a := &Assessment{Metrics: m, Problem: problem, Islands: len(e.Posterior.LogEvidence)}
	weightings := [][]float64{e.Posterior.LogWeights}
	var ways []int // for each row of bnn.Combinations, the index of its weighting
	if evidences {
		if weightings, ways, err = combinations(e.Posterior, combined); err != nil {
			return nil, err
		}
	}
	counts := memberCounts(e.Posterior, e.Fewer)
	learnt := new(Learnt) // without a decision nothing was learnt
	if e.Decision != nil && e.Decision.Learnt != nil {
		learnt = e.Decision.Learnt
	}
	scores, losses, err := score(ctx, e.Posterior, weightings, lasts(e.Posterior, counts), learnt.tempers((*PerEnsemble).posterior), learnt.Classifier != nil, problem, p, a)
	if err != nil {
		return nil, err
	}
	m.Evaluation, a.Losses.Posterior = scores[0], losses[0]
	m.ByClass, m.GroupsByClass = byClass(a.Test, a.Set()), groupsByClass(a.Test, a.Set())
	if m.AllClasses, err = allClasses(ctx, e.Posterior, problem.Unshared, a.Test, a.Set().Labels, p); err != nil {
		return nil, err
	}
	m.Members = membersTable(counts, scores[len(weightings):], e.Posterior.Alive(), scores[0])
	if e.Decision != nil && e.Decision.Foreign != nil {
		e.Decision.detect(a.Test, a.Groups, m.Groups)
	}
	if err := a.judge(ctx, learnt, e.Posterior, p); err != nil {
		return nil, err
	}
	if evidences {
		for i, row := range bnn.Combinations {
			m.Combined = append(m.Combined, CombinedBy{row.Name, scores[ways[i]]})
		}
		if err := m.evidence(e.Posterior.LogEvidence, e.Precision); err != nil {
			return nil, err
		}
	}
	if e.Chains != nil {
		if m.Chains, err = compareChains(ctx, e.Posterior, e.Chains, problem, p); err != nil {
			return nil, err
		}
		m.Chains.Change.limit(a.Losses.Posterior)
	}
	if e.Restarts != nil {
		tempers := learnt.tempers((*PerEnsemble).deepEnsemble, (*PerEnsemble).ofMAP)
		scores, losses, err := score(ctx, e.Restarts, [][]float64{e.Restarts.LogWeights, e.chosen()}, nil, tempers, false, problem, p, nil)
		if err != nil {
			return nil, err
		}
		m.DeepEnsemble, m.MAP = &scores[0], &scores[1]
		a.Losses.DeepEnsemble, a.Losses.MAP = losses[0], losses[1]
	}
	return a, nil
}

// combinations returns the ensemble's own log-weights, which are those under combined, and its log-weights under every other
// weighting of islands. For a single island all are the same. ways holds, for each row of bnn.Combinations, the index of its
// log-weights.
func combinations(e *bnn.Ensemble, combined bnn.Combination) (weightings [][]float64, ways []int, err error) {
	if combined == nil {
		combined = bnn.Equal{}
	}
	weightings = [][]float64{e.LogWeights}
	ways = make([]int, len(bnn.Combinations))
	for i, row := range bnn.Combinations {
		if row.Name == bnn.Combinations.Name(combined) {
			continue
		}
		logWeights, err := e.Weigh(row.Part)
		if err != nil {
			return nil, nil, err
		}
		if len(e.LogEvidence) > 1 {
			ways[i] = len(weightings)
			weightings = append(weightings, logWeights)
		}
	}
	return weightings, ways, nil
}

// score scores an ensemble under several weightings of its particles; the network is evaluated once for all of them. Classes are
// scored without OOD groups under the weightings alone, whose scores come last; a regression has none. The losses are those of each
// example, under each of the other weightings. The predictions under the first weighting are kept in a, unless that is nil. tempers are the temperatures,
// or the factors, of the first weightings; 0: none. tops asks for the moments of the particles' answers.
func score(ctx context.Context, e *bnn.Ensemble, logWeights, alone [][]float64, tempers []float64, tops bool, problem *data.Problem, p *pool.Pool, a *Assessment) (scores []Evaluation, losses [][]float64, err error) {
	on, set := testPart(problem)
	scores = make([]Evaluation, len(logWeights)+len(alone))
	for i := range scores {
		scores[i] = Evaluation{On: on, N: set.Len()}
	}
	if e.Net.Likelihood().Regression() {
		var quantiles []float64
		if a != nil {
			quantiles = []float64{0.05, 0.5, 0.95}
		}
		predictions, err := e.EvaluateAmounts(ctx, set, problem.Groups, amounts(standard(problem)), quantiles, logWeights, p)
		if err != nil {
			return nil, nil, err
		}
		truth := Targets(set, problem)
		for i, v := range predictions {
			scores[i].Spread = spreads(on, v, problem)
			restore(v, standard(problem))
			scores[i].regression(v, truth)
			losses = append(losses, negative(v.LogDensity))
		}
		if err := temperNumbers(ctx, e, set, problem, logWeights, tempers, truth, scores, p); err != nil {
			return nil, nil, err
		}
		if a != nil {
			a.Regression = newRegression(predictions[0], truth)
		}
		return scores, losses, nil
	}
	predictions, err := e.EvaluateClasses(ctx, set, problem.Groups, logWeights, alone, tops, p)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range predictions {
		scores[i].classification(v.Evaluation)
	}
	for w, t := range tempers {
		scores[w].Tempered = temper(predictions[w].Test, set.Labels, t)
	}
	for _, v := range predictions[:len(logWeights)] { // under the others no prediction is kept
		losses = append(losses, lossesOf(v.Test, set))
	}
	if a != nil {
		a.Test, a.Groups = predictions[0].Test, predictions[0].Groups
	}
	return scores, losses, nil
}

// spreads describes the uncertainty about the part evaluated on and about OOD groups. v is in the units of the network, or of amounts. With
// several outputs the variances are added: of amounts, those of their shares of the mean.
func spreads(on string, v *bnn.EvaluatedRegression, problem *data.Problem) uq.Spreads {
	uncertainty := func(v *bnn.Regression) []float64 {
		d := make([]float64, len(v.Epistemic)/v.Outputs)
		for i, sd := range v.Epistemic {
			if amounts(standard(problem)) != nil {
				sd /= v.Mean[i]
			}
			d[i/v.Outputs] += float64(sd * sd)
		}
		return d
	}
	spread := func(name string, v *bnn.Regression) uq.Spread {
		aleatoric, epistemic := slices.Clone(v.Aleatoric), slices.Clone(v.Epistemic)
		stretch(aleatoric, standard(problem))
		stretch(epistemic, standard(problem))
		return uq.Spread{Name: name, N: len(aleatoric) / v.Outputs, Aleatoric: uq.Number(uq.Mean(aleatoric)), Epistemic: uq.Number(uq.Mean(epistemic))}
	}
	known := uncertainty(&v.Regression)
	all := uq.Spreads{spread(on, &v.Regression)}
	for i, g := range v.Groups {
		s := spread(problem.Groups[i].Name, g)
		s.AUROC, s.FPR95 = uq.Separation(known, uncertainty(g))
		all = append(all, s)
	}
	return all
}

// Validation scores an ensemble on a set that monitors a run, with targets in their own units. accuracy is nil for
// regression.
func Validation(ctx context.Context, e *bnn.Ensemble, set *data.Set, problem *data.Problem, p *pool.Pool) (nll uq.Number, accuracy *uq.Number, err error) {
	losses, accuracy, err := Losses(ctx, e, set, p)
	return MeanNLL(losses, set, problem), accuracy, err
}

// MeanNLL is the mean of the Losses of a set, with targets in their own units.
func MeanNLL(losses []float64, set *data.Set, problem *data.Problem) uq.Number {
	return uq.Number(LogScale(problem, set) + uq.Mean(losses))
}

// Losses are the negative log predictive probabilities of the examples of a set or, for regression, the negative log-densities, of
// targets as the network learns them. accuracy is nil for regression.
func Losses(ctx context.Context, e *bnn.Ensemble, set *data.Set, p *pool.Pool) (losses []float64, accuracy *uq.Number, err error) {
	if e.Net.Likelihood().Regression() {
		log, err := e.LogDensity(ctx, set, p)
		return negative(log), nil, err
	}
	predictive, err := e.Predict(ctx, set, p)
	if err != nil {
		return nil, nil, err
	}
	right := uq.Number(uq.Accuracy(predictive.Probs, predictive.Classes, set.Labels))
	return lossesOf(predictive, set), &right, nil
}

// lossesOf are the losses of predicted classes.
func lossesOf(p *uq.Predictive, set *data.Set) []float64 {
	losses := make([]float64, set.Len())
	for i, y := range set.Labels {
		losses[i] = -rng.Log(p.Probs[i*p.Classes+int(y)])
	}
	return losses
}

// negative returns −x.
func negative(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}
