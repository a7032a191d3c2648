package smc

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
)

// truncated is a location model, y_i ~ N(θ, 1), that is bad for θ below edge.
type truncated struct {
	linear
	edge, bad float64
}

func (m truncated) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	err := m.linear.LogLik(ctx, rows, theta, ll, grad)
	for j, x := range theta {
		if x < m.edge {
			ll[j] = m.bad
		}
	}
	return err
}

func newTruncated(bad float64) truncated {
	m := truncated{linear{y: []float64{0.7, -0.4, 1.3, 0.2, -1.1, 0.9}, sigma2: 1}, -0.1, bad}
	for range m.y {
		m.x = append(m.x, []float64{1})
	}
	return m
}

// logZ is the evidence for the prior N(0, 1): that of the whole line, log N(y; 0, I + 11ᵀ), times the posterior's mass above
// the edge.
func (m truncated) logZ() float64 {
	n, sum, square := float64(len(m.y)), 0.0, 0.0
	for _, y := range m.y {
		sum += y
		square += y * y
	}
	whole := -0.5 * (n*log2Pi + math.Log(1+n) + square - sum*sum/(1+n))
	return whole + math.Log(math.Erfc((m.edge-sum/(1+n))*math.Sqrt(1+n)/math.Sqrt2)/2)
}

// undefined are samplers of every kind of path, with moves of both kinds, on a model that is bad in a part of the prior.
func undefined(bad float64) map[string]*Sampler {
	m := newTruncated(bad)
	hmc := mcmc.HMC{Steps: 3, Step: 0.3, Mutations: mcmc.Mutations{Count: 2}}
	dynamics := mcmc.Unadjusted{Steps: 3, Step: 0.1}
	all := map[string]*Sampler{
		"ladder":                 {Path: Ladder{[]float64{0.1, 0.4, 1}}, Move: hmc},
		"tempering":              {Path: Tempering{}, Move: hmc},
		"tempering, pCN":         {Path: Tempering{}, Move: mcmc.PCN{Step: 0.5, Mutations: mcmc.Mutations{Count: 3}}},
		"tempering, unadjusted":  {Path: Tempering{ESS: 0.8}, Move: dynamics},
		"batches":                {Path: Schedule[Linear]{Iterations: 10, Rule: Linear{Batch: 2, Grow: 1}}, Move: hmc},
		"batches, unadjusted":    {Path: Schedule[Linear]{Iterations: 10, Rule: Linear{Batch: 2, Grow: 1}}, Move: dynamics},
		"mini-batches":           {Path: Schedule[Full]{Iterations: 4}, Move: mcmc.Unadjusted{Steps: 3, Step: 0.1, Gradient: &mcmc.MiniBatch{Batch: 3}}},
		"smooth":                 {Path: SDA{Iterations: 30, Batch: 2, Grow: 2}, Move: hmc},
		"tempered start":         {Path: TemperedStart{Then: Schedule[Full]{Iterations: 3}}, Move: hmc},
		"tempered, unadjusted":   {Path: TemperedStart{Then: Schedule[Full]{Iterations: 3}}, Move: dynamics},
		"never resampled":        {Path: Ladder{[]float64{0.1, 0.4, 1}}, Move: hmc, Resample: Resampler{When: Never{}}},
		"a path that falls back": {Path: back{0.5, 0.2, 1}, Move: hmc, Resample: Resampler{When: Never{}}},
	}
	for _, s := range all {
		s.Model, s.Prior, s.Particles = m, normal{d: 1, sd: 1}, 200
	}
	return all
}

// back is a ladder whose temperatures may also fall.
type back []float64

func (back) Start(int) (Stage, bool)         { return Stage{}, true }
func (b back) Next(st *State) (Stage, error) { return Stage{Lambda: b[st.K]}, nil }
func (b back) Done(st *State) bool           { return st.K >= len(b) }
func (b back) Progress(st *State) float64    { return float64(st.K) / float64(len(b)) }
func (back) Traits() PathTraits              { return PathTraits{} }

// Where the model is impossible or undefined in a part of the prior (46 % of it here), draws there have weight 0 and are
// counted, NaN gives the bytes of −Inf, and the evidence is right on every path whose moves accept or reject. Other moves lose
// the weight of trajectories that come from beyond the edge (mcmc.Unadjusted names this limitation).
func TestPartOfThePriorMayBeImpossible(t *testing.T) {
	testkit.Statistics(t)
	const runs = 40
	for name := range undefined(0) {
		var logZ []float64
		for i := range runs {
			var texts [][]byte
			for _, bad := range []float64{math.Inf(-1), math.NaN()} {
				s := undefined(bad)[name]
				s.Seed = uint64(i)
				st, err := s.Init(context.Background())
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				gone := 0
				for _, x := range st.Theta {
					if x < newTruncated(0).edge {
						gone++
					}
				}
				info, err := s.Step(context.Background(), st)
				if err != nil || info.Dead != gone || gone < 40 {
					t.Fatalf("%s: %d dead after %d impossible draws; %v", name, info.Dead, gone, err)
				}
				if err := s.Run(context.Background(), st, nil); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				text, _ := st.MarshalBinary()
				texts = append(texts, text)
				if bad != bad {
					logZ = append(logZ, st.LogZ)
				}
			}
			if !bytes.Equal(texts[0], texts[1]) {
				t.Errorf("%s: NaN gives other bytes than −Inf", name)
			}
		}
		if !undefined(0)[name].Move.Traits().Invariant() {
			continue
		}
		// E log Ẑ is below log Z by half the relative variance of Ẑ, at most .3²/2; an evidence without the impossible part would
		// be off by .6.
		if least := meanIs(t, name+": log Z", logZ, newTruncated(0).logZ(), 0.045, len(undefined(0))); !(least < 0.6) {
			t.Errorf("%s: an error of .6 would not be found for sure, but only one of %v", name, least)
		}
	}
}

// A start that cannot go, on every path: the error names the place, with the first numbers of θ.
func TestStartsThatCannotGo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Sampler)
		want   string
	}{
		"all NaN":        {func(s *Sampler) { s.Model = density{5, always(math.NaN())} }, "all 200 particles is 0 or undefined (−Inf or NaN), first at θ = ["},
		"all impossible": {func(s *Sampler) { s.Model = density{5, always(math.Inf(-1))} }, "]: take a prior or a start"},
		"+Inf":           {func(s *Sampler) { s.Model = density{5, always(math.Inf(1))} }, "particle 0 starts with log-likelihood +Inf"},
		"given": {func(s *Sampler) {
			s.Model, s.Start = density{5, always(math.NaN())}, make([]float64, 1000)
		}, "first at θ = [0 0 0 0 0]"},
		"chains": {func(s *Sampler) {
			s.Model, s.Path, s.Weighting = density{5, beyond(0)}, Fixed{Epochs: 10}, nil
		}, "starts with log-likelihood -Inf"},
		"a chain": {func(s *Sampler) {
			s.Model, s.Path, s.Weighting, s.Particles, s.Start = density{5, beyond(0)}, Fixed{Epochs: 10}, nil, 1, []float64{2.5, 0, 0, 0, 0}
		}, "at θ = [2.5 0 0 0 0]"},
		"only one": {func(s *Sampler) {
			s.Model, s.Path, s.Start = density{5, beyond(0)}, Tempering{}, make([]float64, 1000)
			for i := 5; i < 1000; i++ {
				s.Start[i] = 1
			}
		}, "only 1 of 200 particles have a positive weight"},
	} {
		for _, path := range []Targets{Ladder{[]float64{0.5, 1}}, Tempering{}, Schedule[Full]{Iterations: 3}, SDA{Iterations: 3}} {
			s := &Sampler{Prior: normal{d: 5, sd: 1}, Particles: 200, Path: path, Move: mcmc.HMC{Steps: 1, Step: 0.1}}
			c.change(s)
			st, err := s.Init(context.Background())
			if err == nil {
				_, err = s.Step(context.Background(), st)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v does not say %q", name, err, c.want)
			}
		}
	}
}

func always(l float64) func(theta, grad []float64) float64 {
	return func(_, grad []float64) float64 { clear(grad); return l }
}

// beyond is a log-likelihood of 0 that is undefined where θ_1 is above edge.
func beyond(edge float64) func(theta, grad []float64) float64 {
	return func(theta, grad []float64) float64 {
		clear(grad)
		if theta[0] > edge {
			return math.NaN()
		}
		return 0
	}
}

// A new batch that is undefined where a particle stands kills it, also where moves accept or reject.
func TestBatchesMayBeUndefinedForReversal(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		m := badRows{newLocation(1), bad}
		s := &Sampler{
			Model: m, Prior: m.problem().prior, Path: Schedule[Linear]{Iterations: 12, Rule: Linear{Batch: 3, Grow: 3}},
			Move: mcmc.HMC{Steps: 1, Step: 0.02}, Resample: Resampler{When: Never{}}, Particles: 40, Seed: 5,
		}
		_, infos := run(t, s)
		if last := infos[len(infos)-1].Dead; last == 0 || last == 40 {
			t.Errorf("%v: %d of 40 particles are dead", bad, last)
		}
	}
}

// careless is a program's own move that keeps whatever the model says.
type careless struct {
	scripted
	at float64 // where it leaves particle 3
}

func (m careless) Mutate(ctx context.Context, w *mcmc.Work, target *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	out, err := m.scripted.Mutate(ctx, w, target, p, tuning, now)
	p.LL[3] = math.NaN()
	p.Theta[3] = m.at
	return out, err
}

// A program's own move that keeps NaN is told so, before a path or a weight meets it.
func TestMovesMustNotKeepNaN(t *testing.T) {
	for at, want := range map[float64]string{
		1:            "iteration 1: the move left particle 3 at log-likelihood NaN: a move must reject",
		math.Inf(-1): "iteration 1: the move left particle 3 at log-likelihood NaN, where parameter 0 of particle 3 became -Inf: a move must reject",
	} {
		s := undefined(math.NaN())["tempering"]
		s.Move = careless{scripted(func(int, []float64) {}), at}
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step(context.Background(), st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
