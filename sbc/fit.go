package sbc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/method"
	"github.com/starling-smc/starling/uq"
)

// Line is what a fit leaves in the trace.
type Line struct {
	Ranks     []float64  `json:"ranks,omitempty"` // of the quantities, 0 to 1
	Networks  int        `json:"networks"`        // among which the quantities are ranked, after thinning
	Effective float64    `json:"effective"`       // 1/Σ W² of their weights
	IACT      *uq.Number `json:"iact,omitempty"`  // by which a chain's states were thinned: the largest over the quantities; missing: there is none
	Failed    string     `json:"failed,omitempty"`
}

// fit is the part of one fit.
type fit struct {
	check  *Check
	number int
	line   *Line // nil: it has not been made
}

var _ runs.Part = (*fit)(nil)

// Done reports whether the fit was made.
func (f *fit) Done() bool { return f.line != nil }

// K is 1 for a fit that was made.
func (f *fit) K() int {
	if f.line == nil {
		return 0
	}
	return 1
}

// Step makes the fit. One that fails by itself says so in its line: the others go on.
func (f *fit) Step(ctx context.Context) (runs.Line, error) {
	truth, job, err := f.check.simulate(ctx, f.number)
	if err != nil {
		return runs.Line{}, err
	}
	line := new(Line)
	out, err := job.Do(ctx, f.check.Way)
	switch {
	case ctx.Err() != nil:
		return runs.Line{}, context.Cause(ctx)
	case errors.As(err, new(*regular.ChangedError)):
		return runs.Line{}, err
	case err != nil:
		line.Failed = err.Error()
	default:
		if line, err = f.check.rank(ctx, &job, truth, out.Posterior, f.number); err != nil {
			return runs.Line{}, err
		}
	}
	f.line = line
	return runs.Line{Progress: 1, Fields: *line}, nil
}

// WriteTo saves the line.
func (f *fit) WriteTo(w io.Writer) (int64, error) {
	text, err := json.Marshal(f.line)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(text)
	return int64(n), err
}

// UnmarshalBinary is the inverse of WriteTo.
func (f *fit) UnmarshalBinary(saved []byte) error {
	line := new(Line)
	if err := jsontext.Read(saved, line); err != nil {
		return err
	}
	if line.Failed == "" && len(line.Ranks) != len(f.check.Quantities()) {
		return fmt.Errorf("%d ranks of %d quantities", len(line.Ranks), len(f.check.Quantities()))
	}
	f.line = line
	return nil
}

// rank ranks the quantities of the truth among those of the networks of a fit.
func (c *Check) rank(ctx context.Context, job *method.Job, truth, posterior *bnn.Ensemble, fit int) (*Line, error) {
	d, n := job.Net.Dim(), posterior.Size()
	theta := make([]float64, 0, (n+1)*d)
	for _, v := range slices.Concat(truth.Theta, posterior.Theta) {
		theta = append(theta, float64(v))
	}
	values := make([][]float64, 0, 2+len(c.Probes)) // of each quantity: of the truth, then of the networks
	loglik, prior := make([]float64, n+1), make([]float64, n+1)
	if err := job.Model.LogLik(ctx, nil, theta, loglik, nil); err != nil {
		return nil, err
	}
	for j := range prior {
		prior[j] = job.Prior.LogDensity(theta[j*d:(j+1)*d], nil)
	}
	values = append(values, loglik, prior)
	k := job.Net.Outputs()
	out := make([]float32, (n+1)*len(c.Probes)*k)
	if err := c.at.Outputs(ctx, nil, theta, out); err != nil {
		return nil, err
	}
	for i := range c.Probes {
		of := make([]float64, n+1)
		for j := range of {
			of[j] = predicted(job.Net.Targets(), i, out[(j*len(c.Probes)+i)*k:][:k])
		}
		values = append(values, of)
	}

	abreast := n
	if s := c.Way.Sampling(); s != nil {
		abreast = s.Series()
	}
	drawn := make([][]float64, len(values))
	for q, v := range values {
		drawn[q] = v[1:]
	}
	keep, tau := thin(drawn, posterior.Island, abreast)
	weights := kept(posterior, keep)
	line := &Line{Networks: len(keep)}
	if tau == tau {
		line.IACT = (*uq.Number)(&tau)
	}
	squares := 0.0
	for _, w := range weights {
		squares += float64(w * w)
	}
	line.Effective = 1 / squares
	s := c.stream(fit, ranks)
	of := make([]float64, len(keep))
	for _, v := range values {
		for at, j := range keep {
			of[at] = v[1+j]
		}
		line.Ranks = append(line.Ranks, uq.Rank(v[0], of, weights, s.Float64()))
	}
	return line, nil
}

// predicted is what a network with some outputs predicts at input i, as a number that orders networks. Of numbers it is the mean of one of
// the target values, in turn. Of two classes with one output it is the logit. Else it is the log-odds of one of the classes, in turn.
func predicted(targets, i int, out []float32) float64 {
	switch {
	case targets > 0:
		return float64(out[i%targets])
	case len(out) == 1:
		return float64(out[0])
	}
	c, most := i%len(out), 0.0
	for k, z := range out {
		if k != c {
			most = max(most, float64(z))
		}
	}
	others := 0.0
	for k, z := range out {
		if k != c {
			others += rng.Exp(float64(z) - most)
		}
	}
	return float64(out[c]) - most - rng.Log(others)
}

// thin chooses the networks among which a value is ranked. The states of an island are of so many series abreast, one state of each after
// another; within a series they depend on each other. τ is the largest integrated autocorrelation time of a quantity, by its mean over all series
// that have one, and of τ states, rounded up, the last is taken; NaN: no series has one, and all are taken.
func thin(values [][]float64, island []int32, abreast int) (keep []int, tau float64) {
	n := len(island)
	tau = nan
	for _, v := range values {
		sum, count := 0.0, 0
		for first := 0; first < n; {
			end := first
			for end < n && island[end] == island[first] {
				end++
			}
			for s := first; s < min(first+abreast, end); s++ {
				var x []float64
				for j := s; j < end; j += abreast {
					x = append(x, v[j])
				}
				if t, _ := mcmc.IACT(x); t == t {
					sum, count = sum+t, count+1
				}
			}
			first = end
		}
		if count > 0 && !(sum/float64(count) <= tau) {
			tau = sum / float64(count)
		}
	}
	stride := 1
	if tau > 1 {
		stride = int(min(tau, float64(n)))
		if float64(stride) < tau {
			stride++
		}
	}
	for first := 0; first < n; {
		end := first
		for end < n && island[end] == island[first] {
			end++
		}
		times := (end - first + abreast - 1) / abreast
		for j := first; j < end; j++ {
			if at := (j - first) / abreast; (times-1-at)%stride == 0 {
				keep = append(keep, j)
			}
		}
		first = end
	}
	return keep, tau
}

// kept are the weights of some networks of an ensemble, which sum to 1. An island keeps the weight that it has as a whole.
func kept(e *bnn.Ensemble, keep []int) []float64 {
	whole, of := make([]float64, len(e.LogEvidence)), make([]float64, len(e.LogEvidence))
	weights := make([]float64, len(keep))
	for j, l := range e.LogWeights {
		whole[e.Island[j]] += rng.Exp(l)
	}
	for at, j := range keep {
		weights[at] = rng.Exp(e.LogWeights[j])
		of[e.Island[j]] += weights[at]
	}
	sum := 0.0
	for at, j := range keep {
		if p := e.Island[j]; of[p] > 0 {
			weights[at] *= whole[p] / of[p]
		}
		sum += weights[at]
	}
	for at := range weights {
		weights[at] /= sum
	}
	return weights
}
