package rng

import "math"

// Expm1 and Log1p follow FreeBSD's s_expm1.c and s_log1p.c near 0, where e^x − 1 and ln(1+x) lose digits; elsewhere they are Exp and Log.
// Their errors are below 4 ulp.
var (
	expm1Poly = [...]float64{
		-3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05, 4.00821782732936239552e-06,
		-2.01099218183624371326e-07,
	}
	log1pPoly = [...]float64{
		6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
	}
)

// Expm1 returns e^x − 1.
func Expm1(x float64) float64 {
	if !(math.Abs(x) < 0.5*math.Ln2) {
		return Exp(x) - 1
	}
	half := 0.5 * x
	h := float64(x * half)
	q := &expm1Poly
	r := 1 + float64(h*(q[0]+float64(h*(q[1]+float64(h*(q[2]+float64(h*(q[3]+float64(h*q[4])))))))))
	t := 3 - float64(r*half)
	e := float64(h * ((r - t) / (6 - float64(x*t))))
	return x - (float64(x*e) - h)
}

// Log1p returns the natural logarithm of 1 + x: −Inf at −1, NaN below.
func Log1p(x float64) float64 {
	if !(x > -0.29 && x < 0.41) {
		return Log(1 + x)
	}
	half := float64(0.5 * x * x)
	s := x / (2 + x)
	z := float64(s * s)
	q := &log1pPoly
	r := float64(z * (q[0] + float64(z*(q[1]+float64(z*(q[2]+float64(z*(q[3]+float64(z*(q[4]+float64(z*(q[5]+float64(z*q[6])))))))))))))
	return x - (half - float64(s*(half+r)))
}
