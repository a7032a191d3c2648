//go:build unix

package main

import (
	"testing"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// TestDamagedFolders damages a hundred folders of runs: each verb refuses them, or gives what the whole folder gives.
func TestDamagedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	w, err := metamorphic.NewWorld("damaged", "")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range 100 {
		c, err := damaged(w, 1, i)
		if err != nil {
			t.Fatal(err)
		}
		outcome, text, err := try(w, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if counts[outcome]++; outcome == failed {
			t.Errorf("folder %d: %s: %s", i, c, text)
		}
	}
	t.Log(counts)
	if counts[refused] < 30 {
		t.Errorf("of 100 damaged folders only %d are refused", counts[refused])
	}
}
