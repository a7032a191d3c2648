package main

import (
	"testing"

	"github.com/starling-smc/starling/filtering"
)

// A NEES of any size fits a column of the table.
func TestNEESText(t *testing.T) {
	for v, want := range map[filtering.Number]string{4.234: "4.23", 7438.28: "7,438.28", 34_374_669_005e42: "3.437e+52"} {
		if got := neesText(&v); got != want {
			t.Errorf("%v: %q, want %q", float64(v), got, want)
		}
	}
	if got := neesText(nil); got != "" {
		t.Errorf("none: %q", got)
	}
}
