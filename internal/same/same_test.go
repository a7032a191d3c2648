//go:build unix

package main

import (
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/metamorphic"
)

func TestMedian(t *testing.T) {
	costs := []cost{{3, 1, 5}, {1, 2, 5}, {2, 9, 4}, {9, 8, 5}, {8, 7, 1}}
	if got := median(costs); got != (cost{3, 7, 5}) {
		t.Errorf("%v", got)
	}
}

// TestHalved halves numbers that can be halved, and makes a config small whose runs differ where there are at least 5 particles, of two
// or more islands.
func TestHalved(t *testing.T) {
	for setting, want := range map[string][]string{"a.b=9": {"a.b=4"}, "a=2": {"a=1"}, "a=1": nil, "a=0": nil, "a=-4": nil, "a=all": nil} {
		if got := halved(setting); !slices.Equal(got, want) {
			t.Errorf("%s is made %q; want %q", setting, got, want)
		}
	}
	c := wholeNumbers([]byte("seed: 9\nmethod: {smc: {islands: 8, particles: 40, path: {tempering: {ess: 0.5}}}}\nmap: {epochs: 300}\n"))
	if less := allHalved(c); !slices.Equal(less, metamorphic.Case{"method.smc.islands=4", "method.smc.particles=20", "map.epochs=150"}) {
		t.Errorf("all halved: %q", less)
	}
	small := metamorphic.Simplify(c, halved, func(c metamorphic.Case) bool {
		return !slices.Contains(c, "method.smc.islands=1") && !slices.Contains(c, "method.smc.particles=2")
	})
	if want := (metamorphic.Case{"method.smc.islands=2", "method.smc.particles=5", "map.epochs=1"}); !slices.Equal(small, want) {
		t.Errorf("%q", small)
	}
}
