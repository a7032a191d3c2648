package scans

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
)

// truthReader reads true states as CSV: time, id, then the numbers of the state, sorted by time. Times without a scan are left out.
type truthReader struct {
	*table
	id int // its column

	row  []cells.Cell // read, but of a later time than the last scan; nil: none
	when instant      // of row
	text string       // of the time of row
	done bool
}

// newTruthReader reads the header.
func newTruthReader(text io.Reader) (*truthReader, error) {
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
	if t.time, err = t.usual("time", 0); err != nil {
		return nil, err
	}
	second := 1
	if t.time == 1 {
		second = 0
	}
	if r.id, err = t.usual("id", second); err == nil && r.id == t.time {
		err = errors.New("want a column id beside the column of the time")
	}
	return r, err
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
			return nil, fmt.Errorf("line %d: the time is %s, but the time of the scan is %s: write all times in one way", r.cells.Start, nameKind(r.when.kind), nameKind(scan.kind))
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
