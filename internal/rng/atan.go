package rng

import "math"

// atan is FreeBSD's s_atan.c: arctan(x) = atanAt[i] + arctan of what is left of x, by a polynomial in its square. A number of
// atanAt is the sum of two, so that it has more than 53 bits.
var (
	atanAt = [4][2]float64{
		{4.63647609000806093515e-01, 2.26987774529616870924e-17}, // arctan ½
		{7.85398163397448278999e-01, 3.06161699786838301793e-17}, // arctan 1
		{9.82793723247329054082e-01, 1.39033110312309984516e-17}, // arctan 3/2
		{1.57079632679489655800e+00, 6.12323399573676603587e-17}, // arctan ∞
	}
	atanPoly = []float64{
		3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
		9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
		4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
	}
)

// atan returns the arc tangent of x ≥ 0.
func atan(x float64) float64 {
	at := -1
	switch {
	case x < 0.4375:
	case x < 0.6875:
		at, x = 0, (2*x-1)/(2+x)
	case x < 1.1875:
		at, x = 1, (x-1)/(x+1)
	case x < 2.4375:
		at, x = 2, (x-1.5)/(1+float64(1.5*x))
	default:
		at, x = 3, -1/x
	}
	z := float64(x * x)
	p := atanPoly[len(atanPoly)-1]
	for k := len(atanPoly) - 2; k >= 0; k-- {
		p = float64(p*z) + atanPoly[k]
	}
	low := float64(x * float64(z*p))
	if at < 0 {
		return x - low
	}
	return atanAt[at][0] - ((low - atanAt[at][1]) - x)
}

// Atan2 returns the angle of the point (x, y), from −π to π, as math.Atan2 does, with an error below 2 ulp.
func Atan2(y, x float64) float64 {
	const piLow = 1.2246467991473531772e-16 // π − math.Pi
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case math.IsInf(x, 0) && math.IsInf(y, 0):
		x, y = math.Copysign(1, x), math.Copysign(1, y)
	}
	angle := 0.0
	if y != 0 {
		angle = atan(math.Abs(y / x))
	}
	if math.Signbit(x) {
		angle = math.Pi - (angle - piLow)
	}
	return math.Copysign(angle, y)
}
