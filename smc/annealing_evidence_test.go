package smc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// Checks 4 and 5 of data annealing (data-annealing-smc, section 8): evidence and moments where they are known.

// Check 5: all examples at once or in blocks give the same evidence and the same posterior, when the likelihood of a
// block is not scaled (Linear here is growing), and smooth annealing too. Correct paths fail once in 10⁶ runs, log Z and
// all moments of all six together.
func TestAnnealingCheck5BlocksGiveTheSameEvidence(t *testing.T) {
	testkit.Statistics(t)
	m := newLocation(2)
	paths := map[string]Targets{
		"full": Schedule[Full]{Iterations: 12}, "blocks": growing{len(m.y)}, "sda": SDA{Iterations: 40, Batch: 7, Grow: 9},
		"sda exact": SDA{Iterations: 40, Batch: 7, Grow: 9, Exact: true}, "sda scale": SDA{Iterations: 40, Batch: 7, Grow: 9, Scale: true},
		"tempered full": TemperedStart{Then: Schedule[Full]{Iterations: 6}},
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			checkPosterior(t, m.problem(), len(paths), replicate(t, m.problem(), 20, Sampler{
				Path: path, Move: mcmc.Unadjusted{Steps: 3, Step: 0.08}, Weighting: Momentum{}, Particles: 1000, Seed: 21,
			}))
		})
	}
}

// Batches whose likelihood is scaled to all examples lead to the same evidence where they are cumulative, as each change brings new
// examples alone. From one fresh batch to another the log-weights change by the difference of two batches: log Z is far too low, although
// the last tenth of the iterations sees all examples. Over 40 runs of 1,000 particles Linear and Automated missed log Z by .01 and .05 with a
// standard deviation of .3, and ConstantToRefine by 36 with 16. Correct paths fail once in 10⁶ runs, both together, if log Z is normal and
// biased by half its variance; the mean of ConstantToRefine is five of its standard errors beyond the bound.
func TestScaledBatchesGiveTheEvidence(t *testing.T) {
	testkit.Statistics(t)
	p := newLocation(2).problem()
	for name, c := range map[string]struct {
		path  Path
		right bool
	}{
		"linear":    {Schedule[Linear]{Iterations: 20, Rule: Linear{10, 3}}, true},
		"automated": {Schedule[Automated]{Iterations: 20, Rule: Automated{10, 1}}, true},
		"ctr":       {Schedule[ConstantToRefine]{Iterations: 20, Rule: ConstantToRefine{10}}, false},
	} {
		var logZ []float64
		for _, st := range replicate(t, p, 12, Sampler{
			Path: c.path, Move: mcmc.HMC{Steps: 3, Step: 0.12, Mutations: mcmc.Mutations{Count: 3}}, Particles: 1000, Seed: 43,
		}) {
			logZ = append(logZ, st.LogZ)
		}
		combined, err := Combine(logZ)
		if err != nil {
			t.Fatal(err)
		}
		if right := c.path.Traits().Evidence.Sure(); right != c.right || right == c.path.Traits().Evidence.Fresh {
			t.Errorf("%s says that it has an evidence: %v", name, right)
		}
		mean := 0.0
		for _, z := range logZ {
			mean += (z - p.logZ) / float64(len(logZ))
		}
		t.Logf("%s: log Z off by %.2f, standard deviation %.2f", name, mean, combined.SD)
		if c.right {
			if found := meanIs(t, "log Z of "+name, logZ, p.logZ, combined.SD*combined.SD, 2); !(found < 5) {
				t.Errorf("%s: an error of %v nats would be found: the test is too weak", name, found)
			}
		} else if !(mean < -10) {
			t.Errorf("%s: log Z is off by %v: if fresh batches give an evidence, say so", name, mean)
		}
	}
}

// Weights of mini-batch leapfrogs by the energies of all examples give the posterior and the evidence, though the kicks differ and
// the last batch is short: 41 examples in batches of 12. A correct sampler fails once in 10⁶ runs.
func TestEpochWeightsAreExact(t *testing.T) {
	testkit.Statistics(t)
	m := newLocation(2)
	states := replicate(t, m.problem(), 20, Sampler{
		Path: TemperedStart{Then: Schedule[Full]{Iterations: 6}}, Move: mcmc.Epoch{Step: 0.06, Batch: 12, Order: "own"},
		Weighting: Momentum{}, Particles: 1000, Seed: 27,
	})
	checkPosterior(t, m.problem(), 1, states)
	var logZ []float64
	for _, st := range states {
		logZ = append(logZ, st.LogZ)
	}
	if c, err := Combine(logZ); err != nil || !(c.SD < 1) { // wrong weights are so uneven that no mean of them is far from anything
		t.Errorf("log Z has a standard deviation of %v over the islands: the test is too weak (%v)", c.SD, err)
	}
}

// Check 5 with steps so large that energy errors count: at h = .25 the product of step and curvature is hω = 1.15 and 1.12,
// where leapfrogs by themselves settle at variances 1/(1 − h²ω²/4) of the target's, 49 and 46 % too large. (From hω = √2 on
// the variance of the weights would be infinite.) A correct sampler fails once in 10⁶ runs.
func TestAnnealingCheck5LargeStepsAreWeighted(t *testing.T) {
	m := newLocation(2)
	checkPosterior(t, m.problem(), 1, replicate(t, m.problem(), 20, Sampler{
		Path: TemperedStart{Then: Schedule[Full]{Iterations: 12}}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.25},
		Weighting: Momentum{}, Particles: 1000, Seed: 23,
	}))
}

// Check 5, other half: the literal weight of eq. (12), with one target above and below, is exposed by the evidence. The
// correct form fails once in 10⁶ runs if log Z, which is biased down by half its variance, is normal. The literal one is
// off by 67.6 nats with a standard deviation of .3 a run: each of 20 runs is over 100 of them from the bound, and none
// fails by chance.
func TestAnnealingCheck5LiteralWeightIsExposed(t *testing.T) {
	m := newLocation(2)
	p := m.problem()
	evidences := func(w Momentum) (logZ []float64, sd float64) {
		for _, st := range replicate(t, p, 20, Sampler{
			Path: growing{len(m.y)}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.08}, Weighting: w, Particles: 500, Seed: 31,
		}) {
			logZ = append(logZ, st.LogZ)
		}
		c, err := Combine(logZ)
		if err != nil {
			t.Fatal(err)
		}
		return logZ, c.SD
	}
	right, sd := evidences(Momentum{})
	if found := meanIs(t, "log Z", right, p.logZ, sd*sd, 1); !(found < 3) {
		t.Errorf("an error of %v nats would be found: the test is too weak", found)
	}
	literal, sd := evidences(Momentum{Literal: true})
	if off := slices.Min(literal) - p.logZ; !(off > 30) {
		t.Errorf("literal weights miss log Z = %v by %v nats (sd %v): they should be far off", p.logZ, off, sd)
	}
}

// Check 4: evidence, means, variances and covariances of a golden linear regression with correlated parameters, all examples
// at once behind tempering, and in blocks that come in smoothly. Correct samplers fail once in 10⁶ runs, both together.
func TestAnnealingCheck4Regression(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	cases := golden.Read(t, "conjugate.json")
	c := cases[slices.IndexFunc(cases, func(c golden.Case) bool { return c.Name == "blr_d5" })]
	p, _ := problemOf(t, c)
	var in struct {
		X      [][]float64
		Y      []float64
		Sigma2 float64
	}
	decode(t, c.Inputs, &in)
	p.model = linear{in.X, in.Y, in.Sigma2}
	for name, path := range map[string]Targets{
		"tempered full": TemperedStart{ESS: 0.8, Then: Schedule[Full]{Iterations: 8}}, "sda": SDA{Iterations: 60, Batch: 10},
	} {
		t.Run(name, func(t *testing.T) {
			checkPosterior(t, p, 2, replicate(t, p, 20, Sampler{
				Path: path, Move: mcmc.Unadjusted{Steps: 3, Step: 0.16}, Weighting: Momentum{}, Particles: 500, Seed: 24,
			}))
		})
	}
}

// Check 4: cheap gradients leave evidence and moments as they are. Without its weight the population would follow what the
// batches pull it to, which is the same for all particles of an island: hence many islands. A correct sampler fails once
// in 10⁶ runs.
func TestAnnealingCheck4CheapGradientsKeepTheWeightsExact(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	m := newLocation(2)
	checkPosterior(t, m.problem(), 1, replicate(t, m.problem(), 160, Sampler{
		Path: TemperedStart{ESS: 0.8, Then: Schedule[Full]{Iterations: 6}}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.12, Gradient: &mcmc.MiniBatch{Batch: 30}},
		Weighting: Momentum{}, Particles: 400, Seed: 22,
	}))
}

// Check 4: errors of the evidence and of the posterior mean fall as J^−1/2. From 100 to 100,000 particles the root mean
// square, over 60 and 12 runs, must fall by a factor of 31.6; the logarithm of an rms over n normal errors has variance
// 1/2n, that of the ratio 1/120 + 1/24, a standard deviation of .22, or .32 where tails are twice as heavy. The bounds, a
// factor of 4.9 either way, are five of the latter away: a false-failure rate of 1e-6 for the two ratios. They
// are those of J^−.27 and J^−.73.
func TestAnnealingCheck4ErrorsFallWithParticles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	p := conjugate()
	errors := func(particles, runs int) (logZ, mean float64) {
		states := replicate(t, p, runs, Sampler{
			Path: Schedule[Full]{Iterations: 4}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.2},
			Weighting: Momentum{}, Particles: particles, Seed: 41,
		})
		for _, st := range states {
			d := moment(st, func(theta []float64) float64 { return theta[0] }) - p.mean[0]
			logZ += (st.LogZ - p.logZ) * (st.LogZ - p.logZ) / float64(runs)
			mean += d * d / float64(runs)
		}
		return math.Sqrt(logZ), math.Sqrt(mean)
	}
	z0, m0 := errors(100, 60)
	z1, m1 := errors(100_000, 12)
	want := math.Sqrt(1000)
	for what, ratio := range map[string]float64{"evidence": z0 / z1, "mean": m0 / m1} {
		if !(ratio > want/4.9 && ratio < want*4.9) {
			t.Errorf("error of the %s falls by %.2f from 100 to 100,000 particles, want about %.1f", what, ratio, want)
		}
	}
}
