package lanes

import "runtime"

// PeakFMA runs about iters rounds of independent multiply-adds on registers alone, with the kernel in use. It returns the
// number of floating-point operations, two for each multiply-add and lane. Divided by the time this is the speed that no
// kernel can exceed.
func PeakFMA(iters int) (flops float64) {
	const round = 1 << 8 // rounds of one call of assembly
	for done := 0; done < iters; done += round {
		if n := peakAssembly(round); n > 0 {
			flops += n
			continue
		}
		var v vector
		for range round {
			for l := range v {
				v[l] = fma32(0.5, v[l], 1)
			}
		}
		runtime.KeepAlive(v)
		flops += 2 * Lanes * round
	}
	return flops
}
