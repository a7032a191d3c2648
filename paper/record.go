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
	"os"
	"reflect"
	"slices"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/jsontext"
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
func (t *Table) decode(text []byte) ([]Run, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var list []json.RawMessage
	if err := d.Decode(&list); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the list of runs")
	}
	runs, measures := make([]Run, len(list)), t.measures()
	names := map[string]bool{}
	for _, m := range measures {
		names[m.Name] = true
	}
	for i := range runs {
		r := &runs[i]
		err := decodeRun(list[i], r, names)
		if err == nil {
			err = t.check(*r, measures)
		}
		if err == nil && slices.ContainsFunc(runs[:i], r.same) {
			err = errors.New("the record has this run already")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d, cell %q, seed %d, protocol %q: %w", i+1, r.Cell, r.Seed, r.Protocol, err)
		}
	}
	return runs, nil
}

// entry is a key of a run in a record, and where its value is. One that is optional is left out where it is 0.
type entry struct {
	key      string
	value    any
	optional bool
}

// entries are the keys of a run before and after its figures.
func (r *Run) entries() (before, after []entry) {
	return []entry{{"cell", &r.Cell, false}, {"seed", &r.Seed, false}, {"protocol", &r.Protocol, false}, {"settings", &r.Settings, true}, {"particles", &r.Particles, true}},
		[]entry{{"machine", &r.Machine, false}, {"version", &r.Version, false}}
}

// Record is runs of a table as a record has them: a list of objects, with figures in the order of the table's measures.
func (t *Table) Record(runs []Run) any {
	list := make([]recorded, len(runs))
	for i := range runs {
		list[i] = recorded{t, &runs[i]}
	}
	return list
}

type recorded struct {
	table *Table
	run   *Run
}

// MarshalJSON writes one object.
func (r recorded) MarshalJSON() ([]byte, error) {
	all, after := r.run.entries()
	for _, m := range r.table.measures() {
		if v := r.run.Figures[m.Name]; len(v) > 0 {
			all = append(all, entry{m.Name, v, false})
		}
	}
	all = slices.DeleteFunc(append(all, after...), func(e entry) bool { return e.optional && reflect.ValueOf(e.value).Elem().IsZero() })
	return jsontext.Object(len(all), func(i int) (string, any) { return all[i].key, all[i].value })
}

// decodeRun reads what MarshalJSON writes, with figures of these names.
func decodeRun(text []byte, r *Run, figures map[string]bool) error {
	before, after := r.entries()
	known := append(before, after...)
	r.Figures = map[string]Values{}
	return jsontext.Members(text, func(name string, value *json.Decoder) error {
		if k := slices.IndexFunc(known, func(e entry) bool { return e.key == name }); k >= 0 {
			return value.Decode(known[k].value)
		}
		if !figures[name] {
			return fmt.Errorf("unknown field %q", name)
		}
		var values Values
		err := value.Decode(&values)
		r.Figures[name] = values
		return err
	})
}

// check refuses figures that no run can have.
func (t *Table) check(r Run, measures []Measure) error {
	at := slices.IndexFunc(t.Cells, func(c Cell) bool { return c.Name == r.Cell })
	if at < 0 {
		return errors.New("the table has no such cell")
	}
	if err := t.checkProtocol(t.Cells[at], r.Protocol); err != nil {
		return err
	}
	if r.Particles < 0 {
		return fmt.Errorf("particles %d: want 0 or more", r.Particles)
	}
	for i := range measures {
		m := &measures[i]
		for _, v := range r.Figures[m.Name] {
			if v := float64(v); v < m.Least || v > m.Most {
				return fmt.Errorf("%s %v: want %v to %v", m.Name, v, m.Least, m.Most)
			}
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
