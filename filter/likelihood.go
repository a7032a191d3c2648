package filter

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/ssm"
)

// bind returns the likelihood of a scan. One that does not remember a state is wrapped by one that does.
func bind(m ssm.Model, scan *ssm.Scan, workers *ssm.Pool) (ssm.Incremental, error) {
	like, err := bound(m, scan)
	if err != nil {
		return nil, err
	}
	if p, ok := like.(ssm.Pooled); ok {
		p.SetPool(workers)
	}
	if inc, ok := like.(ssm.Incremental); ok {
		return inc, nil
	}
	return &whole{Likelihood: like}, nil
}

// dropped is the number of measurements that a likelihood leaves out.
func dropped(like ssm.Likelihood) int {
	if d, ok := own(like).(ssm.Dropper); ok {
		return d.Dropped()
	}
	return 0
}

// bound is the likelihood of a scan.
func bound(m ssm.Model, scan *ssm.Scan) (ssm.Likelihood, error) {
	like, err := m.Bind(scan)
	if err == nil && like == nil {
		err = errors.New("the model's Bind returned no likelihood")
	}
	if err != nil || len(scan.Parts) == 0 {
		return like, err
	}
	linear, err := takesParts(m)
	if err != nil {
		return nil, err
	}
	parts, err := ssm.BindParts(linear, scan)
	if err != nil {
		return nil, err
	}
	return &together{like, parts}, nil
}

// takesParts is the model as one that takes measurements which lack some of their numbers, or an error.
func takesParts(m ssm.Model) (ssm.Linear, error) {
	if linear, ok := m.(ssm.Linear); ok {
		return linear, nil
	}
	return nil, errors.New("the scan has measurements that lack some of their numbers, which a model that is not linear does not take: count them as missing")
}

// own is the model's likelihood, without the wrapping of bind.
func own(like ssm.Likelihood) ssm.Likelihood {
	if w, ok := like.(*whole); ok {
		like = w.Likelihood
	}
	if t, ok := like.(*together); ok {
		like = t.Likelihood
	}
	return like
}

// whole remembers the log-likelihood of a state, and evaluates that of a proposal as a whole.
type whole struct {
	ssm.Likelihood
	x, y      []float64 // the state, and the last proposal
	ll, tried float64
	evaluated int64
}

// LogLik implements ssm.Likelihood; NaN is −Inf.
func (w *whole) LogLik(x []float64, rows []int32) float64 {
	l := w.Likelihood.LogLik(x, rows)
	if rows == nil {
		w.evaluated += int64(w.Len())
	}
	return orNever(l)
}

func (w *whole) Set(x []float64) {
	w.x, w.ll = append(w.x[:0], x...), w.LogLik(x, nil)
}

func (w *whole) Try(x []float64, _ ssm.Block) float64 {
	w.y, w.tried = append(w.y[:0], x...), w.LogLik(x, nil)
	return difference(w.Likelihood, w.tried, w.ll, w.y, w.x)
}

func (w *whole) Keep() { w.x, w.y, w.ll = w.y, w.x, w.tried }

func (w *whole) Terms() (evaluated, skipped int64) { return w.evaluated, 0 }

const mostStarts = 1000

// impossible returns the error for a scan that had no likelihood at any of some states; x is one of them.
func impossible(like ssm.Likelihood, scan *ssm.Scan, x []float64, states string) error {
	if a, ok := own(like).(ssm.Accuser); ok {
		if row, ok := a.Impossible(x); ok {
			return &ImpossibleError{row, fmt.Errorf("measurement %d of the scan at %v s, %v, is impossible at each of %s: "+
				"leave it out, or widen the model", row+1, scan.Time, scan.Row(row), states)}
		}
	}
	return &ImpossibleError{-1, fmt.Errorf("the scan at %v s is impossible at each of %s", scan.Time, states)}
}

// logLik is the log-likelihood of a state; NaN is −Inf.
func logLik(like ssm.Likelihood, x []float64) float64 { return orNever(like.LogLik(x, nil)) }
