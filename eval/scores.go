package eval

import (
	"fmt"

	"github.com/starling-smc/starling/uq"
)

// Scores are the scores of another program's class probabilities. With several particles their weighted mean is scored, and
// the entropies are means over the examples, in nats.
type Scores struct {
	N         int `json:"n"`
	Classes   int `json:"classes"`
	Particles int `json:"particles,omitempty"` // 0: unknown

	uq.Evaluation
	Total     *uq.Number `json:"entropy_total,omitempty"`
	Aleatoric *uq.Number `json:"entropy_aleatoric,omitempty"`
	Epistemic *uq.Number `json:"entropy_epistemic,omitempty"`

	Against *uq.Against `json:"against,omitempty"` // nil: they were compared with no reference

	probs []float64 // that were scored, [N, Classes]
}

// ScoreFiles scores the class probabilities in a file, [examples, classes] or [particles, examples, classes], against
// the labels in another: integers from 0 in an array [examples] or in a CSV of one column, or names of classes in such a CSV.
// names are the classes' in order, one for each column of probabilities; nil if they have none. weights, which may be empty, is a file of the particles' weights,
// of any common scale. The error is an *InputError that names file and place.
func ScoreFiles(probs, labels, weights string, names []string) (*Scores, error) {
	s, err := scoreFiles(probs, labels, weights, names)
	if err != nil {
		return nil, &InputError{err}
	}
	return s, nil
}

func scoreFiles(probs, labels, weights string, names []string) (*Scores, error) {
	p, err := readProbabilities(probs)
	if err != nil {
		return nil, err
	}
	n, classes := p.examples, p.classes
	if names != nil {
		if err := p.of(len(names), names); err != nil {
			return nil, err
		}
	}
	y, err := readLabels(labels, n, names)
	if err != nil {
		return nil, err
	}
	if len(y) != n {
		return nil, fmt.Errorf("%s has %d labels, [%d], for %d examples in %s, %v", labels, len(y), len(y), n, probs, p.shape)
	}
	for i, c := range y {
		if int(c) >= classes {
			return nil, fmt.Errorf("%s: label %d of example %d: %s has %d classes, 0 to %d", labels, c, i, probs, classes, classes-1)
		}
	}
	if len(p.shape) == 2 {
		if weights != "" {
			return nil, fmt.Errorf("%s: weights for particles, but %s has none: %v, want [particles, examples, classes]", weights, probs, p.shape)
		}
		return &Scores{N: n, Classes: classes, Evaluation: *uq.Score(p.values, classes, y), probs: p.values}, nil
	}
	w, err := readWeights(weights, p.shape[0])
	if err != nil {
		return nil, err
	}
	mean := p.mean(w)
	total, aleatoric, epistemic := uq.Number(uq.Mean(mean.Total)), uq.Number(uq.Mean(mean.Aleatoric)), uq.Number(uq.Mean(mean.Epistemic))
	return &Scores{
		N: n, Classes: classes, Particles: p.shape[0],
		Evaluation: *uq.Evaluate(mean, y, nil), Total: &total, Aleatoric: &aleatoric, Epistemic: &epistemic,
		probs: mean.Probs,
	}, nil
}
