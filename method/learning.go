package method

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// Learning moves the layers that are not random (model.random), which all particles of an island share.
type Learning struct {
	// Learn is how the parameters of layers that are not random (model.random) are learned while the particles move. Without it they
	// stay as model.init has them. Default: adam, rate .01; or nothing, where model.init is given.
	Learn smc.Learner `yaml:"learn,omitempty"`
}

func (l *Learning) complete(around Around) {
	if l.Learn == nil && around.Partly && !around.Init {
		l.Learn = smc.By[nn.Adam]{Rate: 0.01}
	}
}

// checkWithin refuses learning where all layers are random.
func (l Learning) checkWithin(around Around, at string, f *config.Faults) {
	if l.Learn != nil && !around.Partly {
		f.Conflict([]string{at + ".learn", "model.random"},
			"moves the layers that are not random, and all are: say in model.random which are, as in random: first, or leave learn out")
	}
}

// checkKeep refuses the best state by validation where nothing can judge it.
func checkKeep(k smc.Keeper, around Around, at string, f *config.Faults) {
	if k != nil && k.Judged() {
		checkJudged(smc.Keepers.Name(k), "last", around, at, f)
	}
}

// checkJudged refuses a state to keep by its loss on validation examples where there are none. instead is what to keep in its place.
func checkJudged(name, instead string, around Around, at string, f *config.Faults) {
	if !around.Judged {
		f.Conflict([]string{at + ".keep", "data.whole", "data.set"},
			"%s is the state of the smallest loss on the validation examples, and the data hold none out: take keep: %s, or data with validation examples", name, instead)
	}
}

// chosenBy says that validation chose the state that stands for the posterior, if it did.
func chosenBy(k smc.Keeper, at string) []finding.Finding {
	if k == nil || !k.Judged() {
		return nil
	}
	return []finding.Finding{finding.Of(finding.ChosenByValidation{Field: at, Value: smc.Keepers.Name(k)})}
}

// checkKept refuses states that a sampler on n examples cannot keep.
func checkKept(s *smc.Sampler, n int, at string, f *config.Faults) {
	for _, err := range s.SuitsKeep(n) {
		f.Conflict([]string{at + ".keep", at + ".path", at + ".particles", at + ".epochs"}, "%v", err)
	}
}
