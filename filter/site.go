package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// Site is what the measurements of one node say of the state, as a Gaussian factor (sequential-mcmc-massive-data, section 2.3, eq. 23)
//
//	exp(gᵀ(x − o) − (x − o)ᵀ Λ (x − o)/2) ∝ exp(rᵀx − xᵀΛx/2),   r = g + Λ o.
//
// r and Λ are its natural parameters. An origin o near the state keeps the digits of states far from 0. It belongs to the site, so that nodes need
// not agree on one. The zero value says nothing of the state.
type Site struct {
	Origin    []float64 // Dim, o
	Gradient  []float64 // Dim, g
	Precision []float64 // Dim × Dim, Λ, symmetric
}

// product is the product of all sites but one, in the order of the nodes. It is nil if none says anything. The origin is that of the first, unless
// it is given.
func product(sites []Site, without int, origin []float64) (q *quadratic) {
	for i, s := range sites {
		if i == without || s.Precision == nil {
			continue
		}
		d := len(s.Origin)
		if q == nil {
			if origin == nil {
				origin = s.Origin
			}
			q = &quadratic{origin, make([]float64, d), make([]float64, d*d)}
		}
		for j := range d {
			q.gradient[j] += s.Gradient[j]
			for l := range d {
				q.gradient[j] -= float64(s.Precision[j*d+l] * (origin[l] - s.Origin[l]))
				q.precision[j*d+l] += s.Precision[j*d+l]
			}
		}
	}
	return q
}

// law is the mean and the covariance of some coordinates.
type law struct {
	mean []float64 // d
	cov  []float64 // d × d
}

// of is the law of some of the coordinates.
func (l law) of(coordinates []int) (m law) {
	for _, i := range coordinates {
		m.mean = append(m.mean, l.mean[i])
		for _, j := range coordinates {
			m.cov = append(m.cov, l.cov[i*len(l.mean)+j])
		}
	}
	return m
}

// siteOf is the site whose product with the prediction and the cavity has the moments of the posterior (eq. 31):
//
//	Λ = κ Σ_p⁻¹ − Σ_f⁻¹ − Λ_c,   r = κ Σ_p⁻¹ μ_p − Σ_f⁻¹ μ_f − r_c
//
// with κ = 1, or the correction of EP.Correct. The origin is μ_f. With Σ_f = B Bᵀ of rank r and W B = I it is worked out for w = W (x − μ_f), in
// which the prediction is N(0, I): Σ_f may be singular, and units do not matter.
//
//	S = W Σ_p Wᵀ,   Λ = Wᵀ (κ S⁻¹ − I − Bᵀ Λ_c B) W,   g = Wᵀ (κ S⁻¹ W (μ_p − μ_f) − Bᵀ g_c)
//
// ok is false if S is not positive definite, as that of few samples.
func siteOf(posterior, predicted law, spread *dense.Semidefinite, cavity *quadratic, kappa float64) (s Site, ok bool) {
	d, r := len(predicted.mean), spread.Rank()
	if r == 0 {
		return Site{}, false
	}
	w := make([]float64, r*d) // W, r × d
	column, unit := make([]float64, r), make([]float64, d)
	for j := range d {
		clear(unit)
		unit[j] = 1
		spread.Whiten(column, unit)
		for k, v := range column {
			w[k*d+j] = v
		}
	}
	half, inside := make([]float64, r*d), make([]float64, r*r)
	dense.Mul(half, w, posterior.cov, d)
	dense.MulT(inside, half, w, d)
	dense.Symmetrise(inside, r)
	if !dense.Cholesky(inside, r) {
		return Site{}, false
	}
	precision, gradient, dev := make([]float64, r*r), make([]float64, r), make([]float64, d)
	for k := range r {
		row := precision[k*r : (k+1)*r]
		row[k] = kappa
		dense.Solve(inside, row)
		row[k]--
	}
	for i := range dev {
		dev[i] = posterior.mean[i] - predicted.mean[i]
	}
	dense.MulVec(gradient, w, dev)
	dense.Solve(inside, gradient)
	for k := range gradient {
		gradient[k] *= kappa
	}
	if cavity != nil {
		root := spread.Root()
		by := make([]float64, d*r)
		dense.Mul(by, cavity.precision, root, d)
		for k := range r {
			for i := range d {
				gradient[k] -= float64(root[i*r+k] * cavity.gradient[i])
				for l := range r {
					precision[k*r+l] -= float64(root[i*r+k] * by[i*r+l])
				}
			}
		}
	}
	s = Site{Origin: predicted.mean, Gradient: make([]float64, d), Precision: make([]float64, d*d)}
	back := make([]float64, r*d)
	dense.Mul(back, precision, w, r)
	for k := range r {
		for i := range d {
			s.Gradient[i] += float64(w[k*d+i] * gradient[k])
			for j := range d {
				s.Precision[i*d+j] += float64(w[k*d+i] * back[k*d+j])
			}
		}
	}
	dense.Symmetrise(s.Precision, d)
	return s, true
}

// of is what the factor says of some of the coordinates, while the others are at the origin.
func (q *quadratic) of(coordinates []int) *quadratic {
	if q == nil {
		return nil
	}
	out, d := &quadratic{}, len(q.origin)
	for _, i := range coordinates {
		out.origin, out.gradient = append(out.origin, q.origin[i]), append(out.gradient, q.gradient[i])
		for _, j := range coordinates {
			out.precision = append(out.precision, q.precision[i*d+j])
		}
	}
	return out
}

// with adds to some coordinates, which are rising, those that the factor tells of.
func (q *quadratic) with(coordinates []int) (all []int) {
	if q == nil {
		return coordinates
	}
	d := len(q.origin)
	for i := range d {
		tells := slices.ContainsFunc(q.precision[i*d:(i+1)*d], func(v float64) bool { return v != 0 })
		if _, ok := slices.BinarySearch(coordinates, i); ok || tells {
			all = append(all, i)
		}
	}
	return all
}

// of is the site with some of its coordinates alone, given by their places.
func (s Site) of(places []int) Site {
	q := (&quadratic{s.Origin, s.Gradient, s.Precision}).of(places)
	return Site{q.origin, q.gradient, q.precision}
}

// among is the site of some coordinates as one of the whole state, whose other coordinates it says nothing of.
func (s Site) among(coordinates []int, origin []float64) Site {
	d, n := len(origin), len(coordinates)
	out := Site{Origin: origin, Gradient: make([]float64, d), Precision: make([]float64, d*d)}
	for k, i := range coordinates {
		out.Gradient[i] = s.Gradient[k]
		for l, j := range coordinates {
			out.Precision[i*d+j] = s.Precision[k*n+l]
		}
	}
	return out
}

// finite reports whether all numbers are.
func (s Site) finite() bool {
	for _, list := range [][]float64{s.Gradient, s.Precision} {
		if slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			return false
		}
	}
	return true
}

// Repair makes the precision of a site positive semidefinite. The noise of moments may give it an eigenvalue below 0: directions in which the
// measurements would make the state less certain.
type Repair interface {
	// values returns what becomes of the eigenvalues of such a precision.
	values(e []float64) []float64
}

// Clip makes eigenvalues below 0 nothing. The site then says nothing of these directions, which is the cautious way.
type Clip struct{}

func (Clip) values(e []float64) (out []float64) {
	for _, v := range e {
		out = append(out, max(v, 0))
	}
	return out
}

// SoftAbs makes each eigenvalue e into e·coth(α e) (Betancourt 2013): |e|, but for the smallest, which become 1/α. A direction that the noise has
// made uncertain is then as certain as it would be with the other sign: it invents information.
type SoftAbs struct {
	Alpha float64 `yaml:"alpha,omitempty"` // α, one over the unit of a precision; 0 or left out: 1,000 over the median of the absolute eigenvalues
}

// Check implements config.Checker.
func (s SoftAbs) Check(f *config.Faults) {
	f.If(!(s.Alpha >= 0) || math.IsInf(s.Alpha, 1), "alpha", "want a number of at least 0, have %v", s.Alpha)
}

// Examples implements config.Exampler.
func (SoftAbs) Examples() []string { return []string{"{alpha: 100}"} }

func (s SoftAbs) values(e []float64) []float64 {
	out := make([]float64, len(e))
	for i, v := range e {
		out[i] = math.Abs(v)
	}
	sorted := slices.Sorted(slices.Values(out))
	alpha := cmp.Or(s.Alpha, 1e3/sorted[len(sorted)/2])
	for i, v := range out {
		t := rng.Exp(-2 * alpha * v)
		switch {
		case v == 0:
			out[i] = 1 / alpha
		case t < 1:
			out[i] = v * (1 + t) / (1 - t)
		default: // v·α is too small for a float64 to tell e^−2αv from 1
			out[i] = 1 / alpha
		}
	}
	return out
}

// repair makes the site's precision positive semidefinite. Its mean stays, the μ with Λ (μ − o) = g: along an eigenvector whose value e becomes v, g
// becomes v/e times what it was. Where e is 0 there is no such mean, and g stays. It reports whether there was anything to repair.
func (s Site) repair(by Repair) (repaired bool) {
	d := len(s.Gradient)
	e, u := dense.Eigen(s.Precision, d)
	if e[0] >= 0 {
		return false
	}
	values := by.values(e)
	gradient, precision := make([]float64, d), make([]float64, d*d)
	for k, v := range values {
		along := 0.0
		for i, g := range s.Gradient {
			along += float64(u[i*d+k] * g)
		}
		if e[k] != 0 {
			along *= v / e[k]
		}
		for i := range d {
			gradient[i] += float64(u[i*d+k] * along)
			for j := range d {
				precision[i*d+j] += float64(float64(u[i*d+k]*v) * u[j*d+k])
			}
		}
	}
	dense.Symmetrise(precision, d)
	copy(s.Gradient, gradient)
	copy(s.Precision, precision)
	return true
}

// empty reports whether the site says nothing of the state.
func (s Site) empty() bool {
	return !slices.ContainsFunc(s.Precision, func(v float64) bool { return v != 0 })
}

// informed lists the coordinates of a state of d numbers that a likelihood which bind returned depends on.
func informed(like ssm.Likelihood, d int) []int {
	if e, ok := seriesOf(like, d); ok { // also of measurements that lack some of their numbers
		return coordinatesOf(e, d)
	}
	if w, ok := like.(*whole); ok {
		like = w.Likelihood
	}
	return coordinatesOf(like, d)
}

// site is the site of a chain's measurements (eq. 31), by the moments of the states that it has kept and of its prediction, given the sites of all
// nodes of which its own has the number d. It is the zero value where it says nothing: the states are worth too few draws for their number of
// coordinates, for which the inverse of a covariance has no mean, or their covariance is singular.
//
// Moments are those of the coordinates that measurements depend on, or other sites: what a likelihood adds to the law of these does not depend on
// the others, and fewer coordinates have less noise. Where others' sites tell of more than the node's own measurements, these rows are left out
// afterwards.
func (c *chain) site(kept []float64, sites []Site, d int, by Repair, correct bool) (s Site, repaired bool, err error) {
	mean, cov := c.predicted()
	dim, n, cavity := len(mean), float64(len(kept)/len(mean)), product(sites, d, mean)
	own := informed(c.like, dim)
	over := cavity.with(own)
	predicted := law{mean, cov}.of(over)
	spread, ok := dense.NewSemidefinite(predicted.cov, len(over))
	if !ok {
		return s, false, fmt.Errorf("the covariance of the predicted states of node %d is not positive semidefinite: %v", d+1, predicted.cov)
	}
	posterior := law{}
	posterior.mean, posterior.cov = moments(kept, dim, ssm.Block{From: 0, To: dim}, func(int) float64 { return 1 / n })
	for i := range posterior.cov {
		posterior.cov[i] *= n / (n - 1)
	}
	draws, rank, kappa := math.Inf(1), float64(spread.Rank()), 1.0
	for _, i := range over {
		if t := c.summary[i]; !t.still {
			draws = min(draws, t.ess)
		}
	}
	if !(draws > rank+2) {
		return Site{}, false, nil
	}
	if correct {
		kappa = (draws - rank - 2) / (draws - 1)
	}
	if s, ok = siteOf(posterior.of(over), predicted, spread, cavity.of(over), kappa); !ok || !s.finite() {
		return Site{}, false, nil
	}
	var places []int
	for k, i := range over {
		if _, ok := slices.BinarySearch(own, i); ok {
			places = append(places, k)
		}
	}
	s = s.of(places)
	if repaired = s.repair(by); s.empty() {
		return Site{}, repaired, nil
	}
	return s.among(own, mean), repaired, nil
}
