package cells

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// texts are what stands around the numbers of a column in which not all have the same: numbers in two units, or with a sign that makes words
// of them.
type texts struct {
	kinds []kind
	cells int
	none  int // the cells that hold no number
	many  bool
}

// kind is one text around numbers.
type kind struct {
	text  string
	loose bool // a sign such as ~, without which it would be a number
	cells int
}

// mostKinds are the different texts around numbers up to which a column holds numbers; more are words that begin with a number.
const mostKinds = 4

// see takes the next cell, as it was cut.
func (u *texts) see(text []byte, w *written, ok bool) {
	if u.cells++; u.many {
		return
	}
	if ok && w.readable() != 0 && (isUnitOf(w.before) && isUnitOf(w.after)) {
		u.count(strings.TrimSpace(string(w.before)+" "+string(w.after)), false)
		return
	}
	if sign, number := looseNumber(text); sign != "" && number {
		u.count(sign, true)
		return
	}
	u.none++
}

func (u *texts) count(text string, loose bool) {
	k := slices.IndexFunc(u.kinds, func(k kind) bool { return sameUnit(k.text, text) })
	if k < 0 {
		u.many = len(u.kinds) == mostKinds
		k = len(u.kinds)
		u.kinds = append(u.kinds, kind{text: text, loose: loose})
	}
	u.kinds[k].cells++
}

// may reports whether nearly all cells so far are numbers with few texts around them.
func (u *texts) may() bool { return !u.many && 10*u.none <= u.cells }

// String says what they are and what to do; empty: they are none.
func (u *texts) String() string {
	var units, signs []string
	kinds := slices.Clone(u.kinds)
	slices.SortStableFunc(kinds, func(a, b kind) int { return b.cells - a.cells })
	for _, k := range kinds {
		switch {
		case k.cells < 2 && !k.loose && k.text != "":
			return ""
		case k.loose:
			signs = append(signs, k.text)
		case k.text != "":
			units = append(units, k.text)
		}
	}
	switch {
	case !u.may() || u.cells < enough:
		return ""
	case signs != nil:
		return "numbers with " + strings.Join(signs, " and ") + ": write the numbers alone"
	case len(units) > 1:
		return "numbers in " + strings.Join(units[:len(units)-1], ", ") + " and " + units[len(units)-1] + ": bring them to one unit"
	case len(units) == 1 && len(kinds) > 1:
		return "numbers with and without " + units[0] + ": write all in one way"
	}
	return ""
}

// looseNumber reports whether a text without a sign that stands for about, or for less or more, is a number, and which sign it has.
func looseNumber(text []byte) (sign string, number bool) {
	b := trimBlanks(text)
	if r, size := decode(b); strings.ContainsRune("~≈<>≤≥±", r) {
		sign, b = string(r), b[size:]
	} else if k := bytes.IndexByte(b, '_'); k > 0 && k < len(b)-1 && isDigit(b[k-1]) && isDigit(b[k+1]) {
		sign, b = "_", bytes.ReplaceAll(b, []byte("_"), nil)
	}
	if sign == "" || len(b) == 0 {
		return "", false
	}
	w, ok := cut(b, nil)
	return sign, ok && w.readable() != 0
}

// isUnitOf reports whether a text beside a number is likely to be a unit: a single letter beside others makes a code, as in 12a and 13b, but for those
// of common units.
func isUnitOf(text []byte) bool {
	return len(text) != 1 || strings.IndexByte("mgshltKCFAVWNJ%\"'", text[0]) >= 0 || isCurrency(text)
}

// sameUnit reports whether two texts are the same unit. They may differ in the case of letters, as kg and Kg; but m and M are different units, and
// factors.
func sameUnit(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.EqualFold(a, b) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(a)
	s, _ := utf8.DecodeRuneInString(b)
	return r == s || r|0x20 != 'm'
}

// Around cuts a word into a number and the texts around it: units, currencies, or a sign such as ~ or <. A word with another letter or digit
// before its number, as p12 or 18-24, is a name and no number.
func Around(word []byte) (before, after string, ok bool) {
	w, ok := cut(word, nil)
	if ok && w.readable() != 0 {
		return string(w.before), string(w.after), true
	}
	sign, ok := looseNumber(word)
	return sign, "", ok
}
