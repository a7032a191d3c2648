package decide

import "github.com/starling-smc/starling/internal/config"

// Settings are what a run learns from its calibration examples, so that its predictions come with a decision.
type Settings struct {
	Temperature bool     `yaml:"temperature,omitempty"` // correct probabilities, or the width of predicted laws, by one number that the validation examples teach
	Sets        *Sets    `yaml:"sets,omitempty"`        // sets of classes, or intervals of numbers, that hold the truth at a promised rate
	Abstain     *Abstain `yaml:"abstain,omitempty"`     // when a row says that it does not know
}

// Check implements config.Checker.
func (s Settings) Check(f *config.Faults) {
	f.If(s == (Settings{}), "", "decides nothing: want temperature: true, sets or abstain")
}

// Families are the tables of the parts in Settings.
func Families() []config.Family { return []config.Family{Scores, Signals, Cutoffs} }
