package paper

import (
	"context"
	"math"
	"time"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/smc"
)

// The mixture of smc-sghmc-ensembles, section 2.5: 25 normal components of equal weight and covariance modeVariance·I, at the
// points of {−4, −2, 0, 2, 4}². The paper does not state the grid, which is that of the paper that it cites.
const (
	modesPerAxis = 5
	modeSpacing  = 2.0
	modeVariance = 0.3
	startSD      = 3.0 // particles are drawn from N(0, 9 I)
)

// secondMoment is E x² of each coordinate of the mixture: that of the grid's points, 8, and the variance of a component.
const secondMoment = 8 + modeVariance

func modeAt(i int) float64 { return modeSpacing * float64(i-modesPerAxis/2) }

// nearestMode is the index of the grid's point that is nearest to x, on one axis.
func nearestMode(x float64) int {
	return int(min(modesPerAxis-1, max(0, math.Round(x/modeSpacing)+modesPerAxis/2)))
}

// logModes is log m(x) and its derivative, m the mixture of five normals that the coordinates have, which are independent. The sum is
// over ratios to the nearest component, so that it is exact far from all of them too.
func logModes(x float64) (log, slope float64) {
	near := x - modeAt(nearestMode(x))
	var sum, first float64
	for i := range modesPerAxis {
		d := x - modeAt(i)
		w := rng.Exp((float64(near*near) - float64(d*d)) / (2 * modeVariance))
		sum += w
		first += float64(w * d)
	}
	log = rng.Log(sum/modesPerAxis) - float64(near*near)/(2*modeVariance) - float64(0.5*rng.Log(2*math.Pi*modeVariance))
	return log, -first / sum / modeVariance
}

// mixture is the mixture as the posterior of a model of one example. Either the prior is the law N(0, 9 I) of the first particles, and
// the likelihood is the mixture over it; or the prior is flat, and the likelihood is the mixture. It is its own prior.
type mixture struct {
	flat bool
	pool *mcmc.Pool
}

// Dim implements mcmc.Model and mcmc.Prior.
func (mixture) Dim() int { return 2 }

// Examples implements mcmc.Model.
func (mixture) Examples() int { return 1 }

// LogLik implements mcmc.Model.
func (m mixture) LogLik(ctx context.Context, _ []int32, theta, ll, grad []float64) error {
	const chunk = 64 // particles
	m.pool.Run((len(ll)+chunk-1)/chunk, func(i int) {
		slopes := make([]float64, 2)
		for j := i * chunk; j < min(len(ll), (i+1)*chunk); j++ {
			at := theta[2*j : 2*j+2]
			ll[j] = logMixture(at, slopes)
			if !m.flat {
				ll[j] -= m.LogDensity(at, nil)
				for k, x := range at {
					slopes[k] += x / (startSD * startSD)
				}
			}
			if grad != nil {
				copy(grad[2*j:], slopes)
			}
		}
	})
	return ctx.Err()
}

// Sample implements mcmc.Prior: where particles begin, also if the prior is flat.
func (mixture) Sample(s *mcmc.Stream, theta []float64) {
	for i := range theta {
		theta[i] = startSD * s.Normal()
	}
}

// LogDensity implements mcmc.Prior.
func (m mixture) LogDensity(theta, grad []float64) (log float64) {
	clear(grad)
	if m.flat {
		return 0
	}
	for i, x := range theta {
		log -= 0.5*float64(x*x)/(startSD*startSD) + float64(0.5*rng.Log(2*math.Pi*startSD*startSD))
		if grad != nil {
			grad[i] = -x / (startSD * startSD)
		}
	}
	return log
}

// logMixture is the log-density of the mixture, and sets grad to its gradient.
func logMixture(p, grad []float64) (log float64) {
	for i, x := range p {
		var l float64
		l, grad[i] = logModes(x)
		log += l
	}
	return log
}

// mixtureScale is the size of a run on the mixture.
type mixtureScale struct{ particles, iterations, warmup int }

// fullMixture is the paper's: 1,000 particles of 200 iterations are its 200,000 samples.
var fullMixture = mixtureScale{1000, 400, 200}

// mixtureWeights is a way to weigh the particles.
type mixtureWeights struct {
	name string
	w    smc.Weighting
	flat bool // the prior
}

// untempered are the weights of eq. (7).
var untempered = smc.Bootstrap{Temperature: smc.Temperature{Both: 1}}

// mixtureKinds are momentum weights, and those of eq. (7) with both readings of what the likelihood of a density is.
var mixtureKinds = []mixtureWeights{
	{"momentum", smc.Momentum{}, false}, {"bootstrap", untempered, false}, {"bootstrap, flat prior", untempered, true},
}

// sampler is a run on the mixture: steps of .2, 10 leapfrogs, gradients of the target itself.
func (s mixtureScale) sampler(kind mixtureWeights, seed uint64, pool *mcmc.Pool) *smc.Sampler {
	model := mixture{kind.flat, pool}
	return &smc.Sampler{
		Model: model, Prior: model, Path: smc.Schedule[smc.Full]{Iterations: s.iterations}, Move: mcmc.Unadjusted{Steps: 10, Step: 0.2},
		Weighting: kind.w, Resample: smc.Resampler{When: smc.BelowHalf}, Particles: s.particles, Keep: smc.After{Iterations: s.warmup}, Seed: seed,
	}
}

// mixtureRun is what a run on the mixture has kept.
type mixtureRun struct {
	Seed      uint64     `json:"seed"`
	Shares    shares     `json:"occupancy"`
	Mean      [2]float64 `json:"mean"`
	Second    [2]float64 `json:"second_moment"`
	Width     float64    `json:"mode_variance"`   // mean squared distance from the nearest mode, on an axis
	Variation float64    `json:"total_variation"` // between the cells and the mixture
	ESS       float64    `json:"ess"`             // mean over the kept iterations
	Resampled int        `json:"resampled"`       // iterations
	Seconds   float64    `json:"seconds"`
	cells     []float64  // shares of the cells of the grid, row by row
}

// shares are of the nearest modes, by the first coordinate and then by the second.
type shares [modesPerAxis * modesPerAxis]float64

// run makes a run.
func (s mixtureScale) run(ctx context.Context, kind mixtureWeights, seed uint64, pool *mcmc.Pool) (*mixtureRun, error) {
	begin := time.Now()
	sampler := s.sampler(kind, seed, pool)
	st, err := sampler.Init(ctx)
	if err != nil {
		return nil, err
	}
	out := &mixtureRun{Seed: seed, cells: make([]float64, gridColumns*gridColumns)}
	err = sampler.Run(ctx, st, func(_ *smc.State, info smc.Info) error {
		if info.Resampled {
			out.Resampled++
		}
		if info.K > s.warmup {
			out.ESS += info.ESS / float64(s.iterations-s.warmup)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept := st.Ensemble()
	for i := range kept.LogW {
		weight, at := rng.Exp(kept.LogW[i]), kept.Theta[2*i:2*i+2]
		out.Shares[modesPerAxis*nearestMode(at[0])+nearestMode(at[1])] += weight
		for axis, x := range at {
			d := x - modeAt(nearestMode(x))
			out.Width += float64(weight * d * d / 2)
			out.Mean[axis] += float64(weight * x)
			out.Second[axis] += float64(weight * x * x)
		}
		if column, row := gridCell(at[0]), gridCell(at[1]); column >= 0 && row >= 0 {
			out.cells[row*gridColumns+column] += weight
		}
	}
	out.Variation, out.Seconds = totalVariation(out.cells, gridLaw()), time.Since(begin).Seconds()
	return out, nil
}

// The grid on which laws are compared: squares of side gridSide from −gridEnd to gridEnd.
const (
	gridEnd     = 6.0
	gridSide    = 0.25
	gridColumns = int(2 * gridEnd / gridSide)
)

// gridCell is the column or row of a coordinate; −1: it lies outside.
func gridCell(x float64) int {
	at := math.Floor((x + gridEnd) / gridSide)
	if !(0 <= at && at < float64(gridColumns)) {
		return -1
	}
	return int(at)
}

// gridLaw is the probability of each cell under the mixture.
func gridLaw() []float64 {
	axis, law := make([]float64, gridColumns), make([]float64, gridColumns*gridColumns)
	for c := range axis {
		low := float64(gridSide*float64(c)) - gridEnd
		for i := range modesPerAxis {
			axis[c] += normalBetween(low-modeAt(i), low+gridSide-modeAt(i), math.Sqrt(modeVariance)) / modesPerAxis
		}
	}
	for i := range law {
		law[i] = axis[i/gridColumns] * axis[i%gridColumns]
	}
	return law
}

// modeLaw is the probability that each mode is the nearest one. It is not exactly 1/25: components overlap, and outer modes are nearest
// to all that lies beyond them.
func modeLaw() (law shares) {
	var axis [modesPerAxis]float64
	for m := range axis {
		low, high := modeAt(m)-modeSpacing/2, modeAt(m)+modeSpacing/2
		if m == 0 {
			low = math.Inf(-1)
		}
		if m == modesPerAxis-1 {
			high = math.Inf(1)
		}
		for i := range modesPerAxis {
			axis[m] += normalBetween(low-modeAt(i), high-modeAt(i), math.Sqrt(modeVariance)) / modesPerAxis
		}
	}
	for i := range law {
		law[i] = axis[i/modesPerAxis] * axis[i%modesPerAxis]
	}
	return law
}

// normalBetween is the probability of an interval under N(0, sd²).
func normalBetween(low, high, sd float64) float64 {
	return 0.5 * (math.Erf(high/sd/math.Sqrt2) - math.Erf(low/sd/math.Sqrt2))
}

// modeWidth is the mean squared distance from the nearest mode, on an axis, by the midpoint rule. It is less than modeVariance, as what
// lies far from its own component counts for another.
func modeWidth() (v float64) {
	const step = 1e-3
	for x := step/2 - 2*gridEnd; x < 2*gridEnd; x += step {
		log, _ := logModes(x)
		d := x - modeAt(nearestMode(x))
		v += float64(step * math.Exp(log) * d * d)
	}
	return v
}

// totalVariation is ½ Σ |share − law| over the cells and all that lies outside of them.
func totalVariation(cells, law []float64) float64 {
	var sum, outside float64
	for i, p := range law {
		sum += math.Abs(cells[i] - p)
		outside += p - cells[i]
	}
	return 0.5 * (sum + math.Abs(outside))
}

// independentVariation is the expected total variation of n independent draws, by the normal approximation of each cell's count.
func independentVariation(law []float64, n int) (v float64) {
	for _, p := range law {
		v += math.Sqrt(p * (1 - p) / (2 * math.Pi * float64(n)))
	}
	return v
}
