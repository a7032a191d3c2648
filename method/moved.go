package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
)

// movedAt is the setting that moves the prior to an estimate.
func movedAt(p bnn.PriorSettings) string {
	if p.Added != nil {
		return "prior.added"
	}
	return "prior.anchor"
}

// checkUnmoved refuses a prior that an estimate moves, for a method that samples nothing. does says what the method does instead.
func checkUnmoved(does string, around Around, f *config.Faults) {
	f.If(around.Prior.Moved(), movedAt(around.Prior), "is for sampling: method %s", does)
}
