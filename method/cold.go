package method

import (
	"fmt"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/smc"
)

// Cold posteriors (smc/cold.go): settings that methods have in common.

// cold reports whether a temperature is that of another target than the posterior.
func cold(temperature float64) bool { return temperature != 0 && temperature != 1 }

// checkTemperature refuses what is no temperature of a cold posterior.
func checkTemperature(t float64, f *config.Faults) {
	f.If(t != 0 && !(t > 0 && t <= 1), "temperature", "want a number above 0, at most 1, have %.12g: likelihood and prior have the power 1/T", t)
}

// checkCold refuses a cold posterior on a path that does not lead to one, beside learning, and with a prior that has no power; at is the method's
// path.
func checkCold(t float64, path smc.Path, learn smc.Learner, around Around, at string, f *config.Faults) {
	if !cold(t) {
		return
	}
	field := at + ".temperature"
	if _, ok := smc.Cooled(path, t); !ok {
		f.Conflict([]string{field, at + ".path"}, "a cold posterior is at the end of path tempering, and path %s leads to the posterior: take path tempering, or leave temperature out",
			smc.Paths.Name(path))
	}
	if learn != nil {
		f.Conflict([]string{field, at + ".learn"}, "layers that are learned climb the evidence, and a cold posterior has none: leave one of the two out")
	}
	checkGaussian("a cold posterior", field, "no temperature", around, f)
}

// coldly ends a title.
func coldly(t float64) string {
	if !cold(t) {
		return ""
	}
	return fmt.Sprintf(", of the cold posterior (T = %v)", t)
}
