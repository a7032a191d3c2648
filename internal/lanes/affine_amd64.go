//go:build !purego

package lanes

// some is how many rows a call of assembly takes; 0: too long a row for one.
func (p Planes) some() int {
	if current == isaGo {
		return 0
	}
	return maxCallVectors / p.Cols
}

func affineSumsAssembly(x []float32, a, b float32, dy, scale, shift []float32, p Planes) int {
	some := p.some()
	if some == 0 {
		return 0
	}
	for r := 0; r < p.Rows; r += some {
		rows := min(some, p.Rows-r)
		halves(func(int) {
			affineSumsAVX512(&x[r*p.X], &dy[r*p.Y], &scale[0], &shift[0], rows, p.Cols, 4*p.X, 4*p.Y, a, b)
		}, func(l int) {
			affineSumsAVX2(&x[r*p.X+l], &dy[r*p.Y+l], &scale[l], &shift[l], rows, p.Cols, 4*p.X, 4*p.Y, a, b)
		})
	}
	return p.Rows
}
