package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// sghmcLaw is the stationary E x², E xv and E v² of SGHMC with step η and friction a on a normal target of mean 0 and precision c
// with full batches: the formulas of SGHMC's comment.
func sghmcLaw(eta, a, c float64) (xx, xv, vv float64) {
	vv = 4 * eta / (4 - 2*a - eta*c)
	return 1 / c / (1 - eta*c/(4-2*a)), vv / 2, vv
}

// The formulas solve the discrete Lyapunov equation Σ = A Σ A' + Q of the recursion
//
//	v' = (1−a)v − ηc x + ξ,   x' = x + v',   ξ ~ N(0, 2aη),
//
// which iterating it from 0 finds too. Independent noise of variance V in the gradients multiplies all three by 1 + ηV/2a. The bias
// of the variance is linear in η: halving η halves it, up to its square.
func TestSGHMCStationaryLaw(t *testing.T) {
	for _, c := range []struct{ eta, a, c, noise float64 }{{0.4, 0.3, 1.2, 0}, {0.4, 1, 4, 7}, {1e-3, 0.1, 50, 30}, {0.02, 0.05, 9, 0}, {3.4, 0.2, 1, 2}} {
		var xx, xv, vv float64
		for range 2000 { // the slowest contracts by .975 a step
			keep, pull, q := 1-c.a, c.eta*c.c, 2*c.a*c.eta+c.eta*c.eta*c.noise
			v := keep*keep*vv - 2*keep*pull*xv + pull*pull*xx + q
			cross := keep*xv - pull*xx // E x v'
			xx, xv, vv = xx+2*cross+v, cross+v, v
		}
		a, b, d := sghmcLaw(c.eta, c.a, c.c)
		wider := 1 + c.eta*c.noise/(2*c.a)
		if !golden.Near(xx, a*wider, 1e-10, 0) || !golden.Near(xv, b*wider, 1e-10, 0) || !golden.Near(vv, d*wider, 1e-10, 0) {
			t.Errorf("%+v: E x², xv, v² are %v, %v, %v, by the formulas %v, %v, %v", c, xx, xv, vv, a*wider, b*wider, d*wider)
		}
	}
	bias := func(eta float64) float64 {
		xx, _, _ := sghmcLaw(eta, 0.1, 2)
		return 2*xx - 1
	}
	for eta := 0.1; eta > 1e-6; eta /= 2 {
		if ratio := bias(eta) / bias(eta/2); !(math.Abs(ratio-2) <= 2*bias(eta)) {
			t.Errorf("from η = %v to its half the bias falls by %v, want about 2", eta, ratio)
		}
	}
}

// SGHMC with full batches on a normal posterior, from draws of it: after its memory is gone, its moments are the exact ones of the
// recursion, with the bias of the step, about the posterior's mean. Bounds are 5.6 standard deviations of means over
// independent particles, exceeded with probability 1e-6 in all 24; an error of 6 % of a second moment would be found. The biases
// are 8 to 390 %, so twice or half of one would be found too.
func TestSGHMCHasItsMoments(t *testing.T) {
	testkit.Statistics(t)
	const d = 2
	particles := 20000
	if testing.Short() {
		particles = 5000
	}
	bound := 5.6 / math.Sqrt(float64(particles))
	for _, move := range []SGHMC{{1, 0.4, 0.3}, {1, 0.2, 0.3}, {1, 0.4, 1}} {
		target, mean, variance := conjugate(d)
		p := NewPopulation(particles, d, move.Traits().Needs)
		exact(t, target, &p, mean, variance)
		rng.Key{Seed: 1, Purpose: rng.Init}.Stream().Normals(p.Momentum)
		var w Work
		if _, err := move.Begin(context.Background(), &w, target, &p, nil, nil, at(7, 0)); err != nil {
			t.Fatal(err)
		}
		for k := range 150 { // the slowest contracts by .84 a step
			if _, err := move.Mutate(context.Background(), &w, target, &p, nil, at(7, k)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range d {
			xx, xv, vv := sghmcLaw(move.Step, move.Friction, 1/variance[i])
			var m, sx, sxv, sv float64
			for j := range particles {
				x, v := p.Theta[j*d+i]-mean[i], move.Step*p.Momentum[j*d+i]
				m += x / float64(particles)
				sx += x * x / float64(particles)
				sxv += x * v / float64(particles)
				sv += v * v / float64(particles)
			}
			if !(math.Abs(m) <= bound*math.Sqrt(xx)) || !(math.Abs(sx/xx-1) <= bound*math.Sqrt2) || !(math.Abs(sv/vv-1) <= bound*math.Sqrt2) ||
				!(math.Abs(sxv-xv) <= bound*math.Sqrt(xx*vv+xv*xv)) {
				t.Errorf("%+v, component %d: E x, x², xv, v² are %.4g, %.4g, %.4g, %.4g, want 0, %.4g, %.4g, %.4g", move, i, m, sx, sxv, sv, xx, xv, vv)
			}
		}
	}
}

// Without its noise SGHMC is SGD with momentum 1 − a and rate η, to the last bit: on −log π, epoch by epoch, with the same
// mini-batches.
func TestSGHMCWithoutNoiseIsSGD(t *testing.T) {
	const n, epochs = 23, 3
	for _, move := range []SGHMC{{n, 0.013, 0.1}, {7, 0.013, 0.1}, {4, 0.0031, 0.37}, {1, 0.0031, 1}} {
		target := &Target{Model: rowsModel{n}, Prior: unit(1), Lambda: 0.7}
		p := NewPopulation(3, 1, move.Traits().Needs)
		rng.Key{Seed: 1}.Stream().Normals(p.Theta)
		theta, moments := slices.Clone(p.Theta), make([]nn.Moments, p.J)
		var w Work
		for k := range epochs {
			if _, err := move.epoch(context.Background(), &w, target, &p, at(3, k), 0); err != nil {
				t.Fatal(err)
			}
			for _, rows := range batchesOf(at(3, k).Key, n, move.Batch) {
				for j := range theta {
					x, ll, grad, prior := theta[j:j+1], make([]float64, 1), make([]float64, 1), make([]float64, 1)
					if err := target.Model.LogLik(context.Background(), rows, x, ll, grad); err != nil {
						t.Fatal(err)
					}
					target.Prior.LogDensity(x, prior)
					loss := -(float64(float64(target.Lambda*n/float64(len(rows)))*grad[0]) + prior[0])
					nn.SGD{Momentum: 1 - move.Friction}.Step(&moments[j], x, []float64{loss}, move.Step)
				}
			}
			if !slices.Equal(theta, p.Theta) {
				t.Fatalf("%+v, epoch %d: at %v, SGD is at %v", move, k, p.Theta, theta)
			}
		}
	}
}

// batchesOf divides the permutation of an epoch into the fewest batches of at most the given size, equal up to one example: of 23
// examples in batches of at most 7, four of 5, 6, 6 and 6.
func batchesOf(key rng.Key, n, most int) (batches [][]int32) {
	key.Purpose = rng.Subset
	rows := key.Stream().Subset(nil, n, n)
	count := int(math.Ceil(float64(n) / float64(most)))
	for i := range count {
		batches = append(batches, rows[i*n/count:(i+1)*n/count])
	}
	return batches
}

// An epoch of SGHMC by hand, in v: v ← (1−a)v + η g + N(0, 2aη), θ ← θ + v, with g scaled from the mini-batch to all
// examples. The velocity lasts from epoch to epoch, and each particle has noise of its own, which goes on from batch to
// batch. It is the same where the target sees twelve of thirty examples. What is counted: N gradients, and N values for
// diagnostics.
func TestSGHMCByHand(t *testing.T) {
	const particles, n = 4, 12
	move := SGHMC{Batch: 5, Step: 0.02, Friction: 0.2}
	for name, target := range map[string]*Target{
		"all examples": {Model: rowsModel{n}, Prior: unit(1), Lambda: 1},
		"some of them": {Model: rowsModel{30}, Prior: unit(1), Lambda: 0.4, Rows: []int32{29, 3, 17, 22, 8, 13, 27, 5, 11, 24, 19, 1}},
	} {
		p := NewPopulation(particles, 1, move.Traits().Needs)
		rng.Key{Seed: 9}.Stream().Normals(p.Theta)
		x, v := slices.Clone(p.Theta), make([]float64, particles)
		var w Work
		for k := range 3 {
			out, err := move.Mutate(context.Background(), &w, target, &p, nil, at(5, k))
			if err != nil {
				t.Fatal(err)
			}
			if !all(out.Gradients, n) || !all(out.Values, n) || out.Shown != n || out.Step != move.Step || out.Leapfrogs != 0 || out.Divergent != 0 ||
				slices.ContainsFunc(out.Energy, func(e float64) bool { return e != 0 }) || slices.ContainsFunc(out.Probability, func(a float64) bool { return a == a }) {
				t.Errorf("%s: outcome %+v", name, out)
			}
			var noise [particles]*rng.Stream
			for j := range noise {
				key := at(5, k).Key
				key.Purpose, key.Particle = rng.Proposal, j
				noise[j] = key.Stream()
			}
			for _, batch := range batchesOf(at(5, k).Key, n, move.Batch) {
				centre := 0.0
				for _, i := range batch {
					if target.Rows != nil {
						i = target.Rows[i]
					}
					centre += float64(i) / float64(target.Model.Examples()) / float64(len(batch))
				}
				for j := range x {
					g := target.Lambda*n*(centre-x[j]) - x[j]
					v[j] = 0.8*v[j] + 0.02*g + math.Sqrt(2*0.2*0.02)*noise[j].Normal()
					x[j] += v[j]
				}
			}
			anew := p.Blank()
			copy(anew.Theta, p.Theta)
			if err := target.Evaluate(context.Background(), &anew); err != nil {
				t.Fatal(err)
			}
			for j := range x {
				if !(math.Abs(x[j]-p.Theta[j]) <= 1e-12) || !(math.Abs(v[j]-0.02*p.Momentum[j]) <= 1e-12) || p.LL[j] != anew.LL[j] || p.LP[j] != anew.LP[j] {
					t.Fatalf("%s, epoch %d, particle %d: θ %v, v %v, want %v, %v; log-likelihood %v, want %v",
						name, k, j, p.Theta[j], 0.02*p.Momentum[j], x[j], v[j], p.LL[j], anew.LL[j])
				}
			}
		}
	}
}

// In each epoch every example is in one mini-batch, in an order of its own, and the sizes differ by one at most.
func TestSGHMCEpochIsAPermutation(t *testing.T) {
	for most, want := range map[int][]int{1: slices.Repeat([]int{1}, 23), 7: {5, 6, 6, 6}, 11: {7, 8, 8}, 12: {11, 12}, 22: {11, 12}, 23: {23}, 50: {23}} {
		m := &listing{rowsModel: rowsModel{23}}
		target := &Target{Model: m, Prior: unit(1), Lambda: 1}
		p := NewPopulation(2, 1, Needs{Momentum: true})
		var w Work
		var orders []string
		for k := range 2 {
			m.batches = nil
			if _, err := (SGHMC{Batch: most, Step: 1e-4}).Mutate(context.Background(), &w, target, &p, nil, at(1, k)); err != nil {
				t.Fatal(err)
			}
			var sizes []int
			var seen []int32
			for _, rows := range m.batches {
				sizes, seen = append(sizes, len(rows)), append(seen, rows...)
			}
			orders = append(orders, fmt.Sprint(seen))
			slices.Sort(seen)
			if !slices.Equal(sizes, want) || len(slices.Compact(seen)) != 23 {
				t.Errorf("at most %d: batches %v, of %d examples, want %v", most, sizes, len(seen), want)
			}
		}
		if orders[0] == orders[1] {
			t.Errorf("at most %d: two epochs have the same order", most)
		}
	}
}

// listing records the examples of every gradient.
type listing struct {
	rowsModel
	batches [][]int32
}

func (m *listing) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if grad != nil {
		m.batches = append(m.batches, slices.Clone(rows))
	}
	return m.rowsModel.LogLik(ctx, rows, theta, ll, grad)
}

// The first velocities have the variance η: a sampler draws momenta from N(0, 1), and Begin scales them. Positions stay.
func TestSGHMCBegins(t *testing.T) {
	move := SGHMC{Batch: 1, Step: 0.04, Friction: 0.2}
	p := NewPopulation(2, 2, move.Traits().Needs)
	copy(p.Momentum, []float64{1, -2, 0, 0.5})
	if trials, err := move.Begin(context.Background(), new(Work), nil, &p, nil, nil, StepContext{}); err != nil || trials != (Trials{}) {
		t.Errorf("trials %+v, error %v", trials, err)
	}
	for i, z := range []float64{1, -2, 0, 0.5} {
		if v := move.Step * p.Momentum[i]; !golden.Near(v, 0.2*z, 1e-14, 0) || p.Theta[i] != 0 {
			t.Errorf("velocity %v at %v, want %v at 0", v, p.Theta[i], 0.2*z)
		}
	}
}

// A step that is too large is an error that names the epoch and the mend: nothing would reject a state that is not finite, or of
// likelihood 0.
func TestSGHMCDiverges(t *testing.T) {
	edge := func(theta, grad []float64) float64 {
		grad[0] = -1
		if theta[0] < 0 {
			return math.Inf(-1)
		}
		return -theta[0]
	}
	for name, c := range map[string]struct {
		log  density
		step float64
		ends string
	}{
		"unstable":     {gaussian([][]float64{{1}}, []float64{0}), 1e200, "log-likelihood -Inf and log-prior -Inf; "},
		"no number":    {gaussian([][]float64{{1}}, []float64{0}), math.MaxFloat64, ", and parameter 0 of particle 0 became "},
		"not possible": {edge, 10, "log-prior -"},
	} {
		target := &Target{Model: &model{d: 1, log: c.log, factor: 1}, Prior: unit(1), Lambda: 1}
		p := NewPopulation(1, 1, Needs{Momentum: true})
		p.Theta[0] = 1
		var w Work
		var err error
		k := 0
		for ; k < 10 && err == nil; k++ {
			_, err = SGHMC{Batch: 1, Step: c.step, Friction: 0.1}.Mutate(context.Background(), &w, target, &p, nil, at(1, k))
		}
		if !errors.As(err, new(*Diverged)) || !strings.Contains(err.Error(), fmt.Sprintf("SGHMC diverged in epoch %d: ", k)) || !strings.Contains(err.Error(), c.ends) || !strings.HasSuffix(err.Error(), fmt.Sprintf("try a smaller step than %.4g", c.step)) {
			t.Errorf("%s: error %v in epoch %d", name, err, k)
		}
	}
}

// A friction that is left out is .1. Targets whose examples have different powers are refused, and wrong settings.
func TestSGHMCDefaults(t *testing.T) {
	target := &Target{Model: rowsModel{9}, Prior: unit(1), Lambda: 1}
	var ends []float64
	for _, friction := range []float64{0, 0.1, 0.2} {
		p := NewPopulation(1, 1, Needs{Momentum: true})
		if _, err := (SGHMC{Batch: 4, Step: 0.1, Friction: friction}).Mutate(context.Background(), new(Work), target, &p, nil, at(1, 0)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, p.Theta[0])
	}
	if ends[0] != ends[1] || ends[0] == ends[2] {
		t.Errorf("with friction left out, .1 and .2: %v", ends)
	}
	target.Annealed = []int32{}
	for move, want := range map[SGHMC]string{
		{Batch: 4, Step: 0.1}:                "SGHMC: mini-batches cannot be used where examples have different powers",
		{Batch: 4, Step: 0.1, Friction: 1.1}: "SGHMC: friction: want",
	} {
		if _, err := move.Tuning(target, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", move, err, want)
		}
	}
}
