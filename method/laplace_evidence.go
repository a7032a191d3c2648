package method

import (
	"context"
	"fmt"
	"math"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
)

// factors are those of the prior's precision that are tried, two for each power of ten from 10⁻⁴ to 10⁴.
var factors = func() (all []float64) {
	for k := -8; k <= 8; k++ {
		all = append(all, rng.Exp(float64(float64(k)*math.Ln10/2)))
	}
	return all
}()

// choose chooses τ. The lowest factor wins among equals.
func (c *curvature) choose(ctx context.Context) error {
	tau, best := 1.0, math.Inf(1)
	c.Scores = nil
	if c.Precision != PrecisionPrior {
		for _, f := range factors {
			if c.form.fault(f) != "" {
				c.Scores = append(c.Scores, math.Inf(1))
				continue
			}
			loss := -c.evidence(f)
			if c.Precision == PrecisionValidation {
				e, err := c.ensemble(f)
				if err != nil {
					return err
				}
				nll, _, err := eval.Validation(ctx, e, c.job.Data.Validate, c.job.Data, c.job.Pool)
				if err != nil {
					return err
				}
				loss = float64(nll)
			}
			if c.Scores = append(c.Scores, loss); loss < best {
				tau, best = f, loss
			}
		}
	}
	if c.Precision == PrecisionEvidence {
		tau = c.refine(tau)
	}
	c.Factor = tau
	for _, f := range []float64{tau, c.believed()} {
		if layer := c.form.fault(f); layer != "" {
			return fmt.Errorf("the curvature of layer %s is not positive definite with %v times the precision of the prior: "+
				"the trained network is no maximum there; take a narrower prior, more epochs (map.epochs), or structure: diagonal", layer, f)
		}
	}
	if c.Evidence = c.evidence(c.believed()); c.Evidence-c.Evidence != 0 {
		return fmt.Errorf("the approximate log evidence is %v: the curvature is too large for it", c.Evidence)
	}
	return nil
}

// believed is the factor of the prior whose evidence is told. What validation chooses is how wide the draws are, and no other prior.
func (c *curvature) believed() float64 {
	if c.Precision == PrecisionValidation {
		return 1
	}
	return c.Factor
}

// refine finds the maximum of the evidence between the neighbours of the best of factors, by golden sections of log τ.
func (c *curvature) refine(tau float64) float64 {
	const golden = 0.6180339887498949
	half := math.Ln10 / 2
	low, high := rng.Log(tau)-half, rng.Log(tau)+half
	at := func(x float64) float64 { return c.evidence(rng.Exp(x)) }
	a, b := high-float64(golden*(high-low)), low+float64(golden*(high-low))
	atA, atB := at(a), at(b)
	for high-low > 0.02 {
		if atA >= atB {
			high, b, atB = b, a, atA
			a = high - float64(golden*(high-low))
			atA = at(a)
		} else {
			low, a, atA = a, b, atB
			b = low + float64(golden*(high-low))
			atB = at(b)
		}
	}
	return rng.Exp((low + high) / 2)
}

// evidence is that of Laplace at τ. With u = Λ^½(θ* − m), the constants of the prior and of the Gaussian cancel but for
//
//	log p(D|θ*) − τ|u|²/2 + D/2 log τ − ½ log|S H S + τI|
func (c *curvature) evidence(tau float64) float64 {
	square := 0.0
	for i, s := range c.sd {
		u := (c.at[i] - c.mean[i]) / s
		square += float64(u * u)
	}
	prior, scale, volume := float64(tau*square/2), float64(float64(len(c.at))*rng.Log(tau)/2), float64(c.form.logDet(tau)/2)
	return c.LogLik - prior + scale - volume
}

// away is how far the maximum of the approximation is from θ*, which a descent that ended early does not reach: with the gradient g of
// the log-posterior, the rise ½ gᵀP⁻¹g to it in nats, and the root of the mean square of the way, in standard deviations.
func (c *curvature) away() (rise, way float64) {
	g, w, tau := make([]float64, len(c.at)), make([]float64, len(c.at)), c.believed()
	for i, s := range c.sd {
		g[i] = c.Gradient[i] - float64(tau*((c.at[i]-c.mean[i])/s))
	}
	c.form.whiten(tau, g, w)
	square := 0.0
	for _, x := range w {
		square += float64(x * x)
	}
	return square / 2, math.Sqrt(square / float64(len(w)))
}

// farAway is the way to the maximum from which the trained network counts as far off: the standard deviation of q, in the mean over all
// parameters.
const farAway = 1

// findings are the evidence, and what makes draws or evidence doubtful.
func (c *curvature) findings() []finding.Finding {
	rise, way := c.away()
	found := []finding.Finding{finding.Of(finding.LaplaceEvidence{LogEvidence: c.Evidence, Factor: c.Factor, By: c.Precision})}
	if way > farAway {
		found = append(found, finding.Of(finding.LaplaceOffMode{Rise: rise, Way: way, MAP: c.job.Points != nil}))
	}
	if n := len(factors); c.Scores != nil && (c.Factor <= factors[0] || c.Factor >= factors[n-1]) {
		found = append(found, finding.Of(finding.LaplaceAtEdge{Factor: c.Factor, By: c.Precision, Higher: c.Factor > 1}))
	}
	return found
}
