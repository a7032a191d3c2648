//go:build !purego

package lanes

func unpoolAssembly(dy []float32, masks []uint16, dx []float32, row int) int {
	n := len(dy) / Lanes
	if current == isaGo {
		return 0
	}
	for p := 0; p < n; p += maxCallVectors {
		unpoolAVX2(&dy[p*Lanes], &masks[4*p], &dx[2*p*Lanes], &dx[row+2*p*Lanes], min(maxCallVectors, n-p))
	}
	return n
}
