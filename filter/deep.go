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

// relate replaces the log-likelihoods of the particles x by their differences from the largest, if that is below deep. It returns
// what was subtracted.
func (m *moving) relate(x, ll []float64) (base float64, err error) {
	top := 0
	for j, l := range ll {
		if math.IsInf(l, 1) {
			return 0, infinite(m.scan, x[j*m.d:(j+1)*m.d])
		}
		if l > ll[top] {
			top = j
		}
	}
	if base = ll[top]; !(base < deep) || math.IsInf(base, -1) {
		return 0, nil
	}
	like, err := bound(m.Model, m.scan)
	if err != nil {
		return 0, err
	}
	from := x[top*m.d : (top+1)*m.d]
	for j, l := range ll {
		ll[j] = difference(like, l, base, x[j*m.d:(j+1)*m.d], from)
	}
	return base, nil
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
