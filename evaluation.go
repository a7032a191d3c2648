package starling

import (
	"context"
	"math"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// Metrics is what a run's ensembles are worth: the posterior, weighed as the method's combine says, and beside it the
// point estimates and both ways to weigh islands. Its JSON is metrics.json.
type Metrics struct {
	Evaluation
	ESS              uq.Number   `json:"ess"`                     // 1/Σ W² of the weights of the posterior's networks, as they are kept; the trace has those on the way
	MAP              *Evaluation `json:"map,omitempty"`           // the best restart
	DeepEnsemble     *Evaluation `json:"deep_ensemble,omitempty"` // all restarts
	Combined         *Combined   `json:"combined,omitempty"`      // where there is a log evidence
	LogEvidence      *uq.Number  `json:"log_evidence,omitempty"`  // the model's, log-mean-exp over the islands, in nats; of SMC that is sure to end at the posterior
	LogEvidenceSD    *uq.Number  `json:"log_evidence_sd,omitempty"`
	EffectiveIslands *uq.Number  `json:"effective_islands,omitempty"` // 1/Σω² of the evidence weights
}

// Combined is the posterior with islands weighed equally and by their evidence.
type Combined struct {
	Equal    Evaluation `json:"equal"`
	Evidence Evaluation `json:"evidence"`
}

// Evaluation scores an ensemble's predictions. Classes: accuracy, nll, brier, ece, aurc and groups as package uq defines
// them. Numbers, in the target's units: errors of the mixture's mean; nll and crps of the mixture itself, Σ_j W_j
// N(y; μ_j, σ_j²); the share of targets in its central intervals. Of several outputs the nll is that of all together, r2
// the mean of theirs, and the others go over all values.
type Evaluation struct {
	On            string     `json:"on"` // the part of the data: test, or train if nothing was held out
	N             int        `json:"n"`
	Accuracy      *uq.Number `json:"accuracy,omitempty"`
	NLL           uq.Number  `json:"nll"`
	Brier         *uq.Number `json:"brier,omitempty"`
	ECE           *uq.Number `json:"ece,omitempty"`
	AURC          *uq.Number `json:"aurc,omitempty"`
	AURCEpistemic *uq.Number `json:"aurc_epistemic,omitempty"`
	RMSE          *uq.Number `json:"rmse,omitempty"`
	MAE           *uq.Number `json:"mae,omitempty"`
	Bias          *uq.Number `json:"bias,omitempty"` // mean of prediction − target
	R2            *uq.Number `json:"r2,omitempty"`
	CRPS          *uq.Number `json:"crps,omitempty"`
	Coverage      *Coverage  `json:"coverage,omitempty"`
	Groups        uq.Groups  `json:"groups,omitempty"` // of classes
	Spread        uq.Spreads `json:"spread,omitempty"` // of numbers: first what is judged on, then foreign groups
}

// Coverage is the share of targets that lie in the central interval of so many percent.
type Coverage struct {
	In50 uq.Number `json:"50"`
	In90 uq.Number `json:"90"`
	In95 uq.Number `json:"95"`
}

// Ensembles are what a run leaves behind: all that evaluation needs beside the data.
type Ensembles struct {
	Posterior *bnn.Ensemble // islands weighed as the method's combine says
	Restarts  *bnn.Ensemble // the MAP restarts, equally weighted: a deep ensemble; nil if there were none
	Chosen    int           // the restart that is the MAP
	NLL       []float64     // of each restart on the validation examples, of targets in their own units; NaN without them
}

// judge scores ensembles on the problem's test part, or on its training part if nothing is held out, and keeps what the
// posterior predicts. An ensemble's network works once for all weightings of its particles.
func (s *Spec) judge(ctx context.Context, e *Ensembles, problem *data.Problem, p *pool.Pool) (*Judgement, error) {
	_, ess, err := weights.Normalise(slices.Clone(e.Posterior.LogWeights), "particle")
	if err != nil {
		return nil, err
	}
	m := &Metrics{ESS: uq.Number(ess)}
	j := &Judgement{Metrics: m, Problem: problem}
	weightings := [][]float64{e.Posterior.LogWeights}
	var other bnn.Combination = bnn.Evidence{}
	if s.combines() {
		if s.Method.SMC.Combine == "evidence" {
			other = bnn.Equal{}
		}
		logWeights, err := e.Posterior.Weigh(other)
		if err != nil {
			return nil, err
		}
		if len(e.Posterior.LogEvidence) > 1 {
			weightings = append(weightings, logWeights)
		}
	}
	scores, err := score(ctx, e.Posterior, weightings, problem, p, j)
	if err != nil {
		return nil, err
	}
	m.Evaluation = scores[0]
	if s.combines() {
		m.Combined = &Combined{Equal: scores[0], Evidence: scores[len(scores)-1]}
		if other == (bnn.Equal{}) {
			m.Combined.Equal, m.Combined.Evidence = m.Combined.Evidence, m.Combined.Equal
		}
		if err := m.evidence(e.Posterior.LogEvidence); err != nil {
			return nil, err
		}
	}
	if e.Restarts != nil {
		chosen := make([]float64, e.Restarts.Size())
		for i := range chosen {
			if i != e.Chosen {
				chosen[i] = math.Inf(-1)
			}
		}
		scores, err := score(ctx, e.Restarts, [][]float64{e.Restarts.LogWeights, chosen}, problem, p, nil)
		if err != nil {
			return nil, err
		}
		m.DeepEnsemble, m.MAP = &scores[0], &scores[1]
	}
	return j, nil
}

// combines says that islands were sampled that can be weighed by evidence.
func (s *Spec) combines() bool {
	return !s.pointOnly() && s.weighsByEvidence()
}

// score scores an ensemble under several weightings of its particles. What the first of them predicts is kept in j,
// unless that is nil.
func score(ctx context.Context, e *bnn.Ensemble, logWeights [][]float64, problem *data.Problem, p *pool.Pool, j *Judgement) ([]Evaluation, error) {
	on, set := judged(problem)
	scores := make([]Evaluation, len(logWeights))
	for i := range scores {
		scores[i] = Evaluation{On: on, N: set.Len()}
	}
	if _, numbers := e.Net.Likelihood().(nn.Gaussian); numbers {
		var quantiles []float64
		if j != nil {
			quantiles = []float64{0.05, 0.5, 0.95}
		}
		values, err := e.EvaluateRegression(ctx, set, problem.Groups, quantiles, logWeights, p)
		if err != nil {
			return nil, err
		}
		truth := inUnits(set, targetStandard(problem))
		for i, v := range values {
			scores[i].Spread = spreads(on, v, problem)
			restore(v, targetStandard(problem))
			scores[i].values(v, truth)
		}
		if j != nil {
			j.Values = newValuesJudgement(values[0], truth)
		}
		return scores, nil
	}
	verdicts, err := e.EvaluateClasses(ctx, set, problem.Groups, logWeights, p)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		scores[i].classes(v.Evaluation)
	}
	if j != nil {
		j.Test, j.Groups = verdicts[0].Test, verdicts[0].Groups
	}
	return scores, nil
}

func (e *Evaluation) classes(u *uq.Evaluation) {
	e.Accuracy, e.NLL, e.Brier, e.ECE, e.AURC, e.AURCEpistemic = &u.Accuracy, u.NLL, &u.Brier, &u.ECE, &u.AURC, u.AURCEpistemic
	e.Groups = u.Groups
}

func (e *Evaluation) values(v *bnn.EvaluatedRegression, truth []float64) {
	number := func(x float64) *uq.Number { return (*uq.Number)(&x) }
	e.RMSE, e.MAE, e.Bias = number(uq.RMSE(v.Mean, truth)), number(uq.MAE(v.Mean, truth)), number(uq.Bias(v.Mean, truth))
	r2 := 0.0
	for k := range v.Outputs {
		r2 += uq.R2(every(v.Mean, k, v.Outputs), every(truth, k, v.Outputs))
	}
	e.R2 = number(r2 / float64(v.Outputs))
	e.CRPS = number(uq.Mean(v.CRPS))
	e.NLL = -uq.Number(uq.Mean(v.LogDensity))
	e.Coverage = &Coverage{
		In50: uq.Number(uq.Coverage(v.PIT, 0.5)), In90: uq.Number(uq.Coverage(v.PIT, 0.9)), In95: uq.Number(uq.Coverage(v.PIT, 0.95)),
	}
}

// spreads describes the doubt about what is judged on and about foreign groups, of values as the network has them. Of
// several outputs the variances are added.
func spreads(on string, v *bnn.EvaluatedRegression, problem *data.Problem) uq.Spreads {
	doubt := func(v *bnn.Regression) []float64 {
		d := make([]float64, len(v.Epistemic)/v.Outputs)
		for i, sd := range v.Epistemic {
			d[i/v.Outputs] += float64(sd * sd)
		}
		return d
	}
	spread := func(name string, v *bnn.Regression) uq.Spread {
		aleatoric, epistemic := slices.Clone(v.Aleatoric), slices.Clone(v.Epistemic)
		stretch(aleatoric, targetStandard(problem))
		stretch(epistemic, targetStandard(problem))
		return uq.Spread{Name: name, N: len(aleatoric) / v.Outputs, Aleatoric: uq.Number(uq.Mean(aleatoric)), Epistemic: uq.Number(uq.Mean(epistemic))}
	}
	known := doubt(&v.Regression)
	all := uq.Spreads{spread(on, &v.Regression)}
	for i, g := range v.Groups {
		s := spread(problem.Groups[i].Name, g)
		s.AUROC, s.FPR95 = uq.Separation(known, doubt(g))
		all = append(all, s)
	}
	return all
}

// every is x[k], x[k+n], …
func every(x []float64, k, n int) []float64 {
	var y []float64
	for ; k < len(x); k += n {
		y = append(y, x[k])
	}
	return y
}

// validation scores an ensemble on examples that it is followed by: accuracy is nil for a regression.
func validation(ctx context.Context, e *bnn.Ensemble, set *data.Set, problem *data.Problem, p *pool.Pool) (nll uq.Number, accuracy *uq.Number, err error) {
	if _, numbers := e.Net.Likelihood().(nn.Gaussian); numbers {
		density, err := e.LogDensity(ctx, set, p)
		if err != nil {
			return 0, nil, err
		}
		return uq.Number(logScale(targetStandard(problem)) - uq.Mean(density)), nil, nil
	}
	said, err := e.Predict(ctx, set, p)
	if err != nil {
		return 0, nil, err
	}
	right := uq.Number(uq.Accuracy(said.Probs, said.Classes, set.Labels))
	return uq.Number(uq.NLL(said.Probs, said.Classes, set.Labels)), &right, nil
}

// evidence sums up the islands.
func (m *Metrics) evidence(logZ []float64) error {
	c, err := smc.Combine(logZ)
	if err != nil {
		return err
	}
	m.LogEvidence, m.LogEvidenceSD, m.EffectiveIslands = (*uq.Number)(&c.LogZ), (*uq.Number)(&c.SD), (*uq.Number)(&c.Effective)
	return nil
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
