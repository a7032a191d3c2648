//go:build unix

package main

import (
	"testing"
	"time"

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

// TestClusterKills is a short soak of a cluster: every run ends with the bytes of a single process, although workers are asked to end, and submitters
// and the server are killed. A worker that is killed keeps its task for a minute: CI runs that apart.
func TestClusterKills(t *testing.T) {
	t.Chdir(".")
	s, err := newSoak(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	runs := []metamorphic.Run{metamorphic.Longer("adaptive", "method.smc.pilot=true", "method.smc.particles=60", "method.smc.path.tempering.ess=0.95")}
	c, err := newClusters(t.Context(), s, runs)
	if err != nil {
		t.Fatal(err)
	}
	c.gap = time.Second / 4
	if err := c.any(runs, 6, []string{"worker TERM", "server KILL", "submitter KILL", "worker INT", "server TERM", "submitter INT"}); err != nil {
		t.Fatal(err)
	}
	t.Log(c.report())
	if s.kills < 6 || s.finished < 2 {
		t.Errorf("%d kills, %d runs", s.kills, s.finished)
	}
}
