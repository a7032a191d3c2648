package testkit

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// Archives reads the archives of a folder, DIR/*.txtar, by their paths. Each is a text with many small files.
func Archives(t testing.TB, dir string) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives in %s: %v", dir, err)
	}
	all := map[string]*txtar.Archive{}
	for _, file := range files {
		if all[file], err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
