//go:build !amd64 || purego

package lanes

func affineSumsAssembly([]float32, float32, float32, []float32, []float32, []float32, Planes) int {
	return 0
}
