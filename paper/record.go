package paper

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/starling-smc/starling"
)

//go:embed results/*.json
var results embed.FS

// Recorded are the runs of a table that came with the program.
func (t *Table) Recorded() []Run {
	text, err := results.ReadFile("results/" + t.Name + ".json")
	var runs []Run
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		panic(fmt.Sprintf("results of %s: %v", t.Name, err)) // a test reads them
	}
	return runs
}

// ReadRecord reads runs from a file of them; there are none where there is no file. One that is no record of runs is a
// *starling.DataError.
func ReadRecord(file string) (runs []Run, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &runs); err != nil {
		return nil, &starling.DataError{Err: fmt.Errorf("%s is no record of runs: %w", file, err)}
	}
	return runs, nil
}

// Merge adds runs to others, in the place of those of the same cell, seed and protocol, and sorts them.
func Merge(runs, more []Run) []Run {
	same := func(a, b Run) bool { return a.Cell == b.Cell && a.Seed == b.Seed && a.Protocol == b.Protocol }
	runs = slices.Clone(runs)
	for _, m := range more {
		runs = slices.DeleteFunc(runs, func(r Run) bool { return same(r, m) })
	}
	runs = append(runs, more...)
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Protocol, b.Protocol))
	})
	return runs
}
