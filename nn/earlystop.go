package nn

// EarlyStop watches a validation loss and keeps the best parameters. It is plain data: set Patience and leave the rest
// zero.
type EarlyStop struct {
	Patience int // number of checks in a row without a new best after which Observe says stop; 0: never

	Checks int       // number made so far
	BestAt int       // the check with the best loss, counted from 1; 0: Start, or none yet
	Best   float64   // the lowest loss, if there is one
	Theta  []float64 // a copy of the parameters of the best; nil: none yet
}

// Start records the loss at theta before the first check: later losses must be lower to be the best. A NaN is ignored.
func (e *EarlyStop) Start(loss float64, theta []float64) {
	if loss == loss {
		e.Best, e.Theta = loss, append(e.Theta[:0], theta...)
	}
}

// Observe records the loss at theta and reports whether to stop. Of equal losses the first is the best; a NaN is
// never better.
func (e *EarlyStop) Observe(loss float64, theta []float64) (stop bool) {
	e.Checks++
	if e.BestAt == 0 && len(e.Theta) == 0 && loss == loss || loss < e.Best {
		e.Best, e.BestAt = loss, e.Checks
		e.Theta = append(e.Theta[:0], theta...)
	}
	return e.Patience > 0 && e.Checks-e.BestAt >= e.Patience
}
