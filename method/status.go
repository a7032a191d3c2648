package method

// Status is how far a phase is.
type Status struct {
	Phase       string  // "MAP", "8 chains", "islands 8×10"
	Share       float64 // of the work that is done, 0 to 1: an estimate where nobody knows
	Ended       bool    // the phase has
	Long, Short string  // figures in words, for a wide terminal and for a narrow one; empty before there are any
}
