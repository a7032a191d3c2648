package uq

import "github.com/starling-smc/starling/internal/numeral"

// Number is a float64 that JSON can hold: a number that is not finite is written as the string "NaN", "Infinity" or
// "-Infinity", and read back from it.
type Number = numeral.Number
