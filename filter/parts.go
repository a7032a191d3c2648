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
