package starling

import (
	"context"
	"math"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
	"github.com/starling-smc/starling/uq"
)

// Metrics is what a run's ensembles are worth: the posterior, weighed as the method's combine says, and beside it the
// point estimates and both ways to weigh islands. Its JSON is metrics.json.
type Metrics struct {
	Evaluation
	MAP              *Evaluation `json:"map,omitempty"`           // the best restart
	DeepEnsemble     *Evaluation `json:"deep_ensemble,omitempty"` // all restarts
	Combined         *Combined   `json:"combined,omitempty"`      // SMC only
	LogEvidence      *uq.Number  `json:"log_evidence,omitempty"`  // log-mean-exp over the islands, in nats; SMC only
	LogEvidenceSD    *uq.Number  `json:"log_evidence_sd,omitempty"`
	EffectiveIslands *uq.Number  `json:"effective_islands,omitempty"` // 1/Σω² of the evidence weights
}

// Combined is the posterior with islands weighed equally and by their evidence.
type Combined struct {
	Equal    Evaluation `json:"equal"`
	Evidence Evaluation `json:"evidence"`
}

// Evaluation scores an ensemble's predictions. Classes: accuracy, nll, brier, ece and groups as package uq defines
// them. Numbers: rmse of the mixture's mean, and nll of the mixture itself, −mean log Σ_j W_j N(y; μ_j, σ_j²).
type Evaluation struct {
	On       string     `json:"on"` // the part of the data: test, or train if nothing was held out
	N        int        `json:"n"`
	Accuracy *uq.Number `json:"accuracy,omitempty"`
	NLL      uq.Number  `json:"nll"`
	Brier    *uq.Number `json:"brier,omitempty"`
	ECE      *uq.Number `json:"ece,omitempty"`
	RMSE     *uq.Number `json:"rmse,omitempty"`
	Groups   uq.Groups  `json:"groups,omitempty"`
}

// Ensembles are what a run leaves behind: all that evaluation needs beside the data.
type Ensembles struct {
	Posterior *bnn.Ensemble // islands weighed as the method's combine says
	Restarts  *bnn.Ensemble // the MAP restarts, equally weighted: a deep ensemble; nil if there were none
	Chosen    int           // the restart that is the MAP
	NLL       []float64     // of each restart on the validation examples; NaN without them
}

// evaluate scores ensembles on the problem's test part, or on its training part if nothing is held out.
func (s *Spec) evaluate(ctx context.Context, e *Ensembles, problem *data.Problem, p *pool.Pool) (*Metrics, error) {
	var m Metrics
	score := func(e *bnn.Ensemble, into *Evaluation) error { return evaluate(ctx, e, problem, p, into) }
	if s.Method.SMC == nil || s.pointOnly() || s.beginsAtInit() {
		if err := score(e.Posterior, &m.Evaluation); err != nil {
			return nil, err
		}
	} else {
		m.Combined = &Combined{}
		for _, c := range []struct {
			by   bnn.Combination
			into *Evaluation
		}{{bnn.Equal, &m.Combined.Equal}, {bnn.Evidence, &m.Combined.Evidence}} {
			combined, err := recombine(e.Posterior, c.by)
			if err != nil {
				return nil, err
			}
			if c.by == bnn.Evidence && len(combined.LogEvidence) == 1 {
				m.Combined.Evidence = m.Combined.Equal
			} else if err := score(combined, c.into); err != nil {
				return nil, err
			}
			if c.by.String() == s.Method.SMC.Combine {
				m.Evaluation = *c.into
			}
		}
		if err := m.evidence(e.Posterior.LogEvidence); err != nil {
			return nil, err
		}
	}
	if e.Restarts != nil {
		m.MAP, m.DeepEnsemble = &Evaluation{}, &Evaluation{}
		if err := score(e.Restarts, m.DeepEnsemble); err != nil {
			return nil, err
		}
		if err := score(member(e.Restarts, e.Chosen), m.MAP); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// recombine weighs the islands of an ensemble by another rule. Fit and evaluation of a run's files both come this way,
// so that their figures have the same bits.
func recombine(e *bnn.Ensemble, by bnn.Combination) (*bnn.Ensemble, error) {
	islands := make([]bnn.Island, len(e.LogEvidence))
	d := e.Net.Dim()
	for j, w := range e.LogWeights {
		island := &islands[e.Island[j]]
		island.LogWeights = append(island.LogWeights, w)
		island.Theta = append(island.Theta, wide(e.Theta[j*d:(j+1)*d])...)
	}
	for p, z := range e.LogEvidence {
		islands[p].LogEvidence = z
	}
	return bnn.Combine(e.Net, islands, by)
}

// member is particle j as an ensemble of one.
func member(e *bnn.Ensemble, j int) *bnn.Ensemble {
	d := e.Net.Dim()
	return &bnn.Ensemble{
		Net: e.Net, Theta: e.Theta[j*d : (j+1)*d],
		LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0},
	}
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func evaluate(ctx context.Context, e *bnn.Ensemble, problem *data.Problem, p *pool.Pool, into *Evaluation) error {
	on, set := "test", problem.Test
	if set == nil {
		on, set = "train", problem.Train
	}
	*into = Evaluation{On: on, N: set.Len()}
	if _, numbers := e.Net.Likelihood().(nn.Gaussian); numbers {
		v, err := e.PredictValues(ctx, set, nil, p)
		if err != nil {
			return err
		}
		density, err := e.LogDensity(ctx, set, p)
		if err != nil {
			return err
		}
		into.values(v.Mean, set.Values, density)
		return nil
	}
	u, err := e.Evaluate(ctx, set, problem.Groups, p)
	if err != nil {
		return err
	}
	into.Accuracy, into.NLL, into.Brier, into.ECE, into.Groups = &u.Accuracy, u.NLL, &u.Brier, &u.ECE, u.Groups
	return nil
}

// values scores means of targets and the log densities of examples.
func (e *Evaluation) values(mean []float64, targets []float32, density []float64) {
	var squares, sum float64
	for i, y := range targets {
		d := float64(y) - mean[i]
		squares += float64(d * d)
	}
	for _, l := range density {
		sum += l
	}
	rmse := uq.Number(math.Sqrt(squares / float64(len(targets))))
	e.RMSE = &rmse
	e.NLL = uq.Number(-sum / float64(len(density)))
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
