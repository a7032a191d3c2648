package lanes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNormByDefinition compares the methods of Norm with their definitions in float64, on a plane inside a border that must not count.
func TestNormByDefinition(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		for _, size := range [][2]int{{1, 1}, {1, 2}, {5, 3}, {4, 8}, {7, 9}} {
			n := &Norm{Rows: size[0], Cols: size[1], X: (size[1] + 2) * Lanes, Y: (size[1] + 3) * Lanes, Shift: .3, Low: .1}
			copy(n.Scale[:], numbers(r, Lanes, 0))
			x, dy, y := numbers(r, n.Rows*n.X, 0), numbers(r, n.Rows*n.Y, 0), make([]float32, n.Rows*n.Y)
			dx, pull := make([]float32, len(x)), (*[Lanes]float32)(numbers(r, Lanes, 0))
			x[0] = 0
			n.Scale[0], n.Shift = 1, n.Low // z of the first pixel is the threshold itself: its gradient stops
			var sum [Lanes]float32
			var sums Sums
			n.Squares(x, &sum)
			n.Apply(x, y)
			n.Sums(x, dy, &sums)
			n.Backward(x, dy, pull, dx)
			near := func(what string, got float32, want float64) {
				t.Helper()
				if !(math.Abs(float64(got)-want) <= 2e-6*(10+math.Abs(want))) {
					t.Fatalf("%d×%d: %s is %v, want %v", n.Rows, n.Cols, what, got, want)
				}
			}
			for i := range Lanes {
				var squares, passed, product, stopped float64
				for row := range n.Rows {
					for c := range n.Cols {
						v, d := float64(x[row*n.X+c*Lanes+i]), float64(dy[row*n.Y+c*Lanes+i])
						z := float64(n.Scale[i])*v + float64(n.Shift)
						squares += v * v
						pass := 0.
						if z > float64(n.Low) {
							pass = d
							passed, product = passed+d, product+d*v
						} else {
							stopped += d
						}
						near("y", y[row*n.Y+c*Lanes+i], max(z, float64(n.Low)))
						near("dx", dx[row*n.X+c*Lanes+i], float64(n.Scale[i])*pass-float64(pull[i])*v)
					}
				}
				near("the sum of squares", sum[i], squares)
				near("the sum of what passes", sums.Passed[i], passed)
				near("the sum of products", sums.Product[i], product)
				near("the sum of what stops", sums.Stopped[i], stopped)
			}
			for row := range n.Rows {
				for c := n.Cols * Lanes; c < n.X; c++ {
					if y[row*n.Y+c] != 0 || dx[row*n.X+c] != 0 {
						t.Fatalf("%d×%d: writes to the border", n.Rows, n.Cols)
					}
				}
			}
		}
	})
}

// TestInverseRoots compares with float64, from planes of zeros to sums that overflow.
func TestInverseRoots(t *testing.T) {
	sum, r := [Lanes]float32{0, 1, 1e-12, 3e-6, 7, 1e10, 3e38, float32(math.Inf(1)), float32(math.NaN())}, [Lanes]float32{}
	InverseRoots(&sum, 3, 1e-6, &r)
	for i, s := range sum {
		want := 1 / math.Sqrt(float64(s)/3+1e-6)
		if got := float64(r[i]); !(math.Abs(got-want) <= 3e-7*want) && !(math.IsNaN(want) && math.IsNaN(got)) {
			t.Errorf("of %v: %v, want %v", s, got, want)
		}
	}
}
