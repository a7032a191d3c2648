package lanes

import "fmt"

func sameLen(name string, n, m int) {
	if n != m {
		panic(fmt.Sprintf("lanes: %s: lengths %d and %d differ", name, n, m))
	}
}

// Float32s rounds:
//
//	dst[i] = float32(src[i])
func Float32s(dst []float32, src []float64) {
	sameLen("Float32s", len(dst), len(src))
	for i := float32sAssembly(dst, src); i < len(dst); i++ {
		dst[i] = float32(src[i])
	}
}

// AddFloat64s adds in double precision:
//
//	dst[i] += float64(src[i])
func AddFloat64s(dst []float64, src []float32) {
	sameLen("AddFloat64s", len(dst), len(src))
	for i := addFloat64sAssembly(dst, src); i < len(dst); i++ {
		dst[i] += float64(src[i])
	}
}
