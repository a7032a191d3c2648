package decide

import "github.com/starling-smc/starling/internal/rng"

// atMost is the probability of at most k successes in n trials of chance p, 0 < p < 1.
func atMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	case float64(k) > float64(float64(n)*p):
		return 1 - atMost(n-k-1, n, 1-p) // the tail is the smaller side
	}
	x, m := float64(k), float64(n)
	log := rng.LogGamma(m+1) - rng.LogGamma(x+1) - rng.LogGamma(m-x+1) + float64(x*rng.Log(p)) + float64((m-x)*rng.Log1p(-p))
	term, sum := 1.0, 1.0 // over the probability of k
	for ; x > 0 && term > 0x1p-60*sum; x-- {
		term = float64(term * float64(x*(1-p)) / float64((m-x+1)*p))
		sum += term
	}
	return rng.Exp(log) * sum
}

// Sure is the confidence of the upper bound of an error rate.
const Sure = 0.95

// Upper is the upper 95 % bound of an error rate after so many errors among n answers (Clopper and Pearson 1934): the rate at which no
// more errors have a chance of 5 %. It is 1 if all are errors, or n is 0.
func Upper(errors, n int) float64 {
	if errors >= n {
		return 1
	}
	low, high := float64(errors)/float64(n), 1.0
	for range 60 {
		p := float64((low + high) / 2)
		if p > 0 && p < 1 && atMost(errors, n, p) <= 1-Sure {
			high = p
		} else {
			low = p
		}
	}
	return high
}

// faultless is the least number of answers without any error of which Upper is at most r: ⌈ln .05 / ln(1 − r)⌉. It is at most 2⁵³, which is more than
// anyone has.
func faultless(r float64) int {
	const most = 1 << 53
	about := rng.Log(1-Sure) / rng.Log1p(-r)
	if !(about < most) {
		return most
	}
	n := max(int(about)-1, 1)
	for !(float64(float64(n)*rng.Log1p(-r)) <= rng.Log(1-Sure)) {
		n++
	}
	return n
}
