//go:build !amd64 || purego

package lanes

func gemmKernelFor(isa, gemmMode, int, int) gemmKernel { return nil }

func (*Dot) assembly(pairs []int32, dy, x, acc []float32) bool { return false }

func (*PoolDot) assembly(pairs []int32, dy []float32, masks []uint16, x, acc []float32) bool {
	return false
}

func poolMasksAssembly([]uint16) int            { return 0 }
func reduceAddAssembly(acc, sums []float32) int { return 0 }
func peakAssembly(int) float64                  { return 0 }
