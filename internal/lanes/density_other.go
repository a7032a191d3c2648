//go:build !amd64 || purego

package lanes

func squareSumAssembly([]float32, int, int, []float64) (float32, bool)             { return 0, false }
func normalTermsAssembly([]float32, int, int, []float32, []float32, *float32) bool { return false }
func mixtureTermAssembly(_, _ []float32, _, _ float64, _ float32, _ []float32, _, _ int, _ []float32) (float64, bool) {
	return 0, false
}
