package scans

import (
	"fmt"
	"io"
	"slices"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/spelling"
)

const (
	mostNumbers = 1 << 16 // of a measurement, or of a true state
	mostTargets = 1 << 16 // with a true state in one scan
)

// jsonLines reads scans as JSON lines: one object a line, {"time": 12.5, "measurements": [[x, y], …], "truth": {"a": [x, y]}}. The
// parser is for this one shape. It puts numbers straight where they belong, so it takes little more memory than they do. It
// refuses keys that it does not know and keys that come twice.
type jsonLines struct {
	*lineReader
	values numbers
	parts  parts
	row    []float64 // the list of numbers that is read
	there  []int     // the places of those that are not null
	unit   Unit      // of times that are numbers; empty: their size tells it
}

// next returns the next line's scan.
func (j *jsonLines) next() (*draft, error) {
	for j.token() == '\n' && !j.long {
		switch {
		case j.pos < len(j.buf):
			j.lineReader.next()
		case j.failed != nil:
			return nil, j.failed
		default:
			return nil, io.EOF
		}
	}
	d := &draft{rec: &Record{Line: j.line}}
	j.values.n = 0
	j.parts.take()
	err := j.object(d)
	if err == nil && j.token() != '\n' {
		err = j.fault("something follows the scan: a scan is one line")
	}
	if j.failed != nil {
		return nil, j.failed
	}
	if j.long || err == nil && j.column() > j.limit+1 {
		err = bad(j.line, j.limit+1, "the line has more than %d MB: split the scan", j.limit/1_000_000)
	}
	j.lineReader.next()
	if j.failed != nil {
		return nil, j.failed
	}
	if err != nil {
		return nil, err
	}
	d.rec.Values, d.rec.Parts = j.values.take(), j.parts.take()
	return d, nil
}

func (j *jsonLines) chosen() []string { return nil }

func (j *jsonLines) ignored() []string { return nil }

// object reads one scan.
func (j *jsonLines) object(d *draft) error {
	start, seen := j.column(), map[string]bool{}
	keys := []string{"time", "measurements", "truth"}
	err := j.list('{', '}', "a scan, as {\"time\": 0, \"measurements\": []},", func() error {
		j.token()
		at := j.column()
		key, err := j.key(seen)
		if err != nil {
			return err
		}
		switch key {
		case "time":
			return j.time(d)
		case "measurements":
			return j.measurements(d.rec)
		case "truth":
			return j.truth(d.rec)
		}
		return bad(j.line, at, "unknown key %q%s (known: time, measurements, truth)", key, spelling.Suggest(key, keys))
	})
	if err != nil {
		return err
	}
	for _, key := range keys[:2] {
		if !seen[key] {
			return bad(j.line, start, "the scan has no %s", key)
		}
	}
	return nil
}

// key reads the key of a member and its colon.
func (j *jsonLines) key(seen map[string]bool) (string, error) {
	j.token()
	at := j.column()
	key, err := j.name("a key in quotes")
	if err != nil {
		return "", err
	}
	if seen[key] {
		return "", bad(j.line, at, "the key %q comes twice", key)
	}
	seen[key] = true
	return key, j.take(':', "a colon")
}

func (j *jsonLines) time(d *draft) error {
	const what = `seconds or a text of ISO 8601`
	var text string
	var err error
	quoted := j.token() == '"'
	d.column = j.column()
	if quoted {
		if text, err = j.name(what); err != nil {
			return err
		}
		if d.at, err = parseISO(text); err != nil && isNumber([]byte(text)) {
			err = fmt.Errorf("the time %s is a number in quotes: write it without them", cells.Clip(text))
		}
	} else {
		var w []byte
		if w, err = j.word(what); err != nil {
			return err
		}
		if text = string(w); !isNumber(w) {
			return j.fault("the time is %.40s: want %s", text, what)
		}
		d.at, err = parseNumber(w, j.unit)
		j.pos += len(w)
	}
	if err != nil {
		return &BadError{j.line, d.column, err}
	}
	d.rec.Text = text
	return nil
}

// measurements reads the list of measurements. One that is null, or of which all numbers are, is missing; one with some nulls is a part.
func (j *jsonLines) measurements(r *Record) error {
	n := 0
	return j.list('[', ']', "a list of measurements", func() error {
		n++
		j.token()
		at := j.column()
		if j.token() == 'n' {
			if _, null, err := j.number("a measurement, or null"); err != nil || null {
				r.Missing++
				return err
			}
		}
		if err := j.numbers("a measurement in brackets"); err != nil {
			return err
		}
		switch {
		case len(j.row) == 0:
			return bad(j.line, at, "measurement %d has no numbers: leave it out, or write null if it is missing", n)
		case r.Width == 0:
			r.Width = len(j.row)
		case len(j.row) != r.Width:
			return bad(j.line, at, "measurement %d has the length %d, those before it have the length %d", n, len(j.row), r.Width)
		}
		switch len(j.there) {
		case len(j.row):
			j.values.add(j.row...)
		case 0:
			r.Missing++
		default:
			for i, at := range j.there {
				j.row[i] = j.row[at]
			}
			j.parts.add(j.there, j.row[:len(j.there)])
		}
		return nil
	})
}

// truth reads the true states, by the names of their targets.
func (j *jsonLines) truth(r *Record) error {
	seen := map[string]bool{}
	return j.list('{', '}', "true states, as {\"a\": [0, 0]},", func() error {
		id, err := j.key(seen)
		if err != nil {
			return err
		}
		if len(r.Truth) == mostTargets {
			return j.fault("true states of more than %d targets", mostTargets)
		}
		j.token()
		at := j.column()
		switch err := j.numbers("a state in brackets"); {
		case err != nil:
			return err
		case len(j.there) < len(j.row) || len(j.row) == 0:
			return bad(j.line, at, "the true state of %q lacks numbers: leave the target out", id)
		}
		r.Truth = append(r.Truth, Truth{ID: id, State: slices.Clone(j.row)})
		return nil
	})
}

// numbers reads a list of numbers into j.row, and the places of those that are not null into j.there.
func (j *jsonLines) numbers(what string) error {
	j.row, j.there = j.row[:0], j.there[:0]
	return j.list('[', ']', what, func() error {
		v, null, err := j.number("a number")
		if err == nil && len(j.row) == mostNumbers {
			return j.fault("a list of more than %d numbers", mostNumbers)
		}
		if !null {
			j.there = append(j.there, len(j.row))
		}
		j.row = append(j.row, v)
		return err
	})
}
