package starling

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The particles of a run are read back: all scans, the last of which is the filter's state, with weights where they differ.
func TestFilterRunParticles(t *testing.T) {
	for _, c := range []struct {
		name     string
		kept     bool
		weighted bool
	}{{"clutter", true, false}, {"bearing", true, true}, {"line", false, false}} {
		dir := filepath.Join(t.TempDir(), c.name)
		s := filteringOf(t, filterings[c.name])
		r, err := filterIn(t.Context(), dir, s, FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := OpenFilterRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		x, logWeights, err := run.Particles()
		if err != nil {
			t.Fatal(err)
		}
		last := r.State.X
		if c.kept != (x != nil) || c.weighted != (logWeights != nil) || c.kept && (len(x) != 12*len(last) || !slices.Equal(x[len(x)-len(last):], last)) ||
			c.weighted && !slices.Equal(logWeights[len(logWeights)-r.State.N():], r.State.LogW) {
			t.Errorf("%s: %d numbers and %d weights", c.name, len(x), len(logWeights))
		}
		if c.kept {
			file := filepath.Join(dir, particlesFile)
			if err := os.WriteFile(file, []byte("changed"), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, _, err := run.Particles(); !errors.As(err, new(*DataError)) || !strings.Contains(err.Error(), particlesFile) {
				t.Errorf("%s: particles that were changed: %v", c.name, err)
			}
		}

		// A run differs from configs other than its own, whose name does not count.
		s.Name = "another"
		if err := run.Differs(s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		s.Seed++
		if err := run.Differs(s); err == nil || !strings.Contains(err.Error(), "seed: ") {
			t.Errorf("%s: another seed: %v", c.name, err)
		}
	}
}
