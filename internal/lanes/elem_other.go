//go:build !amd64 || purego

package lanes

func reluAssembly(x, y []float32) int                    { return 0 }
func reluBackwardAssembly(y, dy, dx []float32) int       { return 0 }
func multiplyDerivativeAssembly(d, dy, dx []float32) int { return 0 }
func tanhAssembly(x, y []float32) int                    { return 0 }
func geluAssembly(x, y []float32) int                    { return 0 }
func swishAssembly(x, y []float32) int                   { return 0 }

func reluWithDerivativeAssembly(x, y, d []float32) int  { return 0 }
func tanhWithDerivativeAssembly(x, y, d []float32) int  { return 0 }
func geluWithDerivativeAssembly(x, y, d []float32) int  { return 0 }
func swishWithDerivativeAssembly(x, y, d []float32) int { return 0 }

func categoricalAssembly([]float32, []int32, int, []float32, []float32) int { return 0 }
func bernoulliAssembly(z, y, ll, dz []float32) int                          { return 0 }
func gaussianAssembly(z, y []float32, outputs int, prec, logNorm float32, ll, dz []float32) int {
	return 0
}
func laneSumsAssembly([]float32, int, int, []float64) int     { return 0 }
func sumRowsAssembly([]float32, int, int, int, []float32) int { return 0 }
func float32sAssembly([]float32, []float64) int               { return 0 }
func addFloat64sAssembly([]float64, []float32) int            { return 0 }

func loadU8Assembly([]uint8, *[Lanes]int, []int32, Channel, []float32) int    { return 0 }
func loadF32Assembly([]float32, *[Lanes]int, []int32, Channel, []float32) int { return 0 }
func loadF16Assembly([]Float16, *[Lanes]int, []int32, Channel, []float32) int { return 0 }
func standardiseAssembly([]int32, *Standard, []float32) int                   { return 0 }
func transposeAssembly([]float32, int, []float32, int) int                    { return 0 }

func dropAssembly([]float32, []uint16, float32, []float32) int { return 0 }

func scaleAssembly([]float32, float32, []float32) int { return 0 }

func (*Windows) maxAssembly(x, y []float32, arg []int32) int           { return 0 }
func (*Windows) maxBackwardAssembly([]float32, []int32, []float32) int { return 0 }
func (*Windows) sumAssembly([]float32, float32, []float32) int         { return 0 }
func (*Windows) sumBackwardAssembly([]float32, float32, []float32) int { return 0 }
func unpoolAssembly([]float32, []uint16, []float32, int) int           { return 0 }
