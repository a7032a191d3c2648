// Package golden reads reference values for tests. Only tests import it.
package golden

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Case is one entry of a file; what Inputs and Expected hold depends on Kind. Numbers in them decode as
// numeral.Number.
type Case struct {
	Name, Kind       string
	Inputs, Expected json.RawMessage
}

// Read returns the cases of a file in the package's testdata. A file without cases fails the test.
func Read(t *testing.T, file string) []Case {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []Case }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return all.Cases
}

// Near reports whether got is want within abs + rel·|want|. Only the same infinity is near an infinity, and nothing is near
// NaN: a test that wants NaN asks math.IsNaN.
func Near(got, want, rel, abs float64) bool {
	if math.IsInf(want, 0) {
		return got == want
	}
	return math.Abs(got-want) <= abs+float64(rel*math.Abs(want))
}
