package lanes

func gemmKernelFor(isa, gemmMode, int, int) gemmKernel { return nil }

func (*Dot) assembly([]int32, []float32, []float32, []float32) bool               { return false }
func (*PoolDot) assembly([]int32, []float32, []uint16, []float32, []float32) bool { return false }

func poolMasksAssembly([]uint16) int            { return 0 }
func reduceAddAssembly(acc, sums []float32) int { return 0 }
func peakAssembly(int) float64                  { return 0 }
