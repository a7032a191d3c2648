package paper

import (
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/uq"
)

// What a run of SBMCContest says of the calibration examples, which it has not learnt from, and of the foreign inputs beside them.

// nllAt is the NLL of the calibration examples, with probabilities corrected at a temperature.
func (u *unseen) nllAt(temperature float64) float64 {
	return float64(uq.Score(decide.Temper(u.Probs, u.Classes, temperature), u.Classes, u.data.Calibrate.Labels).NLL)
}

func calibrationNLL(d *fitDone) (float64, error) {
	u, err := d.unseen()
	if err != nil {
		return 0, err
	}
	return u.nllAt(1), nil
}

func calibrationTempered(d *fitDone) (float64, error) {
	u, err := d.unseen()
	switch {
	case err != nil:
		return 0, err
	case d.Decision == nil || d.Decision.Temperature == nil:
		return 0, errLacks
	}
	return u.nllAt(d.Decision.Temperature.Posterior), nil
}

// found is how the measures begin that say how well the epistemic entropy tells the foreign inputs of a group from the calibration examples.
const found = "calibration_auroc_"

func foundMeasures() (all []Measure) {
	for _, group := range mnist7Groups {
		all = append(all, Measure{Name: found + group, Most: 1, Slow: true, Beside: true, Of: one(func(d *fitDone) (float64, error) {
			u, err := d.unseen()
			if err != nil {
				return 0, err
			}
			g := slices.IndexFunc(u.data.Foreign, func(g data.Group) bool { return g.Name == group })
			if g < 0 {
				return 0, errLacks
			}
			foreign, err := d.Posterior.Predict(d.ctx, u.data.Foreign[g].Set, pool.New(d.options.Threads))
			if err != nil {
				return 0, err
			}
			return uq.AUROC(u.Epistemic, foreign.Epistemic), nil
		})})
	}
	return all
}

// ofTempered is the measure of a metric of the tempered test predictions.
func ofTempered(metric func(*eval.Tempered) *uq.Number) func(*fitDone) (float64, error) {
	return of(func(m *eval.Metrics) *uq.Number {
		if m.Tempered == nil {
			return nil
		}
		return metric(m.Tempered)
	})
}
