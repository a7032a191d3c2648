package tables

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// What makes numbers, and names, the same.

// tellsApart is 2⁵³: a float64 holds every integer below it, but not 2⁵³ + 1.
const tellsApart = 1 << 53

// Composed is a name in its composed form (Unicode's NFC) and without blanks of any kind around it, in which names are the same that look the same, however a program wrote their
// accents.
func Composed(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }
