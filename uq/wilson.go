package uq

import "math"

// Wilson returns the 95 % interval of a share of k in n (Wilson 1927); 0 to 1 where n is 0.
func Wilson(k, n float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p := k / n
	middle := (p + z95*z95/(2*n)) / (1 + z95*z95/n)
	half := float64(z95 / (1 + z95*z95/n) * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n)))
	return max(middle-half, 0), min(middle+half, 1)
}
