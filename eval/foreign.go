package eval

import (
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// Foreign is a run's rule that declares an input out of distribution (OOD): its energy is above a threshold, which accepts a
// share of the validation examples.
type Foreign struct {
	Pass       float64   `json:"pass"`                  // share of the validation examples that are accepted
	By         string    `json:"by"`                    // the score that the thresholds are of: energy
	Threshold  uq.Number `json:"threshold"`             // of the weighted mean of the members' energies
	MeanLogits uq.Number `json:"threshold_mean_logits"` // of the energy of their mean logits
	N          int       `json:"n"`                     // validation examples
}

const byEnergy = "energy"

// foreign takes the thresholds from an ensemble's prediction for validation examples, and from nothing else. There is no rule, nil, without such
// examples, for a likelihood that has not one logit for each class, and where a threshold would not be finite. The
// last is a finding, and so is a threshold that comes from few examples.
func foreign(net *nn.Net, v *uq.Predictive) (*Foreign, []finding.Finding) {
	if v == nil || v.Len() == 0 || net.Classes() != net.Outputs() {
		return nil, nil
	}
	d := &Foreign{
		Pass: uq.Pass, By: byEnergy, N: v.Len(),
		Threshold: uq.Number(uq.Threshold(v.Energy, uq.Pass)), MeanLogits: uq.Number(uq.Threshold(v.MeanLogits, uq.Pass)),
	}
	if d.check() != nil {
		return nil, []finding.Finding{finding.Of(finding.NoThreshold{Count: undefined(v), Examples: v.Len()})}
	}
	if meant, most := 1-uq.Pass, uq.Refused(v.Len(), uq.Pass); most > 3*meant {
		return d, []finding.Finding{finding.Of(finding.FewForThreshold{Examples: v.Len(), Meant: meant, AtMost: most})}
	}
	return d, nil
}

// undefined counts the examples one of whose energies is not finite.
func undefined(v *uq.Predictive) (n int) {
	for i, e := range v.Energy {
		if !finite(e) || !finite(v.MeanLogits[i]) {
			n++
		}
	}
	return n
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (d *Foreign) check() error {
	switch {
	case d.By != byEnergy:
		return fmt.Errorf("decides by %q, want %q", d.By, byEnergy)
	case !(d.Pass > 0 && d.Pass <= 1):
		return fmt.Errorf("accepts a share of %v of the validation examples, want a number above 0 and at most 1", d.Pass)
	}
	for _, tau := range []uq.Number{d.Threshold, d.MeanLogits} {
		if !finite(float64(tau)) {
			return errors.New("has a threshold that is not finite")
		}
	}
	return nil
}

// detect scores the decision for predictions of test examples and OOD groups, and adds the scores to those of the groups. Groups of
// the test examples, which come before them in scores, have no decision to score.
func (d *Foreign) detect(test *uq.Predictive, groups []*uq.Predictive, scores uq.Groups) {
	if d == nil {
		return
	}
	scores = scores[len(scores)-len(groups):]
	for i, g := range groups {
		scores[i].ByEnergy = uq.Detect(test.Energy, g.Energy, float64(d.Threshold))
		scores[i].ByMeanLogits = uq.Detect(test.MeanLogits, g.MeanLogits, float64(d.MeanLogits))
	}
}

// energy is the score of one example, and whether it is declared OOD.
func (d *Foreign) energy(v *uq.Predictive, i int, meanLogits bool) (energy float64, ood bool) {
	if meanLogits {
		return v.MeanLogits[i], uq.IsOOD(v.MeanLogits[i], float64(d.MeanLogits))
	}
	return v.Energy[i], uq.IsOOD(v.Energy[i], float64(d.Threshold))
}
