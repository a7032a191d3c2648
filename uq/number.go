package uq

import (
	"encoding/json"
	"fmt"
	"math"
)

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*x = Number(math.NaN())
	case `"Infinity"`:
		*x = Number(math.Inf(1))
	case `"-Infinity"`:
		*x = Number(math.Inf(-1))
	default:
		var v float64
		if err := json.Unmarshal(b, &v); err != nil {
			return fmt.Errorf(`%s is no number, "NaN", "Infinity" or "-Infinity"`, b)
		}
		*x = Number(v)
	}
	return nil
}
