package filter

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/ssm"
)

// A scan surprises a filter if nearly all scans that it predicted are more likely. With scans z* drawn from the prediction, the surprise of z is
//
//	P(T(z*) ≤ T(z)),   T(z) = log Σ_s p(z | y_s) [+ log M! − M h]
//
// where y_1 … y_4 are draws of the prediction. The rest is for Poisson models, whose scans have M measurements by chance, so that p has other units
// for another M: h is the mean log density of a measurement, of four scans that are drawn before. So T is a rough estimate of how likely a
// scan is. But the surprise is right whatever T is:
// where model and filter are right, z is one more draw of the prediction, its rank among them is uniform, and a surprise is below p with
// a probability of at most p. Scans are drawn until three of them are no more likely than z, and the surprise is 3/(draws); if that
// does not come, it is (k + 1)/(draws + 1) with the k that were (Besag and Clifford 1991). So a scan as it should be takes few draws, and
// one that is far off takes up to 10,000, or 1,000,000 measurements.
//
// Of a scan of more than 100 measurements as many are taken, at random: of a Poisson model by its law of measurements that are seen with some
// probability, so that their number counts, too.
const (
	panel        = 4 // the states of T
	enoughBelow  = 3 // scans that are no more likely
	mostDraws    = 9999
	mostMeasured = 1_000_000 // measurements of all scans that are drawn
	mostOfScan   = 100
	surpriseAt   = 15 // the field Mutation of the stream
)

// Surprise returns the surprise of a scan, given the state before it; NaN where it is unknown: the model draws no measurements
// (ssm.Simulator), or the scan has none and their number has no law (ssm.Poisson). The state stays as it is.
func Surprise(job Job, st *State, scan *ssm.Scan) float64 {
	key := rng.Key{Seed: job.Seed, Purpose: rng.Predict, Island: job.Node, Iteration: st.K + 1, Mutation: surpriseAt}
	p, err := newPrediction(job.Model, key.Stream(), st, scan)
	if err != nil || p.model == nil {
		return math.NaN()
	}
	taken := p.taken(scan)
	actual, ok := p.likely(taken)
	if !ok {
		return math.NaN()
	}
	most := min(mostDraws, mostMeasured/max(1, p.want))
	below := 0
	for n := 1; n <= most; n++ {
		l, ok := p.likely(p.draw(taken))
		if !ok {
			return math.NaN()
		}
		if l <= actual {
			if below++; below == enoughBelow {
				return float64(below) / float64(n)
			}
		}
	}
	return float64(below+1) / float64(most+1)
}

// prediction draws states and scans from the law that a state predicts.
type prediction struct {
	model   ssm.Simulator // of the measurements that are taken; nil: none are
	poisson bool          // their number has a law
	share   float64       // each is taken with this probability
	typical float64       // h
	want    int           // so many are taken; the mean number if it has a law

	tr     ssm.Transition
	s      *ssm.Stream
	st     *State
	sums   []float64 // of the weights of particles; nil: they weigh the same
	factor []float64 // Dim × rank, of the covariance of a normal distribution
	rank   int
	from   []float64 // a state before
	x      []float64
	y      []float64 // panel × Dim
}

func newPrediction(m ssm.Model, s *ssm.Stream, st *State, scan *ssm.Scan) (p *prediction, err error) {
	d := st.Dim
	p = &prediction{share: 1, want: min(scan.Len(), mostOfScan), s: s, st: st, from: make([]float64, d), x: make([]float64, d), y: make([]float64, panel*d)}
	simulator, ok := m.(ssm.Simulator)
	if law, is := m.(ssm.Poisson); is && ok {
		p.poisson, p.share = true, min(1, mostOfScan/law.Rate())
		p.want = int(p.share * law.Rate())
		if p.share < 1 {
			simulator, ok = law.Thinned(p.share).(ssm.Simulator)
		}
	}
	if !ok || !p.poisson && scan.Len() == 0 {
		return p, nil
	}
	p.model = simulator
	if p.tr, err = st.transition(m, scan); err != nil {
		return nil, err
	}
	switch {
	case st.X == nil:
		cov, ok := dense.NewSemidefinite(st.Cov, d)
		if !ok {
			return nil, errors.New("the covariance of the state is not one")
		}
		p.factor, p.rank = cov.Root(), cov.Rank()
	case st.LogW != nil:
		p.sums = exps(st.LogW)
		for j := 1; j < len(p.sums); j++ {
			p.sums[j] += p.sums[j-1]
		}
	}
	for i := range panel {
		p.state(p.y[i*d : (i+1)*d])
	}
	if p.poisson {
		sum, n := 0.0, 0
		for range panel {
			scan := p.draw(&ssm.Scan{Time: scan.Time, Width: scan.Width})
			if t, ok := p.likely(scan); ok && t > math.Inf(-1) {
				sum, n = sum+t, n+scan.Len()
			}
		}
		p.typical = sum / float64(max(1, n))
	}
	return p, nil
}

// state draws a predicted state.
func (p *prediction) state(x []float64) {
	switch st := p.st; {
	case st.X == nil:
		copy(p.from, st.Mean)
		for l := range p.rank {
			z := p.s.Normal()
			for i := range p.from {
				p.from[i] += float64(p.factor[i*p.rank+l] * z)
			}
		}
	case p.sums != nil:
		u := p.s.Float64() * p.sums[len(p.sums)-1]
		copy(p.from, st.Particle(min(sort.SearchFloat64s(p.sums, u), len(p.sums)-1)))
	default:
		copy(p.from, st.Particle(p.s.IntN(st.N())))
	}
	p.tr.Sample(p.s, p.from, x)
}

// taken are those measurements of the scan that count: all, or some by chance, whatever their order is.
func (p *prediction) taken(scan *ssm.Scan) *ssm.Scan {
	n := scan.Len()
	if p.share == 1 && (p.poisson || n == p.want) {
		return scan
	}
	rows := identity(n)
	slices.SortFunc(rows, func(i, j int32) int { return slices.Compare(scan.Row(int(i)), scan.Row(int(j))) })
	out := &ssm.Scan{Time: scan.Time, Width: scan.Width}
	for i := range rows {
		switch {
		case p.poisson && p.s.Float64() >= p.share:
			continue
		case !p.poisson && i == p.want:
			return out
		case !p.poisson:
			j := i + p.s.IntN(n-i)
			rows[i], rows[j] = rows[j], rows[i]
		}
		out.Values = append(out.Values, scan.Row(int(rows[i]))...)
	}
	return out
}

// draw draws a scan like it.
func (p *prediction) draw(like *ssm.Scan) *ssm.Scan {
	p.state(p.x)
	scan := &ssm.Scan{Time: like.Time, Width: like.Width}
	if p.poisson {
		p.model.Measure(p.s, p.x, scan)
		return scan
	}
	for was := -1; was < scan.Len() && scan.Len() < p.want; {
		was = scan.Len()
		p.model.Measure(p.s, p.x, scan)
	}
	scan.Values = scan.Values[:min(len(scan.Values), p.want*scan.Width)]
	return scan
}

// likely is T of a scan; ok is false if it has no likelihood.
func (p *prediction) likely(scan *ssm.Scan) (t float64, ok bool) {
	like, err := bound(p.model, scan)
	if err != nil {
		return 0, false
	}
	d, top := p.st.Dim, math.Inf(-1)
	var l [panel]float64
	for i := range l {
		l[i] = logLik(like, p.y[i*d:(i+1)*d])
		top = max(top, l[i])
	}
	if math.IsInf(top, -1) {
		return top, true
	}
	sum := 0.0
	for _, v := range l {
		sum += rng.Exp(v - top)
	}
	t = top + rng.Log(sum)
	if p.poisson {
		m := float64(scan.Len())
		t += rng.LogGamma(m+1) - float64(m*p.typical)
	}
	return t, true
}
