package rng

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
