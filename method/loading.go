package method

import (
	"math"

	"github.com/starling-smc/starling/internal/config"
)

// CheckLoading refuses to load examples if the program will need more than limit bytes while they are read; 0 is no limit.
// What is only needed meanwhile, such as a table, is garbage when the method begins: CheckMemory does not count it.
func CheckLoading(bytes, limit int64, f *config.Faults) {
	f.If(limit > 0 && programBytes+bytes > limit, "", "to read the examples, the run needs about %s of memory, but only %s are available (GOMEMLIMIT sets another limit)",
		bytesText(programBytes+bytes, math.Ceil), bytesText(limit, math.Floor))
}
