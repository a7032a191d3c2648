package mcmc

import (
	"context"
	"math"

	"github.com/starling-smc/starling/internal/rng"
)

// learner is what Hamiltonian moves learn while they move, as a view of the tuned values that the caller keeps:
//
//	header | points, mean D and second moments, D or D×D | for each fold: sd, D | factor, D×D if dense
//
// The points are those that a chain, or several that share their step and scale, have visited since the scale was learned last (chain.go). Without a scale the header is
// all.
type learner struct {
	tuning []float64
	kind   Scaling
	usual  bool      // the scaling is the one by rule
	scales scales    // of each fold
	mean   []float64 // of the points
	m2     []float64 // sums of products of deviations from the mean
}

// The header, behind the numbers of dual averaging.
const (
	atWindow = averagingNumbers + iota // number of windows of a chain that have begun
	atPoints                           // number of points
	header
)

// view divides tuned values.
func view(tuning []float64, kind Scaling, d int) learner {
	l := learner{tuning: tuning, kind: kind, scales: plain}
	if kind == None {
		return l
	}
	take := func(n int) (part []float64) {
		part, tuning = tuning[:n:n], tuning[n:]
		return part
	}
	take(header)
	second := d
	if kind == Dense {
		second = d * d
	}
	l.mean, l.m2 = take(d), take(second)
	l.scales = nil
	for len(tuning) > 0 {
		s := scale{sd: take(d)}
		if kind == Dense {
			s.factor = take(second)
		}
		l.scales = append(l.scales, s)
	}
	return l
}

// sizeOf is the number of values that are tuned.
func sizeOf(kind Scaling, d, folds int) int {
	switch kind {
	case None:
		return header
	case Dense:
		return header + (1+folds)*(d+d*d)
	}
	return header + (2+folds)*d
}

// newLearner makes the values that are tuned for a target: the scale of the prior, if it is Gaussian.
func newLearner(t *Target, kind Scaling, folds int) learner {
	d := t.Prior.Dim()
	l := view(make([]float64, sizeOf(kind, d, folds)), kind, d)
	if kind == None {
		return l
	}
	prior, gaussian := t.Prior.(GaussianPrior)
	first := l.scales[0]
	for i := range first.sd {
		first.sd[i] = 1
		if gaussian {
			first.sd[i] = prior.SD(i)
		}
	}
	first.diagonal()
	l.scales.same()
	return l
}

// step is h.
func (l learner) step() float64 { return rng.Exp(l.tuning[logStep]) }

// usualStep is the step that suits d independent normals of a standard deviation, unit: 1.65·d^(−1/6) for one leapfrog, 1.65·d^(−1/4)
// for more, in units of it.
func usualStep(d int, unit float64, one bool) float64 {
	power := 1.0 / 4
	if one {
		power = 1.0 / 6
	}
	return 1.65 * unit * rng.Exp(-power*rng.Log(float64(d)))
}

// firstStep is where the search for h begins: usualStep in units of the scale. With no scale it is in units of the smallest standard
// deviation of a Gaussian prior.
func (l learner) firstStep(t *Target, one bool) float64 {
	unit := 1.0
	if prior, ok := t.Prior.(GaussianPrior); ok && l.kind == None {
		unit = math.Inf(1)
		for i := range prior.Dim() {
			unit = min(unit, prior.SD(i))
		}
	}
	return usualStep(t.Prior.Dim(), unit, one)
}

// fromPrior sets the scale with which chains begin, where that of the prior depends on the place: the mean over theirs.
func (l learner) fromPrior(t *Target, p *Population) {
	prior, ok := t.Prior.(LocalPrior)
	if !ok || l.kind == None {
		return
	}
	sd := l.scales[0].sd
	prior.SDs(p.row(p.Theta, 0), sd)
	own := make([]float64, len(sd))
	for j := 1; j < p.J; j++ {
		prior.SDs(p.row(p.Theta, j), own)
		for i, x := range own {
			sd[i] += (x - sd[i]) / float64(j+1)
		}
	}
	l.scales[0].diagonal()
}

// relaxation is γ of the dual averaging. Stan's .05 suits acceptances that are means over a trajectory, and steps that begin far
// off. Here the acceptance of one move is 0 or 1 more often than not, and .05 would have the step jump by factors of ten.
const relaxation = 0.5

// relaxationOf is that of so many chains that share their step: the noise of their mean acceptance is less by √J, so that the step may follow it
// as much faster. A chain of 26 moves has 13 to find its step in.
func relaxationOf(chains int) float64 { return relaxation / math.Sqrt(float64(chains)) }

// steps is the adaptation of log h.
func (l learner) steps() dualAveraging { return dualAveraging(l.tuning[:averagingNumbers]) }

// restart begins the search for h anew.
func (l learner) restart(logSize float64) { l.steps().restart(logSize, logSize) }

// visit adds the particles to the points.
func (l learner) visit(w *Work, p *Population) {
	if l.kind == None {
		return
	}
	spare := w.spare.Get().(*[]float64)
	defer w.spare.Put(spare)
	away := *spare
	for j := range p.J {
		l.tuning[atPoints]++
		n := l.tuning[atPoints]
		for i, x := range p.row(p.Theta, j) {
			away[i] = x - l.mean[i]
			l.mean[i] += away[i] / n
		}
		s := sample{mean: l.mean, m2: l.m2}
		s.add(away, (n-1)/n, l.kind)
	}
}

// forget drops the points.
func (l learner) forget() {
	l.tuning[atPoints] = 0
	clear(l.mean)
	clear(l.m2)
}

// fromPoints learns the scale from the points. A step that is adapted keeps its size in θ.
func (l learner) fromPoints(t *Target, adapted bool) bool {
	n := l.tuning[atPoints]
	s := sample{n: n, mean: l.mean, m2: make([]float64, len(l.m2))}
	for i, v := range l.m2 {
		s.m2[i] = v / max(1, n-1)
	}
	kind, first := l.kind, l.scales[0]
	before := logVolume(first.sd)
	if l.usual && kind == Diagonal { // the states of a short chain are too few and too alike for a scale of each coordinate
		kind = Tensor
	}
	learned := false
	if first.factor != nil {
		learned = s.relearn(first.sd, first.factor)
	} else {
		learned = s.learn(kind, blocks(t), first.sd, nil)
	}
	if learned {
		l.scales.same()
	}
	if learned && adapted {
		l.restart(l.tuning[logStepMean] + before - logVolume(first.sd))
	}
	return learned
}

// ascend leads the particles to the bulk of the target and learns the scale there (ascent.go), each within a share of what is left of its budget. The
// points from before are forgotten. It returns the number of evaluations of all particles, and whether there is a new scale: that of the last particle
// that has one.
func (l learner) ascend(ctx context.Context, t *Target, p *Population, left int) (made int, learned bool, err error) {
	most := int(ascentShare * float64(left))
	for j := range p.J {
		n, found, err := climb(ctx, t, p, j, most, l.scales[0].sd, l.scales[0].factor)
		if err != nil {
			return 0, false, err
		}
		made += n
		learned = learned || found
	}
	if learned {
		l.scales.same()
		l.forget()
	}
	return made, learned, nil
}
