package lanes

import (
	"fmt"
	"math"
)

// MaxDensities is the largest number of terms that [SquareSum] and [MixtureTerm] take, so that a float32 sum over a chunk stays
// accurate.
const MaxDensities = 256

// vectorsOf is the number of vectors that hold n numbers.
func vectorsOf(n int) int { return (n + Lanes - 1) / Lanes }

// SquareSum is Σ |y_i − mean|² over the first n of the measurements y, n ≤ MaxDensities. Coordinate k of measurement i is
// y[k·stride + i], where stride = len(y)/len(mean) is a whole number of vectors that holds n. What lies behind n has no
// influence.
//
// In each lane vector v of a coordinate adds to sum v mod 4, but the last vector, and the at most three before it that do not
// make four, to sum 0. A coordinate follows the one before:
//
//	d = (y[i] - high) - low;  sum = fma(d, d, sum)
//
// where high is mean[k] in float32, and low is what that leaves of it: a rounding of the mean would be an error of all terms
// alike. The result is the sum over the lanes, as a tree, of (sum 0 + sum 2) + (sum 1 + sum 3). It is within 5e-6 of itself.
func SquareSum(y []float32, n int, mean []float64) float32 {
	w := len(mean)
	if w == 0 || n <= 0 {
		return 0
	}
	stride, vectors := len(y)/w, vectorsOf(n)
	if n > MaxDensities || stride*w != len(y) || stride%Lanes != 0 || stride < n {
		panic(fmt.Sprintf("lanes: SquareSum: %d elements for %d measurements of %d", len(y), n, w))
	}
	if sum, ok := squareSumAssembly(y, stride, n, mean); ok {
		return sum
	}
	var acc [4]vector
	for k, m := range mean {
		high, low := halvesOf(m)
		for i := range n {
			d := (y[k*stride+i] - high) - low
			v := 0
			if fours := (vectors - 1) / 4 * 4; i/Lanes < fours {
				v = i / Lanes % 4
			}
			acc[v][i%Lanes] = fma32(d, d, acc[v][i%Lanes])
		}
	}
	for l := range Lanes {
		acc[0][l] = (acc[0][l] + acc[2][l]) + (acc[1][l] + acc[3][l])
	}
	return laneTree(&acc[0])
}

// halvesOf is x as the sum of two float32: x rounded, and what that leaves. Both are NaN or infinite if x is not finite.
func halvesOf(x float64) (high, low float32) {
	high = float32(x)
	return high, float32(x - float64(high))
}

// laneTree is the sum over the lanes.
func laneTree(v *vector) float32 {
	w := *v
	for h := Lanes / 2; h > 0; h /= 2 {
		for i := range h {
			w[i] += w[i+h]
		}
	}
	return w[0]
}

// NormalTerms sets terms[i] to e^(−½ |x − m_i|²) for the first n of the means m, and sums[c] to the sum of chunk c of
// MaxDensities of them: lane by lane over its vectors, and then over the lanes, as a tree. Coordinate k of mean i is
// m[k·stride + i], where stride = len(m)/len(x) is a whole number of vectors that holds n. terms has n numbers rounded up to
// whole vectors; those behind n become 0.
//
//	q = fma(d, d, q) over the coordinates, d = m[i] - x[k];  term = e^(−½ q)
//
// A term is within 2e-7 + 1.5e-7 |x − m_i|² of itself, and 0 where it is below 2⁻¹²⁶.
func NormalTerms(m []float32, n int, x, terms, sums []float32) {
	w := len(x)
	if n <= 0 {
		return
	}
	vectors := vectorsOf(n)
	if w == 0 || len(m)%w != 0 || len(m)/w%Lanes != 0 || len(m)/w < n || len(terms) != vectors*Lanes ||
		len(sums) != (n+MaxDensities-1)/MaxDensities {
		panic(fmt.Sprintf("lanes: NormalTerms: %d elements for %d means of %d, %d terms, %d sums", len(m), n, w, len(terms), len(sums)))
	}
	stride := len(m) / w
	for c := range sums {
		first := c * MaxDensities
		count := min(n-first, MaxDensities)
		if normalTermsAssembly(m[first:], stride, count, x, terms[first:], &sums[c]) {
			continue
		}
		var acc vector
		for i := range vectorsOf(count) * Lanes {
			var q, e float32
			for k, v := range x {
				d := m[k*stride+first+i] - v
				q = fma32(d, d, q)
			}
			if i < count {
				e = expNeg(float32(q * -0.5))
			}
			terms[first+i] = e
			acc[i%Lanes] += e
		}
		sums[c] = laneTree(&acc)
	}
}

// MixtureTerm moves one component of a mixture of round normals on the plane and a uniform density 1. It sets out to the
// component's new terms at the points (x, y), and returns the sum of the logarithms of the mixture's density at them:
//
//	out[i] = peak e^(−½ ((x[i]−mx)² + (y[i]−my)²))
//	Σ_i log(1 + terms[0][i] + … + out[i] + … + terms[last][i])
//
// terms has a row of len(x) numbers for each component, in whose order they are added, one by one; out stands in the place
// of row target, and may be that row. The position counts in full: x[i]−mx is (x[i] − high) − low, as in [SquareSum]. len(x)
// is a whole number of vectors, at most MaxDensities. All terms must be at least 0. If one of them, or the position, is
// infinite or NaN, the result is NaN.
//
// The exponents of the densities are added as integers and their mantissas are multiplied, lane by lane, so that a lane
// takes one logarithm; the logarithms of the lanes are added in float32 as a tree, and the exponents' part in float64. The
// result is within 3e-7 of len(x) + 2e-6, and exactly 0 where all terms are below 2⁻²⁴.
func MixtureTerm(x, y []float32, mx, my float64, peak float32, terms []float32, target int, out []float32) float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	rows := len(terms) / n
	if n%Lanes != 0 || n > MaxDensities || len(y) != n || len(out) != n || rows*n != len(terms) || target < 0 || target >= rows {
		panic(fmt.Sprintf("lanes: MixtureTerm: component %d of %d terms at %d and %d points, %d new ones",
			target, len(terms), n, len(y), len(out)))
	}
	if sum, ok := mixtureTermAssembly(x, y, mx, my, peak, terms, target, rows-target-1, out); ok {
		return sum
	}
	highX, lowX := halvesOf(mx)
	highY, lowY := halvesOf(my)
	var product, logs vector
	for l := range product {
		product[l] = 1
	}
	var bad float32
	exponent := 0
	// split adds the exponent of v; it returns its mantissa, between 1 and 2.
	split := func(v float32) float32 {
		bits := math.Float32bits(v)
		exponent += int(bits>>23) - 127
		return math.Float32frombits(bits&0x7fffff | 0x3f800000)
	}
	for i := range x {
		dx, dy := (x[i]-highX)-lowX, (y[i]-highY)-lowY
		w := float32(expNeg(float32(fma32(dy, dy, float32(dx*dx))*-0.5)) * peak)
		out[i] = w
		sum := float32(1)
		for r := range rows {
			if r == target {
				sum += w
			} else {
				sum += terms[r*n+i]
			}
		}
		bad = fma32(sum, 0, bad)
		product[i%Lanes] *= split(sum)
	}
	for l, v := range product {
		f := split(v) - 1
		logs[l] = float32(horner(f, 1, log1pCoeffs[:]) * f)
	}
	return float64(float64(exponent)*math.Ln2) + float64(laneTree(&logs)+bad)
}
