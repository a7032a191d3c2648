package filter

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// State is everything that a filter needs to go on, as plain data. It stands for a distribution of the model's state: N particles,
// weighted or not, or the moments of a normal distribution.
type State struct {
	K    int     // scans filtered
	Time float64 // of the last scan, in seconds; 0 before the first

	Dim  int
	X    []float64 // N × Dim, the particles; nil: the state is N(Mean, Cov)
	LogW []float64 // N, log-weights, normalised; nil: all particles weigh the same

	Mean []float64 // Dim; nil if there are particles
	Cov  []float64 // Dim × Dim

	Genealogy []int32 // rows of N: the ancestor of each particle one resampling ago, two ago, …, up to lag; of particle filters

	Tuning []float64 // values that the method adapts from scan to scan
	LogZ   float64   // log p(z_1:k), in nats; NaN if the method estimates none
}

// N is the number of particles; 0 for a normal distribution.
func (st *State) N() int { return len(st.X) / max(1, st.Dim) }

// Particle returns the state of particle j.
func (st *State) Particle(j int) []float64 { return st.X[j*st.Dim : (j+1)*st.Dim : (j+1)*st.Dim] }

// Moments returns the mean of the model's state, Dim, and its covariance, Dim × Dim. That of N particles of equal weight is
// divided by N.
func (st *State) Moments() (mean, cov []float64) {
	if st.X == nil {
		return slices.Clone(st.Mean), slices.Clone(st.Cov)
	}
	return moments(st.X, st.Dim, ssm.Block{From: 0, To: st.Dim}, st.weights())
}

// moments returns the mean and the covariance of some coordinates of weighted rows of length d.
func moments(x []float64, d int, b ssm.Block, weight func(j int) float64) (mean, cov []float64) {
	n, w := len(x)/d, b.To-b.From
	mean, cov = make([]float64, w), make([]float64, w*w)
	first := x[b.From:b.To] // deviations from a particle lose no digits far from the origin
	for j := range n {
		row, p := x[j*d+b.From:j*d+b.To], weight(j)
		for i, v := range row {
			mean[i] += float64(p * (v - first[i]))
		}
	}
	for i := range mean {
		mean[i] += first[i]
	}
	dev := make([]float64, w)
	for j := range n {
		row, p := x[j*d+b.From:j*d+b.To], weight(j)
		for i, v := range row {
			dev[i] = v - mean[i]
		}
		for i, u := range dev {
			pu := p * u
			for l := range i + 1 {
				cov[i*w+l] += float64(pu * dev[l])
			}
		}
	}
	for i := range w {
		for l := range i {
			cov[l*w+i] = cov[i*w+l]
		}
	}
	return mean, cov
}

// weights returns the particles' weights, which sum to 1.
func (st *State) weights() func(j int) float64 {
	if st.LogW == nil {
		p := 1 / float64(st.N())
		return func(int) float64 { return p }
	}
	w := exps(st.LogW)
	return func(j int) float64 { return w[j] }
}

// Quantiles returns the p-quantile of each coordinate: the smallest value whose cumulative weight is at least p, or that of the
// normal distribution.
func (st *State) Quantiles(p float64) []float64 {
	q := make([]float64, st.Dim)
	if st.X == nil {
		for i := range q {
			q[i] = st.Mean[i] + float64(math.Sqrt(st.Cov[i*st.Dim+i])*rng.NormalQuantile(p))
		}
		return q
	}
	n, weight := st.N(), st.weights()
	order := make([]int, n)
	for i := range q {
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int {
			switch u, v := st.X[a*st.Dim+i], st.X[b*st.Dim+i]; {
			case u < v:
				return -1
			case u > v:
				return 1
			}
			return a - b
		})
		sum := 0.0
		q[i] = st.X[order[n-1]*st.Dim+i]
		for _, j := range order {
			if sum += weight(j); sum >= p*(1-1e-12) {
				q[i] = st.X[j*st.Dim+i]
				break
			}
		}
	}
	return q
}

const stateKind = "filter.State/2"

// MarshalBinary packs the state into a container of internal/ckpt. It never fails.
func (st *State) MarshalBinary() ([]byte, error) { return st.encoder().Encode(), nil }

// WriteTo writes the bytes of MarshalBinary. Its errors come from w.
func (st *State) WriteTo(w io.Writer) (int64, error) { return st.encoder().WriteTo(w) }

func (st *State) encoder() *ckpt.Encoder {
	e := ckpt.NewEncoder(stateKind)
	e.Ints("counts", st.K, st.Dim)
	e.Float64s("scalars", []float64{st.Time, st.LogZ})
	for _, a := range st.arrays() {
		e.Float64s(a.name, *a.data)
	}
	e.Int32s("genealogy", st.Genealogy)
	return e
}

type array struct {
	name string
	data *[]float64
}

func (st *State) arrays() []array {
	return []array{{"x", &st.X}, {"logw", &st.LogW}, {"mean", &st.Mean}, {"cov", &st.Cov}, {"tuning", &st.Tuning}}
}

// UnmarshalBinary is the inverse of MarshalBinary. It refuses damaged bytes and shapes that do not fit each other.
func (st *State) UnmarshalBinary(b []byte) error {
	d, err := ckpt.NewDecoder(b, stateKind)
	if err != nil {
		return err
	}
	var s State
	d.Ints("counts", &s.K, &s.Dim)
	if scalars := d.Float64s("scalars"); len(scalars) == 2 {
		s.Time, s.LogZ = scalars[0], scalars[1]
	} else {
		d.Fail("%d scalars, not 2", len(scalars))
	}
	for _, a := range s.arrays() {
		*a.data = d.Float64s(a.name)
	}
	s.Genealogy = d.Int32s("genealogy")
	if err := d.Err(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	*st = s
	return nil
}

// check refuses shapes that do not fit each other.
func (st *State) check() error {
	switch {
	case st.K < 0 || st.Dim < 1:
		return fmt.Errorf("a state of %d numbers after %d scans", st.Dim, st.K)
	case (st.X == nil) == (st.Mean == nil):
		return errors.New("a state is either particles or a normal distribution")
	case len(st.X)%st.Dim != 0, st.LogW != nil && len(st.LogW) != st.N():
		return fmt.Errorf("%d numbers and %d weights of particles of %d numbers each", len(st.X), len(st.LogW), st.Dim)
	case len(st.Genealogy) > 0 && (st.N() == 0 || len(st.Genealogy)%st.N() != 0 || len(st.Genealogy) > lag*st.N()):
		return fmt.Errorf("a genealogy of %d numbers, of %d particles", len(st.Genealogy), st.N())
	case st.Mean != nil && (len(st.Mean) != st.Dim || len(st.Cov)/st.Dim != st.Dim || len(st.Cov)%st.Dim != 0):
		return fmt.Errorf("moments of %d and %d numbers of a state of %d", len(st.Mean), len(st.Cov), st.Dim)
	}
	for _, a := range st.Genealogy {
		if a < 0 || int(a) >= st.N() {
			return fmt.Errorf("ancestor %d of %d particles", a, st.N())
		}
	}
	return nil
}

// add is a + b.
func add(a, b []float64) []float64 {
	sum := make([]float64, len(a))
	for i, v := range a {
		sum[i] = v + b[i]
	}
	return sum
}
