package method

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
)

// CheckWithin refuses a state to keep by its NLL on validation examples where there are none, and patience where that NLL ends nothing. It
// refuses restarts that make no epoch and do not begin at a given network: they would be draws. Fields are named from the config's root.
func (s Search) CheckWithin(around Around, f *config.Faults) {
	switch {
	case s.Epochs > 0:
	case !around.Init:
		f.Add("map.epochs", "0 epochs leave a restart where it begins, and without model.init that is a draw: name a trained network, model.init, or take at least 1 epoch")
	case s.Restarts > 1:
		f.Conflict([]string{"map.restarts", "map.epochs"}, "with 0 epochs the network of model.init is the result, and the other restarts would be draws: write restarts: 1")
	}
	switch {
	case s.Keep == KeepBestEpoch:
		checkJudged(KeepBestEpoch, KeepLastEpoch, around, "map", f)
	case s.Keep == KeepLastEpoch && s.Patience != 0 && around.Judged:
		f.Conflict([]string{"map.patience", "map.keep"},
			"ends a restart early, and keep: last keeps the state of the last of %s: leave patience out, or take keep: best", numeral.Several(s.Epochs, "epoch"))
	}
}
