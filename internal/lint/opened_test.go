package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyTestsWatchStreams: rng.Opened notes keys in a variable of the whole program, so that tests alone may use it.
func TestOnlyTestsWatchStreams(t *testing.T) {
	for _, p := range list(t, "./...") {
		if relative(p.ImportPath) == "internal/rng" {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "rng.Opened") {
				t.Errorf("%s/%s uses rng.Opened, which is for tests", p.ImportPath, name)
			}
		}
	}
}
