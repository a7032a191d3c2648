package smc

import (
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// The checks of scalable-bayesian-monte-carlo, section 9, as far as they are the sampler's.

// conjugate is check 1's problem: l = −n(θ−ȳ)²/(2σ²), prior N(m, c).
func conjugate() problem {
	n, ybar, sigma2, m, c := 20.0, 1.7, 2.0, -0.5, 1.5
	precision := n/sigma2 + 1/c
	return problem{
		name: "conjugate",
		model: density{1, func(theta, grad []float64) float64 {
			if grad != nil {
				grad[0] = -n * (theta[0] - ybar) / sigma2
			}
			return -n * (theta[0] - ybar) * (theta[0] - ybar) / (2 * sigma2)
		}},
		prior: normal{d: 1, mean: m, sd: math.Sqrt(c)},
		mean:  []float64{(n*ybar/sigma2 + m/c) / precision},
		vars:  []float64{1 / precision},
		logZ:  -0.5*math.Log(1+n*c/sigma2) - (ybar-m)*(ybar-m)/(2*(c+sigma2/n)),
	}
}

func TestCheck1ConjugateEvidenceAndMoments(t *testing.T) {
	testkit.Statistics(t)
	for name, s := range map[string]Sampler{
		"langevin": {Move: mcmc.HMC{Steps: 1, Mutations: mcmc.Mutations{Count: 10}}},
		"hmc":      {Move: mcmc.HMC{Steps: 4, Mutations: mcmc.Mutations{Count: 6}}},
		"adaptive": {Move: mcmc.HMC{Steps: 4, Mutations: mcmc.Mutations{Eta: 0.05, Max: 20}}},
		"pcn":      {Move: mcmc.PCN{Mutations: mcmc.Mutations{Count: 30}}},
	} {
		t.Run(name, func(t *testing.T) {
			s.Path, s.Resample, s.Particles, s.Seed = Tempering{}, Resampler{When: Always{}}, 500, 2
			if testing.Short() {
				s.Particles = 200
			}
			p := conjugate()
			states := replicate(t, p, 40, s) // as many as the bound on their scatter below needs
			checkPosterior(t, p, 4, states)
			// Section 7: each step adds relative variance 1/I to Z, so the scatter of log Z is about √(J_t/I), somewhat
			// less as the last step is shorter, more where moves mix badly: 0.9 to 1.1 of it over 1,000 islands of each
			// kind. Then the sample sd of 40 lies between 0.4 and 2 of it but for 1e-7.
			var logZ []float64
			for _, st := range states {
				logZ = append(logZ, st.LogZ)
			}
			combined, _ := Combine(logZ)
			if theory := math.Sqrt(float64(states[0].K) / float64(s.Particles)); !(combined.SD <= 2*theory && combined.SD >= 0.4*theory) {
				t.Errorf("log Z scatters by %v, theory %v", combined.SD, theory)
			}
		})
	}
}

func TestCheck2TemperaturesAreExactAndShiftFree(t *testing.T) {
	p := problem{prior: normal{d: 3, sd: 1}}
	quad := quadratic([][]float64{{40, 5, 0}, {5, 30, 0}, {0, 0, 90}}, []float64{20, -40, 60}, 0)
	const shift = -123456.75
	shifted := density{3, func(theta, grad []float64) float64 { return quad.log(theta, grad) + shift }}
	for _, rho := range []float64{0.3, 0.5, 0.9} {
		s := Sampler{
			Model: quad, Prior: p.prior, Path: Tempering{ESS: rho}, Particles: 200, Seed: 3,
			Move: mcmc.HMC{Steps: 3, Mutations: mcmc.Mutations{Count: 3}}, Resample: Resampler{When: Always{}},
		}
		st, infos := run(t, &s)
		last := 0.0
		for i, info := range infos {
			if !(info.Lambda > last) {
				t.Errorf("ρ = %v: λ goes from %v to %v", rho, last, info.Lambda)
			}
			last = info.Lambda
			if ess := rho * 200; i < len(infos)-1 && !golden.Near(info.ESS, ess, 1e-6, 0) || info.ESS < ess*(1-1e-6) {
				t.Errorf("ρ = %v: ESS %v at λ = %v, want %v", rho, info.ESS, info.Lambda, ess)
			}
		}
		if last != 1 || st.Lambda != 1 || len(infos) < 3 {
			t.Errorf("ρ = %v: ends at λ = %v after %d steps", rho, last, len(infos))
		}
		s2 := s
		s2.Model = shifted
		st2, infos2 := run(t, &s2)
		if len(infos2) != len(infos) {
			t.Fatalf("a constant changed the number of steps from %d to %d", len(infos), len(infos2))
		}
		// The constant costs the log-likelihoods 27 bits, so λ agrees to about 1e-9 and the particles to the chaos of
		// a few leapfrogs on that.
		for i := range infos {
			if !golden.Near(infos2[i].Lambda, infos[i].Lambda, 1e-7, 0) || infos2[i].Parents != infos[i].Parents {
				t.Errorf("step %d: λ %v and %v, parents %d and %d", i, infos[i].Lambda, infos2[i].Lambda, infos[i].Parents, infos2[i].Parents)
			}
		}
		if !golden.Near(st2.LogZ-shift, st.LogZ, 0, 1e-5) {
			t.Errorf("log Z %v becomes %v", st.LogZ, st2.LogZ)
		}
	}
}

func TestCheck3IslandsCombine(t *testing.T) {
	// Brute force with plain exponentials: islands of 3 and 4 particles, of 2 and 3 stages, with the 1/I.
	increments := [][][]float64{
		{{-0.3, -1.2, 0.4}, {0.1, 0.2, -2}},
		{{-1, -0.5, -0.7, 0.3}, {-0.2, -0.9, 0.8, 0.1}, {0.6, -0.4, 0, -1.5}},
	}
	z := []float64{1, 1}
	for p, stages := range increments {
		for _, inc := range stages {
			sum := 0.0
			for _, a := range inc {
				sum += math.Exp(a)
			}
			z[p] *= sum / float64(len(inc))
		}
	}
	logZ := evidences(t, increments)
	combined, err := Combine(logZ)
	if err != nil {
		t.Fatal(err)
	}
	for p := range z {
		if !golden.Near(logZ[p], math.Log(z[p]), 1e-13, 1e-13) || !golden.Near(combined.Omega[p], z[p]/(z[0]+z[1]), 1e-13, 0) {
			t.Errorf("island %d: log Z %v, ω %v; brute force %v, %v", p, logZ[p], combined.Omega[p], math.Log(z[p]), z[p]/(z[0]+z[1]))
		}
	}
	mean, diff := (z[0]+z[1])/2, math.Log(z[0])-math.Log(z[1])
	if !golden.Near(combined.LogZ, math.Log(mean), 1e-13, 1e-13) || !golden.Near(combined.SD, math.Abs(diff)/math.Sqrt2, 1e-12, 0) {
		t.Errorf("run: log Z %v ± %v, want %v ± %v", combined.LogZ, combined.SD, math.Log(mean), math.Abs(diff)/math.Sqrt2)
	}
	if want := (z[0] + z[1]) * (z[0] + z[1]) / (z[0]*z[0] + z[1]*z[1]); !golden.Near(combined.Effective, want, 1e-12, 0) {
		t.Errorf("effective islands %v, want %v", combined.Effective, want)
	}
	// l ≈ −1e5 does not underflow, and a constant common to all islands has no effect.
	low, err := Combine([]float64{logZ[0] - 1e5, logZ[1] - 1e5})
	if err != nil {
		t.Fatal(err)
	}
	for p := range z {
		if !golden.Near(low.Omega[p], combined.Omega[p], 1e-9, 0) {
			t.Errorf("ω %v, and %v with 1e5 less everywhere", combined.Omega, low.Omega)
		}
	}
	for what, bad := range map[string][]float64{"NaN": {0, math.NaN()}, "all dead": {math.Inf(-1), math.Inf(-1)}, "none": nil} {
		if _, err := Combine(bad); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if one, err := Combine([]float64{-7}); err != nil || one.Omega[0] != 1 || one.LogZ != -7 || !math.IsNaN(one.SD) {
		t.Errorf("one island: %+v, %v", one, err)
	}
}

// Chains of either move, started from the exact posterior, stay there; at λ = 1 of a Fixed path.
func TestCheck4InvarianceOfTheGaussian(t *testing.T) {
	p := problem{prior: normal{d: 2, mean: 0.3, sds: []float64{1.5, 0.6}}}
	precision := [][]float64{{3, 1}, {1, 2}}
	b := []float64{2, -1}
	p.model = quadratic(precision, b, 0)
	// Posterior: precision A = P + diag(1/sd²), mean A⁻¹(b + m/sd²).
	w0, w1 := 1/(1.5*1.5), 1/(0.6*0.6)
	a00, a01, a11 := 3+w0, 1.0, 2+w1
	det := a00*a11 - a01*a01
	c00, c01, c11 := a11/det, -a01/det, a00/det
	r0, r1 := b[0]+0.3*w0, b[1]+0.3*w1
	m0, m1 := c00*r0+c01*r1, c01*r0+c11*r1
	l00 := math.Sqrt(c00)
	l10, l11 := c01/l00, math.Sqrt(c11-c01*c01/c00)
	draw := func(z, x []float64) { x[0], x[1] = m0+l00*z[0], m1+l10*z[0]+l11*z[1] }
	tests := []func(x []float64) float64{
		func(x []float64) float64 { return x[0] - m0 },
		func(x []float64) float64 { return x[1] - m1 },
		func(x []float64) float64 { return (x[0]-m0)*(x[0]-m0) - c00 },
		func(x []float64) float64 { return (x[1]-m1)*(x[1]-m1) - c11 },
		func(x []float64) float64 { return (x[0]-m0)*(x[1]-m1) - c01 },
	}
	moves := map[string]mcmc.Kernel{
		"langevin": mcmc.HMC{Steps: 1, Step: 0.7}, "hmc": mcmc.HMC{Steps: 5, Step: 0.6, Jitter: 0.3}, "pcn": mcmc.PCN{Step: 0.6},
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) { stays(t, p, len(moves), move, draw, tests) })
	}
}

// The golden targets that are far from normal, and skew, so that a wrong sign shows.
func TestGoldenInvariance(t *testing.T) {
	cases := golden.Read(t, "conjugate.json")
	for _, c := range cases {
		var draw func(z, x []float64)
		var tests []func(x []float64) float64
		var step float64
		switch c.Kind {
		case "banana":
			step = 0.9
			draw, tests = bananaCase(t, c)
		case "funnel":
			var in struct {
				S float64
				D int
			}
			var want struct {
				EV   float64                  `json:"E_v"`
				VarV float64                  `json:"Var_v"`
				Q    struct{ P, Q []float64 } `json:"marginal_x_quantiles"`
			}
			decode(t, c.Inputs, &in)
			decode(t, c.Expected, &want)
			step = 0.3
			draw = func(z, x []float64) {
				x[0] = in.S * z[0]
				for i := range x[1:] {
					x[1+i] = math.Exp(x[0]/2) * z[1+i]
				}
			}
			tests = []func(x []float64) float64{
				func(x []float64) float64 { return x[0] - want.EV },
				func(x []float64) float64 { return x[0]*x[0] - want.VarV },
			}
			for i, q := range want.Q.Q {
				tests = append(tests, func(x []float64) float64 {
					if x[1] <= q {
						return 1 - want.Q.P[i]
					}
					return -want.Q.P[i]
				})
			}
		default:
			continue
		}
		target := targetOf(t, c)
		p := problem{prior: normal{d: target.d, sd: 3}}
		p.model = over(target, p.prior)
		t.Run(c.Name+"/hmc", func(t *testing.T) { stays(t, p, 3*len(cases), mcmc.HMC{Steps: 6, Step: step}, draw, tests) })
		t.Run(c.Name+"/pcn", func(t *testing.T) { stays(t, p, 3*len(cases), mcmc.PCN{Step: 0.2}, draw, tests) })
		t.Run(c.Name+"/nuts", func(t *testing.T) {
			t.Parallel()
			staysFrozen(t, p, mcmc.NUTS{Accept: 0.9}, 3*len(cases), draw, tests)
		})
	}
}

// stays starts many chains from exact draws, and asks whether the functions of tests, all of mean 0, still have mean 0
// after some moves. The chains are independent, so the bound is that of a mean of independent numbers. A test that asks so
// in several cases fails once in 10⁶ runs, all cases together.
func stays(t *testing.T, p problem, cases int, move mcmc.Kernel, draw func(z, x []float64), tests []func(x []float64) float64) {
	t.Helper()
	s := exactly(p, move, draw)
	s.Path = Fixed{Epochs: 4 * move.Traits().Evaluations()}
	st, infos := run(t, s)
	acceptance := infos[len(infos)-1].Acceptance
	if !(acceptance > 0.1 && acceptance < 0.99) {
		t.Errorf("acceptance %v: the test asks for moves that are accepted, but not always", acceptance)
	}
	stayed(t, st, cases, tests)
}

// exactly is many chains from exact draws.
func exactly(p problem, move mcmc.Kernel, draw func(z, x []float64)) *Sampler {
	chains := 20000
	if testing.Short() {
		chains = 2000
	}
	d := p.prior.d
	s := &Sampler{Model: p.model, Prior: p.prior, Move: move, Particles: chains, Start: make([]float64, chains*d), Seed: 4}
	z := make([]float64, d)
	for j := range chains {
		rng.Key{Purpose: rng.Synthetic, Particle: j}.Stream().Normals(z)
		draw(z, s.Start[j*d:(j+1)*d])
	}
	return s
}

// stayed asks whether the functions of tests have mean 0 over the chains.
func stayed(t *testing.T, st *State, cases int, tests []func(x []float64) float64) {
	t.Helper()
	values := make([]float64, st.J)
	for i, f := range tests {
		for j := range values {
			values[j] = f(st.Theta[j*st.D : (j+1)*st.D])
		}
		meanIs(t, "function "+string(rune('0'+i)), values, 0, 0, len(tests)*cases)
	}
}

// A likelihood that says nothing: pCN accepts everything, and prior draws remain prior draws.
func TestCheck4PCNAcceptsAllWhereTheLikelihoodIsConstant(t *testing.T) {
	p := problem{model: density{2, func([]float64, []float64) float64 { return -7 }}, prior: normal{d: 2, mean: 1, sd: 3}}
	s := Sampler{Model: p.model, Prior: p.prior, Path: Fixed{Epochs: 20}, Move: mcmc.PCN{}, Particles: 4000}
	st, infos := run(t, &s)
	for _, info := range infos {
		if info.Acceptance != 1 {
			t.Errorf("move %d: acceptance %v", info.K, info.Acceptance)
		}
	}
	for _, f := range []func(x float64) float64{func(x float64) float64 { return x - 1 }, func(x float64) float64 { return (x-1)*(x-1) - 9 }} {
		values := make([]float64, len(st.Theta))
		for i, x := range st.Theta {
			values[i] = f(x)
		}
		meanIs(t, "moment of the prior", values, 0, 0, 2)
	}
	if st.LogZ != 0 {
		t.Errorf("chains have log Z %v", st.LogZ)
	}
}

// The anchored prior N(MAP, s v): for s → 0 the posterior is the MAP with standard deviation √(s v).
func TestCheck4ShrinkingThePriorConcentratesOnTheMAP(t *testing.T) {
	p := conjugate()
	c := p.prior.sd * p.prior.sd
	maximum := p.mean[0] // of a Gaussian posterior the mean is the maximum
	for _, s := range []float64{1e-2, 1e-6} {
		anchored := p
		anchored.prior = normal{d: 1, mean: maximum, sd: math.Sqrt(s * c)}
		states := replicate(t, anchored, 20, Sampler{
			Path: Tempering{}, Resample: Resampler{When: Always{}}, Particles: 500, Seed: 5,
			Move: mcmc.HMC{Steps: 1, Mutations: mcmc.Mutations{Count: 10}},
		})
		precision, slope := 20/2.0+1/(s*c), 20/2.0*(1.7-maximum)
		anchored.mean, anchored.vars = []float64{maximum + slope/precision}, []float64{1 / precision}
		anchored.logZ = -0.5*math.Log(1+20*s*c/2) - (1.7-maximum)*(1.7-maximum)/(2*(s*c+2/20.0))
		checkPosterior(t, anchored, 2, states)
		if sd := math.Sqrt(s * c); !(math.Abs(anchored.mean[0]-maximum) <= 0.2*sd) || !golden.Near(anchored.vars[0], s*c, 0.15, 0) {
			t.Errorf("s = %v: the problem is not concentrated", s)
		}
	}
}

// Moves end at 2 when displacement does not change, but never where it is 0: refused moves say nothing. There are the more of
// them, the longer displacement grows.
func TestCheck9AdaptiveMutations(t *testing.T) {
	base := Sampler{
		Model: density{1, func([]float64, []float64) float64 { return 0 }}, Prior: normal{d: 1, sd: 1}, Path: Ladder{[]float64{1}},
		Particles: 10, Resample: Resampler{When: Always{}},
	}
	jump := func(at int) scripted {
		return func(m int, theta []float64) {
			for j := range theta {
				if m == at {
					theta[j] += 3
				}
			}
		}
	}
	for at, want := range map[int]int{-1: 50, 0: 2, 5: 7} {
		s := base
		s.Move = repeated{jump(at), mcmc.Mutations{Eta: 0.05}}
		if _, info := step(t, &s); info.Mutations != want {
			t.Errorf("one jump in move %d: %d mutations, want %d", at, info.Mutations, want)
		}
	}
	grows := base
	grow := scripted(func(m int, theta []float64) {
		for j := range theta {
			theta[j]++
		}
	})
	grows.Move = repeated{grow, mcmc.Mutations{Eta: 0.05}}
	if _, info := step(t, &grows); info.Mutations != 21 { // (m − (m−1))/(m−1) ≤ .05 first at m = 21
		t.Errorf("steady growth: %d mutations, want 21", info.Mutations)
	}
	grows.Move = repeated{grow, mcmc.Mutations{Eta: 0.05, Max: 7}}
	if _, info := step(t, &grows); info.Mutations != 7 {
		t.Errorf("at most 7: %d mutations", info.Mutations)
	}
	made := func(scale float64) int {
		s := base
		s.Prior, s.Particles = normal{d: 1, sd: scale}, 200
		s.Move = mcmc.HMC{Steps: 1, Step: 0.3, Mutations: mcmc.Mutations{Eta: 0.05}}
		_, info := step(t, &s)
		return info.Mutations
	}
	if small, large := made(0.3), made(30); !(small < large) {
		t.Errorf("a target of sd .3 took %d mutations, one of sd 30 took %d", small, large)
	}
}
