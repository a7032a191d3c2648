package rng

import "math"

// Exp and Log replace those of package math wherever bits must agree between machines: the standard library has
// assembly for some processors, and the compiler may fuse x*y + z. Every product that is added is therefore rounded by
// an explicit conversion. They follow FreeBSD's e_exp.c and e_log.c (Sun Microsystems 1993, freely granted), as the Go
// library does; errors are below 1 ulp.
const (
	ln2Hi = 6.93147180369123816490e-01 // the first 33 bits of ln 2: k·ln2Hi is exact
	ln2Lo = 1.90821492927058770002e-10
	log2E = 1.44269504088896338700e+00

	expOverflow  = 7.09782712893383973096e+02
	expUnderflow = -7.45133219101941108420e+02
)

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x > expOverflow:
		return math.Inf(1)
	case x < expUnderflow:
		return 0
	case -0x1p-28 < x && x < 0x1p-28:
		return 1 + x
	}
	// x = k ln 2 + r, |r| ≤ ln(2)/2, and e^r by a rational approximation in r².
	k := math.Floor(float64(log2E*x) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := float64(r * r)
	c := float64(t * 4.13813679705723846039e-08)
	c = float64(t * (-1.65339022054652515390e-06 + c))
	c = float64(t * (6.61375632143793436117e-05 + c))
	c = float64(t * (-2.77777777770155933842e-03 + c))
	c = float64(t * (1.66666666666666657415e-01 + c))
	c = r - c
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	if k > -1021 && k < 1023 {
		return y * math.Float64frombits(uint64(int64(k)+1023)<<52)
	}
	return math.Ldexp(y, int(k))
}

// Log returns the natural logarithm of x: −Inf at 0, NaN below.
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	// x = 2^k (1+f), √½ ≤ 1+f < √2, and log(1+f) = f − f²/2 + s (f²/2 + R(s²)), s = f/(2+f).
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f, k := m-1, float64(e)
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	odd := float64(w * 1.479819860511658591e-01)
	odd = float64(w * (1.818357216161805012e-01 + odd))
	odd = float64(w * (2.857142874366239149e-01 + odd))
	odd = float64(z * (6.666666666666735130e-01 + odd))
	even := float64(w * 1.531383769920937332e-01)
	even = float64(w * (2.222219843214978396e-01 + even))
	even = float64(w * (3.999999999940941908e-01 + even))
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+odd+even)) + float64(k*ln2Lo))) - f)
}
