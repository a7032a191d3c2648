package lanes

import "fmt"

// Planes places the rows of a plane: row r of x begins r·pitch elements after its start.
type Planes struct{ Rows, Cols, X, Y int } // rows, vectors of a row, pitches in elements

// fits panics unless rows lie within slices of n and m elements.
func (p Planes) fits(name string, n, m int) {
	if p.Rows < 1 || p.Cols < 1 || p.X < p.Cols*Lanes || p.Y < p.Cols*Lanes ||
		n < (p.Rows-1)*p.X+p.Cols*Lanes || m < (p.Rows-1)*p.Y+p.Cols*Lanes {
		panic(fmt.Sprintf("lanes: %s: %d and %d elements for %d rows of %d vectors, %d and %d apart", name, n, m, p.Rows, p.Cols, p.X, p.Y))
	}
}

// AffineSums adds to scale and shift, by lane, what a plane gives to the gradients of a scale and a shift behind a x + b:
//
//	for r := range p.Rows {
//		for i := range 16 * p.Cols {
//			scale[i%16] = fma(dy[r*p.Y+i], fma(a, x[r*p.X+i], b), scale[i%16])
//			shift[i%16] += dy[r*p.Y+i]
//		}
//	}
func AffineSums(x []float32, a, b float32, dy, scale, shift []float32, p Planes) {
	p.fits("AffineSums", len(x), len(dy))
	sameVectors("AffineSums", Lanes, len(scale), len(shift))
	for r := affineSumsAssembly(x, a, b, dy, scale, shift, p); r < p.Rows; r++ {
		for c := range p.Cols {
			u, v := at(x, r*p.X+c*Lanes), at(dy, r*p.Y+c*Lanes)
			for i := range Lanes {
				scale[i] = fma32(v[i], fma32(a, u[i], b), scale[i])
				shift[i] += v[i]
			}
		}
	}
}
