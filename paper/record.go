package paper

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/starling-smc/starling"
)

//go:embed results/*.json
var results embed.FS

// Recorded returns the runs of a table that come with the program.
func (t *Table) Recorded() []Run {
	text, err := results.ReadFile("results/" + t.Name + ".json")
	var runs []Run
	if err == nil {
		runs, err = t.decode(text)
	}
	if err != nil {
		panic(fmt.Sprintf("results of %s: %v", t.Name, err)) // a test reads them
	}
	return runs
}

// ReadRecord reads runs of the table from a file; a file that does not exist has no runs. The error is a *starling.DataError
// if the file is not a record of such runs.
func (t *Table) ReadRecord(file string) ([]Run, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := t.decode(text)
	if err != nil {
		return nil, &starling.DataError{Err: fmt.Errorf("%s is not a record of runs of %s: %w", file, t.Name, err)}
	}
	return runs, nil
}

// decode reads a record. It refuses keys that it does not know, so that nothing is lost when the record is written again.
func (t *Table) decode(text []byte) (runs []Run, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&runs); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the list of runs")
	}
	for i, r := range runs {
		err := t.check(r)
		if err == nil && slices.ContainsFunc(runs[:i], r.same) {
			err = errors.New("the record has this run already")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d, cell %q, seed %d, protocol %q: %w", i+1, r.Cell, r.Seed, r.Protocol, err)
		}
	}
	return runs, nil
}

// check refuses figures that no run can have.
func (t *Table) check(r Run) error {
	if !slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Name == r.Cell }) {
		return errors.New("the table has no such cell")
	}
	if how, reduced := strings.CutPrefix(r.Protocol, "reduced: "); r.Protocol != t.Protocol(false) && (!reduced || how == "") {
		return fmt.Errorf("want protocol %q or \"reduced: …\"", t.Protocol(false))
	}
	for _, f := range []struct {
		name        string
		value, most float64
	}{
		{"accuracy", float64(r.Accuracy), 100}, {"particles", float64(r.Particles), math.Inf(1)}, {"ess", r.ESS, math.Inf(1)},
		{"ancestors", r.Ancestors, 1 + 1e-9}, // earlier versions summed it, with rounding errors
		{"gradients", float64(r.Gradients), math.Inf(1)}, {"values", float64(r.Values), math.Inf(1)},
		{"sampling_seconds", r.Sampling, math.Inf(1)}, {"evaluation_seconds", r.Evaluation, math.Inf(1)},
	} {
		if f.value < 0 || f.value > f.most {
			return fmt.Errorf("%s %v: want 0 to %v", f.name, f.value, f.most)
		}
	}
	return nil
}

// same reports whether two runs have the same cell, seed and protocol.
func (r Run) same(other Run) bool {
	return r.Cell == other.Cell && r.Seed == other.Seed && r.Protocol == other.Protocol
}

// Merge adds more runs, sorted. They replace runs of the same cell, seed and protocol.
func Merge(runs, more []Run) []Run {
	runs = slices.Clone(runs)
	for _, m := range more {
		runs = slices.DeleteFunc(runs, m.same)
	}
	runs = append(runs, more...)
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.Protocol, b.Protocol))
	})
	return runs
}
