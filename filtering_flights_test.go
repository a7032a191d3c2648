package starling

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/testkit"
)

// The preset flights, with few particles: it filters all days, predicts the flights that it has not seen better than the normal
// distribution of all flights before, and a run that stops at a day goes on there and ends with the same bytes.
func TestFlightsPreset(t *testing.T) {
	testkit.NoThreads(t) // but the reader, which other tests run
	s, err := PresetFiltering("flights", "method.smcmc.particles=40", "method.smcmc.burn=60")
	if err != nil {
		t.Fatal(err)
	}
	run := func(dir string, line func(l *filtering.Line) error) (*Filtered, error) {
		folder, err := ResumeFolder(dir, FilterRuns)
		if err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		return Filter(t.Context(), s, FilterOptions{Options: Options{Folder: folder}, Line: line})
	}
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	r, err := run(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Metrics
	const first = 84 // flights that are held on the first day, when there is no running mean: they have no score
	if m.Scans != 365 || m.Missing != 8_255 || m.Returns+m.Held.N+first+m.Missing != 336_776 || m.LeftOut != 0 {
		t.Errorf("%d days, %d flights, %d held, %d missing, %d days left out", m.Scans, m.Returns, m.Held.N, m.Missing, m.LeftOut)
	}
	if gain := m.Held.LogScore - m.Held.Running; !(gain > 0.9) {
		t.Errorf("log score %v, of the running mean %v", m.Held.LogScore, m.Held.Running)
	}
	enough := errors.New("enough")
	if _, err := run(broken, func(l *filtering.Line) error {
		if l.K == 100 {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) {
		t.Fatalf("the run did not stop: %v", err)
	}
	if _, err := run(broken, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tracks.jsonl", "tracks.csv", "metrics.json"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(broken, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s of the resumed run: %v\n%s", name, err, firstDifference(string(got), string(want)))
		}
	}
}
