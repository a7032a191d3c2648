package decide

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// TestCheckWith: what settings need is said before a run begins, with the number of examples that would do.
func TestCheckWith(t *testing.T) {
	classes := Given{Targets: 1, Energies: true, Validate: 100, Calibrate: 300, Foreign: 50}
	numbers := Given{Numbers: true, Targets: 1, Validate: 100, Calibrate: 300}
	for text, c := range map[string]struct {
		given Given
		want  string // "": nothing is refused
	}{
		"{temperature: true, sets: {rate: 0.99}, abstain: {at: {risk: 0.01}}}": {classes, ""},
		"{sets: {rate: 0.997}}": {classes, "sets.rate: a rate of 0.997 needs at least 333 examples to calibrate with, have 300: give 33 more"},
		"{temperature: true, sets: {rate: 0.99}, abstain: {at: f1}}":                        {Given{Targets: 1, Calibrate: 147, Foreign: 1}, "sets.rate: a rate of 0.99 needs at least 99 examples to calibrate with, have 98: give 1 more"}, // 100 without the third
		"{abstain: {at: {risk: 0.009}}}":                                                    {classes, "abstain.at: a risk of 0.009 needs at least 332 examples to calibrate with, have 300: give 32 more"},
		"{sets: {rate: 0.9}}":                                                               {Given{Targets: 1}, "sets.rate: needs calibration examples, which nothing has learnt from: give data.calibrate"},
		"{abstain: {at: {coverage: 0.9}}}":                                                  {Given{Targets: 1}, "abstain.at: needs calibration examples"},
		"{abstain: {by: entropy, at: 0.5}}":                                                 {Given{Targets: 1}, ""},
		"{temperature: true}":                                                               {Given{Targets: 1}, "temperature: needs validation examples, or calibration examples"},
		"{abstain: {by: classifier, at: f1}}":                                               {Given{Targets: 1, Calibrate: 300}, "abstain: needs foreign inputs that are known beforehand: give data.calibrate_groups"},
		"{abstain: {by: classifier, at: {risk: 0.02}}}":                                     {Given{Targets: 1, Calibrate: 744, Foreign: 50}, "abstain.at: a risk of 0.02 by the classifier, for a fifth of them to be held out, needs at least 749 examples to calibrate with, have 744: give 5 more"},
		"{abstain: {by: classifier, at: {risk: 0.05}}}":                                     {classes, ""},
		"{abstain: {by: {classifier: {literal: true}}, at: {risk: 0.01}}}":                  {classes, ""},
		"{sets: {score: lac, rate: 0.9, by_class: true}}":                                   {Given{Targets: 1, Calibrate: 30, ByClass: []int{9, 12, 8}, Names: []string{"a", "b", "c"}}, "sets.by_class: a rate of 0.9 for the class c alone needs at least 9 examples to calibrate with, have 8: give 1 more"},
		"{sets: {rate: 0.9, empty: true, by_class: false}}":                                 {Given{Targets: 1, Calibrate: 30, ByClass: []int{9, 12, 8}}, ""},
		"{abstain: {by: epistemic, at: {coverage: 0.9}}}":                                   {Given{Targets: 1, Calibrate: 30, Single: true}, "abstain.by: epistemic is of ensembles"},
		"{abstain: {at: {coverage: 0.8}}}":                                                  {Given{Targets: 1, Calibrate: 30, Single: true}, ""},
		"{abstain: {at: {risk: 1e-30}}}":                                                    {classes, "abstain.at: a risk of 1e-30 needs at least 9007199254740992 examples"},
		"{abstain: {by: energy, at: {pass: 0.9}}}":                                          {Given{Targets: 1, Calibrate: 300}, "abstain.by: energy is of networks with a logit for each class"},
		"{abstain: {by: sd, at: {pass: 0.9}}}":                                              {classes, "abstain: by sd is for numbers"},
		"{abstain: {by: entropy, at: {pass: 0.8}}}":                                         {numbers, "abstain: by entropy is for classes"},
		"{abstain: {at: {risk: 0.02}}}":                                                     {numbers, "abstain: at risk of numbers needs a tolerance"},
		"{sets: {rate: 0.9, by_class: true}}":                                               {numbers, "sets.by_class: is for classes"},
		"{sets: {rate: 0.9, score: aps}}":                                                   {numbers, "sets.score: is for classes"},
		"{sets: {rate: 0.9, empty: true}}":                                                  {numbers, "sets.empty: is for classes"},
		"{sets: {rate: 0.9}, temperature: true, abstain: {at: {risk: 0.02}, tolerance: 3}}": {numbers, ""},
		"{temperature: true, sets: {rate: 0.8}}":                                            {Given{Numbers: true, Targets: 2, Validate: 9, Calibrate: 9}, "is for one number a row, and the network predicts 2"},
		"{abstain: {by: sd, at: f1, tolerance: 3}}":                                         {numbers, "abstain: needs foreign inputs that are known beforehand: give data.calibrate_groups, as in {noise: noise.npy}, or --ood of starling calibrate, or take {coverage: 0.9} or {risk: 0.02} by sd"},
		"{sets: {rate: 0.7}}":                                                               {Given{Targets: 1, Calibrate: 30, Names: []string{"a", "b|c"}}, `sets: the class "b|c" has a | in its name`},
	} {
		s, _, err := config.Parse[Settings]("", []byte(text), nil, Families()...)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		f := config.NewFaults()
		s.CheckWith(c.given, f)
		var got []string
		for _, fault := range f.All() {
			got = append(got, strings.TrimPrefix(fault.Path+": "+fault.Message, ": "))
		}
		switch all := strings.Join(got, "\n"); {
		case c.want == "" && all != "":
			t.Errorf("%s: %s", text, all)
		case len(got) > 1 || !strings.HasPrefix(all, c.want):
			t.Errorf("%s: %q, want %q", text, all, c.want)
		}
	}
}
