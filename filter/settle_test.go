package filter

import (
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// Joint draws are guided by default where the model has what they need, and draws of the prediction elsewhere: of a model without a series, and of one
// that cannot take an empty scan. What is given stays.
func TestUsualJoint(t *testing.T) {
	linear := ssm.LinearGaussian{A: [][]float64{{0.9}}, Q: [][]float64{{1}}, H: [][]float64{{1}}, R: [][]float64{{1}}}
	broken := ssm.LinearGaussian{A: [][]float64{{0.9}}}
	plain := shared{two{scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, p0: 1}}}
	for _, c := range []struct {
		model ssm.Model
		given Joint
		want  Joint
	}{
		{linear, nil, Guided{}}, {linear, NoJoint{}, NoJoint{}}, {linear, PriorJoint{}, PriorJoint{}},
		{plain, nil, PriorJoint{}}, {plain, Guided{}, Guided{}}, {broken, nil, PriorJoint{}},
	} {
		if m := (SMCMC{Joint: c.given}).SettleFor(c.model).(SMCMC); m.Joint != c.want {
			t.Errorf("smcmc, %T, %T: %T, want %T", c.model, c.given, m.Joint, c.want)
		}
		if m := (EP{Joint: c.given}).SettleFor(c.model).(EP); m.Joint != c.want {
			t.Errorf("ep, %T, %T: %T, want %T", c.model, c.given, m.Joint, c.want)
		}
	}
}
