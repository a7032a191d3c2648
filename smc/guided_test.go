package smc

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// spy is a Learner that only looks: ψ stays, and so do the targets.
type spy struct{ seen *[]float64 }

func (spy) String() string { return "spy" }
func (s spy) Step(m *nn.Moments, _, grad []float64) {
	m.Steps++
	*s.seen = slices.Clone(grad)
}

// poison is a Learner whose third step is undefined.
type poison struct{}

func (poison) String() string { return "poison" }
func (poison) Step(m *nn.Moments, psi, _ []float64) {
	if m.Steps++; m.Steps == 3 {
		psi[1] = math.NaN()
	}
}

// leap is a Learner that throws ψ_1 far away.
type leap struct{ to float64 }

func (leap) String() string { return "leap" }
func (l leap) Step(m *nn.Moments, psi, _ []float64) {
	m.Steps++
	psi[1] = l.to
}

// bent is y ~ N(ψ_0 tanh(θ·x) + ψ_1, 1), the model of the golden gradient.
type bent struct {
	x   [][]float64
	y   []float64
	psi []float64
}

func (m bent) Dim() int               { return len(m.x[0]) }
func (m bent) Examples() int          { return len(m.y) }
func (bent) Learned() int             { return 2 }
func (bent) LearnedName(i int) string { return []string{"slope", "offset"}[i] }
func (m bent) At(psi []float64) mcmc.Model {
	m.psi = slices.Clone(psi)
	return m
}
func (m bent) LogLik(_ context.Context, _ []int32, theta, ll, _ []float64) error {
	for j := range ll {
		ll[j] = 0
		for i, y := range m.y {
			r := y - m.psi[0]*m.bend(theta, j, i) - m.psi[1]
			ll[j] -= 0.5*r*r + 0.5*log2Pi
		}
	}
	return nil
}
func (m bent) LearnedGradient(_ context.Context, _ []int32, psi, theta, weights, grad []float64) error {
	clear(grad)
	for j, w := range weights {
		for i, y := range m.y {
			b := m.bend(theta, j, i)
			r := y - psi[0]*b - psi[1]
			grad[0] += w * r * b
			grad[1] += w * r
		}
	}
	return nil
}
func (m bent) bend(theta []float64, j, i int) (z float64) {
	for k, x := range m.x[i] {
		z += theta[j*len(m.x[i])+k] * x
	}
	return math.Tanh(z)
}

// The golden ψ-gradient, with its factor N/n in place of 1/n, from unnormalised log-weights.
func TestGoldenGuidedGradient(t *testing.T) {
	seen := 0
	for _, c := range golden.Read(t, "priors.json") {
		if c.Kind != "gohsmc_gradient" { // packages bnn and nn test the others
			continue
		}
		seen++
		var in struct {
			LogW  []float64
			Theta [][]float64
			X     [][]float64
			Y     []float64
			Psi   []float64
			Total float64 `json:"N_total"`
		}
		var want struct {
			Grad []float64 `json:"grad_psi"`
			LL   []float64 `json:"loglik_per_particle"`
		}
		decode(t, c.Inputs, &in)
		decode(t, c.Expected, &want)
		var grad []float64
		s := &Sampler{Model: bent{x: in.X, y: in.Y}, Psi: in.Psi, Learn: spy{&grad}, scratch: make([]float64, len(in.LogW))}
		st := &State{Population: mcmc.NewPopulation(len(in.LogW), 2, mcmc.Needs{}), LogW: slices.Clone(in.LogW), Psi: slices.Clone(in.Psi)}
		st.Theta = slices.Concat(in.Theta...)
		if _, _, err := weights.Normalise(st.LogW, "particle"); err != nil {
			t.Fatal(err)
		}
		target := s.target(Stage{Lambda: 1}, st)
		if err := errors.Join(target.Model.LogLik(t.Context(), nil, st.Theta, st.LL, nil), s.learn(t.Context(), st, target)); err != nil {
			t.Fatal(err)
		}
		expectWeights(t, "log-likelihood", st.LL, want.LL)
		for i := range grad {
			grad[i] *= -in.Total // a descent by the mean of a batch
		}
		expectWeights(t, "gradient", grad, want.Grad)
	}
	if seen == 0 {
		t.Error("no golden gradient")
	}
}

// posterior returns log π_k(θ|ψ) with its gradient by the location model, for rows of N examples scaled to all and the prior N(0, 4).
func posterior(m location, rows []int32, psi, theta []float64) (l float64, grad []float64) {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	grad = make([]float64, len(theta))
	scale := float64(len(m.y)) / float64(len(rows))
	for _, i := range rows {
		r := m.y[i] - theta[int(i)%m.d] - psi[int(i)%m.learned]
		l -= scale * (0.5*r*r + 0.5*log2Pi)
		grad[int(i)%m.d] += scale * r
	}
	for i, x := range theta {
		l -= x*x/8 + math.Log(2) + 0.5*log2Pi
		grad[i] -= x / 4
	}
	return l, grad
}

func square(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return s
}

// following makes the steps of a sampler of the location model one by one. After each it gives look the parents' positions,
// what they remembered, the examples and ψ of this iteration, and the increments of the log-weights.
func following(t *testing.T, s *Sampler, look func(m location, before, st *State, rows []int32, increments []float64)) *State {
	t.Helper()
	m := s.Model.(location)
	st, err := s.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for !s.Done(st) {
		stage, err := s.Path.Next(st)
		if err != nil {
			t.Fatal(err)
		}
		var before, parents State
		before.copy(st)
		if _, err := s.Step(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		parents.copy(&before)
		increments, rows := make([]float64, st.J), slices.Clone(s.rows(stage.Rows))
		resampled := false
		for j, a := range s.ancestors {
			resampled = resampled || int(a) != j
			parents.Set(j, &before.Population, int(a))
		}
		for j := range increments {
			increments[j] = st.LogW[j] + st.LogZ - before.LogZ
			if resampled {
				increments[j] += math.Log(float64(st.J))
			} else {
				increments[j] -= before.LogW[j]
			}
		}
		look(m, &parents, st, rows, increments)
	}
	return st
}

// langevin returns log π at both ends of a leapfrog with one step ε, and the kinetic energies there, by the two positions alone.
func langevin(m location, rows []int32, psi, from, to []float64, step float64) (l0, l1, k0, k1 float64) {
	l0, g0 := posterior(m, rows, psi, from)
	l1, g1 := posterior(m, rows, psi, to)
	p0, p1 := make([]float64, len(from)), make([]float64, len(from))
	for i := range from {
		half := (to[i] - from[i]) / step
		p0[i], p1[i] = half-step/2*g0[i], half+step/2*g1[i]
	}
	return l0, l1, square(p0) / 2, square(p1) / 2
}

// Check 1: with one step, and ψ and the batch fixed, the increment is the logarithm of the ratio of MALA,
// log π(θ')/π(θ) + log q(θ|θ')/q(θ'|θ) with q(θ'|θ) = N(θ + ε²/2 ∇log π(θ), ε²).
func TestGuidedCheck1MALA(t *testing.T) {
	const step = 0.11
	s := kinds()["learn full"](0)
	s.Learn, s.Keep, s.Move = nil, nil, mcmc.Unadjusted{Steps: 1, Step: step}
	following(t, s, func(m location, before, st *State, rows []int32, increments []float64) {
		for j, got := range increments {
			from, to := before.Theta[3*j:3*j+3], st.Theta[3*j:3*j+3]
			l0, g0 := posterior(m, rows, s.Psi, from)
			l1, g1 := posterior(m, rows, s.Psi, to)
			want := l1 - l0
			for i := range from {
				there, back := to[i]-from[i]-step*step/2*g0[i], from[i]-to[i]-step*step/2*g1[i]
				want += (there*there - back*back) / (2 * step * step)
			}
			if !golden.Near(got, want, 1e-9, 1e-9) {
				t.Fatalf("iteration %d, particle %d: increment %v, want %v", st.K, j, got, want)
			}
		}
	})
}

// Check 2: a linear model with ψ empty and a full batch: evidence, means and covariances of the conjugate posterior, however large the
// steps' errors. A correct sampler fails once in 10⁶ runs.
func TestGuidedCheck2LinearModel(t *testing.T) {
	cases := golden.Read(t, "conjugate.json")
	c := cases[slices.IndexFunc(cases, func(c golden.Case) bool { return c.Name == "blr_d2" })]
	p, _ := problemOf(t, c)
	var in struct {
		X      [][]float64
		Y      []float64
		Sigma2 float64
	}
	decode(t, c.Inputs, &in)
	p.model = linear{in.X, in.Y, in.Sigma2}
	checkPosterior(t, p, 1, replicate(t, p, 40, Sampler{
		Path: Schedule[Full]{Iterations: 8}, Move: mcmc.Unadjusted{Steps: 1, Step: 0.2}, Particles: 1000, Seed: 31,
	}))
}

// Check 3: the increment of section 6, minus the energy error under π_k plus log π_k(θ|ψ_{k−1}) − log π_{k−1}(θ|ψ_{k−2}) of the
// parent, which is also eq. (20) with what was cached, for batches that change, grow or stay, and ψ that moves. Everything is
// computed from the data, batches and positions alone.
func TestGuidedCheck3Decomposition(t *testing.T) {
	for _, name := range []string{"learn constant", "learn full", "learn linear", "learn walk"} {
		s := kinds()[name](0)
		step := 0.05
		psi, last := slices.Clone(s.Psi), slices.Clone(s.rows(first(s).Rows)) // ψ_{k−2} and the rows of k−1
		resampled, large := 0, 0.0
		following(t, s, func(m location, before, st *State, rows []int32, increments []float64) {
			for j, got := range increments {
				from, to := before.Theta[3*j:3*j+3], st.Theta[3*j:3*j+3]
				cached, _ := posterior(m, last, psi, from)
				l0, l1, k0, k1 := langevin(m, rows, before.Psi, from, to, step)
				if name == "learn walk" { // symmetric
					k0, k1 = 0, 0
				}
				energy := k1 - l1 - (k0 - l0)
				large = max(large, math.Abs(l0-cached))
				if want := -energy + l0 - cached; !golden.Near(got, want, 1e-9, 1e-9) {
					t.Fatalf("%s, iteration %d, particle %d: increment %v, want %v", name, st.K, j, got, want)
				}
				if want := l1 - cached + k0 - k1; !golden.Near(got, want, 1e-9, 1e-9) {
					t.Fatalf("%s, iteration %d, particle %d: increment %v, eq. (20) %v", name, st.K, j, got, want)
				}
			}
			if len(slices.Compact(slices.Sorted(slices.Values(s.ancestors)))) < st.J {
				resampled++
			}
			psi, last = slices.Clone(before.Psi), rows
			if slices.Equal(psi, st.Psi) {
				t.Errorf("%s, iteration %d: ψ stays at %v", name, st.K, psi)
			}
		})
		if name != "learn full" && resampled == 0 || large < 1e-3 {
			t.Errorf("%s: resampled %d times, targets differ by %v: this shows too little", name, resampled, large)
		}
	}
}

func first(s *Sampler) Stage {
	stage, _ := s.Path.Start(s.Model.Examples())
	return stage
}

// ψ moves by the gradient at the particles after the move, with their weights after it and at ψ of the iteration, by the mean over
// the iteration's batch.
func TestGuidedStepOfThePsi(t *testing.T) {
	for _, name := range []string{"learn constant", "learn full", "bootstrap", "svgd", "learn tempering"} {
		s := kinds()[name](0)
		rate := 0.3
		s.Learn = By[nn.SGD]{Rate: rate}
		following(t, s, func(m location, before, st *State, rows []int32, _ []float64) {
			if rows == nil {
				rows = make([]int32, len(m.y))
				for i := range rows {
					rows[i] = int32(i)
				}
			}
			for k, at := range before.Psi {
				var g float64
				for j, l := range st.LogW {
					for _, i := range rows {
						if int(i)%m.learned == k {
							g += math.Exp(l) * (m.y[i] - st.Theta[3*j+int(i)%3] - at) / float64(len(rows))
						}
					}
				}
				if want := at + rate*g; !golden.Near(st.Psi[k], want, 1e-12, 1e-12) {
					t.Fatalf("%s, iteration %d: ψ_%d goes from %v to %v, want %v", name, st.K, k, at, st.Psi[k], want)
				}
			}
		})
	}
}

// Check 4: y_i = θ + ψ + noise of unit variances, where the gradient by ψ of the marginal likelihood is (ȳ − ψ) n/(n+1). The weighted
// estimate, of particles whose moves make large errors, converges to it: its bias is of order 1/ESS, for which .01 is allowed,
// and 60 replicates of a correct sampler miss the rest once in 10⁶.
func TestGuidedCheck4Gradient(t *testing.T) {
	m := location{d: 1, y: []float64{1.2, 0.4, 2.1, 1.7, 0.9, 1.5, 2.6, 0.2, 1.1, 1.9}, learned: 1}
	const psi = -0.5
	n, mean := float64(len(m.y)), 0.0
	for _, y := range m.y {
		mean += y / n
	}
	var replicates []float64
	for i := range 60 {
		var grad []float64
		_, _ = run(t, &Sampler{
			Model: m, Prior: normal{d: 1, sd: 1}, Path: Schedule[Full]{Iterations: 2}, Move: mcmc.Unadjusted{Steps: 1, Step: 0.4},
			Particles: 4000, Seed: 5, Island: i, Psi: []float64{psi}, Learn: spy{&grad},
		})
		replicates = append(replicates, -grad[0]*n)
	}
	if found := meanIs(t, "the gradient by ψ", replicates, (mean-psi)*n/(n+1), 0.01, 1); !(found < 0.15) {
		t.Errorf("an error of %v would be found: the test is too weak", found)
	}
}

// Check 5: with steps that hardly move and a constant target, weights stay as they are.
func TestGuidedCheck5SmallSteps(t *testing.T) {
	s := kinds()["learn full"](0)
	s.Learn, s.Keep, s.Move, s.Resample = nil, nil, mcmc.Unadjusted{Steps: 1, Step: 1e-7}, Resampler{When: Never{}}
	following(t, s, func(_ location, _, st *State, _ []int32, increments []float64) {
		for j, got := range increments {
			if !(math.Abs(got) < 1e-9) {
				t.Fatalf("iteration %d, particle %d: increment %v", st.K, j, got)
			}
		}
	})
}

// Check 5: with one particle the method moves it and ψ, without error, and its weight is 1. SGHMC does the same without a weight: an
// iteration is one batch, which is evaluated once for θ, once for the log-likelihood that is shown, and once for ψ.
func TestGuidedCheck5OneParticle(t *testing.T) {
	for _, name := range []string{"learn constant", "learn full", "sghmc on batches"} {
		s := kinds()[name](0)
		s.Particles, s.Keep = 1, Spread{States: 2}
		st := following(t, s, func(_ location, before, st *State, _ []int32, _ []float64) {
			if st.LogW[0] != 0 || slices.Equal(before.Theta, st.Theta) || slices.Equal(before.Psi, st.Psi) {
				t.Errorf("%s, iteration %d: weight %v, θ from %v to %v, ψ from %v to %v", name, st.K, st.LogW, before.Theta, st.Theta, before.Psi, st.Psi)
			}
		})
		kept := st.Ensemble()
		if kept.Times != 2 || len(kept.Theta) != 6 || len(kept.Psi) != 4 || kept.LogW != nil || !slices.Equal(kept.Psi[2:], st.Psi) || slices.Equal(kept.Psi[:2], st.Psi) {
			t.Errorf("%s keeps %+v", name, kept)
		}
		if const11 := 11 * st.K; name == "sghmc on batches" && (st.Gradients != 2*const11 || st.Values != const11+11 || st.K != 12) {
			t.Errorf("%s: %d gradients and %d values in %d iterations", name, st.Gradients, st.Values, st.K)
		}
	}
}

// Particles that walk blindly are weighted by the likelihood of the batch where they went, resampled every time, and begin with equal
// weights. The batch is evaluated once.
func TestGuidedBootstrap(t *testing.T) {
	s := kinds()["bootstrap"](0)
	s.Keep = nil
	st := following(t, s, func(m location, before, st *State, rows []int32, increments []float64) {
		for j, got := range increments {
			want := 0.0
			for _, i := range rows {
				r := m.y[i] - st.Theta[3*j+int(i)%3] - before.Psi[int(i)%2]
				want -= 0.5*r*r + 0.5*log2Pi
			}
			if !golden.Near(got, want, 1e-9, 1e-9) {
				t.Fatalf("iteration %d, particle %d: increment %v, want %v", st.K, j, got, want)
			}
		}
		if st.K == 1 && (before.LogZ != 0 || !golden.Near(before.LogW[7], -math.Log(150), 1e-12, 0)) {
			t.Errorf("weights at the start %v", before.LogW)
		}
		if all := len(slices.Compact(slices.Sorted(slices.Values(s.ancestors)))) == 150; all != (st.K == 1) {
			t.Errorf("iteration %d: resampled: %v; draws from the prior are not, all later particles are", st.K, !all)
		}
	})
	if n := 150 * 11; st.Values != n*(1+st.K) || st.Gradients != n*st.K {
		t.Errorf("%d values and %d gradients in %d iterations of %d", st.Values, st.Gradients, st.K, n)
	}
	energy := []float64{3, math.Inf(1), -2}
	if got := (Bootstrap{Temperature{Both: 1}}).After(Moved{Population: &mcmc.Population{J: 3, LL: []float64{-1, -2, -3}}, Energy: energy}); !slices.Equal(got, []float64{-1, math.Inf(-1), -3}) {
		t.Errorf("increments %v, the second particle was put back", got)
	}
	if occasion := DefaultOccasion(Schedule[Full]{}, Bootstrap{}.ForPopulation(true)); occasion != (Always{}) {
		t.Errorf("bootstrap weights of a model that learns are resampled at %v, want every time", occasion)
	}
}

// ψ that leaves the numbers is an error that names iteration and parameter. The state stays the last good one.
func TestGuidedPsiMustBeFinite(t *testing.T) {
	s := kinds()["learn constant"](0)
	s.Learn, s.Keep = poison{}, nil
	st, err := s.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var good []byte
	for err == nil {
		good, _ = st.MarshalBinary()
		_, err = s.Step(t.Context(), st)
	}
	for _, want := range []string{"island 0, iteration 3: the learned parameter offset[1] became NaN: take a smaller rate in learn (poison)"} {
		if !errors.As(err, new(*mcmc.Diverged)) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if got, _ := st.MarshalBinary(); !bytes.Equal(got, good) {
		t.Error("the state changed")
	}
}

// Where ψ goes so far that all particles die, the error says what ψ and θ are, and what may be too large.
func TestGuidedAllDead(t *testing.T) {
	for _, c := range []struct {
		move mcmc.Kernel
		want string
	}{
		{mcmc.Unadjusted{Steps: 1, Step: 0.01}, "iteration 2: all 150 particles are dead: every log-weight is -Inf; all parameters are finite, " +
			"the largest of those that are learned is offset[1] at -1e+200: take a smaller step than 0.01 of unadjusted Langevin dynamics, or a smaller rate in learn (leap)"},
		{mcmc.HMC{Steps: 1, Step: 0.01}, "learned is offset[1] at -1e+200: take more particles, or a prior or start where the model is defined, or a smaller rate in learn (leap)"},
	} {
		s := kinds()["learn constant"](0)
		s.Move, s.Learn, s.Keep = c.move, leap{-1e200}, nil
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Step(t.Context(), st); err == nil {
			_, err = s.Step(t.Context(), st)
		}
		if !errors.As(err, new(*mcmc.Diverged)) || !strings.HasSuffix(err.Error(), c.want) || st.K != 1 {
			t.Errorf("%v after %d iterations, want %s", err, st.K, c.want)
		}
	}
}

// What does not go with parameters that all particles share is refused.
func TestGuidedSettings(t *testing.T) {
	for want, change := range map[string]func(s *Sampler){
		"2 learned parameters and a start of them (Psi) of 0":       func(s *Sampler) { s.Psi = nil },
		"offset[1] starts at NaN":                                   func(s *Sampler) { s.Psi = []float64{1, math.NaN()} },
		"learn: the model has no parameters that all":               func(s *Sampler) { s.Model, s.Psi = newLocation(3), nil },
		"0 learned parameters and a start of them (Psi) of 2":       func(s *Sampler) { s.Model, s.Learn = newLocation(3), nil },
		"examples that are annealed in, but that changes with":      func(s *Sampler) { s.Path = SDA{Iterations: 9} },
		"learn: rate: want a number above 0, as in":                 func(s *Sampler) { s.Learn = By[nn.Adam]{} },
		"rate: want a number above 0, as in {rate: 0.01}, have N":   func(s *Sampler) { s.Learn = By[nn.Adam]{Rate: math.NaN()} },
		"as in {rate: 0.01}, have +Inf":                             func(s *Sampler) { s.Learn = By[nn.SGD]{Rate: math.Inf(1)} },
		"the best state needs a Judge":                              func(s *Sampler) { s.Keep, s.Judge = Best{}, nil },
		"equal weights, those of this population differ":            func(s *Sampler) { s.Keep = Spread{States: 150} },
		"second half of 12 iterations has 900":                      func(s *Sampler) { s.Keep, s.Weighting = Spread{States: 1050}, Unweighted{} },
		"leaves none of the 12 of the path: take fewer than 12, or": func(s *Sampler) { s.Keep = After{Iterations: 12} },
		"no weight corrects SVGD: take the weighting Unweighted":    func(s *Sampler) { s.Move = mcmc.SVGD{Rate: 0.1} },
		"belongs to mcmc: it has no accept step":                    func(s *Sampler) { s.Move = mcmc.SGHMC{Batch: 9, Step: 0.01} },
	} {
		s := kinds()["learn constant"](0)
		s.Keep = nil
		change(s)
		if _, err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	s := kinds()["learn constant"](0)
	for want, change := range map[string]func(st *State){
		"state of 3 learned parameters":                 func(st *State) { st.Psi = make([]float64, 3) },
		"has 1 moments of learned":                      func(st *State) { st.Moments.First = make([]float64, 1) },
		"has 1 second moments":                          func(st *State) { st.Moments.Second = make([]float64, 1) },
		"counts -1 steps of the learned":                func(st *State) { st.Moments.Steps = -1 },
		"has its best in iteration 2, of 0":             func(st *State) { st.BestK, st.BestTheta, st.BestLogW, st.BestPsi = 2, st.Theta, st.LogW, st.Psi },
		"has 0 parameters of the best state":            func(st *State) { st.BestK, st.K = 1, 1 },
		"has 1 learned parameters of states kept":       func(st *State) { st.KeptPsi = make([]float64, 1) },
		"has 150 log-weights of states kept":            func(st *State) { st.KeptLogW = st.LogW },
		"has 2 learned parameters of the best state":    func(st *State) { st.BestPsi = st.Psi },
		"has 150 log-weights of the best state":         func(st *State) { st.BestLogW = st.LogW },
		"state whose learned parameters have moved doe": func(st *State) { s.Learn, st.Moments.Steps = nil, 3 },
	} {
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change(st)
		if _, err := s.Step(t.Context(), st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}
