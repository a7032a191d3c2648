package rng

import "math"

// LogGamma returns log Γ(x) for x > 0; log n! is LogGamma(n+1). From 10 on it is Stirling's series, whose first term that is left
// out is below 1e-17; a smaller x is moved there by Γ(x) = Γ(x+1)/x. The error is below 1e-14 + 6e-16 |log Γ(x)|.
func LogGamma(x float64) float64 {
	const halfLog2Pi = 0.91893853320467274178032973640562
	product := 1.0
	for x < 10 {
		product *= x
		x++
	}
	// Σ B_2k / (2k (2k−1) x^(2k−1)), by powers of 1/x².
	z := 1 / float64(x*x)
	sum := -3617.0 / 122400
	for _, c := range [...]float64{1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12} {
		sum = float64(sum*z) + c
	}
	return float64((x-0.5)*(Log(x)-1)) + ((halfLog2Pi - 0.5) + sum/x - Log(product))
}

// GammaTail returns the probability that a draw of Gamma(a, 1), of shape a > 0, is above x: Γ(a, x)/Γ(a). Its error is below 1e-13 for a
// up to 1000, and then grows with a. Below a+1 it is 1 minus the series of powers of x, above it is Legendre's continued fraction.
func GammaTail(a, x float64) float64 {
	switch {
	case !(x > 0):
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	front := Exp(float64(a*Log(x)) - x - LogGamma(a))
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := a + 1; term > float64(sum*0x1p-54); n++ {
			term = float64(term * (x / n))
			sum += term
		}
		return 1 - float64(front*sum)
	}
	// By Lentz: f = b₀ + a₁/(b₁ + a₂/(b₂ + …)), aₙ = −n(n−a), bₙ = x + 2n + 1 − a, all of which keep the quotients above 0.
	b := x + 1 - a
	c, d := math.Inf(1), 1/b
	f := d
	for n := 1.0; ; n++ {
		an := float64(-n * (n - a))
		b += 2
		d = 1 / (float64(an*d) + b)
		c = b + an/c
		f *= float64(c * d)
		if math.Abs(float64(c*d)-1) <= 0x1p-52 {
			return float64(front * f)
		}
	}
}

// LogOfGamma returns the logarithm of a draw of Gamma(a, 1), of shape a > 0 (Marsaglia and Tsang 2000). It is the logarithm because most
// draws of a small shape are below the smallest float64.
func (s *Stream) LogOfGamma(a float64) float64 {
	below := 0.0
	if a < 1 { // a draw of shape a is one of shape a+1 times a uniform number to the power 1/a
		below = Log(1-s.Float64()) / a
		a++
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		logCube := float64(3 * Log(v))
		if Log(1-s.Float64()) < float64(0.5*x*x)+float64(d*(1-float64(v*v*v)+logCube)) {
			return Log(d) + logCube + below
		}
	}
}
