package decide

import (
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

func parse(text string) (s Settings, err error) {
	s, _, err = config.Parse[Settings]("decide.yaml", []byte(text), nil, Families()...)
	return s, err
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]Settings{
		"{temperature: true, sets: {score: lac, rate: 0.95}, abstain: {by: entropy, at: {risk: 0.02}}}": {
			Temperature: true, Sets: &Sets{Score: LAC{}, Rate: 0.95}, Abstain: &Abstain{By: Entropy{}, At: Risk(0.02)}},
		"sets: {}":                          {Sets: &Sets{Score: LAC{}, Rate: 0.95}},
		"sets: {score: raps}":               {Sets: &Sets{Score: RAPS{0.1, 2}, Rate: 0.95}},
		"sets: {score: {raps: {after: 0}}}": {Sets: &Sets{Score: RAPS{0.1, 0}, Rate: 0.95}},
		"sets: {score: aps, rate: 0.9, by_class: true, empty: true}": {Sets: &Sets{Score: APS{}, Rate: 0.9, ByClass: true, Empty: true}},
		"abstain: {at: f1, by: classifier}":                          {Abstain: &Abstain{By: Classifier{}, At: F1{}}},
		"abstain: {at: f1, by: {classifier: {literal: true}}}":       {Abstain: &Abstain{By: Classifier{Literal: true}, At: F1{}}},
		"abstain: {at: 0.5}":                                         {Abstain: &Abstain{At: Threshold(0.5)}},
		"abstain: {at: 0}":                                           {Abstain: &Abstain{At: Threshold(0)}},
		"abstain: {at: -7, by: energy}":                              {Abstain: &Abstain{By: Energy{}, At: Threshold(-7)}},
		"abstain: {at: {threshold: 2}}":                              {Abstain: &Abstain{At: Threshold(2)}},
		"abstain: {at: {pass: 0.95}, by: energy}":                    {Abstain: &Abstain{By: Energy{}, At: Pass(0.95)}},
		"abstain: {at: {coverage: 0.9}, by: sd, tolerance: 2}":       {Abstain: &Abstain{By: SD{}, At: Coverage(0.9), Tolerance: 2}},
	} {
		got, err := parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
			continue
		}
		again, err := parse(string(config.Encode(&got, Families()...)))
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s is written as %s", text, config.Encode(&got, Families()...))
		}
	}
	for text, says := range map[string]string{
		"{}":                                  "decides nothing",
		"sets: {rate: 0}":                     "rate",
		"sets: {rate: 1}":                     "above 0, below 1",
		"sets: {score: nearest}":              "lac, aps",
		"sets: {score: {raps: {penalty: 0}}}": "penalty",
		"sets: {score: {raps: {after: -1}}}":  "after",
		"abstain: {by: entropy}":              "at",
		"abstain: {at: {risk: 0}}":            "above 0, below 1",
		"abstain: {at: {risk: 1}}":            "above 0, below 1",
		"abstain: {at: {coverage: 2}}":        "above 0, below 1",
		"abstain: {at: {pass: 1}}":            "above 0, below 1",
		"abstain: {at: risk}":                 "needs its settings",
		"abstain: {at: f1, tolerance: -1}":    "tolerance",
		"abstain: {by: doubt, at: f1}":        "entropy",
	} {
		if got, err := parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v; want %q", text, got, err, says)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		a       Abstain
		numbers bool
		want    Signal // nil: refused
	}{
		{Abstain{At: Risk(0.02)}, false, Entropy{}},
		{Abstain{At: Coverage(0.9)}, true, SD{}},
		{Abstain{By: Epistemic{}, At: Risk(0.02), Tolerance: 1}, true, Epistemic{}},
		{Abstain{At: Risk(0.02)}, true, nil},
		{Abstain{At: F1{}}, true, nil},
		{Abstain{At: Risk(0.02), Tolerance: 1}, false, nil},
		{Abstain{At: Coverage(0.9), Tolerance: 1}, true, nil},
		{Abstain{By: Entropy{}, At: Coverage(0.9)}, true, nil},
		{Abstain{By: Classifier{}, At: Coverage(0.9)}, true, nil},
		{Abstain{By: SD{}, At: Coverage(0.9)}, false, nil},
		{Abstain{}, false, nil},
		{Abstain{By: Confidence{}, At: Threshold(0.7)}, false, Confidence{}},
		{Abstain{By: Confidence{}, At: Threshold(70)}, false, nil},
		{Abstain{By: Classifier{}, At: Threshold(-0.1)}, false, nil},
		{Abstain{By: Energy{}, At: Threshold(-7)}, false, Energy{}},
	} {
		got, err := c.a.Complete(c.numbers)
		if (err == nil) != (c.want != nil) || err == nil && got.By != c.want {
			t.Errorf("%+v, numbers %v: %+v, %v", c.a, c.numbers, got, err)
		}
	}
}
