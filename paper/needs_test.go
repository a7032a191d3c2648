package paper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
)

// A run keeps of which networks it was made. Others in their place are told of with both folders and the mend, the same ones made again are not.
func TestNeeds(t *testing.T) {
	out := t.TempDir()
	dir, network := filepath.Join(out, "head-1"), filepath.Join(out, "network-1")
	train := func(seed int) {
		t.Helper()
		spec, err := starling.Preset("mnist7-map", fmt.Sprint("seed=", seed), "map.restarts=1", "map.epochs=1")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(network); err != nil {
			t.Fatal(err)
		}
		folder, err := starling.TakeFolder(network, starling.FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := starling.Fit(t.Context(), spec, starling.Options{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := Cell{Name: "head", Needs: []Need{{Cell: "network"}}}
	ready := func() error { return c.Ready(t.Context(), 1, false, dir, starling.Options{}) }
	if err := ready(); !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), network+", whose networks the cell takes, holds no finished run") {
		t.Errorf("no network: %v", err)
	}
	train(1)
	if err := ready(); err != nil {
		t.Fatal(err)
	}
	train(2)
	if err := ready(); err != nil { // nothing was made of the first one
		t.Errorf("no run yet: %v", err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	train(2)
	if err := errors.Join(ready(), checkNeeds(dir, []string{network}, false)); err != nil {
		t.Errorf("the same network, made again: %v", err)
	}
	train(1)
	for what, err := range map[string]error{"going on": ready(), "reading": checkNeeds(dir, []string{network}, false)} {
		if !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), dir+" was made of the networks in "+network+", which has changed since") ||
			!strings.Contains(err.Error(), "move "+dir+" away, and naming its cell makes it again; or bring the former "+network+" back") {
			t.Errorf("%s with another network: %v", what, err)
		}
	}
	if err := os.RemoveAll(network); err != nil {
		t.Fatal(err)
	}
	if err := checkNeeds(dir, []string{network}, false); err != nil {
		t.Errorf("a network that is gone: %v", err)
	}
	if err := os.WriteFile(neededFile(dir), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := checkNeeds(dir, []string{network}, false); !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), neededFile(dir)+" does not say of which networks") {
		t.Errorf("a damaged file: %v", err)
	}
}

// Runs of other networks or other data are no ensemble.
func TestTogetherRefused(t *testing.T) {
	out := t.TempDir()
	train := func(name string, sets ...string) string {
		t.Helper()
		spec, err := starling.Preset("mnist7-map", append([]string{"map.restarts=1", "map.epochs=1"}, sets...)...)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := starling.TakeFolder(filepath.Join(out, name), starling.FitRuns)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := starling.Fit(t.Context(), spec, starling.Options{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(out, name)
	}
	one := train("one")
	for _, c := range []struct{ dir, want string }{
		{train("smaller", "model.layers=[{dense: 9}, relu, {dense: 8}]"), "have other networks or other data"},
		{train("several", "method={ensemble: {members: 2}}", "map.restarts=2"), "holds 2 networks, and of each run one is taken"},
	} {
		_, err := together{Runs: []string{one, c.dir}}.networks()
		if !errors.As(err, new(*starling.DataError)) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.dir) {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	if _, err := Together.Parse("few", []byte("runs: [one]\n")); err == nil || !strings.Contains(err.Error(), "want the folders of at least 2 runs, have 1") {
		t.Errorf("one run: %v", err)
	}
}
