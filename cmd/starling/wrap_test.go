package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFits: what every command says of itself fits 80 columns.
func TestHelpFits(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		var out strings.Builder
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > columns {
				t.Errorf("%s --help: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(newRoot(new(bool)))
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                  {""},
		"one":               {"one"},
		"a b  c\nd e":       {"a b c", "d e"},
		"ab cdefgh ij k l":  {"ab", "cdefgh", "ij k", "l"},
		"λ → · − x":         {"λ → ·", "− x"},
		"not broken within": {"not", "broken", "within"},
	} {
		if got := lines(text, 5); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
