package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/paper"
)

// Between reading a record and replacing it nobody else does: what the other wrote would be lost.
func TestRecordByOne(t *testing.T) {
	dir := t.TempDir()
	other, err := lock.Take(filepath.Join(dir, ".record.json.lock"))
	if err != nil {
		t.Fatal(err)
	}
	r := reproduce{table: &paper.DataAnnealing, out: filepath.Join(dir, "none"), record: filepath.Join(dir, "record.json")}
	written := make(chan error)
	go func() {
		_, err := r.write(t.Context())
		written <- err
	}()
	select {
	case err := <-written:
		t.Fatalf("written while another has it: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := other.Free(); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// A run that takes networks from others comes after them: on one machine in order, and elsewhere once they are done.
func TestOriginsComeFirst(t *testing.T) {
	r := reproduce{table: &paper.Table{Name: "t", Cells: []paper.Cell{{Name: "network"}, {Name: "head", Needs: []paper.Need{{Cell: "network"}}}, {Name: "smaller", Needs: []paper.Need{{Cell: "head"}}},
		{Name: "together", Needs: []paper.Need{{Cell: "network"}, {Cell: "network", Later: 1}}}}}, out: "out", seeds: []uint{1, 2}, budget: "full"}
	units, err := r.requested([]string{"smaller"})
	if err != nil {
		t.Fatal(err)
	}
	names := func(units []unit) (all []string) {
		for _, u := range units {
			all = append(all, filepath.Base(u.dir))
		}
		return all
	}
	if got, want := names(units), []string{"network-1", "head-1", "smaller-1", "network-2", "head-2", "smaller-2"}; !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	var turns [][]string
	for left := units[1:]; len(left) > 0; { // the first network is done
		var now []unit
		now, left = inTurn(left)
		turns = append(turns, names(now))
	}
	if want := [][]string{{"head-1", "network-2"}, {"smaller-1", "head-2"}, {"smaller-2"}}; !slices.EqualFunc(turns, want, slices.Equal[[]string]) {
		t.Errorf("elsewhere %v, want %v", turns, want)
	}
}

// Where a run that a cell takes could not be made, the error has the command that makes it.
func TestMissingRunHasItsCommand(t *testing.T) {
	r := reproduce{table: &paper.SBMC, out: t.TempDir(), seeds: []uint{3}, budget: "reduced", dataDir: "my data"}
	units, err := r.requested([]string{"mnist7-s10-smc-p2"})
	if err != nil || len(units) != 2 {
		t.Fatalf("%v, %v", units, err)
	}
	err = r.prepare(t.Context(), units[1])
	if want := "; starling reproduce sbmc mnist7-s10-smc-p8 --seeds 3 --budget reduced --out " + r.out + " --data-dir 'my data' makes it"; err == nil || !strings.HasSuffix(err.Error(), want) ||
		!strings.HasPrefix(err.Error(), "the run of cell mnist7-s10-smc-p8, seed 3, is missing: ") {
		t.Errorf("%v, want …%s", err, want)
	}
}
