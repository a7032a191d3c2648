// Package bayes makes a statistician's own model a target of the samplers: named parameters with priors, and a
// log-likelihood with its gradient.
//
//	model, err := bayes.New([]bayes.Parameter{
//		{Name: "beta", Size: 2, Prior: bayes.Normal{SD: 10}},
//		{Name: "sigma", Prior: bayes.HalfCauchy{Scale: 2.5}},
//	}, len(y), func(i int, p, grad []float64) float64 { … })
//	sampler := smc.Sampler{Model: model, Prior: model.Prior(), …}
//
// A sampler moves particles in unconstrained coordinates θ, all real numbers. The log-likelihood sees the parameters' values.
// A prior's support decides the transform between the two (transform.go). The package applies the chain rule, and adds the Jacobian
// to the prior, so that only the likelihood is tempered.
//
// A prior may depend on parameters before it (HierarchicalNormal), and it may be improper (Flat). Programs may add
// priors of their own: see Prior.
package bayes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Parameter is a parameter of a model, or a vector of parameters that are independent a priori, given those before them.
type Parameter struct {
	Name  string
	Size  int // length of a vector; 0: a number
	Prior Prior
}

// LogLik returns the contribution of example i to the log-likelihood in nats, at the parameters' values p, and adds its
// derivatives by p to grad. p and grad have length D and the order of the parameters. A model whose examples are not
// independent has one example, and its LogLik is of all data. −Inf is a likelihood of 0. NaN says that the model breaks down at
// p, which may be 0, infinite or NaN after a trajectory that diverged. LogLik must be safe for concurrent use. Where its results
// shall have the same bits on every machine, it must round products that are added, as float64(x*y) + z.
type LogLik func(i int, p, grad []float64) float64

// Model is a user's own model. It is an mcmc.Model, safe for concurrent use.
type Model struct {
	Pool *mcmc.Pool // threads for particles and examples; nil: none. Results do not depend on their number

	examples   int
	logLik     LogLik
	components []component
	names      []string
	spare      *sync.Pool // of *scratch
}

// component is a coordinate of θ.
type component struct {
	prior Prior
	transform
	given    []int // indices of the coordinates on which the prior depends
	improper bool
}

// New returns a model of the given number of examples. The error names all parameters whose settings are wrong.
func New(parameters []Parameter, examples int, logLik LogLik) (*Model, error) {
	m := &Model{examples: examples, logLik: logLik}
	var faults []error
	if examples < 1 {
		faults = append(faults, fmt.Errorf("%d examples; want at least 1", examples))
	}
	if logLik == nil {
		faults = append(faults, errors.New("there is no log-likelihood"))
	}
	if len(parameters) == 0 {
		faults = append(faults, errors.New("there are no parameters"))
	}
	seen, numbers := map[string]bool{}, map[string]int{}
	for _, p := range parameters {
		if err := m.add(p, seen, numbers); err != nil {
			faults = append(faults, fmt.Errorf("parameter %q: %w", p.Name, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("own model: %w", err)
	}
	m.spare = &sync.Pool{New: func() any { return m.newScratch() }}
	return m, nil
}

// add appends the coordinates of a parameter. It notes the name in seen and, of a parameter that is a number, the index in numbers.
func (m *Model) add(p Parameter, seen map[string]bool, numbers map[string]int) error {
	switch {
	case p.Name == "":
		return errors.New("it has no name")
	case seen[p.Name]:
		return errors.New("there are two of this name")
	case p.Size < 0:
		return fmt.Errorf("size %d; want at least 1, or 0 for a number", p.Size)
	case p.Prior == nil:
		return errors.New("it has no prior")
	}
	seen[p.Name] = true
	if prior, ok := p.Prior.(checker); ok {
		if err := prior.check(); err != nil {
			return err
		}
	}
	c := component{prior: p.Prior}
	c.lower, c.upper = p.Prior.Support()
	if prior, ok := p.Prior.(Improper); ok {
		c.improper = prior.Improper()
	}
	if prior, ok := p.Prior.(Dependent); ok {
		for _, name := range prior.Given() {
			i, ok := numbers[name]
			if !ok {
				return fmt.Errorf("its prior depends on %q, which is not a number among the parameters before it", name)
			}
			c.given = append(c.given, i)
		}
	}
	if prior, ok := p.Prior.(scaler); ok {
		for _, name := range prior.Positive() {
			if m.components[numbers[name]].lower < 0 {
				return fmt.Errorf("its prior takes %q for a standard deviation, and that may be negative: give it a positive prior, such as HalfNormal", name)
			}
		}
	}
	if p.Size == 0 {
		numbers[p.Name] = len(m.components)
		m.components, m.names = append(m.components, c), append(m.names, p.Name)
	}
	for i := range p.Size {
		m.components, m.names = append(m.components, c), append(m.names, fmt.Sprintf("%s[%d]", p.Name, i+1))
	}
	return nil
}

// Dim is D, the number of coordinates.
func (m *Model) Dim() int { return len(m.components) }

// Examples is the number of examples.
func (m *Model) Examples() int { return m.examples }

// Name is the name of coordinate i as Stan prints it: sigma, or beta[2] for the second of a vector.
func (m *Model) Name(i int) string { return m.names[i] }

// chunk is the number of examples whose sum is one term of the log-likelihood. It is part of the result.
const chunk = 256

// tooFar is the logarithm of the density of a start below which a float64 cannot hold it and the likelihood: their sum, which is the
// likelihood alone, would lose all its digits, and look like a place of great density. Such places are not visited.
const tooFar = -0x1p40

// scratch is memory for the evaluation of one particle.
type scratch struct {
	values, slopes []float64 // D, x and dx/dθ
	given, partial []float64 // of a prior
	sums           []float64 // for each chunk D+1: its derivatives by x and its sum
}

func (m *Model) newScratch() *scratch {
	d, most := m.Dim(), 0
	for _, c := range m.components {
		most = max(most, len(c.given))
	}
	return &scratch{values: make([]float64, d), slopes: make([]float64, d),
		given: make([]float64, most), partial: make([]float64, most+1)}
}

// LogLik is as mcmc.Model has it. Particles and chunks of examples share the threads of the pool. For improper priors it
// contains the correction from their starts (Flat), a share of it for each example.
func (m *Model) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := m.Dim()
	each(m.Pool, len(ll), func(j int) {
		s := m.spare.Get().(*scratch)
		defer m.spare.Put(s)
		var g []float64
		if grad != nil {
			g = grad[j*d : (j+1)*d]
		}
		ll[j] = m.one(s, rows, theta[j*d:(j+1)*d], g)
	})
	return nil
}

// one is the log-likelihood of one particle. It adds the sums of chunks in their order.
func (m *Model) one(s *scratch, rows []int32, theta, grad []float64) (l float64) {
	n, d := m.examples, len(theta)
	if rows != nil {
		n = len(rows)
	}
	m.constrain(s, theta)
	chunks := (n + chunk - 1) / chunk
	if len(s.sums) < chunks*(d+1) {
		s.sums = make([]float64, chunks*(d+1))
	}
	clear(s.sums[:chunks*(d+1)])
	each(m.Pool, chunks, func(k int) {
		sum := s.sums[k*(d+1) : (k+1)*(d+1)]
		slopes := sum[:d:d]
		for r := k * chunk; r < min(n, (k+1)*chunk); r++ {
			i := r
			if rows != nil {
				i = int(rows[r])
			}
			sum[d] += m.logLik(i, s.values, slopes)
		}
	})
	total := s.sums[:d+1]
	for k := 1; k < chunks; k++ {
		for i, v := range s.sums[k*(d+1) : (k+1)*(d+1)] {
			total[i] += v
		}
	}
	share := float64(n) / float64(m.examples)
	for i, c := range m.components {
		if c.improper {
			given := s.of(c.given)
			start := c.prior.LogDensity(s.values[i], given, s.partial[:1+len(given)])
			if start < tooFar {
				return math.NaN()
			}
			total[d] -= float64(share * start)
			total[i] -= float64(share * s.partial[0])
			for k, g := range c.given {
				total[g] -= float64(share * s.partial[1+k])
			}
		}
	}
	for i := range grad {
		grad[i] = total[i] * s.slopes[i]
	}
	return total[d]
}

// constrain sets the values of θ and their derivatives.
func (m *Model) constrain(s *scratch, theta []float64) {
	for i, c := range m.components {
		s.values[i], s.slopes[i] = c.value(theta[i])
	}
}

// of returns the values of some coordinates.
func (s *scratch) of(indices []int) []float64 {
	for k, i := range indices {
		s.given[k] = s.values[i]
	}
	return s.given[:len(indices)]
}

// each calls f(0) … f(n−1), on the threads of p if there are any.
func each(p *mcmc.Pool, n int, f func(i int)) {
	if p != nil && n > 1 {
		p.Run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

// Values returns the parameters' values of particles θ, row-major J×D both.
func (m *Model) Values(theta []float64) []float64 {
	d := m.Dim()
	values := make([]float64, len(theta))
	for k, u := range theta {
		values[k], _ = m.components[k%d].value(u)
	}
	return values
}

// Moment is the mean and the standard deviation of a parameter under the posterior.
type Moment struct {
	Name     string
	Mean, SD float64
}

// Moments returns the moments of all parameters' values under the particles theta, row-major J×D, with normalised
// log-weights; nil: equal ones.
func (m *Model) Moments(theta, logw []float64) []Moment {
	d, values := m.Dim(), m.Values(theta)
	moments := make([]Moment, d)
	weight := func(j int) float64 {
		if logw == nil {
			return float64(d) / float64(len(theta))
		}
		return rng.Exp(logw[j])
	}
	for i := range moments {
		mean, square := 0.0, 0.0
		for j := range len(theta) / d {
			if w := weight(j); w > 0 {
				mean += float64(w * values[j*d+i])
			}
		}
		for j := range len(theta) / d {
			if w := weight(j); w > 0 {
				square += float64(w * float64((values[j*d+i]-mean)*(values[j*d+i]-mean)))
			}
		}
		moments[i] = Moment{m.names[i], mean, math.Sqrt(square)}
	}
	return moments
}
