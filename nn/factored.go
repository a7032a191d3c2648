package nn

// factored is an op whose weight has Kronecker factors.
type factored interface {
	op
	factor() factor

	// inputsAt is what the weight multiplies at a position of the examples of a group, [inputs][16]. to has room for that, and may be it.
	inputsAt(t *tape, g, position int, to []float32) []float32

	// gradientsAt is the gradient of the output there, [outputs][16].
	gradientsAt(t *tape, g, position int, to []float32) []float32
}

// factor says what a factored op's weight is.
type factor struct {
	weight             param
	bias               *param
	positions, in, out int
}
