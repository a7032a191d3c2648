package cells

// mixed tells whether the plain numbers of a column may be those of a country that writes points between thousands: each has a point before
// its last three digits, as 1.300, or is a whole number below 1000. A column of decimals has a number with fewer digits behind its point, a
// 0 before it or, where no digit was left out, a point in every number.
type mixed struct {
	groups, wholes uint8   // cells with a point, and those without; no more than enoughMixed are counted
	zero           bool    // a number with a point ends in 0: a program that leaves out the decimals of 716 would write 1.3, not 1.300
	whole          [3]byte // the first without a point, and zeros behind it: there is one for each of very many columns
	differ         bool    // some other one is not the same: 1 may be a limit that others are below
	other          bool    // some number has another form
}

// enoughMixed are the cells of each form from which a column is asked about, and one where a number ends in 0.
const enoughMixed = 3

// may reports whether the numbers so far have two readings.
func (m *mixed) may() bool {
	least := uint8(enoughMixed)
	if m.zero {
		least = 1
	}
	return !m.other && m.groups >= least && m.wholes >= least && (m.zero || m.differ)
}

// see takes the digits and marks of the next number.
func (m *mixed) see(core []byte, exponent bool) {
	switch n := len(core); {
	case m.other:
	case exponent || n == 0 || core[0] == '0' && n > 1:
		m.other = true
	case n <= 3 && digits(core):
		if core[0] == '0' {
			break // has the same digits in both
		}
		var whole [3]byte
		copy(whole[:], core)
		if m.wholes == 0 {
			m.whole = whole
		}
		m.differ = m.differ || whole != m.whole
		m.wholes = min(m.wholes+1, enoughMixed)
	case n >= 5 && n <= 7 && core[n-4] == '.' && digits(core[:n-4]) && digits(core[n-3:]):
		m.groups = min(m.groups+1, enoughMixed)
		m.zero = m.zero || core[n-1] == '0'
	default:
		m.other = true
	}
}

func digits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// Mixed tells whether a column of plain numbers needs a Detector all the same, as the points of some may stand between thousands. It looks at
// the form of texts alone, and at those of most columns once.
type Mixed struct{ mixed }

// See looks at a plain number.
func (m *Mixed) See(text []byte) {
	if m.other || len(text) == 0 {
		return
	}
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	m.see(text, false)
}

// May reports whether the numbers so far have two readings.
func (m *Mixed) May() bool { return m.may() }

// Known reports whether further numbers tell nothing.
func (m *Mixed) Known() bool { return m.other }
