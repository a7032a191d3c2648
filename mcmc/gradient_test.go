package mcmc

import (
	"context"
	"math"
	"strings"
	"testing"
)

// named is a likelihood of one example whose coordinates have names.
type named struct {
	model
	wrong  func(grad []float64)
	offset float64 // of the value without gradient
}

func (named) Name(i int) string { return []string{"alpha", "beta", "sigma"}[i] }
func (m *named) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if err := m.model.LogLik(ctx, rows, theta, ll, grad); err != nil {
		return err
	}
	if grad == nil {
		ll[0] += m.offset
	} else if m.wrong != nil {
		m.wrong(grad)
	}
	return nil
}

// A right gradient passes in units that differ by 10⁸, and a wrong one is named: sign, factor, a term left out, one part in 10⁵.
func TestCheckGradient(t *testing.T) {
	unit := []float64{1e-4, 1, 1e4}
	log := func(theta, grad []float64) (l float64) {
		for i, x := range theta {
			u := x / unit[i]
			l += math.Sin(u) - math.Exp(0.1*u)
			grad[i] = (math.Cos(u) - 0.1*math.Exp(0.1*u)) / unit[i]
		}
		return l
	}
	prior := wide{unit}
	check := func(m *named) error {
		m.d, m.log, m.factor = 3, log, 1e3
		return CheckGradient(t.Context(), m, prior)
	}
	if err := check(&named{}); err != nil {
		t.Error(err)
	}
	for name, wrong := range map[string]func(grad []float64){
		"(alpha)": func(g []float64) { g[0] = -g[0] },
		"(beta)":  func(g []float64) { g[1] *= 2 },
		"(sigma)": func(g []float64) { g[2] *= 1.00001 },
	} {
		err := check(&named{wrong: wrong})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "log-likelihood: the derivative by coordinate") {
			t.Errorf("error %v, want one about %s", err, name)
		}
	}
	if err := check(&named{offset: 1e-9}); err == nil || !strings.Contains(err.Error(), "without it") {
		t.Errorf("error %v of a value that depends on whether the gradient is asked for", err)
	}
	bad := &model{d: 3, log: func([]float64, []float64) float64 { return math.NaN() }, factor: 1}
	if err := CheckGradient(t.Context(), bad, prior); err == nil || !strings.Contains(err.Error(), "not finite at any of four") {
		t.Errorf("error %v of a model that is NaN everywhere", err)
	}
	if err := CheckGradient(t.Context(), bad, wide{[]float64{1, 0, 1}}); err == nil || !strings.Contains(err.Error(), "log prior or its gradient is not finite") {
		t.Errorf("error %v of a prior that is NaN", err)
	}
	if err := CheckGradient(t.Context(), bad, wide{unit[:2]}); err == nil || !strings.Contains(err.Error(), "model of 3 coordinates, prior of 2") {
		t.Errorf("error %v of a prior of another dimension", err)
	}
}

// wide is N(0, unit²).
type wide struct{ unit []float64 }

func (p wide) Dim() int { return len(p.unit) }
func (p wide) Sample(s *Stream, theta []float64) {
	s.Normals(theta)
	for i, u := range p.unit {
		theta[i] *= u
	}
}
func (p wide) LogDensity(theta, grad []float64) (l float64) {
	for i, u := range p.unit {
		z := theta[i] / u
		l -= 0.5 * z * z
		if grad != nil {
			grad[i] = -z / u
		}
	}
	return l
}
