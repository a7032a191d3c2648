//go:build !purego

package lanes

func addAssembly(a, b, y []float32) int     { return binary(addAVX512, addAVX2, a, b, y) }
func addReLUAssembly(a, b, y []float32) int { return binary(addReLUAVX512, addReLUAVX2, a, b, y) }
func addGatedAssembly(gate, x, y []float32) int {
	return binary(addGatedAVX512, addGatedAVX2, gate, x, y)
}
