package filter

import (
	"math"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// growth is the model of Gordon, Salmond and Smith.
type growth struct{ q, r float64 }

func (growth) Dim() int { return 1 }

func (m growth) Start(s *ssm.Stream, x []float64) { x[0] = math.Sqrt(5) * s.Normal() }

func (m growth) Transition(dt float64) (ssm.Transition, error) { return growthStep{m.q, 1}, nil }

type growthStep struct{ q, k float64 }

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

func (m growth) simulate(seed uint64, n int) (truth []float64, scans []*ssm.Scan) {
	s := rng.Key{Seed: seed, Purpose: rng.Synthetic}.Stream()
	x, y := make([]float64, 1), make([]float64, 1)
	m.Start(s, x)
	for k := range n {
		growthStep{m.q, 1}.Sample(s, x, y)
		x, y = y, x
		truth = append(truth, x[0])
		scans = append(scans, &ssm.Scan{Time: float64(k + 1), Width: 1, Values: []float64{x[0]*x[0]/20 + math.Sqrt(m.r)*s.Normal()}})
	}
	return truth, scans
}

// exact filters by the trapezoidal rule.
func (m growth) exact(scans []*ssm.Scan) (mean, sd []float64) {
	const h, wide = 0.1, 45.0
	n := int(2*wide/h) + 1
	w, next := make([]float64, n), make([]float64, n)
	at := func(i int) float64 { return -wide + h*float64(i) }
	for i := range w {
		w[i] = math.Exp(-at(i) * at(i) / 10)
	}
	kernel := make([]float64, n*n)
	for i := range n {
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
		sum, a, b := 0.0, 0.0, 0.0
		like := squares{m, scan.Values}
		for j := range next {
			next[j] *= math.Exp(like.LogLik([]float64{at(j)}, nil))
			sum += next[j]
		}
		for j := range next {
			next[j] /= sum
			a += next[j] * at(j)
			b += next[j] * at(j) * at(j)
		}
		mean, sd = append(mean, a), append(sd, math.Sqrt(b-a*a))
		w, next = next, w
	}
	return mean, sd
}
