package scans

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/starling-smc/starling/internal/cells"
)

// Options say how NewReader reads.
type Options struct {
	Columns *Columns  // of CSV; nil: as the header names them
	Time    string    // the column of CSV that is the time; empty: as Columns or the header say
	Unit    Unit      // of times that are numbers; empty: the header or their size tells it
	Truth   io.Reader // CSV of true states, compressed or not; nil: none but those in JSON
	// Whole says that all of the text is there, as in a file, so that a scan may be read on without waiting. Step is the time between
	// scans that a model expects, in seconds; 0: unknown. Both help to find a time that is far ahead of all others.
	Whole bool
	Step  float64
	// Origin is the time that is 0 seconds. Empty: that of the first good scan where times are dates, or so large that they may count
	// from 1970; else 0. A sender that does not replay all scans to a resumed filter needs the Origin that the first Reader had.
	Origin string
}

// Reader is a Source that reads JSON lines or CSV, compressed with gzip or not: the first bytes tell which.
type Reader struct {
	text    io.Reader
	options Options

	scans    format // nil until the first call of Next
	truth    *truthReader
	notes    []string
	saidUnit bool
	ahead    ahead // reads scans
	origin   string
	clock    clock
	err      error // final
}

// NewReader reads scans from a text. Nothing is read before the first call of Next.
func NewReader(text io.Reader, options Options) *Reader {
	return &Reader{text: text, options: options}
}

// Ignored lists the columns of CSV that are not read. It is known after the first call of Next.
func (r *Reader) Ignored() []string {
	if r.scans == nil {
		return nil
	}
	return r.scans.ignored()
}

// Measurement lists the columns of CSV that are a measurement. It is known after the first call of Next.
func (r *Reader) Measurement() []string {
	if r.scans == nil {
		return nil
	}
	return r.scans.chosen()
}

// Notes are sentences that say how the text is read where that is not plain: which column is taken as the time, in which unit, and which
// columns are not read. More may come with each call of Next.
func (r *Reader) Notes() []string { return r.notes }

// TruthElsewhere reports whether there is a file of true states of which none has belonged to a scan so far, and returns the first time
// in it; empty if it has none.
func (r *Reader) TruthElsewhere() (first string, elsewhere bool) {
	if r.truth == nil || r.truth.met > 0 {
		return "", false
	}
	return r.truth.first, true
}

// Origin is the time that is 0 seconds, as the source writes it; empty before the first scan, and where times are seconds that are not so
// large that they may count from 1970.
func (r *Reader) Origin() string { return r.origin }

// Next returns the next scan: see Source.
func (r *Reader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	if fault := (*BadError)(nil); err != nil && !errors.As(err, &fault) {
		r.err = err
	}
	return rec, err
}

func (r *Reader) next() (*Record, error) {
	if r.scans == nil {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	d, err := r.ahead.next()
	if err != nil {
		return nil, err
	}
	if err := r.ahead.check(d, &r.clock); err != nil {
		return nil, err
	}
	if d.rec.Time, err = r.clock.advance(d.at, d.rec.Text); err != nil {
		return nil, &BadError{d.rec.Line, d.column, err}
	}
	if r.origin == "" && r.clock.relative() {
		r.origin = d.rec.Text
	}
	r.sayUnit(d)
	if r.truth == nil {
		return d.rec, nil
	}
	if len(d.rec.Truth) > 0 {
		return nil, fmt.Errorf("line %d: the scan has true states of its own, and there is a file of true states: leave one of them out", d.rec.Line)
	}
	if d.rec.Truth, err = r.truth.at(d.at); err != nil {
		return nil, fmt.Errorf("true states: %v", err) // not wrapped: the fault is not the scan's
	}
	return d.rec, nil
}

// open finds out how the text is compressed and written, and reads the header of CSV.
func (r *Reader) open() error {
	unit := r.options.Unit
	text, err := plain(r.text)
	if err != nil {
		return err
	}
	switch first, err := firstByte(text); {
	case err != nil:
		return err
	case first == '[':
		return errors.New("line 1: the text begins with [: want JSON lines, an object {…} on each line, or CSV")
	case first != '{':
		c, err := newCSVScans(text, r.options.Columns, r.options.Time, r.options.Unit)
		if err != nil {
			return err
		}
		r.scans, unit, r.notes = c, c.unit, c.notes
	case r.options.Columns != nil:
		return errors.New("the scans are JSON lines: columns are for CSV")
	case r.options.Time != "":
		return errors.New("the scans are JSON lines, in which the time is \"time\": scans.time names a column of CSV")
	default:
		r.scans = &jsonLines{lineReader: newLineReader(text), unit: unit}
	}
	r.ahead = ahead{scans: r.scans, whole: r.options.Whole, step: r.options.Step}
	if o := r.options.Origin; o != "" {
		at, err := parseTime([]byte(o), unit)
		if err != nil {
			return fmt.Errorf("origin: %w", err)
		}
		if r.clock.origin = at; r.clock.relative() {
			r.origin = o
		}
	}
	if r.options.Truth != nil {
		if r.truth, err = newTruthReader(r.options.Truth, r.options.Unit); err != nil {
			return fmt.Errorf("true states: %w", err)
		}
		for _, n := range r.truth.notes {
			r.notes = append(r.notes, "true states: "+n)
		}
	}
	return nil
}

// sayUnit notes, once, the unit of times that are numbers and no seconds, unless the settings say it.
func (r *Reader) sayUnit(d *draft) {
	m := byKind(d.at.kind)
	if m == nil || m.per == 1 || r.options.Unit != "" || r.saidUnit {
		return
	}
	r.saidUnit = true
	by := "by their size"
	if c, ok := r.scans.(*csvScans); ok && c.unit != "" {
		by = "as the name of their column says"
	}
	r.notes = append(r.notes, fmt.Sprintf("times are read as %s, %s: %s is %s if they count from 1970; scans.time_unit says otherwise",
		strings.TrimPrefix(string(m.kind), "a number of "), by, cells.Clip(d.rec.Text), d.at.date.Format("2006-01-02 15:04:05.999999999")))
}

// firstByte returns the first byte that is no blank, without taking it. The error is io.EOF if there is none.
func firstByte(text *bufio.Reader) (byte, error) {
	for n := 1; n < text.Size(); n++ {
		head, err := text.Peek(n)
		if len(head) < n {
			return 0, err
		}
		if c := head[n-1]; !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) {
			return c, nil
		}
	}
	return 0, errors.New("the text begins with too many blanks")
}
