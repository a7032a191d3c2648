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

// Sure is the confidence with which an error rate stays below a risk.
const Sure = 0.95

// faultless is the least number of answers without any error whose upper 95 % bound is at most r (Clopper and Pearson 1934): ⌈ln .05 / ln(1 − r)⌉. It is at most 2⁵³, which is more than
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
