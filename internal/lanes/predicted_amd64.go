//go:build !purego

package lanes

// predictedNormalAssembly returns how many lanes it has done: all, or none.
func predictedNormalAssembly(z, y []float32, floor float64, ll, dz []float32) int {
	k := len(y) / Lanes
	if current == isaGo || k == 0 || k > maxCallVectors {
		return 0
	}
	d := from(dz, 0)
	switch square := floor * floor; {
	case current == isaAVX512 && floor == 0:
		predictedNormalAVX512(&z[0], &y[0], &ll[0], d, k)
	case current == isaAVX512:
		flooredNormalAVX512(&z[0], &y[0], &ll[0], d, k, square)
	case floor == 0:
		predictedNormalAVX2(&z[0], &y[0], &ll[0], d, k)
	default:
		flooredNormalAVX2(&z[0], &y[0], &ll[0], d, k, square)
	}
	return Lanes
}
