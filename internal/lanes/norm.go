package lanes

import (
	"fmt"
	"math"
)

// Norm is the normalisation of one plane of 16 examples by numbers that belong to the examples, with a threshold behind it:
//
//	z = Scale[i] x + Shift,  y = Low > z ? Low : z
//
// A plane has Rows rows of Cols vectors. Its slices begin at the first pixel, so that a border, which no method reads or writes, is a matter
// of strides. A NaN in z goes on. Low = −Inf is no threshold.
type Norm struct {
	Rows, Cols int
	X, Y       int // elements from a row to the next: of x and dx, of y and dy
	Scale      [Lanes]float32
	Shift, Low float32
}

// check panics if a plane does not fit its slice.
func (n *Norm) check(name string, stride int, planes ...[]float32) {
	if n.Rows < 0 || n.Cols < 0 || stride < n.Cols*Lanes && n.Rows > 1 {
		panic(fmt.Sprintf("lanes: %s: %d rows of %d vectors, %d elements apart", name, n.Rows, n.Cols, stride))
	}
	for _, p := range planes {
		if n.Rows > 0 && len(p) < (n.Rows-1)*stride+n.Cols*Lanes {
			panic(fmt.Sprintf("lanes: %s: %d elements for %d rows of %d vectors, %d apart", name, len(p), n.Rows, n.Cols, stride))
		}
	}
}

// sumPair adds up two sums by lane, that of the even and that of the odd columns, so that additions need not wait for each other.
func sumPair(s *[2][Lanes]float32, sum *[Lanes]float32) {
	for i := range sum {
		sum[i] = s[0][i] + s[1][i]
	}
}

// Squares sets sum to the sum of squares over the plane, by lane. One sum is of the even columns and one of the odd ones, each row by row:
//
//	s[c%2][i] += x[r*X+16*c+i]²   (fused)
//	sum[i] = s[0][i] + s[1][i]
func (n *Norm) Squares(x []float32, sum *[Lanes]float32) {
	n.check("Norm.Squares", n.X, x)
	var s [2][Lanes]float32
	for r := n.squaresAssembly(x, &s); r < n.Rows; r++ {
		for c := range n.Cols {
			to := &s[c%2]
			for i, v := range at(x, r*n.X+c*Lanes) {
				to[i] = fma32(v, v, to[i])
			}
		}
	}
	sumPair(&s, sum)
}

// Apply sets y from x:
//
//	z = Scale[i]*x[r*X+16*c+i] + Shift   (fused)
//	y[r*Y+16*c+i] = Low > z ? Low : z
func (n *Norm) Apply(x, y []float32) {
	n.check("Norm.Apply", n.X, x)
	n.check("Norm.Apply", n.Y, y)
	for r := n.applyAssembly(x, y); r < n.Rows; r++ {
		for c := range n.Cols {
			to := at(y, r*n.Y+c*Lanes)
			for i, v := range at(x, r*n.X+c*Lanes) {
				to[i] = max32(n.Low, fma32(v, n.Scale[i], n.Shift))
			}
		}
	}
}

// Sums are what the way back sums over a plane, by lane: of the gradient that passes the threshold, of its product with x, and of the gradient that stops
// at the threshold.
type Sums struct{ Passed, Product, Stopped [Lanes]float32 }

// Sums sets s from x and the gradient of y. z is that of Apply. One sum is of the even columns and one of the odd ones, as in Squares:
//
//	pass, stop = z <= Low ? 0, dy : dy, 0
//	Passed += pass,  Product += pass*x (fused),  Stopped += stop
func (n *Norm) Sums(x, dy []float32, s *Sums) {
	n.check("Norm.Sums", n.X, x)
	n.check("Norm.Sums", n.Y, dy)
	var sums [3][2][Lanes]float32
	for r := n.sumsAssembly(x, dy, &sums); r < n.Rows; r++ {
		for c := range n.Cols {
			d := at(dy, r*n.Y+c*Lanes)
			for i, v := range at(x, r*n.X+c*Lanes) {
				pass, stop := d[i], float32(0)
				if fma32(v, n.Scale[i], n.Shift) <= n.Low {
					pass, stop = 0, d[i]
				}
				sums[0][c%2][i] += pass
				sums[1][c%2][i] = fma32(pass, v, sums[1][c%2][i])
				sums[2][c%2][i] += stop
			}
		}
	}
	sumPair(&sums[0], &s.Passed)
	sumPair(&sums[1], &s.Product)
	sumPair(&sums[2], &s.Stopped)
}

// Backward sets the gradient of x, where Scale depends on x as well: pull is what that takes back.
//
//	pass = z <= Low ? 0 : dy
//	dx[r*X+16*c+i] = Scale[i]*pass − pull[i]*x   (the first product is rounded, the second is fused)
//
// dx may be x.
func (n *Norm) Backward(x, dy []float32, pull *[Lanes]float32, dx []float32) {
	n.check("Norm.Backward", n.X, x, dx)
	n.check("Norm.Backward", n.Y, dy)
	for r := n.backwardAssembly(x, dy, pull, dx); r < n.Rows; r++ {
		for c := range n.Cols {
			d, to := at(dy, r*n.Y+c*Lanes), at(dx, r*n.X+c*Lanes)
			for i, v := range at(x, r*n.X+c*Lanes) {
				pass := d[i]
				if fma32(v, n.Scale[i], n.Shift) <= n.Low {
					pass = 0
				}
				to[i] = fma32(-pull[i], v, float32(n.Scale[i]*pass))
			}
		}
	}
}

// InverseRoots sets r to what normalises a plane by the mean of its squares, from their sum over count pixels. Division and root are those of IEEE 754:
//
//	r[i] = 1 / √(sum[i]/count + eps)
func InverseRoots(sum *[Lanes]float32, count int, eps float32, r *[Lanes]float32) {
	for i, s := range sum {
		r[i] = 1 / float32(math.Sqrt(float64(s/float32(count)+eps)))
	}
}
