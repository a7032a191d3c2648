//go:build !amd64 || purego

package lanes

func addScaledAssembly(_, _ []float64, _ float64, _ []float64) int      { return 0 }
func kickAssembly(_ []float64, _, _ float64, _, _ []float64) int        { return 0 }
func squaresAssembly([]float64, *[4]float64) int                        { return 0 }
func normalSquaresAssembly(_, _, _ []float64, _ *[2]float64) int        { return 0 }
func normalGradientAssembly(theta, mean, precision, grad []float64) int { return 0 }
