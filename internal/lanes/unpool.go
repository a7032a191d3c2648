package lanes

// Unpool spreads the gradient of a row of 2×2 max pools over the two rows of pixels below it:
//
//	for p := range len(dy) / Lanes {
//		for q := range 4 {
//			for l := range Lanes {
//				won := masks[4*p+q]>>l&1 != 0
//				dx[(q/2)*row + (2*p+q%2)*Lanes + l] = won ? dy[p*Lanes+l] : 0
//			}
//		}
//	}
//
// with masks as PoolMasks leaves them and row the distance of the two rows in elements.
func Unpool(dy []float32, masks []uint16, dx []float32, row int) {
	n := len(dy) / Lanes
	if len(dy)%Lanes != 0 || len(masks) < 4*n || row < 0 || n > 0 && len(dx) < row+2*n*Lanes {
		panic("lanes: Unpool: lengths do not match")
	}
	if done := unpoolAssembly(dy, masks, dx, row); done < n {
		unpoolGo(dy[done*Lanes:], masks[4*done:], dx[2*done*Lanes:], row)
	}
}

func unpoolGo(dy []float32, masks []uint16, dx []float32, row int) {
	for p := range len(dy) / Lanes {
		for q := range 4 {
			to := dx[(q/2)*row+(2*p+q%2)*Lanes:][:Lanes]
			for l, d := range dy[p*Lanes:][:Lanes] {
				if masks[4*p+q]>>l&1 == 0 {
					d = 0
				}
				to[l] = d
			}
		}
	}
}
