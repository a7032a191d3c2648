package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// growth is a model whose posterior often has two modes: x_k = x/2 + 25 x/(1 + x²) + N(0, q), z = x_k²/20 + N(0, r) (Gordon, Salmond and
// Smith 1993, without the term that depends on the time).
type growth struct{ q, r float64 }

const startVariance = 5

func (growth) Dim() int { return 1 }

func (m growth) Start(s *ssm.Stream, x []float64) { x[0] = math.Sqrt(startVariance) * s.Normal() }

func (m growth) Transition(float64) (ssm.Transition, error) { return growthStep{m.q}, nil }

type growthStep struct{ q float64 }

func drift(x float64) float64 { return x/2 + 25*x/(1+x*x) }

func (t growthStep) Sample(s *ssm.Stream, from, x []float64) {
	x[0] = drift(from[0]) + math.Sqrt(t.q)*s.Normal()
}

func (t growthStep) LogDensity(from, x []float64) float64 {
	d := x[0] - drift(from[0])
	return t.MaxLogDensity() - d*d/(2*t.q)
}

func (t growthStep) MaxLogDensity() float64 { return -0.5 * (log2Pi + rng.Log(t.q)) }

func (m growth) Bind(scan *ssm.Scan) (ssm.Likelihood, error) { return squares{m, scan.Values}, nil }

type squares struct {
	m growth
	z []float64
}

func (l squares) Len() int { return len(l.z) }

func (l squares) LogLik(x []float64, _ []int32) (sum float64) {
	h := x[0] * x[0] / 20
	for _, z := range l.z {
		sum -= 0.5 * ((z-h)*(z-h)/l.m.r + log2Pi + math.Log(l.m.r))
	}
	return sum
}

// simulate draws n scans.
func (m growth) simulate(seed uint64, n int) (scans []*ssm.Scan) {
	s := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	x, y := make([]float64, 1), make([]float64, 1)
	m.Start(s, x)
	for k := range n {
		growthStep{m.q}.Sample(s, x, y)
		x, y = y, x
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: []float64{x[0]*x[0]/20 + math.Sqrt(m.r)*s.Normal()}})
	}
	return scans
}

// exact is the mean after each scan, by the trapezoidal rule, which is exact to many digits for smooth densities.
func (m growth) exact(scans []*ssm.Scan) (means []float64) {
	const h, wide = 0.1, 45.0
	n := int(2*wide/h) + 1
	w, next, kernel := make([]float64, n), make([]float64, n), make([]float64, n*n)
	at := func(i int) float64 { return -wide + h*float64(i) }
	for i := range n {
		w[i] = math.Exp(-at(i) * at(i) / (2 * startVariance))
		for j := range n {
			d := at(j) - drift(at(i))
			kernel[i*n+j] = math.Exp(-d * d / (2 * m.q))
		}
	}
	for _, scan := range scans {
		clear(next)
		for i, p := range w {
			if p < 1e-14 {
				continue
			}
			for j := range next {
				next[j] += p * kernel[i*n+j]
			}
		}
		sum, mean, like := 0.0, 0.0, squares{m, scan.Values}
		for j := range next {
			next[j] *= math.Exp(like.LogLik([]float64{at(j)}, nil))
			sum += next[j]
			mean += next[j] * at(j)
		}
		for j := range next {
			next[j] /= sum
		}
		means = append(means, mean/sum)
		w, next = next, w
	}
	return means
}
