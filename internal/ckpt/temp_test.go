//go:build linux || darwin || freebsd || netbsd || openbsd

package ckpt

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestTemp: what a killed process left behind is removed; what another works on, what is young and what only looks alike is not.
func TestTemp(t *testing.T) {
	dir, old := t.TempDir(), time.Now().Add(-time.Hour)
	make := func(name string, when time.Time) *os.File {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if err := os.Chtimes(f.Name(), when, when); err != nil {
			t.Fatal(err)
		}
		return f
	}
	make(".p.csv.12", old)
	make(".p.csv.13", time.Now())
	tryLock(make(".p.csv.14", old))
	make(".p.csv.15x", old)
	make(".p.csv.", old)
	make("p.csv", old)
	if err := WriteFile(filepath.Join(dir, "p.csv"), []byte("1\n")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".p.csv.", ".p.csv.13", ".p.csv.14", ".p.csv.15x", "p.csv"}; !slices.Equal(names, want) {
		t.Errorf("%q is left, want %q", names, want)
	}
}
