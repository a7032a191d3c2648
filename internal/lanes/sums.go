package lanes

import "fmt"

// LaneSums adds to sums[p] the sum of particle p's log-likelihoods; ll is [len(sums)][groups][16]. It sums in float64, lane
// by lane over the groups, and then over the lanes as a tree. In the last group only the first valid lanes count.
//
//	var lane [16]float64
//	for g := range groups {
//		for i := range 16 {
//			if g < groups-1 || i < valid {
//				lane[i] += float64(ll[(p*groups+g)*16+i])
//			}
//		}
//	}
//	for h := 8; h > 0; h /= 2 {
//		for i := range h {
//			lane[i] += lane[i+h]
//		}
//	}
//	sums[p] += lane[0]
func LaneSums(ll []float32, groups, valid int, sums []float64) {
	if len(ll) != len(sums)*groups*Lanes || groups < 1 || valid < 0 || valid > Lanes {
		panic(fmt.Sprintf("lanes: LaneSums: %d elements for %d sums over %d groups, %d lanes in the last",
			len(ll), len(sums), groups, valid))
	}
	for p := laneSumsAssembly(ll, groups, valid, sums); p < len(sums); p++ {
		var lane [Lanes]float64
		for g := range groups {
			v := at(ll, (p*groups+g)*Lanes)
			for i := range Lanes {
				if g < groups-1 || i < valid {
					lane[i] += float64(v[i])
				}
			}
		}
		for h := Lanes / 2; h > 0; h /= 2 {
			for i := range h {
				lane[i] += lane[i+h]
			}
		}
		sums[p] += lane[0]
	}
}

// SumRows adds to each vector of acc the vectors of one row of x. Rows start rowStride elements apart:
//
//	for r := range rows {
//		for c := range cols {
//			for i := range 16 {
//				acc[16*r+i] += x[r*rowStride+16*c+i]
//			}
//		}
//	}
//
// It computes the gradients of biases.
func SumRows(x []float32, rows, cols, rowStride int, acc []float32) {
	if rows < 0 || cols < 0 || rowStride < 0 || len(acc) != rows*Lanes ||
		rows > 0 && cols > 0 && len(x) < (rows-1)*rowStride+cols*Lanes {
		panic(fmt.Sprintf("lanes: SumRows: %d elements for %d rows of %d vectors, %d apart, and %d sums",
			len(x), rows, cols, rowStride, len(acc)))
	}
	for r := sumRowsAssembly(x, rows, cols, rowStride, acc); r < rows; r++ {
		a := at(acc, r*Lanes)
		for c := range cols {
			for i, v := range at(x, r*rowStride+c*Lanes) {
				a[i] += v
			}
		}
	}
}

// MaskLanes sets lanes valid … 15 of every vector of x to 0.
func MaskLanes(x []float32, valid int) {
	sameVectors("MaskLanes", len(x))
	if valid < 0 || valid > Lanes {
		panic(fmt.Sprintf("lanes: MaskLanes: %d of %d lanes", valid, Lanes))
	}
	for i := 0; i < len(x); i += Lanes {
		clear(x[i+valid : i+Lanes])
	}
}
