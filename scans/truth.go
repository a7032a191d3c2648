package scans

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/tables"
)

// truthReader reads true states as CSV: time, id, then the numbers of the state, sorted by time. Times without a scan are left out.
type truthReader struct {
	*table
	id int // its column

	row  []cells.Cell // read, but of a later time than the last scan; nil: none
	when instant      // of row
	text string       // of the time of row
	done bool

	first string // the first time, as it is written
	met   int    // states that belong to a scan
}

// newTruthReader reads the header. unit is that of times that are numbers; empty: its header or their size tells it.
func newTruthReader(text io.Reader, unit Unit) (*truthReader, error) {
	plain, err := plain(text)
	if err != nil {
		return nil, err
	}
	t, err := newTable(plain)
	if err != nil {
		return nil, err
	}
	r := &truthReader{table: t}
	if len(t.header) < 3 {
		return nil, errors.New("want columns of time, id and state, as in time,id,x,y")
	}
	var ids []int
	for j, name := range t.header {
		if isID(name) && !tables.IsIndex(name) {
			ids = append(ids, j)
		}
	}
	if len(ids) > 1 {
		return nil, fmt.Errorf("both %s and %s may name the targets: rename one of them", t.title(ids[0]), t.title(ids[1]))
	}
	if err := t.chooseTime("", ids); err != nil {
		return nil, err
	}
	t.unit = cmp.Or(unit, t.unit)
	switch {
	case len(ids) == 1:
		r.id = ids[0]
	case t.time == 1:
		r.id = 0
	default:
		r.id = 1
	}
	if len(ids) == 0 {
		t.note("no column is named id: %s is taken as the name of the target", t.title(r.id))
	}
	return r, nil
}

// at returns the true states at a scan's time. Scans are asked for in the order of their times.
func (r *truthReader) at(scan instant) ([]Truth, error) {
	var found []Truth
	seen := map[string]bool{}
	for !r.done {
		if r.row == nil {
			if err := r.read(); err == io.EOF {
				r.done = true
				break
			} else if err != nil {
				return nil, err
			}
		}
		if r.when.kind != scan.kind {
			return nil, fmt.Errorf("line %d: the time is %s, but the time of the scan is %s: write all times in one way%s", r.cells.Start, nameKind(r.when.kind), nameKind(scan.kind), byUnit(r.when.kind, scan.kind))
		}
		order := r.when.compare(scan)
		if order > 0 {
			break
		}
		if order == 0 {
			t, fault := r.state()
			switch {
			case fault != nil:
				return nil, fault
			case seen[t.ID]:
				return nil, bad(r.row[r.id].Line, r.id+1, "%q comes twice at the time %s", t.ID, cells.Clip(r.text))
			case len(found) == mostTargets:
				return nil, bad(r.cells.Start, 0, "more than %d targets at the time %s", mostTargets, cells.Clip(r.text))
			}
			seen[t.ID] = true
			found = append(found, t)
			r.met++
		}
		r.row = nil
	}
	return found, nil
}

// read reads the next row and its time.
func (r *truthReader) read() error {
	row, fault, err := r.table.row()
	if err != nil {
		return err
	}
	if fault != nil {
		return fault
	}
	when, fault := r.table.at(row)
	if fault != nil {
		return fault
	}
	text := string(row[r.time].Text)
	if r.when.kind == when.kind && when.compare(r.when) < 0 {
		return bad(row[r.time].Line, r.time+1, "the time %s is before %s in the row before: sort the rows by time", cells.Clip(text), cells.Clip(r.text))
	}
	r.row, r.when, r.text = row, when, text
	r.first = cmp.Or(r.first, text)
	return nil
}

// state returns the true state in the row.
func (r *truthReader) state() (Truth, error) {
	id := r.row[r.id]
	if len(id.Text) == 0 || len(id.Text) > longestToken || !utf8.Valid(id.Text) {
		return Truth{}, bad(id.Line, r.id+1, "the id is %s: want a text of at most %d bytes in UTF-8", cells.Quote(id.Text), longestToken)
	}
	t := Truth{ID: string(id.Text), State: make([]float64, 0, len(r.row)-2)}
	for j, c := range r.row {
		if j == r.time || j == r.id {
			continue
		}
		if len(c.Text) == 0 {
			return t, bad(c.Line, j+1, "%s is empty: a true state has no missing numbers", cells.Clip(r.header[j]))
		}
		v, fault := r.number(c, j)
		if fault != nil {
			return t, fault
		}
		t.State = append(t.State, v)
	}
	return t, nil
}
