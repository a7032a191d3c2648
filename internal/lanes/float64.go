package lanes

import "math"

// Exp and Log follow FreeBSD's e_exp.c and e_log.c (Sun Microsystems 1993, freely granted), as the Go library does. Every product
// that is added is rounded, so that the bits are the same on every machine. The kernel of [PredictedNormal] has the same operations;
// _gen/predicted.go repeats the constants.
const (
	ln2High = 6.93147180369123816490e-01 // the first 33 bits of ln 2: k·ln2High is exact
	ln2Low  = 1.90821492927058770002e-10

	expOverflow  = 7.09782712893383973096e+02
	expUnderflow = -7.45133219101941108420e+02
)

// Exp returns e^x, within 1 ulp.
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
	hi := x - float64(k*ln2High)
	lo := float64(k * ln2Low)
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

// Log returns the natural logarithm of x, within 1 ulp: −Inf at 0, NaN below.
func Log(x float64) float64 {
	const normal, infinite = 1 << 52, 0x7ff << 52
	bits, k := math.Float64bits(x), 0.0
	if bits-normal >= infinite-normal {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 1):
			return x
		case x < 0:
			return math.NaN()
		case x == 0:
			return math.Inf(-1)
		}
		bits, k = math.Float64bits(x*(1<<52)), -52
	}
	// x = 2^k (1+f), √½ ≤ 1+f < √2, and log(1+f) = f − f²/2 + s (f²/2 + R(s²)), s = f/(2+f). A branch on 1+f would be guessed wrong
	// half of the time.
	const one, rootHalf, mantissa = 0x3ff << 52, 0x3fe6a09e667f3bcd, 1<<52 - 1
	bits += one - rootHalf
	k += float64(int64(bits>>52) - 0x3ff)
	f := math.Float64frombits(bits&mantissa+rootHalf) - 1
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
	return float64(k*ln2High) - ((half - (float64(s*(half+odd+even)) + float64(k*ln2Low))) - f)
}
