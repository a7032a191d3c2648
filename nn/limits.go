package nn

// Bounds that keep all offsets of the kernels' tables in 32 bits.
const (
	maxValues     = 1 << 22       // of one example, padding included, between two layers
	maxBordered   = 7 * maxValues // with the borders of planes, which may be three pixels wide on the left and on the right
	maxParameters = 1 << 28
	maxTable      = 1 << 27 // entries of a table of a convolution or a pool
)

// volume is the product of sizes, or more than any bound if it is too large.
func volume(sizes ...int) int {
	v := 1
	for _, s := range sizes {
		if s > maxParameters || v > maxParameters {
			return maxParameters + 1
		}
		v *= s
	}
	return v
}
