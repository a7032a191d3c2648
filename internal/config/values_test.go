package config

import (
	"slices"
	"testing"
)

// TestValues: commas cut between values, not inside them, and each value reads back.
func TestValues(t *testing.T) {
	for text, want := range map[string][]string{
		"1":                                   {"1"},
		"0.1,1, 10":                           {"0.1", "1", "10"},
		"{fan_in: 2},{variance: 1, decay: 2}": {"{fan_in: 2}", "{variance: 1, decay: 2}"},
		"[a, b],[c]":                          {"[a, b]", "[c]"},
		`"a,b",c`:                             {`"a,b"`, "c"},
		"true,null,words here":                {"true", "null", "words here"},
	} {
		got, err := Values(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
		for _, v := range got {
			if again, err := Values(v); err != nil || !slices.Equal(again, []string{v}) {
				t.Errorf("%s reads back as %q, %v", v, again, err)
			}
		}
	}
	for _, text := range []string{"", " ", "1]", "[1", "{a: 1", "1,]["} {
		if got, err := Values(text); err == nil {
			t.Errorf("%q is %q, want an error", text, got)
		}
	}
}
