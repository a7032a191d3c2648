package eval

import (
	"context"
	"strconv"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/uq"
)

// answers are the prediction of a block of rows of a file, as it is written.
type answers struct {
	values  []float64 // of each row as many as width says: those of the columns, energy and foreign, the draws
	class   []int     // of each row: −1 where probabilities are NaN; nil for numbers
	keys    []string  // of the rows; nil: there is no key column
	missing []int     // inputs of each row that were missing and filled; nil: none was
	outside []int32   // inputs of each row that lie outside the training rows; nil: this is not known

	verdicts          // zero where nothing was learnt
	set      []string // the sets, by the names of their classes; nil: there are none
}

// answers predicts a set, whose first row has this number in its file. outside counts the inputs of each row that lie outside; nil: this
// is not known. The draws are not yet among the values.
func (p *Predictor) answers(ctx context.Context, set *data.Set, first int, outside []int32) (*answers, error) {
	a := &answers{outside: outside}
	if p.Posterior.Net.Likelihood().Regression() {
		return a, p.numbers(ctx, set, a)
	}
	return a, p.decided(ctx, set, first, a)
}

// decided predicts classes, with what was learnt about them.
func (p *Predictor) decided(ctx context.Context, set *data.Set, first int, a *answers) error {
	l := p.learnt()
	all, err := p.Posterior.PredictUnder(ctx, set, [][]float64{p.Posterior.LogWeights}, l != nil && l.Classifier != nil, p.Pool)
	if err != nil {
		return err
	}
	v := all[0]
	probs := v.Probs
	if l != nil {
		if a.verdicts, err = l.classes(ctx, v, p.Posterior.Alive(), partFile, first, p.Pool); err != nil {
			return err
		}
		if !p.Untempered {
			probs = a.probs
		}
		for _, s := range a.sets {
			text, err := decide.Join(s, p.name)
			if err != nil {
				return err
			}
			a.set = append(a.set, p.safe(text))
		}
	}
	a.values = make([]float64, 0, set.Len()*(v.Classes+5))
	for i := range set.Len() {
		written := probs[i*v.Classes:][:v.Classes]
		a.values = append(append(a.values, written...), v.Total[i], v.Aleatoric[i], v.Epistemic[i])
		if p.Threshold != nil {
			a.class = append(a.class, p.Threshold.class(written))
		} else { // tempering may make probabilities equal
			a.class = append(a.class, uq.Argmax(v.Probs[i*v.Classes:][:v.Classes]))
		}
		if by := p.foreign(); by != nil {
			energy, ood := by.energy(v, i, p.MeanLogits)
			a.values = append(a.values, energy, indicator(ood || a.outside != nil && a.outside[i] > 0))
		}
	}
	return nil
}

// numbers predicts numbers, in the target's unit. Rows abstain by the laws as the ensemble predicts them. Intervals come from the stretched
// laws. The network is evaluated once for both.
func (p *Predictor) numbers(ctx context.Context, set *data.Set, a *answers) error {
	l, asked := p.learnt(), []bnn.Stretch{{Times: 1, Quantiles: p.quantiles()}}
	if l != nil {
		written := l.temper()
		if p.Untempered {
			written = 1
		}
		asked = append(asksFor(l.temper(), l.rates()), bnn.Stretch{Times: written, Quantiles: p.quantiles()})
	}
	all, err := predictStretched(ctx, p.Posterior, p.Schema.Targets, set, asked, p.Pool)
	if err != nil {
		return err
	}
	v := all[len(all)-1]
	mean, each := v.Mean, len(p.quantiles())
	if l != nil {
		mean = all[0].Mean // by which errors are judged: a stretched logarithm would move it
		if a.verdicts, err = l.numbers(newPredictedNumbers(all, len(l.rates()), p.Posterior.Alive())); err != nil {
			return err
		}
	}
	a.values = make([]float64, 0, len(mean)*(3+each))
	for i, m := range mean {
		a.values = append(a.values, m, v.Aleatoric[i], v.Epistemic[i])
		a.values = append(a.values, v.Quantiles[each*i:each*(i+1)]...)
	}
	return nil
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// told names the columns of what was learnt, which stand behind the counts and before the draws. Classes have a column abstain of their own.
func told(classes []string) []string {
	if len(classes) > 0 {
		return []string{"p_wrong", "set"}
	}
	return []string{"abstain", "low", "high"}
}

// appendTold appends the cells of the columns told of a row; a cell is empty where nothing was learnt for it.
func (a *answers) appendTold(line []byte, row int) []byte {
	if a.class == nil {
		return appendLearnt(appendLearnt(a.appendAbstain(line, row), a.low, row), a.high, row)
	}
	line = append(appendLearnt(line, a.wrong, row), ',')
	if a.set != nil {
		line = appendText(line, a.set[row])
	}
	return line
}

// appendAbstain appends the cell of abstain: 1 or 0, empty without a rule.
func (a *answers) appendAbstain(line []byte, row int) []byte {
	if line = append(line, ','); a.abstain != nil {
		line = appendNumber(line, indicator(a.abstain[row]))
	}
	return line
}

// appendLearnt appends the cell of a number that was learnt: empty where it was not, and where it is NaN.
func appendLearnt(line []byte, of []float64, row int) []byte {
	if line = append(line, ','); of != nil && of[row] == of[row] {
		line = appendNumber(line, of[row])
	}
	return line
}

// appendCount appends the cell of a count: empty for none.
func appendCount[T int | int32](line []byte, of []T, row int) []byte {
	if line = append(line, ','); of != nil && of[row] > 0 {
		line = strconv.AppendInt(line, int64(of[row]), 10)
	}
	return line
}
