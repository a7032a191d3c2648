package filter

import (
	"github.com/starling-smc/starling/ssm"
)

// together is the likelihood of the whole measurements of a scan and, after them, of those that lack some of their numbers.
type together struct {
	ssm.Likelihood
	parts ssm.Likelihood
}

// Len implements ssm.Likelihood.
func (t *together) Len() int { return t.Likelihood.Len() + t.parts.Len() }

// LogLik implements ssm.Likelihood.
func (t *together) LogLik(x []float64, rows []int32) float64 {
	if rows == nil {
		return t.Likelihood.LogLik(x, nil) + t.parts.LogLik(x, nil)
	}
	whole, parts, n := make([]int32, 0, len(rows)), make([]int32, 0, len(rows)), int32(t.Likelihood.Len())
	for _, i := range rows {
		if i < n {
			whole = append(whole, i)
		} else {
			parts = append(parts, i-n)
		}
	}
	return t.Likelihood.LogLik(x, whole) + t.parts.LogLik(x, parts)
}

// SetPool implements ssm.Pooled.
func (t *together) SetPool(p *ssm.Pool) {
	if pooled, ok := t.Likelihood.(ssm.Pooled); ok {
		pooled.SetPool(p)
	}
}

// Difference implements ssm.Relative.
func (t *together) Difference(x, from []float64) float64 {
	return subtract(t.Likelihood, x, from) + subtract(t.parts, x, from)
}

// subtract is the log-likelihood of x minus that of from, by the likelihood's own Difference if it has one.
func subtract(like ssm.Likelihood, x, from []float64) float64 {
	if r, ok := like.(ssm.Relative); ok {
		return r.Difference(x, from)
	}
	return like.LogLik(x, nil) - like.LogLik(from, nil)
}
