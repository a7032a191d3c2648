package runs

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// TestIntact: a step after which the data have changed does not count, whichever it is, and whether or not it is an error. The run goes on from
// a state before it, to the bytes of one whose data stayed.
func TestIntact(t *testing.T) {
	_, want := whole(t)
	changed := errors.New("changed")
	for n := 1; n <= 20; n++ {
		dir := filepath.Join(t.TempDir(), "run")
		asked, stepped := 0, 0
		j := newJob()
		j.threads = 1
		j.options.Every = 1
		j.before = func(context.Context, int) error {
			if stepped++; stepped == n && n%2 == 0 {
				return errors.New("an error that the data made")
			}
			return nil
		}
		j.intact = func() error {
			if asked++; asked >= n {
				return changed
			}
			return nil
		}
		if err := j.resume(t.Context(), dir); !errors.Is(err, changed) || len(j.watched) != n-1 {
			t.Fatalf("after %d steps: %v, %d steps that count", n, err, len(j.watched))
		}
		again := newJob()
		again.options.Every = time.Hour
		if err := again.resume(t.Context(), dir); err != nil {
			t.Fatalf("after %d steps: %v", n, err)
		}
		if got := contents(t, dir); got != want {
			t.Errorf("after %d steps:\n%s\nwithout a change:\n%s", n, got, want)
		}
	}
}
