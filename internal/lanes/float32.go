package lanes

import "math"

// The elementary functions below are sequences of float32 operations. All kernels follow them, so all give the same bits.
// The polynomials are minimax approximations in relative error (found by Lawson's algorithm), rounded to float32. Their own
// error is below 0.1 ulp unless noted.
var (
	// e^r = 1 + r (1 + c₀r + c₁r² + …) for |r| ≤ ln(2)/2.
	expCoeffs = [...]float32{0.49999994, 0.16666521, 0.041668389, 0.0083687166, 0.0013814598}
	// log(1+u) = u (1 + c₀u + c₁u² + …) for 0 ≤ u ≤ 1.
	log1pCoeffs = [...]float32{-0.49999931, 0.33330512, -0.24958587, 0.1969540, -0.15355395, 0.10680553,
		-0.057664424, 0.020204576, -0.0033184702}
	// Φ(−a) = e^(−a²/2) (½ + c₀s + c₁s² + …) for a ≥ 0, s = a/(4+a); relative error 3·2⁻²⁴ (1 + a)² at most.
	tailCoeffs = [...]float32{-1.5957675, 2.4041462, -2.1051311, 0.8610587, 0.14985435, -0.31082013, 0.09685289}
)

const (
	log2E = 1.4426950408889634
	ln2Hi = 0.693145751953125 // 15 bits of ln 2, so that n·ln2Hi is exact
	ln2Lo = 1.42860682030941723212e-6

	// expBias + n, in float32, has n + 127 in its last bits. Shifted to the exponent's place, they are 2ⁿ.
	expBias = 0x1.8p23 + 127
	// expFloor is where e^x leaves the normal numbers: log 2⁻¹²⁶, rounded up.
	expFloor = -87.33654
	// tanhReach is a bound beyond which tanh is 1 in float32.
	tanhReach = 30
	// swishReach and geluReach are bounds beyond which σ(−x) and Φ(−x) are 0 in float32.
	swishReach = 88
	geluReach  = 13.5
	rsqrt2Pi   = 0.39894228040143268
)

// expParts splits e^x, expFloor ≤ x ≤ 0, into scale·(1 + r·w), scale = 2ⁿ, x = n ln 2 + r.
func expParts(x float32) (w, r, scale float32) {
	t := fma32(x, log2E, expBias)
	n := t - expBias
	r = fma32(n, -ln2Hi, x)
	r = fma32(n, -ln2Lo, r)
	w = 1
	w = horner(r, w, expCoeffs[:])
	return w, r, math.Float32frombits(math.Float32bits(t) << 23)
}

// horner is first + c[0] x + c[1] x² + ….
func horner(x, first float32, c []float32) float32 {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = fma32(p, x, c[i])
	}
	return fma32(p, x, first)
}

// expNeg is e^x for x ≤ 0: 0 below expFloor, within 1 ulp above.
func expNeg(x float32) float32 {
	if x < expFloor {
		return 0
	}
	w, r, scale := expParts(x)
	return float32(fma32(w, r, 1) * scale)
}

// logUp is log x for 1 ≤ x < +Inf, within 2 ulp. The result for NaN is undefined.
func logUp(x float32) float32 {
	bits := math.Float32bits(x)
	e := float32(int32(bits>>23) - 127)
	f := math.Float32frombits(bits&0x7fffff|0x3f800000) - 1
	p := horner(f, 1, log1pCoeffs[:])
	return fma32(e, ln2Hi, fma32(e, ln2Lo, float32(p*f)))
}

// tanh32 is tanh x = −sign(x) m/(2+m), m = e^(−2|x|) − 1.
func tanh32(x float32) float32 {
	a := -2 * abs32(x)
	a = max32(-2*tanhReach, a)
	w, r, scale := expParts(a)
	m := fma32(scale, float32(w*r), scale-1)
	return math.Float32frombits(math.Float32bits(m/(2+m))&^(1<<31) | math.Float32bits(x)&(1<<31))
}

// sigmoid is s = σ(x) = 1/(1+e^−x), with the larger r and the smaller q of σ(x) and σ(−x), whose product
// is the derivative.
func sigmoid(x float32) (s, r, q float32) {
	u := expNeg(-abs32(x))
	r = 1 / (1 + u)
	q = float32(u * r)
	if x >= 0 {
		return r, r, q
	}
	return q, r, q
}

// swish32 is x σ(x) and its derivative.
func swish32(x float32) (y, d float32) {
	low := max32(-swishReach, x)
	s, r, q := sigmoid(low)
	v := min32(swishReach, low)
	return float32(low * s), fma32(float32(v*q), r, s)
}

// normal is Φ(x), |x| ≤ geluReach, the distribution function of the normal, within 1e-7, and e^(−x²/2).
func normal(x float32) (cdf, e float32) {
	a := abs32(x)
	e = expNeg(float32(float32(a*a) * -0.5))
	h := horner(a/(4+a), 0.5, tailCoeffs[:])
	if x >= 0 {
		return fma32(-h, e, 1), e
	}
	return float32(h * e), e
}

// gelu32 is x Φ(x) and its derivative.
func gelu32(x float32) (y, d float32) {
	low := max32(-geluReach, x)
	v := min32(geluReach, low)
	cdf, e := normal(v)
	return float32(low * cdf), fma32(float32(v*rsqrt2Pi), e, cdf)
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// max32 and min32 are the processor's instructions: the result is b if either is NaN.
func max32(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

func min32(a, b float32) float32 {
	if a < b {
		return a
	}
	return b
}
