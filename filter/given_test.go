package filter

import (
	"context"
	"strings"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

type sized struct {
	two
	dim int
}

func (m sized) Dim() int { return m.dim }

type still struct{ two }

func (still) Transition(float64) (ssm.Transition, error) { return nil, nil }

// TestGivenNothing: what is nil, and a model whose states cannot be made, is refused in plain words by every method.
func TestGivenNothing(t *testing.T) {
	methods := weightedMethods(50)
	methods["SMCMC"] = SMCMC{Particles: 50, Burn: 5, Joint: PriorJoint{}}
	methods["Kalman"] = Kalman{}
	for name, method := range methods {
		refused := func(what string, err error, want string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v, want %q", name, what, err, want)
			}
		}
		for what, c := range map[string]struct {
			model ssm.Model
			want  string
		}{
			"no model":    {nil, "the model is nil"},
			"no numbers":  {sized{two{example1}, -1}, "have -1 numbers"},
			"0 numbers":   {sized{two{example1}, 0}, "have 0 numbers"},
			"too many":    {sized{two{example1}, 1 << 40}, "want 1 to 1048576"},
			"no movement": {still{two{example1}}, "Transition(1) is nil"},
		} {
			f, err := method.On(Job{Model: c.model, Seed: 1})
			if what == "no movement" && name != "Kalman" {
				if err != nil {
					t.Fatal(err)
				}
				st, _ := f.Init(t.Context())
				_, err = f.Step(t.Context(), st, measured()[0])
			}
			if what != "no movement" || name != "Kalman" {
				refused(what, err, c.want)
			}
		}
		model := ssm.Model(two{example1})
		if name == "Kalman" {
			model = linear{example1}
		}
		f, err := method.On(Job{Model: model, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var none context.Context
		_, err = f.Step(none, st, measured()[0])
		refused("no context", err, "the context is nil")
		_, err = f.Step(t.Context(), nil, measured()[0])
		refused("no state", err, "the state is nil")
		_, err = f.Step(t.Context(), st, nil)
		refused("no scan", err, "the scan is nil")
	}
}
