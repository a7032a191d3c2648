//go:build unix

package main

import (
	"errors"
	"testing"

	"github.com/starling-smc/starling/internal/metamorphic"
)

// TestDamagedFolders damages a hundred folders of runs: each verb refuses them, or gives what the whole folder gives.
func TestDamagedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(metamorphic.WriteTables(), prepare()); err != nil {
		t.Fatal(err)
	}
	w, refused := metamorphic.NewWorld("damaged", ""), 0
	for i := range 100 {
		c, err := damaged(1, i)
		if err != nil {
			t.Fatal(err)
		}
		was, err := w.Play(c, nil)
		if err != nil {
			t.Errorf("folder %d: %s: %v", i, c, err)
		}
		if was {
			refused++
		}
	}
	if refused < 30 {
		t.Errorf("of 100 damaged folders only %d are refused", refused)
	}
}
