package lanes

import "fmt"

// ReduceAdd adds to sums[k] the sum over the lanes of vector k of acc, as a tree:
//
//	for k := range sums {
//		v := acc[16*k : 16*k+16]
//		for h := 8; h > 0; h /= 2 {
//			for i := range h {
//				v[i] += v[i+h]
//			}
//		}
//		sums[k] += v[0]
//	}
//
// acc is not changed. It must have 16 elements for each sum.
func ReduceAdd(acc, sums []float32) {
	if len(acc) != Lanes*len(sums) {
		panic(fmt.Sprintf("lanes: ReduceAdd: %d elements for %d sums", len(acc), len(sums)))
	}
	for k := reduceAddAssembly(acc, sums); k < len(sums); k++ {
		v := *at(acc, k*Lanes)
		for h := Lanes / 2; h > 0; h /= 2 {
			for i := range h {
				v[i] += v[i+h]
			}
		}
		sums[k] += v[0]
	}
}
