//go:build !amd64 || purego

package lanes

func affineAssembly([]float32, float32, float32, float32, []float32, Planes) int { return 0 }
func affineSumsAssembly([]float32, float32, float32, []float32, []float32, []float32, Planes) int {
	return 0
}
