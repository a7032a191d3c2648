package method

// Status is the progress of a phase.
type Status struct {
	Phase       string  // "MAP", "8 chains", "islands 8×10"
	Share       float64 // share of the work that is done, 0 to 1; it may be an estimate
	Ended       bool    // the phase has ended
	Resumed     bool    // Share was done before: the phase goes on from there, and its speed is not known yet
	Long, Short string  // text for a wide terminal and for a narrow one; empty before there are figures
}
