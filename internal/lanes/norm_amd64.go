//go:build !purego

package lanes

// rows cuts a plane into calls for some rows from r on, a bounded number of vectors at a time, and for the two halves of a vector with AVX2.
func (n *Norm) rows(wide, half func(r, some, lane int)) int {
	if current == isaGo || n.Cols == 0 || n.Cols > maxCallVectors {
		return 0
	}
	for r := 0; r < n.Rows; r += maxCallVectors / n.Cols {
		some := min(maxCallVectors/n.Cols, n.Rows-r)
		halves(func(l int) { wide(r, some, l) }, func(l int) { half(r, some, l) })
	}
	return n.Rows
}

func (n *Norm) squaresAssembly(x []float32, s *[2][Lanes]float32) int {
	return n.rows(
		func(r, some, l int) { normSquaresAVX512(&x[r*n.X], 4*n.X, some, n.Cols, &s[0][0]) },
		func(r, some, l int) { normSquaresAVX2(&x[r*n.X+l], 4*n.X, some, n.Cols, &s[0][l]) })
}

func (n *Norm) applyAssembly(x, y []float32) int {
	return n.rows(
		func(r, some, l int) {
			normApplyAVX512(&x[r*n.X], &y[r*n.Y], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[0], n.Shift, n.Low)
		},
		func(r, some, l int) {
			normApplyAVX2(&x[r*n.X+l], &y[r*n.Y+l], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[l], n.Shift, n.Low)
		})
}

func (n *Norm) sumsAssembly(x, dy []float32, sums *[3][2][Lanes]float32) int {
	return n.rows(
		func(r, some, l int) {
			normSumsAVX512(&x[r*n.X], &dy[r*n.Y], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[0], n.Shift, n.Low, &sums[0][0][0])
		},
		func(r, some, l int) {
			normSumsAVX2(&x[r*n.X+l], &dy[r*n.Y+l], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[l], n.Shift, n.Low, &sums[0][0][l])
		})
}

func (n *Norm) backwardAssembly(x, dy []float32, pull *[Lanes]float32, dx []float32) int {
	return n.rows(
		func(r, some, l int) {
			normBackwardAVX512(&x[r*n.X], &dy[r*n.Y], &dx[r*n.X], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[0], n.Shift, n.Low, &pull[0])
		},
		func(r, some, l int) {
			normBackwardAVX2(&x[r*n.X+l], &dy[r*n.Y+l], &dx[r*n.X+l], 4*n.X, 4*n.Y, some, n.Cols, &n.Scale[l], n.Shift, n.Low, &pull[l])
		})
}
