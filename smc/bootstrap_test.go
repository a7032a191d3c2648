package smc

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// ten is the log-likelihood −5 θ²: beside the prior N(0, 1) the posterior is N(0, 1/11).
var ten = density{1, func(theta, grad []float64) float64 {
	if grad != nil {
		grad[0] = -10 * theta[0]
	}
	return -5 * theta[0] * theta[0]
}}

// drift leaves N(0, 1/11) invariant and has autocorrelation a. It says that it does not, as the moves that bootstrap weights are for.
type drift struct{ a float64 }

func (drift) Traits() mcmc.Traits                         { return mcmc.Traits{Corrected: mcmc.ByWeight} }
func (drift) Tuning(*mcmc.Target, int) ([]float64, error) { return nil, nil }
func (m drift) Mutate(ctx context.Context, _ *mcmc.Work, t *mcmc.Target, p *mcmc.Population, _ []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	sd := math.Sqrt((1 - m.a*m.a) / 11)
	now.Key.Purpose = rng.Proposal
	stream := now.Key.Stream()
	for j, x := range p.Theta {
		p.Theta[j] = m.a*x + sd*stream.Normal()
	}
	return nothingDone(p), t.Evaluate(ctx, p)
}

// variance is the weighted mean of θ² of a model of one parameter.
func variance(st *State) (v float64) {
	for j, l := range st.LogW {
		v += math.Exp(l) * st.Theta[j] * st.Theta[j]
	}
	return v
}

// The law of bootstrap weights is not the posterior's, whose variance is .0909 (smc-sghmc-ensembles, section 5): with a move that leaves
// the posterior invariant, the four variances are the ones printed there, limits of v ← 1/(1/(a² v + (1−a²)/11) + 10). With the Langevin
// move of step h (guided-open-horizon-smc, section 6), whose drift is a = 1 − 11 h²/2 and whose noise h², it is v ← 1/(1/(a² v + h²) + 10).
// Momentum weights of an inexact move give the posterior's. A correct sampler fails in any of the six once in 10⁶.
func TestBootstrapLimitLaw(t *testing.T) {
	testkit.Statistics(t)
	const runs, particles = 24, 4000
	for _, c := range []struct {
		a, printed float64
		iterations int // to the limit
		move       mcmc.Kernel
		noise      float64 // its variance
	}{
		{0, 0.0476, 2, drift{0}, 1.0 / 11}, {0.5, 0.0442, 8, drift{.5}, .75 / 11}, {0.9, 0.0289, 25, drift{.9}, .19 / 11}, {0.99, 0.0118, 45, drift{.99}, .0199 / 11},
		{.945, 0.0238, 25, mcmc.Unadjusted{Steps: 1, Step: .1}, .01},
	} {
		v := 1.0 / 11
		for range c.iterations {
			v = 1 / (1/(c.a*c.a*v+c.noise) + 10)
		}
		if math.Abs(v-c.printed) > 5e-5 {
			t.Errorf("a = %v: the law of iteration %d has variance %v, printed %v", c.a, c.iterations, v, c.printed)
		}
		var got []float64
		for seed := range uint64(runs) {
			st, _ := run(t, &Sampler{
				Model: ten, Prior: normal{d: 1, sd: 1}, Path: Schedule[Full]{Iterations: c.iterations}, Move: c.move,
				Weighting: Bootstrap{Temperature{Both: 1}}, Resample: Resampler{Scheme: Systematic{}}, Particles: particles, Seed: seed,
			})
			got = append(got, variance(st))
		}
		if found := meanIs(t, "variance", got, v, 1e-4, 5); !(found < 0.08*v) { // 1e-4: of order 1/particles
			t.Errorf("a = %v: the test sees only errors above %v", c.a, found)
		}
	}
	var got []float64
	for seed := range uint64(runs) {
		st, _ := run(t, &Sampler{
			Model: ten, Prior: normal{d: 1, sd: 1}, Path: Schedule[Full]{Iterations: 10}, Move: mcmc.Unadjusted{Steps: 2, Step: 0.35},
			Weighting: Momentum{}, Particles: particles, Seed: seed,
		})
		got = append(got, variance(st))
	}
	if found := meanIs(t, "variance with momentum weights", got, 1.0/11, 1e-4, 5); !(found < 0.01) {
		t.Errorf("momentum weights: the test sees only errors above %v", found)
	}
}

// Increments are log-likelihoods over T_k: over N by default, so that they are means over the examples, and over T_B and T_M before and
// after the end of the warm-up. Draws from the prior begin with the weights of the first iteration, also where they are to be resampled;
// other starts, and models that learn, begin with equal ones.
func TestBootstrapTemperatures(t *testing.T) {
	m := newLocation(3)
	n := float64(len(m.y))
	sampler := func(w Bootstrap) *Sampler {
		return &Sampler{
			Model: m, Prior: m.problem().prior, Path: Schedule[Full]{Iterations: 5}, Move: mcmc.Unadjusted{Steps: 2, Step: 0.05}, Particles: 30, Seed: 3,
			Weighting: w, Resample: Resampler{When: Never{}}, Keep: After{Iterations: 3},
		}
	}
	for _, c := range []struct {
		w  Bootstrap
		at [6]float64 // of the start and of each iteration
	}{
		{Bootstrap{}, [6]float64{n, n, n, n, n, n}},
		{Bootstrap{Temperature{Both: Examples}}, [6]float64{n, n, n, n, n, n}},
		{Bootstrap{Temperature{Both: 5}}, [6]float64{5, 5, 5, 5, 5, 5}},
		{Bootstrap{Temperature{Warmup: 7}}, [6]float64{7, 7, 7, 7, n, n}},
		{Bootstrap{Temperature{Sampling: 7}}, [6]float64{n, n, n, n, 7, 7}},
		{Bootstrap{Temperature{Warmup: Examples, Sampling: 7}}, [6]float64{n, n, n, n, 7, 7}},
	} {
		s := sampler(c.w)
		st, err := s.Init(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, st.J)
		for k, temperature := range c.at {
			if k > 0 {
				if _, err := s.Step(t.Context(), st); err != nil {
					t.Fatal(err)
				}
			}
			for j := range want {
				want[j] += st.LL[j] / temperature
				if got := st.LogW[j] - st.LogW[0]; !golden.Near(got, want[j]-want[0], 1e-9, 1e-9) {
					t.Fatalf("%+v, iteration %d: log-weight %v more than the first particle's, want %v", c.w, k, got, want[j]-want[0])
				}
			}
		}
	}
	s := sampler(Bootstrap{Temperature{Both: 1}})
	s.Resample = Resampler{} // at temperature 1 every time, also the weighted draws of the prior
	if _, info := step(t, s); !info.Resampled || info.ESS > 5 {
		t.Errorf("draws of the prior with full weights: %+v", info)
	}
	s = sampler(Bootstrap{})
	s.Start = make([]float64, 90)
	s.Start[5] = 2
	if st, err := s.Init(t.Context()); err != nil || slices.Max(st.LogW) != slices.Min(st.LogW) {
		t.Errorf("given particles begin with the weights %v, %v", st.LogW, err)
	}
	for w, want := range map[Bootstrap]Occasion{
		{}: BelowHalf, {Temperature{Both: 1}}: Always{}, {Temperature{Both: 2}}: BelowHalf, {Temperature{Warmup: 1, Sampling: 1}}: Always{},
		{Temperature{Warmup: 1, Sampling: Examples}}: BelowHalf, {Temperature{Warmup: Examples, Sampling: 1}}: BelowHalf,
	} {
		if got := DefaultOccasion(Schedule[Full]{}, w); got != want {
			t.Errorf("%+v is resampled at %v, want %v", w, got, want)
		}
	}
	if w := (Bootstrap{Temperature{Both: 3}}); w.ForPopulation(true) != Weighting(w) {
		t.Error("a temperature that is given changes where layers are learned")
	}
}

// At temperature N, ESS tends to the number of particles as their losses become alike.
func TestBootstrapESS(t *testing.T) {
	m := newLocation(3)
	last := math.Inf(1)
	for _, spread := range []float64{1, 0.1, 0.01} {
		s := &Sampler{
			Model: m, Prior: m.problem().prior, Path: Schedule[Full]{Iterations: 2}, Move: mcmc.Walk{SD: 1e-9}, Particles: 30, Weighting: Bootstrap{},
			Start: make([]float64, 90),
		}
		for i := range s.Start {
			s.Start[i] = 5 + spread*math.Sin(float64(i*i))
		}
		_, infos := run(t, s)
		missing := 30 - infos[1].ESS
		if !(missing > 0 && missing < last/20) { // it falls with the square of the spread
			t.Errorf("particles of spread %v: the ESS lacks %v of 30, it lacked %v", spread, missing, last)
		}
		last = missing
	}
}

// Equal weights are equal whatever the move costs, also at the start; only the dead have none.
func TestEqual(t *testing.T) {
	st, infos := run(t, kinds()["equal"](0))
	if low, high := slices.Min(st.LogW), slices.Max(st.LogW); high-low > 1e-12 || infos[len(infos)-1].Resampled || infos[len(infos)-1].EnergySD < 0.01 {
		t.Errorf("log-weights from %v to %v; %+v", low, high, infos[len(infos)-1])
	}
	got := (Equal{}).After(Moved{Population: &mcmc.Population{J: 3, LL: []float64{-1, -2, -3}}, Energy: []float64{3, math.Inf(1), -2}})
	if !slices.Equal(got, []float64{0, math.Inf(-1), 0}) {
		t.Errorf("increments %v, the second particle was put back", got)
	}
}

// Impossible temperatures are refused with their place, and so are those of other weightings.
func TestTemperaturesAreChecked(t *testing.T) {
	type settings struct {
		Weight Weighting `yaml:"weight"`
	}
	for text, want := range map[string]string{
		"bootstrap: {temperature: 0}":                         "1:35: weight.bootstrap.temperature: want a number above 0 or examples, have 0",
		"bootstrap: {temperature: -1}":                        "1:35: weight.bootstrap.temperature: want a number above 0 or examples",
		"bootstrap: {temperature: -2}":                        "1:35: weight.bootstrap.temperature: want a number above 0 or examples, have -2",
		"bootstrap: {temperature: .nan}":                      "1:35: weight.bootstrap.temperature: ",
		"bootstrap: {temperature: .inf}":                      "1:35: weight.bootstrap.temperature: ",
		"bootstrap: {temperature: all}":                       "1:35: weight.bootstrap.temperature: want a number above 0 or examples",
		"bootstrap: {temperature: {warmup: 0}}":               "1:44: weight.bootstrap.temperature.warmup: want a number above 0 or examples",
		"bootstrap: {temperature: {warmup: 1, sampling: -3}}": "1:57: weight.bootstrap.temperature.sampling: want a number above 0 or examples, have -3",
		"bootstrap: {temperature: {warm: 1}}":                 "weight.bootstrap.temperature: unknown key \"warm\": did you mean \"warmup\"?",
		"momentum: {temperature: 3}":                          "weight: momentum has no settings: write it as a name; temperature is a setting of bootstrap",
		"equal: {temperature: {warmup: 3}}":                   "weight: equal has no settings: write it as a name; temperature is a setting of bootstrap",
		"equal: {step: 3}":                                    "weight: equal has no settings: write it as a name",
	} {
		_, _, err := config.Parse[settings]("c.yaml", []byte("weight: {"+text+"}"), nil, families()...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", text, err, want)
		}
	}
	for _, bad := range []Temperature{{Both: math.NaN()}, {Both: -2}, {Both: math.Inf(1)}, {Warmup: math.NaN()}, {Both: 1, Sampling: 2}} {
		s := kinds()["tempered bootstrap"](0)
		s.Weighting = Bootstrap{bad}
		if _, err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), "weighting: temperature") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, path := range []Targets{Tempering{}, SDA{Iterations: 5}, TemperedStart{Then: Schedule[Full]{Iterations: 3}}} {
		for _, w := range []Weighting{Bootstrap{}, Equal{}} {
			s := kinds()["equal"](0)
			s.Path, s.Weighting = path, w
			if _, err := s.Init(t.Context()); err == nil || !strings.Contains(err.Error(), "weighting: "+Weightings.Name(w)+" leaves out") {
				t.Errorf("%s on %v: %v", Weightings.Name(w), path, err)
			}
		}
	}
}
