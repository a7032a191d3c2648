package method

import (
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
)

// CheckWithin refuses a state to keep by its NLL on validation examples where there are none, and patience where that NLL ends nothing.
// Fields are named from the config's root.
func (s Search) CheckWithin(around Around, f *config.Faults) {
	switch {
	case s.Keep == KeepBestEpoch:
		checkJudged(KeepBestEpoch, KeepLastEpoch, around, "map", f)
	case s.Keep == KeepLastEpoch && s.Patience != 0 && around.Judged:
		f.Conflict([]string{"map.patience", "map.keep"},
			"ends a restart early, and keep: last keeps the state of the last of %s: leave patience out, or take keep: best", numeral.Several(s.Epochs, "epoch"))
	}
}
