package paper

import (
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// IMDb's tables look at one of two probabilities. Their Brier score is half of the sum over both. Their ECE takes the probability of class 1, that a
// review is positive, for the confidence of the answer, whichever it is (scalable-bayesian-monte-carlo, A6).

const brierOne, eceClass1 = "brier_one", "ece_class1"

// oneProbability are these two figures. Runs of more classes have none.
func oneProbability() []Measure {
	return []Measure{
		beside(brierOne, func(m *eval.Metrics) *uq.Number {
			if len(m.GroupsByClass) != 2 || m.Brier == nil {
				return nil
			}
			return new(*m.Brier / 2)
		}),
		{Name: eceClass1, Title: eceClass1, Most: 1, Beside: true, Slow: true, Of: func(d Done) (Values, error) {
			own, ok := d.(*fitDone)
			if !ok {
				return nil, nil
			}
			v, err := own.confidence()
			if v == nil || err != nil {
				return nil, err
			}
			return Values{*v}, nil
		}},
	}
}

// confidence is the calibration error of the probability of class 1 on the test examples; nil: there are more classes.
func (d *fitDone) confidence() (*uq.Number, error) {
	if d.Posterior == nil { // a group, of which it is kept
		return d.ofClass1, nil
	}
	if d.Net.Classes() != 2 {
		return nil, nil
	}
	p, err := d.problem()
	if err != nil {
		return nil, err
	}
	v, err := d.Posterior.Predict(d.ctx, p.Test, pool.New(d.options.Threads))
	if err != nil {
		return nil, err
	}
	return ofClass1(v, p.Test.Labels), nil
}

// ofClass1 is the calibration error of the probability of class 1, beside whether the likelier class is right; nil: there are more classes. It is
// that of answers among one class, which has this probability and is right or not.
func ofClass1(v *uq.Predictive, labels []int32) *uq.Number {
	if v.Classes != 2 {
		return nil
	}
	confidence, wrong := make([]float64, len(labels)), make([]int32, len(labels))
	for i, y := range labels {
		row := v.Probs[2*i : 2*i+2]
		confidence[i] = row[1]
		if uq.Argmax(row) != int(y) {
			wrong[i] = 1
		}
	}
	return new(uq.Number(uq.ECE(uq.Reliability(confidence, 1, wrong, uq.Bins))))
}
