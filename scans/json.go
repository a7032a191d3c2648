package scans

import (
	"io"
	"slices"

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
	row    []float64 // the list of numbers that is read
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
	d.rec.Values = j.values.take()
	return d, nil
}

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
		d.at, err = parseISO(text)
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

// measurements reads the list of measurements. One that is null, or has a null in it, is missing.
func (j *jsonLines) measurements(r *Record) error {
	return j.list('[', ']', "a list of measurements", func() error {
		j.token()
		at := j.column()
		if j.token() == 'n' {
			if _, null, err := j.number("a measurement, or null"); err != nil || null {
				r.Missing++
				return err
			}
		}
		missing, err := j.numbers("a measurement in brackets")
		if err != nil {
			return err
		}
		n := j.values.n/max(1, r.Width) + r.Missing + 1
		switch {
		case len(j.row) == 0:
			return bad(j.line, at, "measurement %d has no numbers: leave it out, or write null if it is missing", n)
		case r.Width == 0:
			r.Width = len(j.row)
		case len(j.row) != r.Width:
			return bad(j.line, at, "measurement %d has the length %d, those before it have the length %d", n, len(j.row), r.Width)
		}
		if missing {
			r.Missing++
			return nil
		}
		j.values.add(j.row...)
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
		missing, err := j.numbers("a state in brackets")
		switch {
		case err != nil:
			return err
		case missing || len(j.row) == 0:
			return bad(j.line, at, "the true state of %q lacks numbers: leave the target out", id)
		}
		r.Truth = append(r.Truth, Truth{ID: id, State: slices.Clone(j.row)})
		return nil
	})
}

// numbers reads a list of numbers into j.row. missing says that one of them is null.
func (j *jsonLines) numbers(what string) (missing bool, err error) {
	j.row = j.row[:0]
	err = j.list('[', ']', what, func() error {
		v, null, err := j.number("a number")
		if err == nil && len(j.row) == mostNumbers {
			return j.fault("a list of more than %d numbers", mostNumbers)
		}
		missing = missing || null
		j.row = append(j.row, v)
		return err
	})
	return missing, err
}
