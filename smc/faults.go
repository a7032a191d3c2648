package smc

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
)

// faults collects the faults of a sampler.
type faults []error

func (f *faults) add(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

// part adds the faults of one of the four parts.
func (f *faults) part(name string, settings any) {
	if err := config.Check(settings); err != nil {
		*f = append(*f, fmt.Errorf("%s: %w", name, err))
	}
}
