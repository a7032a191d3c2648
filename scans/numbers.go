package scans

// numbers collects the values of a scan before their number is known, in pieces that are used again for the next scan: a growing
// slice would leave old copies of itself behind.
type numbers struct {
	pieces [][]float64
	n      int
}

const piece = 1 << 13

func (s *numbers) add(values ...float64) {
	for _, v := range values {
		if s.n == piece*len(s.pieces) {
			s.pieces = append(s.pieces, make([]float64, piece))
		}
		s.pieces[s.n/piece][s.n%piece] = v
		s.n++
	}
}

// take returns all values in a slice of their own, and forgets them.
func (s *numbers) take() []float64 {
	values := make([]float64, s.n)
	for i := range s.pieces {
		if i*piece < s.n {
			copy(values[i*piece:], s.pieces[i])
		}
	}
	s.n = 0
	return values
}
