//go:build unix

package main

import (
	"testing"

	"github.com/starling-smc/starling/internal/metamorphic"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestKills is a short soak: at least twelve processes are killed, and every run ends with the same bytes. The long test has runs of every
// kind.
func TestKills(t *testing.T) {
	dir, runs := t.TempDir(), metamorphic.Runs
	t.Chdir(".")
	if !testkit.Long(t, 1) {
		runs = runs[1:3]
	}
	s, err := newSoak(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.until(12, runs); err != nil {
		t.Fatal(err)
	}
	t.Log(s.report())
	if s.kills < 12 || s.finished == 0 {
		t.Errorf("%d kills, %d runs", s.kills, s.finished)
	}
}
