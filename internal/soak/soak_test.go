//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestKills is a short soak: at least twelve processes are killed, and every run ends with the same bytes.
func TestKills(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "starling")
	build := exec.Command("go", "build", "-o", program, "github.com/starling-smc/starling/cmd/starling")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if testing.Short() {
		configs = configs[:1]
	}
	s, err := newSoak(program, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.until(12); err != nil {
		t.Fatal(err)
	}
	t.Log(s.report())
	if s.kills() < 12 || s.finished == 0 {
		t.Errorf("%d kills, %d runs", s.kills(), s.finished)
	}
}
