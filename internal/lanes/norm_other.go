//go:build !amd64 || purego

package lanes

func (*Norm) squaresAssembly([]float32, *[2][Lanes]float32) int                    { return 0 }
func (*Norm) applyAssembly(x, y []float32) int                                     { return 0 }
func (*Norm) sumsAssembly(x, dy []float32, _ *[3][2][Lanes]float32) int            { return 0 }
func (*Norm) backwardAssembly(x, dy []float32, _ *[Lanes]float32, _ []float32) int { return 0 }
