package tables

import (
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/internal/cells"
)

// survey is what was found of how numbers are written in the columns of a file. Columns of plain numbers need none: a first cell that is no
// plain number asks for one.
type survey struct {
	told  cells.Told
	taken int                     // how often the file was read for it
	sure  map[int]bool            // the columns that need no further look
	fault error                   // of a column whose numbers cannot be read; nil: none so far
	found map[int]*cells.Notation // of those among them that hold numbers that are not plain
	mixed map[int]string          // what those hold that have numbers with different texts around them, and what to do
}

// done reports whether column j needs no further look.
func (s *survey) done(j int) bool { return s.sure[j] }

// unsurveyed says that a cell of column j of a table is no plain number, and that nobody has looked how its numbers are written. With j −1
// all columns are to be looked at.
type unsurveyed struct {
	t *Table
	j int
}

func (e *unsurveyed) Error() string {
	return "how the numbers of " + e.t.Title(e.j) + " are written is not known"
}

// longestNumber is the number of bytes up to which a cell may hold a number with what stands around it.
const longestNumber = 256

// mostSurveys bounds how often a file is read before all of its columns are looked at together.
const mostSurveys = 4

// look is find, and keeps its error.
func (s *survey) look(f *File, t *Table, j int) error {
	s.fault = s.find(f, t, j)
	return s.fault
}

// find reads the file to find how the numbers of column j of a table are written, and of others, as far as it reads. It ends early where all
// columns that hold something else than plain numbers are known to hold words.
func (s *survey) find(f *File, t *Table, j int) error {
	c, err := f.cells()
	if err != nil {
		return err
	}
	s.taken++
	all := j < 0 || s.taken > mostSurveys
	detectors := make([]*cells.Detector, t.Cols)
	codes := t.coded(f.o.Categories)
	for k := range detectors {
		if !t.Left(k) && !s.sure[k] && !codes[k] {
			detectors[k] = cells.NewDetector(s.told)
		}
	}
	open := map[int]bool{} // columns with a text that may all be numbers
	f.begin()
	for first, ended := true, false; !ended && !f.enough(); first = false {
		record, ok, err := c.Record()
		if err != nil {
			return err
		}
		if !ok || len(record) != t.Cols {
			break // the table's reader reports it
		}
		if first && t.Header != nil {
			continue
		}
		f.looked()
		for k, cell := range record {
			d := detectors[k]
			if d == nil || len(cell.Text) == 0 || !digit(cell.Text[0]) && standsForMissing(string(cell.Text)) {
				continue
			}
			d.See(cell.Text)
			some, sure := d.Texts()
			switch {
			case sure && cells.OtherDigits(cell.Text):
				return &CellError{Line: cell.Line, Name: t.ColumnName(k), Column: t.Title(k), Text: cells.Quote(cell.Text), Digits: true}
			case sure:
				delete(open, k)
				s.sure[k] = true
				detectors[k] = nil
			case some:
				open[k] = true
			}
		}
		ended = !all && len(open) == 0 && s.sure[j]
	}
	if !all && s.sure[j] && len(open) == 0 {
		return nil
	}
	return s.settle(t, detectors)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// settle takes the verdicts on columns that were read to the end. In a table with decimal commas, plain numbers whose points may all stand
// between thousands have two readings.
func (s *survey) settle(t *Table, detectors []*cells.Detector) error {
	commas := -1
	for k, d := range detectors {
		if d == nil {
			continue
		}
		s.sure[k] = true
		v, n, or, example := d.Verdict()
		switch v {
		case cells.Written:
			s.found[k] = &n
			if n.Decimal == "," && commas < 0 {
				commas = k
			}
		case cells.Texts:
			if what := d.Around(); what != "" {
				s.mixed[k] = what
			}
		case cells.Ambiguous:
			because := ""
			if whole := d.Beside(); whole != "" {
				because = " beside whole numbers such as " + whole
			}
			return ambiguous(t, k, example, n, or, because)
		}
	}
	if commas < 0 || s.told.Decimal != "" || s.told.Thousands != "" {
		return nil
	}
	for k, d := range detectors {
		if d == nil || s.found[k] != nil && s.found[k].Decimal == "," {
			continue
		}
		if example, may := d.MayGroup(); may {
			n := cells.Notation{}
			if s.found[k] != nil {
				n = *s.found[k]
			}
			or := n
			or.Decimal, or.Thousands = ",", "."
			return ambiguous(t, k, example, n, or, ", as "+t.Title(commas)+" has decimal commas")
		}
	}
	return nil
}

// ambiguous is the error of a cell that two notations read differently.
func ambiguous(t *Table, j int, example string, n, or cells.Notation, because string) error {
	e := &AmbiguousError{File: t.Name, Column: t.Title(j), Example: example, Because: because}
	for k, m := range []cells.Notation{n, or} {
		x, err := m.Number([]byte(example))
		if err != nil {
			return err
		}
		e.Readings[k] = strconv.FormatFloat(x, 'f', -1, 64)
		switch {
		case m.Thousands != "":
			e.Settings[k] = fmt.Sprintf("thousands: %q", m.Thousands)
		case m.Decimal == ",":
			e.Settings[k] = `decimal: ","`
		default:
			e.Settings[k] = `decimal: "."`
		}
	}
	return e
}
