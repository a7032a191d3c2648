package filter

import (
	"fmt"
	"math"

	"github.com/starling-smc/starling/ssm"
)

// Filters use differences of log-likelihoods alone. A float64 of more than 10⁹ has fewer than seven digits behind the point, and one
// of more than 10¹⁶ has none: particles of very different likelihood would weigh the same. So where all of them are below deep,
// the differences from one of the particles are computed by themselves (ssm.Relative), and the log-likelihood of that one is added to
// the log evidence alone.
const deep = -1e9

// difference is the log-likelihood l of x minus that of from, which is above −Inf.
func difference(like ssm.Likelihood, l, ofFrom float64, x, from []float64) float64 {
	if l < deep && ofFrom < deep && !math.IsInf(l, -1) {
		if r, ok := like.(ssm.Relative); ok {
			return orNever(r.Difference(x, from))
		}
	}
	return l - ofFrom
}

// orNever is a log-likelihood in which NaN is −Inf.
func orNever(l float64) float64 {
	if math.IsNaN(l) {
		return math.Inf(-1)
	}
	return l
}

// infinite is the error for a model whose log-likelihood is +Inf: no state outweighs all others without end.
func infinite(scan *ssm.Scan, x []float64) error {
	return fmt.Errorf("the model's log-likelihood of the scan at %v s is +Inf at the state %v: LogLik must return a finite number, or −Inf "+
		"for a state that could not have given the scan", scan.Time, x)
}
