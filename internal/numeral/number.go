package numeral

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 that JSON can hold: a value that is not finite becomes the string "NaN", "Infinity" or
// "-Infinity".
type Number float64

// MarshalJSON writes the shortest text that reads back exactly, or a string.
func (x Number) MarshalJSON() ([]byte, error) {
	switch v := float64(x); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(v)
	}
}

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
			return fmt.Errorf(`%s is not a number, "NaN", "Infinity" or "-Infinity"`, b)
		}
		*x = Number(v)
	}
	return nil
}
