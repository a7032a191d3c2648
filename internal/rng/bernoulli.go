package rng

// Bernoulli returns 64 independent bits, each of which is 1 with probability p, 0 ≤ p < 1.
//
// A bit is 1 if a uniform number is below p. The numbers of all 64 bits are compared with p digit by digit: the next random word
// has the next binary digit of each of them. A number whose digit differs from p's is decided. After k words 64/2^k bits are
// undecided on average, so about seven words decide all, and fewer where p has few digits: one for p = ½. Digits of p
// beyond the 64th are left out, which are none for p of 2⁻¹¹ or more.
func (s *Stream) Bernoulli(p float64) (ones uint64) {
	if !(p >= 0 && p < 1) {
		panic("random stream: a probability outside [0, 1)")
	}
	open := ^uint64(0)
	for digits := uint64(float64(p * 0x1p64)); digits != 0 && open != 0; digits <<= 1 {
		word := s.Uint64()
		if digits>>63 == 1 {
			ones |= open &^ word
			open &= word
		} else {
			open &^= word
		}
	}
	return ones
}
