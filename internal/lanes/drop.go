package lanes

import "fmt"

// Drop multiplies the lanes that a mask keeps by a number and sets the others to 0. Each vector has a mask, with a bit for each
// lane:
//
//	y[i] = masks[i/16]>>(i%16)&1 == 1 ? c * x[i] : 0
//
// y may be x.
func Drop(x []float32, masks []uint16, c float32, y []float32) {
	sameVectors("Drop", len(x), len(y))
	if len(masks) != len(x)/Lanes {
		panic(fmt.Sprintf("lanes: Drop: %d masks for %d vectors", len(masks), len(x)/Lanes))
	}
	for i := dropAssembly(x, masks, c, y); i < len(masks); i++ {
		from, to := at(x, i*Lanes), at(y, i*Lanes)
		for l, v := range from {
			to[l] = 0
			if masks[i]>>l&1 == 1 {
				to[l] = float32(c * v)
			}
		}
	}
}
