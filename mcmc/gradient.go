package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/rng"
)

// CheckGradient compares the gradients of a model and of a prior with finite differences of their values, at four draws of the
// prior. Call it once for a model of your own: a wrong gradient leaves the posterior right where moves accept or reject, but
// they are accepted rarely. The error names the coordinate, by the model's method Name(i int) string if it has one.
//
// For step h, D(h) = (f(θ+h) − f(θ−h))/2h has an error of order h² and one of rounding, 2⁻⁵² |f|/h. Of the steps 10⁻¹ … 10⁻⁷ the
// one is taken for which |D(h/2) − D(h)| and rounding together are smallest. A derivative is wrong if it is further than ten
// times this error, and than a millionth of itself, from Richardson's (4 D(h/2) − D(h))/3.
func CheckGradient(ctx context.Context, model Model, prior Prior) error {
	d := model.Dim()
	if prior.Dim() != d {
		return fmt.Errorf("model of %d coordinates, prior of %d", d, prior.Dim())
	}
	logPrior := func(theta, l, grad []float64) error {
		for j := range l {
			var g []float64
			if grad != nil {
				g = grad[j*d : (j+1)*d]
			}
			l[j] = prior.LogDensity(theta[j*d:(j+1)*d], g)
		}
		return nil
	}
	logLik := func(theta, l, grad []float64) error { return model.LogLik(ctx, nil, theta, l, grad) }
	compared := false
	for point := range 4 {
		theta := make([]float64, d)
		prior.Sample(rng.Key{Purpose: rng.Init, Particle: point}.Stream(), theta)
		finite, err := compareGradient("log prior", logPrior, theta, model)
		if err != nil {
			return err
		}
		if !finite {
			return fmt.Errorf("the log prior or its gradient is not finite at a draw of the prior, θ = %s", numeral.Vector(theta))
		}
		finite, err = compareGradient("log-likelihood", logLik, theta, model)
		if err != nil {
			return err
		}
		compared = compared || finite
	}
	if !compared {
		return errors.New("the log-likelihood or its gradient is not finite at any of four draws of the prior: take a narrower prior, or a start nearer to the data")
	}
	return nil
}

// compareGradient compares the gradient of f at theta. finite reports whether value and gradient are finite there; if not, nothing is
// compared.
func compareGradient(what string, f func(theta, l, grad []float64) error, theta []float64, model Model) (finite bool, err error) {
	d := len(theta)
	var l, alone [1]float64
	grad := make([]float64, d)
	if err := errors.Join(f(theta, l[:], grad), f(theta, alone[:], nil)); err != nil {
		return false, err
	}
	if l != alone && !(math.IsNaN(l[0]) && math.IsNaN(alone[0])) {
		return false, fmt.Errorf("%s: %v with the gradient, %v without it, at θ = %s", what, l[0], alone[0], numeral.Vector(theta))
	}
	if !isFinite(l[0]) || !isFinite(Kinetic(grad)) {
		return false, nil
	}
	const steps = 7
	places, values := make([]float64, 4*steps*d), make([]float64, 4*steps)
	for i := range d {
		h := max(1, math.Abs(theta[i]))
		for k := range places {
			places[k] = theta[k%d]
		}
		for k := range steps {
			h /= 10
			for m, by := range []float64{-h, h, -h / 2, h / 2} {
				places[(4*k+m)*d+i] += by
			}
		}
		if err := f(places, values, nil); err != nil {
			return false, err
		}
		derivative, uncertainty := math.NaN(), math.Inf(1)
		for k := range steps {
			at := func(m int) float64 { return places[(4*k+m)*d+i] }
			v := values[4*k : 4*k+4]
			wide, narrow := (v[1]-v[0])/(at(1)-at(0)), (v[3]-v[2])/(at(3)-at(2))
			if e := math.Abs(narrow-wide) + 0x1p-50*math.Abs(l[0])/(at(1)-at(0)); e < uncertainty {
				derivative, uncertainty = (float64(4*narrow)-wide)/3, e
			}
		}
		if !(math.Abs(grad[i]-derivative) <= float64(10*uncertainty)+float64(1e-6*math.Abs(derivative))) {
			return false, fmt.Errorf("%s: the derivative by coordinate %d%s is %.9g, finite differences of the value give %.9g ± %.1g, at θ = %s",
				what, i, name(model, i), grad[i], derivative, uncertainty, numeral.Vector(theta))
		}
	}
	return true, nil
}
