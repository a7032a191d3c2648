//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestDamagedFolders damages a hundred folders of runs: each verb refuses them, or gives what the whole folder gives.
func TestDamagedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := prepare("."); err != nil {
		t.Fatal(err)
	}
	b, err := newBench("damaged")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range 100 {
		outcome, text, err := b.try(1, i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if counts[outcome]++; outcome == failed {
			t.Errorf("folder %d: %s", i, strings.ReplaceAll(text, " | ", "\n"))
		}
	}
	t.Log(counts)
	if counts[refused] < 30 {
		t.Errorf("of 100 damaged folders only %d are refused", counts[refused])
	}
}
