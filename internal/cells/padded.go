package cells

// Padded tells whether the whole numbers of a column have leading zeros and all the same number of digits, as postcodes have. It looks at the
// form of texts alone, and at those of most columns once or twice.
type Padded struct {
	width       int32
	zero, other bool
}

// See looks at a plain number.
func (p *Padded) See(text []byte) {
	switch {
	case p.other:
	case len(text) < 2 || p.width > 0 && int32(len(text)) != p.width || !digits(text):
		p.other = true
	default:
		p.width, p.zero = int32(len(text)), p.zero || text[0] == '0'
	}
}

// Are reports whether they do so far.
func (p *Padded) Are() bool { return p.zero && !p.other }

// Known reports whether further numbers tell nothing.
func (p *Padded) Known() bool { return p.other }
