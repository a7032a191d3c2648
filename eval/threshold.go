package eval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/uq"
)

// Threshold decides between two classes: the answer is Class where its probability is at least At, and else the other class. Without one
// the answer is the more probable class.
type Threshold struct {
	Class int
	At    float64
}

// ParseThreshold reads "yes=0.2": a class, by its name or its number, and a probability. names are those of the classes.
func ParseThreshold(text string, names []string) (*Threshold, error) {
	switch n := len(names); {
	case n == 0:
		return nil, errors.New("decides between two classes, and the run predicts numbers")
	case n != 2:
		return nil, fmt.Errorf("decides between two classes, and the run has %d", n)
	}
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return nil, fmt.Errorf("%q: want a class and a probability, as in %s=0.2", text, names[1])
	}
	name, number := text[:at], text[at+1:]
	for class, known := range names {
		if known != name {
			continue
		}
		p, err := strconv.ParseFloat(number, 64)
		if err != nil || !(p > 0 && p < 1) {
			return nil, fmt.Errorf("%q: want a probability above 0 and below 1", number)
		}
		return &Threshold{class, p}, nil
	}
	return nil, fmt.Errorf("%q is no class of the run: want %s or %s%s", name, names[0], names[1], spelling.Suggest(name, names))
}

// class is the answer for the probabilities of two classes; −1 where they are NaN.
func (t *Threshold) class(probs []float64) int {
	switch p := probs[t.Class]; {
	case p >= t.At:
		return t.Class
	case p < t.At:
		return 1 - t.Class
	}
	return -1
}

// Words says how the threshold decides.
func (t *Threshold) Words(names []string) string {
	return fmt.Sprintf("the class is %s where its probability is at least %s, and else %s",
		names[t.Class], strconv.FormatFloat(t.At, 'g', -1, 64), names[1-t.Class])
}

// Decide scores a threshold on the examples evaluated on, and keeps the scores in the metrics. It decides by the probabilities that predict writes:
// those of the posterior's temperature, where it has one. It needs two classes.
func (a *Assessment) Decide(t *Threshold, names []string) {
	probs := a.Test.Probs
	if by := a.Metrics.Tempered; by != nil {
		probs = decide.Temper(probs, a.Test.Classes, float64(*by.Temperature))
	}
	a.Metrics.Decided = &Decided{names[t.Class], uq.Number(t.At), uq.Decide(probs, a.Test.Classes, a.Set().Labels, t.Class, t.At)}
}
