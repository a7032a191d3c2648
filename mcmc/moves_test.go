package mcmc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// conjugate is a diagonal Gaussian likelihood with precision 2 + i around i, a prior N(0.5, sd²) of sd 1.5 and 0.6 in
// turn and λ = .4, and the target's means and variances.
func conjugate(d int) (t *Target, mean, variance []float64) {
	precision, centre := make([][]float64, d), make([]float64, d)
	prior := normal{make([]float64, d), make([]float64, d)}
	for i := range d {
		precision[i] = make([]float64, d)
		precision[i][i], centre[i] = 2+float64(i), float64(i)
		prior.mean[i], prior.sd[i] = 0.5, []float64{1.5, 0.6}[i%2]
		w := 1 / (prior.sd[i] * prior.sd[i])
		a := 0.4*precision[i][i] + w
		variance = append(variance, 1/a)
		mean = append(mean, (0.4*precision[i][i]*centre[i]+0.5*w)/a)
	}
	return &Target{Model: &model{d: d, log: gaussian(precision, centre), factor: 1}, Prior: prior, Lambda: 0.4}, mean, variance
}

// exact fills a population with independent draws from the target of conjugate.
func exact(t *testing.T, target *Target, p *Population, mean, variance []float64) {
	t.Helper()
	rng.Key{Seed: 1, Purpose: rng.Synthetic}.Stream().Normals(p.Theta)
	for i := range p.Theta {
		k := i % p.D
		p.Theta[i] = mean[k] + math.Sqrt(variance[k])*p.Theta[i]
	}
	if err := target.Evaluate(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

// At an inverse temperature below 1, moves leave the tempered target invariant: from exact draws, means and variances
// stay. Bounds are 5.6 standard deviations of the mean of 20,000 independent chains, exceeded with probability 1e-6 in
// all; 4 % of a standard deviation or 6 % of a variance would be found.
func TestMovesLeaveTheTemperedTargetInvariant(t *testing.T) {
	const d = 2
	particles := 20000
	if testing.Short() {
		particles = 4000
	}
	moves := map[string]Move{"langevin": HMC{Steps: 1, Step: 0.9}}
	for name, c := range invariantCases(t) {
		moves[name] = c.bold
	}
	for name, move := range moves {
		target, mean, variance := conjugate(d)
		p := NewPopulation(particles, d, move.Traits().Needs)
		exact(t, target, &p, mean, variance)
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		for k := range 6 {
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(5, k))
			if err != nil {
				t.Fatal(err)
			}
			if a := averageOf(out.Probability); !(a > 0.3 && a < 0.97) {
				t.Errorf("%s: acceptance %v, the test wants some rejections", name, a)
			}
		}
		for i := range d {
			var m, v float64
			for j := range particles {
				z := (p.Theta[j*d+i] - mean[i]) / math.Sqrt(variance[i])
				m += z / float64(particles)
				v += z * z / float64(particles)
			}
			if !(math.Abs(m) <= 5.6/math.Sqrt(float64(particles))) || !(math.Abs(v-1) <= 5.6*math.Sqrt(2/float64(particles))) {
				t.Errorf("%s: component %d has standardised mean %v and variance %v", name, i, m, v)
			}
		}
	}
}

func averageOf(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// Where the search for a step begins, in units of the scale, and what a move of a population makes of it:
// log h += .2·(A − aim), A the mean acceptance probability and not the count of acceptances.
func TestStepSizesFollowTheRule(t *testing.T) {
	target, mean, variance := conjugate(3) // the smallest sd counts, .6
	for _, c := range []struct {
		move   HMC
		start  float64
		gain   float64
		accept float64
	}{
		{HMC{}, 1.65 * math.Pow(3, -1./4), 0.2, 0.9},
		{HMC{Steps: 1}, 1.65 * math.Pow(3, -1./6), 0.2, 0.574},
		{HMC{Steps: 1, Scale: None}, 1.65 * 0.6 * math.Pow(3, -1./6), 0.2, 0.574},
		{HMC{Steps: 5, Scale: None}, 1.65 * 0.6 * math.Pow(3, -1./4), 0.2, 0.65},
		{HMC{Steps: 2, Start: 0.3, Accept: 0.8}, 0.3, 0.2, 0.8},
		{HMC{Steps: 5, Step: 0.3}, 0.3, 0, 0.65},
	} {
		const particles = 7
		p := NewPopulation(particles, 3, Needs{Gradient: true})
		exact(t, target, &p, mean, variance)
		tuning, err := c.move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		if !golden.Near(math.Exp(tuning[0]), c.start, 1e-14, 0) {
			t.Errorf("%+v: starts at %v, want %v", c.move, math.Exp(tuning[0]), c.start)
		}
		before := tuning[0]
		var w Work
		out, err := c.move.Mutate(context.Background(), &w, target, &p, tuning, at(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if !golden.Near(out.Step, c.start, 1e-14, 0) {
			t.Errorf("%+v: reports step %v", c.move, out.Step)
		}
		if want := before + c.gain*(averageOf(out.Probability)-c.accept); !golden.Near(tuning[0], want, 1e-14, 1e-15) {
			t.Errorf("%+v: log h goes from %v to %v, want %v", c.move, before, tuning[0], want)
		}
		for j, e := range out.Energy {
			if !golden.Near(out.Probability[j], min(1, math.Exp(-e)), 1e-14, 0) {
				t.Errorf("energy error %v is accepted with probability %v", e, out.Probability[j])
			}
		}
	}
	b, _ := PCN{}.Tuning(target, 50)
	if got := 1 / (1 + math.Exp(-b[0])); !golden.Near(got, 0.2, 1e-14, 0) {
		t.Errorf("pCN starts at b = %v", got)
	}
	p := NewPopulation(50, 3, Needs{})
	exact(t, target, &p, mean, variance)
	var w Work
	before := b[0]
	out, _ := PCN{}.Mutate(context.Background(), &w, target, &p, b, at(1, 0))
	if want := before + 0.2*(averageOf(out.Probability)-0.25); !golden.Near(b[0], want, 1e-14, 0) || !all(out.Values, 1) || !all(out.Gradients, 0) {
		t.Errorf("logit b goes to %v, want %v", b[0], want)
	}
	frozen := at(1, 1)
	frozen.Progress, before = 0.5, b[0]
	if _, err := (PCN{}).Mutate(context.Background(), &w, target, &p, b, frozen); err != nil || b[0] != before {
		t.Errorf("logit b goes from %v to %v though frozen", before, b[0])
	}
	if _, err := (PCN{Step: 0.2}).Mutate(context.Background(), &w, target, &p, b, at(1, 2)); err != nil || b[0] != before {
		t.Errorf("logit b goes from %v to %v though it is fixed", before, b[0])
	}
}

// Left alone, acceptance comes to rest at its aim. Over the last 200 of 400 moves it misses its aim by exactly the change
// of the tuned number over 200 times the gain of .2; with a number at rest that is .0035 at most over 40 seeds,
// rms .0014. The bound is 7 times that; an aim that is off by .02 is found. TestEveryAdaptedMove has the rows of Moves.
func TestAdaptationFindsTheAcceptance(t *testing.T) {
	for _, c := range []struct {
		move Kernel
		want float64
	}{{HMC{Steps: 6, Scale: None}, 0.65}, {HMC{Steps: 3, Accept: 0.8, Scale: None}, 0.8}} {
		target, mean, variance := conjugate(12)
		p := NewPopulation(20, 12, c.move.Traits().Needs)
		exact(t, target, &p, mean, variance)
		tuning, err := c.move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		got := 0.0
		for k := range 400 {
			out, err := c.move.Mutate(context.Background(), &w, target, &p, tuning, at(2, k))
			if err != nil {
				t.Fatal(err)
			}
			if k >= 200 {
				got += averageOf(out.Probability) / 200
			}
		}
		if !(math.Abs(got-c.want) <= 0.01) {
			t.Errorf("%+v: acceptance %v, want %v", c.move, got, c.want)
		}
	}
}

// What every row with an adapted step does: acceptance comes to rest at Aim, a chain's step is frozen from its half on, and a
// mutation evaluates something. The last 300 of 800 moves lie in one window of NUTS, whose step begins anew with each; so late,
// its dual averaging still leaves its aim by (log 10 · .05)(√t + 10/√t) over all moves, .004 of each.
func TestEveryAdaptedMove(t *testing.T) {
	for _, row := range Moves {
		move := row.Part
		if move.Traits().Aim == 0 {
			continue
		}
		target, mean, variance := conjugate(12)
		p := NewPopulation(20, 12, move.Traits().Needs)
		exact(t, target, &p, mean, variance)
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		got := 0.0
		for k := range 800 {
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(2, k))
			if err != nil {
				t.Fatal(err)
			}
			if k >= 500 {
				got += averageOf(out.Probability) / 300
			}
			if n := out.Gradients[0] + out.Values[0]; n < 1 || n > move.Traits().Evaluations() {
				t.Fatalf("%s: %d evaluations, at most %d are said", row.Name, n, move.Traits().Evaluations())
			}
		}
		if !(math.Abs(got-move.Traits().Aim) <= 0.01) {
			t.Errorf("%s: acceptance %v, aim %v", row.Name, got, move.Traits().Aim)
		}
		chain, late := move.ForChains(), at(2, 800)
		late.Progress, late.Left = 0.5, 2000
		if _, err := chain.Mutate(context.Background(), &w, target, &p, tuning, late); err != nil { // takes the averaged step
			t.Fatal(err)
		}
		before := slices.Clone(tuning)
		if _, err := chain.Mutate(context.Background(), &w, target, &p, tuning, late); err != nil || !slices.Equal(before, tuning) {
			t.Errorf("%s: a chain learns in its second half: %v, %v", row.Name, before, tuning)
		}
	}
}

// The jitter of h is uniform on 1 ± .2, anew in every move: mean and variance of 4,000 factors within 4.9 standard
// deviations (1e-6 each). On a flat target a particle goes h times its momentum far, which shows h.
func TestJitterIsUniform(t *testing.T) {
	var m, v float64
	const n = 4000
	flat := func([]float64, []float64) float64 { return 0 }
	target := &Target{Model: &model{d: 1, log: flat, factor: 1}, Prior: factorPrior{1, flat, 1}, Lambda: 1}
	var w Work
	for k := range n {
		p := NewPopulation(1, 1, Needs{Gradient: true})
		if _, err := (HMC{Steps: 1, Step: 0.5, Jitter: 0.2}).Mutate(context.Background(), &w, target, &p, []float64{math.Log(0.5)}, at(4, k)); err != nil {
			t.Fatal(err)
		}
		f := p.Theta[0] / (0.5 * w.momentum[0])
		if !(f > 0.8-1e-9 && f < 1.2+1e-9) {
			t.Fatalf("factor %v", f)
		}
		m += f / n
		v += (f - 1) * (f - 1) / n
	}
	if sd := 0.2 / math.Sqrt(3*n); !(math.Abs(m-1) <= 4.9*sd) || !(math.Abs(v-0.04/3) <= 4.9*0.04*math.Sqrt(4.0/45/n)) {
		t.Errorf("mean %v, variance %v", m, v)
	}
}

// A proposal whose energy is NaN or infinite is rejected with probability 1, counted, and leaves the particle's cache
// as it was; the others are not touched by it.
func TestDivergentProposalsAreRejectedAndCounted(t *testing.T) {
	for name, bad := range map[string]float64{"NaN": math.NaN(), "-Inf": math.Inf(-1), "+Inf": math.Inf(1)} {
		moves := map[string]Move{"two leapfrogs": HMC{Steps: 2}}
		for row, c := range invariantCases(t) {
			moves[row] = c.plain
		}
		for row, move := range moves {
			log := func(theta, grad []float64) float64 {
				grad[0] = 0
				if theta[0] > 0 && theta[0] != 1 { // particles start at 1, any other place on the right is broken
					grad[0] = math.NaN()
					return bad
				}
				return 0
			}
			target := &Target{Model: &model{d: 1, log: log, factor: 1}, Prior: normal{[]float64{0}, []float64{10}}, Lambda: 1}
			p := NewPopulation(6, 1, move.Traits().Needs)
			copy(p.Theta, []float64{1, -50, 1, -50, 1, -50})
			if err := target.Evaluate(context.Background(), &p); err != nil {
				t.Fatal(err)
			}
			tuning, err := move.Tuning(target, p.J)
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(1, len(tuning)) { // unless the step is fixed
				tuning[i] = -6 // the log of a step so small that the even particles stay on the right; pCN's logit is about the same
			}
			before, lp := slices.Clone(tuning), p.LP[0]
			var w Work
			out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(1, 0))
			if err != nil {
				t.Fatal(err)
			}
			if out.Divergent != 3 {
				t.Errorf("%s, %s: %d divergent, want 3", name, row, out.Divergent)
			}
			for j := 0; j < 6; j += 2 {
				if out.Probability[j] != 0 || p.Theta[j] != 1 || p.LL[j] != 0 || p.LP[j] != lp {
					t.Errorf("%s, %s: particle %d was accepted with probability %v", name, row, j, out.Probability[j])
				}
				if !(out.Probability[j+1] > 0.5) || p.Theta[j+1] == -50 {
					t.Errorf("%s, %s: particle %d suffers from its neighbour", name, row, j+1)
				}
			}
			if len(tuning) > 0 && (math.IsNaN(tuning[0]) || tuning[0] == before[0]) {
				t.Errorf("%s, %s: tuning goes from %v to %v", name, row, before, tuning)
			}
		}
	}
}

// A particle of likelihood 0 takes the first proposal that has one.
func TestImpossibleStartIsLeft(t *testing.T) {
	log := func(theta, grad []float64) float64 {
		grad[0] = 0
		if theta[0] == 1 {
			return math.Inf(-1)
		}
		return 0
	}
	target := &Target{Model: &model{d: 1, log: log, factor: 1}, Prior: normal{[]float64{0}, []float64{1}}, Lambda: 0.5}
	for name, c := range invariantCases(t) {
		move := c.plain
		p := NewPopulation(1, 1, move.Traits().Needs)
		p.Theta[0] = 1
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		tuning, _ := move.Tuning(target, p.J)
		var w Work
		if out, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(1, 0)); err != nil || out.Probability[0] != 1 || p.LL[0] != 0 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// The same bits on 1, 2 and 7 threads, for few long particles and for many short ones.
func TestThreadsDoNotMatter(t *testing.T) {
	for _, shape := range [][2]int{{3, 9000}, {500, 3}} {
		cases := []Move{HMC{Steps: 3, Jitter: 0.1}, PCN{}, Unadjusted{Steps: 2, Step: 0.01, Gradient: &MiniBatch{1}}}
		for _, row := range Moves {
			if c, ok := caseOf(t, row.Name); ok {
				cases = append(cases, c.bold)
			}
		}
		for _, move := range cases {
			var want Population
			for _, threads := range []int{0, 1, 2, 7} {
				d := shape[1]
				log := func(theta, grad []float64) (l float64) {
					for i, x := range theta {
						l -= x * x
						grad[i] = -2 * x
					}
					return l
				}
				prior := normal{make([]float64, d), slices.Repeat([]float64{1}, d)}
				target := &Target{Model: &model{d: d, log: log, factor: 1}, Prior: prior, Lambda: 1}
				if threads > 0 {
					target.Pool = pool.New(threads)
				}
				p := NewPopulation(shape[0], d, move.Traits().Needs)
				rng.Key{Purpose: rng.Init}.Stream().Normals(p.Theta)
				if err := target.Evaluate(context.Background(), &p); err != nil {
					t.Fatal(err)
				}
				tuning, _ := move.Tuning(target, p.J)
				var w Work
				for k := range 3 {
					if _, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(1, k)); err != nil {
						t.Fatal(err)
					}
				}
				if threads == 0 {
					want = p
				} else if !slices.Equal(p.Theta, want.Theta) || !slices.Equal(p.GradLL, want.GradLL) || !slices.Equal(p.LP, want.LP) {
					t.Errorf("%T, %d×%d: %d threads give other bits", move, shape[0], d, threads)
				}
			}
		}
	}
}

// Between calls of the model nothing is allocated that grows with the population or the trajectory.
func TestMovesDoNotAllocate(t *testing.T) {
	if testkit.Race {
		t.Skip("under the race detector a sync.Pool forgets at random what was put into it")
	}
	free := freeModel{d: 100}
	target := &Target{Model: free, Prior: normal{make([]float64, 100), slices.Repeat([]float64{1}, 100)}, Lambda: 1}
	p := NewPopulation(50, 100, Needs{Gradient: true})
	var w Work
	bytes := func(steps int) float64 {
		move := HMC{Steps: steps}
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		now := at(1, 0)
		now.Left = 1000 // a chain visits its points
		return testing.AllocsPerRun(20, func() {
			if _, err := move.Mutate(context.Background(), &w, target, &p, tuning, now); err != nil {
				t.Fatal(err)
			}
		})
	}
	if one, ten := bytes(1), bytes(11); one > 15 || ten-one > 10 {
		t.Errorf("%v allocations in a move of one leapfrog, %v in one of eleven", one, ten)
	}
}

// freeModel costs nothing, so that what remains is the sampler's own.
type freeModel struct{ d int }

func (m freeModel) Dim() int      { return m.d }
func (m freeModel) Examples() int { return 1 }
func (m freeModel) LogLik(context.Context, []int32, []float64, []float64, []float64) error {
	return nil
}

func TestCancelledContextStopsBetweenLeapfrogs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	log := func(theta, grad []float64) float64 { clear(grad); return 0 }
	m := &model{d: 1, log: log, factor: 1}
	stop := stopping{m, cancel}
	target := &Target{Model: stop, Prior: normal{[]float64{0}, []float64{1}}, Lambda: 1}
	p := NewPopulation(1, 1, Needs{Gradient: true})
	var w Work
	if _, err := (HMC{Steps: 100, Step: 1}).Mutate(ctx, &w, target, &p, []float64{0}, at(1, 0)); err == nil || !strings.Contains(err.Error(), "canceled") || m.calls != 5 {
		t.Errorf("%d calls of the model, error %v", m.calls, err)
	}
}

// stopping cancels at the fifth call.
type stopping struct {
	*model
	cancel func()
}

func (m stopping) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	if m.calls == 4 {
		m.cancel()
	}
	return m.model.LogLik(ctx, rows, theta, ll, grad)
}

// The sampler's own cost of a leapfrog of 8 chains of MNIST7's size (6,320 parameters), and of a move of Pima's 1,000
// particles of 9.
func BenchmarkOverhead(b *testing.B) {
	for name, shape := range map[string][3]int{"mnist7, 8x6320, 80 leapfrogs": {8, 6320, 80}, "mnist7-smc, 10x6320, 1 leapfrog": {10, 6320, 1}, "pima, 1000x9, 10 leapfrogs": {1000, 9, 10}} {
		b.Run(name, func(b *testing.B) {
			j, d, steps := shape[0], shape[1], shape[2]
			target := &Target{Model: freeModel{d}, Prior: standard{d}, Lambda: 1}
			p := NewPopulation(j, d, Needs{Gradient: true})
			var w Work
			tuning := []float64{-1}
			for b.Loop() {
				if _, err := (HMC{Steps: steps}).Mutate(context.Background(), &w, target, &p, tuning, at(1, 0)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*steps), "µs/leapfrog")
		})
	}
}

// BenchmarkOutsideGradients is what an iteration of guided open-horizon SMC costs beside the model, for 100 particles of the first layer of
// 8 inputs and 450 units: momenta, kicks and drifts, under the same prior as bnn's.
func BenchmarkOutsideGradients(b *testing.B) {
	const j, d = 100, 4050
	target := &Target{Model: freeModel{d}, Prior: independent{make([]float64, d), slices.Repeat([]float64{1}, d)}, Lambda: 10}
	p := NewPopulation(j, d, Needs{Gradient: true})
	var w Work
	for b.Loop() {
		if _, err := (Unadjusted{Step: 0.04}).Mutate(context.Background(), &w, target, &p, nil, at(1, 0)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*j*d), "ns/parameter")
}

// independent is a prior of independent normal components, without its constant.
type independent struct{ mean, precision []float64 }

func (p independent) Dim() int                      { return len(p.mean) }
func (p independent) Sample(*rng.Stream, []float64) {}
func (p independent) LogDensity(theta, grad []float64) float64 {
	squares := lanes.NormalSquares(theta, p.mean, p.precision)
	lanes.NormalGradient(theta, p.mean, p.precision, grad)
	return -0.5 * squares
}

// standard is N(0, 1), without the constant, as cheap as a prior can be.
type standard struct{ d int }

func (p standard) Dim() int                      { return p.d }
func (p standard) Sample(*rng.Stream, []float64) {}
func (p standard) LogDensity(theta, grad []float64) (l float64) {
	for i, x := range theta {
		l -= x * x
		grad[i] = -x
	}
	return 0.5 * l
}

// At λ = 0 the likelihood does not count, but a proposal whose log-likelihood is +Inf is rejected there too. One where it is NaN
// has likelihood 0, as a draw of the prior has.
func TestInfiniteLikelihoodIsRejectedAtThePrior(t *testing.T) {
	for _, bad := range []float64{math.Inf(1), math.NaN()} {
		for row, c := range invariantCases(t) {
			move := c.plain
			log := func(theta, grad []float64) float64 {
				grad[0] = 0
				if theta[0] != 1 {
					return bad
				}
				return 0
			}
			target := &Target{Model: &model{d: 1, log: log, factor: 1}, Prior: normal{[]float64{0}, []float64{10}}}
			p := NewPopulation(1, 1, move.Traits().Needs)
			p.Theta[0] = 1
			if err := target.Evaluate(context.Background(), &p); err != nil {
				t.Fatal(err)
			}
			tuning, err := move.Tuning(target, p.J)
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(1, len(tuning)) { // unless the step is fixed
				tuning[i] = -6 // so small a step that the prior accepts it with a probability above .9999
			}
			var w Work
			if _, err := move.Mutate(context.Background(), &w, target, &p, tuning, at(1, 0)); err != nil {
				t.Fatal(err)
			}
			if rejected := p.Theta[0] == 1; rejected != math.IsInf(bad, 1) || !rejected && !math.IsInf(p.LL[0], -1) {
				t.Errorf("%s: a proposal of log-likelihood %v: rejected %v, log-likelihood %v", row, bad, rejected, p.LL[0])
			}
		}
	}
}
