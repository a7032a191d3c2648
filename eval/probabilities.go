package eval

import (
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// probabilities are those of a file, [examples, classes] or [particles, examples, classes].
type probabilities struct {
	file              string
	shape             []int
	examples, classes int
	values            []float64
}

// readProbabilities reads the class probabilities of any program from an array.
func readProbabilities(file string) (*probabilities, error) {
	array, err := data.ReadArray(file)
	if err != nil {
		return nil, err
	}
	p := &probabilities{file: file, shape: array.Shape}
	k := len(p.shape)
	if k != 2 && k != 3 {
		return nil, fmt.Errorf("%s: shape %v, want probabilities [examples, classes] or [particles, examples, classes]", file, p.shape)
	}
	p.examples, p.classes = p.shape[k-2], p.shape[k-1]
	if p.values = array.Float64s(); len(p.values) == 0 {
		return nil, fmt.Errorf("%s: shape %v: there is nothing to score", file, p.shape)
	}
	return p, checkProbabilities(file, p.values, p.shape)
}

// of returns an error unless there is a column for each of some classes. names are theirs; nil if they have none.
func (p *probabilities) of(classes int, names []string) error {
	switch {
	case p.classes == classes:
		return nil
	case names == nil:
		return fmt.Errorf("%s: shape %v has %d classes, the prediction has %d: want a column for each, in their order", p.file, p.shape, p.classes, classes)
	}
	return fmt.Errorf("%s: shape %v has %d classes, the run has %d: want a column for each, in the order of the run's names (%s)",
		p.file, p.shape, p.classes, classes, list(names))
}

// mean is the weighted mean of the particles.
func (p *probabilities) mean(weights []float64) *uq.Predictive {
	m, each := uq.NewMixture(p.examples, p.classes), p.examples*p.classes
	for j, w := range weights {
		m.Add(w, uq.Probabilities(p.values[j*each:(j+1)*each], p.classes))
	}
	return m.Predictive()
}

// Reference are the class probabilities of a reference, with which others are compared.
type Reference struct {
	of    *probabilities
	probs []float64 // [examples, classes]
}

// ReadReference reads a reference from an array of probabilities [examples, classes] or [particles, examples, classes], whose mean over the
// particles it takes. It must have so many classes; names are theirs, nil if they have none. The error is an *InputError that names file
// and place.
func ReadReference(file string, classes int, names []string) (*Reference, error) {
	p, err := readProbabilities(file)
	if err == nil {
		err = p.of(classes, names)
	}
	if err != nil {
		return nil, &InputError{err}
	}
	r := &Reference{p, p.values}
	if len(p.shape) == 3 {
		equal, err := readWeights("", p.shape[0])
		if err != nil {
			return nil, &InputError{err}
		}
		r.probs = p.mean(equal).Probs
	}
	return r, nil
}

// Probs are the reference's probabilities of n examples, [n, classes]. The error, of a reference for another number of examples, is an *InputError.
func (r *Reference) Probs(n int) ([]float64, error) {
	if n != r.of.examples {
		return nil, &InputError{fmt.Errorf("%s: shape %v has rows for %d examples, and %d were evaluated: want a row for each of them, in their order",
			r.of.file, r.of.shape, r.of.examples, n)}
	}
	return r.probs, nil
}

// against compares probabilities [n, classes] with the reference's.
func (r *Reference) against(probs []float64, n int) (*uq.Against, error) {
	q, err := r.Probs(n)
	if err != nil {
		return nil, err
	}
	return uq.Compare(probs, q, r.of.classes), nil
}

// Compare compares the posterior's probabilities of the examples evaluated on, without a temperature, with a reference, and keeps the result
// in the metrics. It needs classes. The error is an *InputError.
func (a *Assessment) Compare(r *Reference) (err error) {
	a.Metrics.Against, err = r.against(a.Test.Probs, a.Test.Len())
	return err
}

// Compare compares the probabilities that were scored with a reference. The error is an *InputError.
func (s *Scores) Compare(r *Reference) (err error) {
	s.Against, err = r.against(s.probs, s.N)
	return err
}
