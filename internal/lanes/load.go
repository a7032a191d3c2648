package lanes

import "fmt"

// LoadU8 brings 16 examples of bytes, stored one after the other, side by side, as fractions of 255: row[i] is where
// lane i's example starts in src, at[f] where feature f's vector goes in dst.
//
//	for f := range at {
//		for i := range 16 {
//			dst[at[f]+i] = float32(src[row[i]+f]) / 255
//		}
//	}
//
// Offsets in at must be in range: they are the caller's table, built once, and are not checked.
func LoadU8(src []uint8, row *[Lanes]int32, at []int32, dst []float32) {
	checkRows("LoadU8", len(src), row, len(at))
	for f := loadU8Assembly(src, row, at, dst); f < len(at); f++ {
		v := vectorAt(dst, at[f])
		for i, r := range row {
			v[i] = float32(src[int(r)+f]) / 255
		}
	}
}

// LoadF32 brings 16 examples side by side as LoadU8 does, without scaling:
//
//	dst[at[f]+i] = src[row[i]+f]
func LoadF32(src []float32, row *[Lanes]int32, at []int32, dst []float32) {
	checkRows("LoadF32", len(src), row, len(at))
	for f := loadF32Assembly(src, row, at, dst); f < len(at); f++ {
		v := vectorAt(dst, at[f])
		for i, r := range row {
			v[i] = src[int(r)+f]
		}
	}
}

func vectorAt(buf []float32, i int32) *vector { return (*vector)(buf[i:]) }

func checkRows(name string, n int, row *[Lanes]int32, features int) {
	for i, r := range row {
		if r < 0 || int(r)+features > n {
			panic(fmt.Sprintf("lanes: %s: lane %d: example at %d, of %d features, in %d values", name, i, r, features, n))
		}
	}
}

// Transpose turns n vectors into 16 rows of n elements, the inverse of loading, and fills each row with zeros up to
// the next multiple of 16:
//
//	for e := range 16 {
//		for i := range n {
//			dst[e*dstStride+i] = x[16*i+e]
//		}
//		clear(dst[e*dstStride+n : e*dstStride+(n+15)/16*16])
//	}
func Transpose(x []float32, n int, dst []float32, dstStride int) {
	wide := (n + Lanes - 1) / Lanes * Lanes
	if n < 0 || len(x) < n*Lanes || dstStride < wide || n > 0 && len(dst) < (Lanes-1)*dstStride+wide {
		panic(fmt.Sprintf("lanes: Transpose: %d elements for %d vectors, into %d elements, rows %d apart",
			len(x), n, len(dst), dstStride))
	}
	done := transposeAssembly(x, n, dst, dstStride)
	for e := range Lanes {
		row := dst[e*dstStride:][:wide]
		for i := done; i < n; i++ {
			row[i] = x[i*Lanes+e]
		}
		clear(row[n:])
	}
}
