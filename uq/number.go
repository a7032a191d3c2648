package uq

import "github.com/starling-smc/starling/internal/numeral"

// Number is a float64 that JSON can hold: a number that is not finite becomes the string "NaN", "Infinity" or
// "-Infinity".
type Number = numeral.Number
