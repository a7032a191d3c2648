package bayes

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// transform maps a coordinate u, any real number, onto the support (a, b) of a prior:
//
//	x = u                        (−∞, ∞)
//	x = a + e^u                  (a, ∞)
//	x = b − e^u                  (−∞, b)
//	x = a + (b−a)/(1+e^(−u))     (a, b)
//
// These are Stan's transforms, so coordinates are those of the same model in Stan (Stan Reference Manual, "Constraint
// transforms").
type transform struct{ lower, upper float64 }

// value returns x and dx/du.
func (t transform) value(u float64) (x, slope float64) {
	below, above := !math.IsInf(t.lower, -1), !math.IsInf(t.upper, 1)
	switch {
	case below && above:
		p := logistic(u)
		return t.lower + float64((t.upper-t.lower)*p), float64((t.upper - t.lower) * float64(p*logistic(-u)))
	case below:
		e := rng.Exp(u)
		return t.lower + e, e
	case above:
		e := rng.Exp(u)
		return t.upper - e, -e
	}
	return u, 1
}

// coordinate returns u, the inverse.
func (t transform) coordinate(x float64) float64 {
	below, above := !math.IsInf(t.lower, -1), !math.IsInf(t.upper, 1)
	switch {
	case below && above:
		return rng.Log((x - t.lower) / (t.upper - x))
	case below:
		return rng.Log(x - t.lower)
	case above:
		return rng.Log(t.upper - x)
	}
	return x
}

// jacobian returns log |dx/du| and its derivative by u.
func (t transform) jacobian(u float64) (log, slope float64) {
	below, above := !math.IsInf(t.lower, -1), !math.IsInf(t.upper, 1)
	switch {
	case below && above:
		a := math.Abs(u)
		return rng.Log(t.upper-t.lower) - a - float64(2*rng.Log(1+rng.Exp(-a))), 1 - float64(2*logistic(u))
	case below || above:
		return u, 1
	}
	return 0, 0
}

// logistic is 1/(1+e^(−u)).
func logistic(u float64) float64 {
	if u < 0 {
		e := rng.Exp(u)
		return e / (1 + e)
	}
	return 1 / (1 + rng.Exp(-u))
}
