package filter

import (
	"fmt"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/ssm"
	"github.com/starling-smc/starling/uq"
)

// ways are chains that have the same law.
var ways = map[string]SMCMC{
	"joint":          {Joint: PriorJoint{}},
	"prior":          {Index: UniformIndex{}, Refine: PriorRefinement{}},
	"uniform, walk":  {Index: UniformIndex{}, Refine: Walk{SD: 0.1}},
	"exact, walk":    {Index: ExactIndex{}, Refine: Walk{SD: 0.1}},
	"scan, adapted":  {Index: ExactIndex{Scan}, Refine: Walk{SD: Adapted}},
	"joint, uniform": {Joint: PriorJoint{}, Index: UniformIndex{}, Refine: Walk{SD: 0.1}},
	"all, adapted":   {Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}},
	"four filters":   {Repeat: 4, Joint: PriorJoint{}, Index: ExactIndex{}, Refine: Walk{SD: Adapted}},
}

// Check 1: SMCMC against the Kalman filter, for every kind of decision, on a data set of the paper's Example 1. The errors of the
// means, in standard errors, have a mean square of about 1. Squares count up to 9, as the standard errors have seven degrees of freedom.
// Of 20 scans the mean is above 3 with probability below 1e-6: a third of them would have to be above 3 standard errors. The KS distance is
// about 0.87/√ESS.
func TestCheck1AgainstKalman(t *testing.T) {
	testkit.Statistics(t)
	cases, _ := kalmanCases(t, "kalman_m500.json")
	c := cases[0]
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			way.Particles, way.Burn = 4000, 250
			squares, ks, expected := 0.0, 0.0, 0.0
			filtered(t, way, Job{Model: c.model(), Seed: 1}, c.scans(), func(k int, st *State, info Info) {
				mean, cov := st.Moments()
				z := (mean[0] - c.Expected.Mean[k]) / info.MCSE[0]
				squares += min(z*z, 9) / 20
				sd := math.Sqrt(c.Expected.Var[k])
				two, _ := uq.KS(st.X, func(x float64) float64 { return 0.5 * math.Erfc(-(x-c.Expected.Mean[k])/(sd*math.Sqrt2)) })
				ks, expected = ks+two/20, expected+0.87/math.Sqrt(info.ESS[0])/20
				if r := cov[0] / c.Expected.Var[k]; math.Abs(r-1) > 12/math.Sqrt(info.ESS[0]) {
					t.Errorf("scan %d: the variance is %v of the Kalman filter's, with ESS %v", k+1, r, info.ESS[0])
				}
				if k == 19 {
					t.Logf("joint %.3f index %.3f refine %.3f, ESS %.0f, ancestors %d", info.Joint, info.Index, info.Refine, info.ESS[0], info.Ancestors)
				}
			})
			t.Logf("mean square %.2f, KS %.4f, expected %.4f", squares, ks, expected)
			if !(squares <= 3 && ks <= 2*expected) {
				t.Errorf("mean squared error %.2f MCSE², KS %.4f where %.4f is expected", squares, ks, expected)
			}
		})
	}
}

// The index by rejection, by a scan of whitened predictions and by a scan of densities have the law (28): counts of 20,000 draws
// among 40 particles against the probabilities, by χ² of 39 degrees: above 110 with probability 1e-8 each.
func TestExactIndexLaw(t *testing.T) {
	const n, draws = 40, 20000
	from := make([]float64, n)
	for i := range from {
		from[i] = 0.05*float64(i) - 0.7
	}
	for _, tr := range []string{"density", "gaussian"} {
		for _, x := range []float64{0.2, 1.9} { // the second is out of reach of rejection: N/8 refusals, mostly
			for _, draw := range []Draw{Rejection, Scan} {
				c := &chain{from: from, n: n, tries: n / 8, x: []float64{x}, groups: []ssm.Block{{From: 0, To: 1}}, a: []int32{0}, before: []float64{0}, other: []float64{0}}
				c.tr = step{example1}
				if tr == "gaussian" {
					c.tr = gaussianStep{step{example1}}
				}
				c.key = rng.Key{Seed: 3, Purpose: rng.Chain}
				count, p, sum := make([]int, n), make([]float64, n), 0.0
				for a := range p {
					p[a] = math.Exp(c.tr.LogDensity(from[a:a+1], c.x))
					sum += p[a]
				}
				for m := range draws {
					c.key.Particle = m
					ExactIndex{draw}.index(c)
					count[c.a[0]]++
				}
				chi := 0.0
				for a, k := range count {
					e := p[a] / sum * draws
					chi += (float64(k) - e) * (float64(k) - e) / e
				}
				if chi > 110 {
					t.Errorf("%s, x = %v, %s: χ² = %.1f of 39 degrees", tr, x, draw, chi)
				}
			}
		}
	}
}

// The zero of every choice is named, and a chain that could not move is refused.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		m    Method
		want string
	}{
		{SMCMC{Particles: 10}, "SMCMC: joint: nothing would move the state: want joint: prior or guided, or a refinement"},
		{SMCMC{Particles: 1, Joint: PriorJoint{}}, "SMCMC: particles: want at least 2, have 1"},
		{SMCMC{Particles: 1 << 20, Joint: PriorJoint{}}, "SMCMC: particles: want particles + repeat·burn below 1048576, have 1048576"},
		{SMCMC{Particles: 10, Repeat: 3, Joint: PriorJoint{}}, "SMCMC: repeat: want 1, or at least 4: the spread of fewer filters says nothing, have 3"},
		{SMCMC{Particles: 10, Repeat: -1, Joint: PriorJoint{}}, "SMCMC: repeat: want 1, or at least 4: the spread of fewer filters says nothing, have -1"},
		{SMCMC{Particles: 10, Repeat: 6, Joint: PriorJoint{}}, "SMCMC: particles: want at least 2 particles of each filter, have 10 of 6 filters"},
		{SMCMC{Particles: 10, Refine: Walk{SD: Adapted}}, "SMCMC: burn: sd: adapted learns in the burn-in, and there is none: want burn above 0, or a number as sd"},
		{SMCMC{Particles: 10, Refine: Walk{}}, "SMCMC: sd: want a number above 0, or adapted"},
		{SMCMC{Particles: 10, Joint: PriorJoint{}, Index: ExactIndex{"all"}}, `SMCMC: unknown name "all" (known: rejection, scan)`},
		{Bootstrap{}, "bootstrap filter: particles: want at least 2, have 0"},
		{Auxiliary{}, "auxiliary filter: particles: want at least 2, have 0"},
		{Kalman{}, "a Kalman filter needs a linear Gaussian model: take smcmc or bootstrap for this one"},
	} {
		if _, err := c.m.On(Job{Model: example1}); err == nil || fmt.Sprint(err) != c.want {
			t.Errorf("%T: %v, want %s", c.m, err, c.want)
		}
	}
}

// Every chain has the law π(x, a) ∝ p(z | x) p(x | f(a)) on four particles and one measurement: the shares of the particles, which
// are N(z; H A f(a), H² Q + R), and the mean of x given the particle. Errors are in Monte Carlo standard errors; a z-score above 6
// in one of 56 comparisons has probability 1e-7.
func TestInvariantLaw(t *testing.T) {
	testkit.Statistics(t)
	m := scalar{a: 0.9, q: 0.08, h: 1, r: 0.3, m0: 0, p0: 1}
	from, z := []float64{-0.6, -0.1, 0.3, 0.9}, 0.35
	p, mean := make([]float64, len(from)), make([]float64, len(from))
	for a, f := range from {
		d := z - m.a*f
		p[a] = math.Exp(-0.5 * d * d / (m.q + m.r))
		mean[a] = m.a*f + m.q/(m.q+m.r)*d
	}
	for name, way := range ways {
		const steps = 40000
		f, err := SMCMC{Particles: steps, Burn: 2000, Joint: way.Joint, Index: way.Index, Refine: way.Refine}.On(Job{Model: linear{m}, Seed: 8})
		if err != nil {
			t.Fatal(err)
		}
		s := f.(*smcmc)
		st := &State{K: 1, Dim: 1, X: from}
		c, err := newChain(s.plan(1), 0, st, &ssm.Scan{Time: 1, Width: 1, Values: []float64{z}})
		if err != nil {
			t.Fatal(err)
		}
		hasLaw(t, name, s, c, steps, 6, p, mean, func() int { return int(c.a[0]) })
	}
}

// hasLaw compares the states of a chain after its burn-in with a law of so many cases: case i has the weight p[i], and there the first
// coordinate has the mean mean[i]. of is the case of the present state. Averages are within so many of their standard errors.
func hasLaw(t *testing.T, name string, s *smcmc, c *chain, steps int, errors float64, p, mean []float64, of func() int) {
	t.Helper()
	sum := 0.0
	for _, w := range p {
		sum += w
	}
	shares, deviations := make([][]float64, len(p)), make([][]float64, len(p))
	for k := range s.Burn + steps {
		c.burning, c.key.Particle = k < s.Burn, k
		s.Joint.joint(c)
		s.Index.index(c)
		for b := range s.blocks {
			s.Refine.refine(c, b)
		}
		if c.burning {
			continue
		}
		for i := range p {
			is := 0.0
			if of() == i {
				is = 1
			}
			shares[i] = append(shares[i], is-p[i]/sum)
			deviations[i] = append(deviations[i], is*(c.x[0]-mean[i]))
		}
	}
	for i := range p {
		for what, series := range map[string][]float64{"share": shares[i], "mean": deviations[i]} {
			_, se := mcmc.MeanError(series)
			if avg, _ := meanSD(series); !(math.Abs(avg) < errors*se) {
				t.Errorf("%s: case %d: the %s is off by %.2g, standard error %.2g", name, i, what, avg, se)
			}
		}
	}
}
