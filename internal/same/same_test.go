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

// TestHalved halves numbers that can be halved.
func TestHalved(t *testing.T) {
	for setting, want := range map[string]string{"a.b=9": "a.b=4", "a=2": "a=1", "a=1": "a=1", "a=0": "a=0", "a=-4": "a=-4", "a=all": "a=all"} {
		if got := halved(setting); got != want {
			t.Errorf("%s is made %s; want %s", setting, got, want)
		}
	}
}

// TestHalve makes a config small whose runs differ where there are at least 5 particles, of two or more islands, and eight outputs. Many
// settings are halved at once.
func TestHalve(t *testing.T) {
	c := wholeNumbers([]byte("seed: 9\nmodel: {units: 8}\nmethod: {smc: {islands: 8, particles: 40, path: {tempering: {ess: 0.5}}}}\nmap: {epochs: 300, patience: 200, restarts: 100, rate: 90}\n"))
	tried := 0
	small := halve(c, func(c metamorphic.Case) bool {
		tried++
		return !slices.Contains(c, "method.smc.islands=1") && !slices.Contains(c, "method.smc.particles=2") && slices.Contains(c, "model.units=8")
	})
	if want := (metamorphic.Case{"model.units=8", "method.smc.islands=2", "method.smc.particles=5", "map.epochs=1", "map.patience=1", "map.restarts=1", "map.rate=1"}); !slices.Equal(small, want) || tried > 24 {
		t.Errorf("%q after %d attempts", small, tried)
	}
}
