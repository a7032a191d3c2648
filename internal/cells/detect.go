package cells

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Told are the settings about numbers that a user gives. Each that is empty is found out.
type Told struct {
	Decimal   string // . or ,
	Thousands string // , . ' or a blank
	Strip     bool   // texts around the numbers are no words, however few numbers there are
}

// allowed are the forms that the settings leave, as bits.
func (t Told) allowed() (mask uint8) {
	for k, f := range forms {
		if (t.Decimal == "" || t.Decimal[0] == f.decimal) && (t.Thousands == "" || f.thousands == 0 || t.Thousands[0] == f.thousands) {
			mask |= 1 << k
		}
	}
	if t.Decimal == "" && t.Thousands == "," { // a comma between thousands is no decimal mark
		mask &= withPoint
	}
	if t.Decimal == "" && t.Thousands == "." {
		mask &= withComma
	}
	return mask
}

// Verdict says what the cells of a column are.
type Verdict int

const (
	Plain     Verdict = iota // plain decimal numbers
	Written                  // numbers in a notation
	Ambiguous                // numbers that two notations read differently
	Texts                    // not numbers
)

// Detector looks at the cells of a column, one after another, and finds out whether they are numbers and how they are written.
type Detector struct {
	told Told

	cells  int
	plain  bool  // all so far are plain numbers
	forms  uint8 // the forms that read all so far, of those that the settings leave
	untold uint8 // likewise, of all forms
	cut    bool  // all could be cut so far, with the same texts around the numbers
	before string
	after  string
	books  bool // some in parentheses, or with a minus behind
	naked  bool // some neither

	turned        int  // the cells that are negative for their parentheses or the minus behind them
	behind, cents int  // the cells with a minus behind them, and those of them with decimals
	dash, fortran bool // some have a dash in the place of decimals, or an exponent of Fortran's

	comma     string   // the first that point and comma read differently because of a comma
	group     string   // the first whose point may stand between thousands
	ungrouped bool     // a point that stands otherwise
	texts     texts    // what stands around the numbers
	mixed     mixed    // whether points may stand between thousands, beside numbers too small for one
	few       []string // the first different cells
	first     string   // the first that is no plain number
	room      [48]byte
}

// NewDetector returns a detector of a column. Told are the settings.
func NewDetector(told Told) *Detector {
	return &Detector{told: told, plain: true, cut: true, forms: told.allowed(), untold: withPoint | withComma}
}

// See looks at the next cell, which is not missing.
func (d *Detector) See(text []byte) {
	v, err := Number(text)
	if err == nil && v != v {
		return
	}
	d.cells++
	if err != nil {
		if d.plain {
			d.first = string(text[:min(len(text), 64)])
		}
		d.plain = false
	}
	w, ok := cut(text, d.room[:])
	d.texts.see(text, &w, ok)
	if !d.cut {
		return
	}
	if ok {
		d.mixed.see(w.core, len(w.exponent) > 0)
	}
	switch {
	case !ok || d.cells > 1 && (d.before != string(w.before) || !sameUnit(d.after, string(w.after))):
		d.cut = false
		return
	case d.cells == 1:
		d.before, d.after = string(w.before), string(w.after)
	}
	d.take(&w, Fortran(text))
	reads := w.readable()
	d.forms, d.untold = d.forms&reads, d.untold&reads
	if len(d.few) < enough && !d.seen(text) {
		d.few = append(d.few, string(text))
	}
	comma, point := false, false
	for _, c := range w.core {
		comma, point = comma || c == ',', point || c == '.'
	}
	switch grouping := reads&withPoint != 0 && reads&withComma != 0; {
	case comma && grouping && d.comma == "":
		d.comma = string(text)
	case point && !comma && grouping && d.group == "":
		d.group = string(text)
	case point && !comma && !grouping && reads&withPoint != 0:
		d.ungrouped = true
	}
}

// take counts what a cell has around its digits.
func (d *Detector) take(w *written, fortran bool) {
	d.books, d.naked = d.books || w.books, d.naked || !w.books
	d.dash, d.fortran = d.dash || w.dash, d.fortran || fortran && len(w.exponent) > 0
	if w.books {
		d.turned++
	}
	if w.behind {
		d.behind++
		if k := bytes.LastIndexAny(w.core, ".,"); k >= 0 && len(w.core)-k != 4 && k < len(w.core)-1 {
			d.cents++
		}
	}
}

// signs reports whether the minus behind numbers is one. In prices it may be all that is left of 3790.-, which has no cents: one number with decimals
// and a minus proves the sign, and so do a few in a column without such dashes.
func (d *Detector) signs() bool {
	return d.behind == 0 || d.cents > 0 || d.told.Strip || d.behind >= enough && !d.dash
}

// mask is the forms that the verdict is about: those that the settings leave or, where none of them reads the column, those that the decimal mark
// leaves, or all. Settings are about the columns that they fit.
func (d *Detector) mask() uint8 {
	if decimal := d.untold & (Told{Decimal: d.told.Decimal}).allowed(); d.forms == 0 && decimal != 0 {
		return decimal
	}
	if d.forms == 0 {
		return d.untold
	}
	return d.forms
}

// enough different cells with a text around them are numbers with a unit; fewer are taken for words, such as 2dr and 4dr.
const enough = 3

func (d *Detector) seen(text []byte) bool {
	for _, s := range d.few {
		if s == string(text) {
			return true
		}
	}
	return false
}

// Texts reports whether a cell so far is no plain number, and whether it is already sure that they are not all numbers, with the
// same or different texts around them.
func (d *Detector) Texts() (some, sure bool) {
	return !d.plain, !d.plain && (!d.cut || d.untold == 0) && !d.texts.may()
}

// Around says what the cells of Texts are, and what to do, if they are numbers with different texts around them; else it is empty.
func (d *Detector) Around() string { return d.texts.String() }

// Verdict says what the cells are. Numbers that are Written have the first notation. Of Ambiguous ones, the two that read the example
// differently are returned.
func (d *Detector) Verdict() (v Verdict, n, or Notation, example string) {
	around, mask := d.before != "" || d.after != "", d.mask()
	switch {
	case d.cells == 0:
		return Plain, n, n, ""
	case !d.cut || mask == 0, around && !d.told.Strip && len(d.few) < enough, d.books && !d.naked && !d.told.Strip, !d.signs():
		if d.plain {
			return Plain, n, n, ""
		}
		return Texts, n, n, ""
	}
	point, comma := d.notation(mask&withPoint), d.notation(mask&withComma)
	switch {
	case mask&withPoint == 0:
		n = comma
	case mask&withComma == 0 || isEnglish(d.before):
		n = point
	case d.comma != "":
		return Ambiguous, comma, point, d.comma
	case d.group != "" && !d.ungrouped && (isAmount(d.before) || isAmount(d.after)):
		return Ambiguous, point, comma, d.group
	case d.mixed.may() && mask&withComma != 0:
		return Ambiguous, point, comma, d.group
	default:
		n = point
	}
	if n == (Notation{}) {
		return Plain, n, n, ""
	}
	return Written, n, n, ""
}

// Beside returns a whole number of the column, if it is because of such numbers that the points of others may stand between thousands.
func (d *Detector) Beside() string {
	if d.comma == "" && d.mixed.may() {
		return strings.TrimRight(string(d.mixed.whole[:]), "\x00")
	}
	return ""
}

// MayGroup returns a plain number of the column whose point may stand between thousands, if all points may: in a table with decimal commas
// elsewhere, these are ambiguous.
func (d *Detector) MayGroup() (example string, may bool) {
	return d.group, d.group != "" && !d.ungrouped
}

// notation is that of the first of some forms; the zero value if there is none.
func (d *Detector) notation(mask uint8) (n Notation) {
	if mask == 0 {
		return n
	}
	f := forms[bits.TrailingZeros8(mask)]
	if f.decimal != '.' {
		n.Decimal = string(rune(f.decimal))
	}
	if f.thousands != 0 {
		n.Thousands = string(rune(f.thousands))
	}
	n.Before, n.After, n.Books, n.Turned, n.Dash, n.Fortran = d.before, d.after, d.books, d.turned, d.dash, d.fortran
	return n
}

// Hint says how a cell that is no plain number would be read in another notation, in parentheses after a blank; empty if there is none.
func Hint(b []byte) string {
	if len(b) > 64 {
		return ""
	}
	d := NewDetector(Told{Strip: true})
	d.See(b)
	v, n, or, _ := d.Verdict()
	reading := func(n Notation) string {
		x, _ := n.Number(b)
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	switch v {
	case Written:
		return fmt.Sprintf(" (with %v it is %s)", &n, reading(n))
	case Ambiguous:
		return fmt.Sprintf(" (with %v it is %s, with %v %s)", &n, reading(n), &or, reading(or))
	}
	return ""
}
