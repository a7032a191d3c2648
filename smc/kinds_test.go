package smc

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// growing is a path of data: the posterior of the first 5, 10, … examples, their likelihood as it is.
type growing struct{ n int }

func (g growing) Start(int) (Stage, bool) { return Stage{Rows: Rows{0, min(g.n, 5)}}, true }
func (g growing) Next(st *State) (Stage, error) {
	return Stage{Lambda: 1, Rows: Rows{0, min(g.n, 5*(st.K+1))}}, nil
}
func (g growing) Done(st *State) bool        { return 5*st.K >= g.n }
func (g growing) Progress(st *State) float64 { return float64(5*st.K) / float64(g.n) }
func (growing) Traits() PathTraits           { return PathTraits{} }

// location is y_i ~ N(θ_0, 1), θ_1 … θ_{d−1} ~ N(0, 1) seen once each through a likelihood of their own: a model whose
// examples can be taken in any part. calls counts particles × examples. If learned is positive, example i has in addition ψ_{i mod
// learned} in its mean.
type location struct {
	d       int
	y       []float64
	calls   *int
	learned int
	psi     []float64
}

func (m location) Learned() int             { return m.learned }
func (m location) LearnedName(i int) string { return fmt.Sprintf("offset[%d]", i) }
func (m location) At(psi []float64) mcmc.Model {
	m.psi = slices.Clone(psi)
	return m
}
func (m location) LearnedGradient(_ context.Context, rows []int32, psi, theta, weights, grad []float64) error {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	if m.calls != nil {
		*m.calls += len(weights) * len(rows)
	}
	clear(grad)
	for j, w := range weights {
		for _, i := range rows {
			grad[int(i)%m.learned] += w * (m.y[i] - theta[j*m.d+int(i)%m.d] - psi[int(i)%m.learned])
		}
	}
	return nil
}

func (m location) Dim() int      { return m.d }
func (m location) Examples() int { return len(m.y) }
func (m location) LogLik(_ context.Context, rows []int32, theta, ll, grad []float64) error {
	if rows == nil {
		for i := range m.y {
			rows = append(rows, int32(i))
		}
	}
	if m.calls != nil {
		*m.calls += len(ll) * len(rows)
	}
	clear(grad)
	for j := range ll {
		ll[j] = 0
		for _, i := range rows {
			k := int(i) % m.d
			r := m.y[i] - theta[j*m.d+k]
			if m.psi != nil {
				r -= m.psi[int(i)%m.learned]
			}
			ll[j] -= 0.5*r*r + 0.5*log2Pi
			if grad != nil {
				grad[j*m.d+k] += r
			}
		}
	}
	return nil
}

func newLocation(d int) location {
	m := location{d: d, y: make([]float64, 41)}
	for i := range m.y {
		m.y[i] = 2 + math.Sin(float64(7*i))*1.5
	}
	return m
}

// problem returns the location model's posterior for a prior N(0, 4): each component on its own.
func (m location) problem() problem {
	p := problem{name: "location", model: m, prior: normal{d: m.d, sd: 2}}
	for k := range m.d {
		n, sum, square := 0.0, 0.0, 0.0
		for i := k; i < len(m.y); i += m.d {
			n, sum, square = n+1, sum+m.y[i], square+m.y[i]*m.y[i]
		}
		a := n + 0.25
		p.mean, p.vars = append(p.mean, sum/a), append(p.vars, 1/a)
		p.logZ += -0.5*n*log2Pi - 0.5*square + 0.5*sum*sum/a - 0.5*math.Log(4*a)
	}
	return p
}

// kinds are runs of every kind; each returns a fresh sampler for an island.
func kinds() map[string]func(island int) *Sampler {
	m := newLocation(3)
	base := func(island int) *Sampler {
		return &Sampler{
			Model: m, Prior: m.problem().prior, Path: Tempering{}, Move: mcmc.HMC{Steps: 3, Mutations: mcmc.Mutations{Count: 3}},
			Resample: Resampler{When: Always{}}, Particles: 150, Seed: 6, Island: island,
		}
	}
	with := func(change func(s *Sampler)) func(int) *Sampler {
		return func(island int) *Sampler {
			s := base(island)
			change(s)
			return s
		}
	}
	annealed := func(path Targets) func(int) *Sampler {
		return with(func(s *Sampler) {
			s.Path, s.Weighting, s.Resample = path, Momentum{}, Resampler{}
			s.Move = mcmc.Unadjusted{Steps: 3, Step: 0.05}
		})
	}
	start := make([]float64, 150*3)
	for i := range start {
		start[i] = float64(i%5) - 1
	}
	all := map[string]func(int) *Sampler{
		"tempering hmc":      base,
		"tempering langevin": with(func(s *Sampler) { s.Move = mcmc.HMC{Steps: 1, Mutations: mcmc.Mutations{Count: 3}} }),
		"adaptive mutations": with(func(s *Sampler) { s.Move = mcmc.HMC{Steps: 3, Mutations: mcmc.Mutations{Eta: 0.05, Max: 8}} }),
		"tempering pcn":      with(func(s *Sampler) { s.Move = mcmc.PCN{Mutations: mcmc.Mutations{Count: 9}} }),
		"ladder, systematic": with(func(s *Sampler) {
			s.Path, s.Resample = Ladder{[]float64{0.02, 0.1, 0.4, 1}}, Resampler{Scheme: Systematic{}}
		}),
		"tempering, stratified": with(func(s *Sampler) {
			s.Path, s.Resample = Tempering{ESS: 0.8}, Resampler{Scheme: Stratified{}, When: BelowRatio(0.7)}
		}),
		"tempering, residual": with(func(s *Sampler) { s.Resample.Scheme = Residual{} }),
		"waste-free": with(func(s *Sampler) {
			s.WasteFree, s.Move = 15, mcmc.HMC{Steps: 3}
		}),
		"waste-free pcn": with(func(s *Sampler) {
			s.WasteFree, s.Move, s.Resample.Scheme = 5, mcmc.PCN{}, Systematic{}
		}),
		"jitter": with(func(s *Sampler) {
			s.Move = mcmc.HMC{Steps: 2, Jitter: 0.1, Mutations: mcmc.Mutations{Count: 3}}
		}),
		"growing data":    with(func(s *Sampler) { s.Path = growing{len(m.y)} }),
		"constant":        annealed(Schedule[Constant]{Iterations: 9, Rule: Constant{Batch: 7}}),
		"full":            annealed(Schedule[Full]{Iterations: 5}),
		"ctr":             annealed(Schedule[ConstantToRefine]{Iterations: 10, Rule: ConstantToRefine{Batch: 7}}),
		"linear":          annealed(Schedule[Linear]{Iterations: 9, Rule: Linear{Batch: 7, Grow: 5}}),
		"automated":       annealed(Schedule[Automated]{Iterations: 10, Rule: Automated{Batch: 7, Grow: 5}}),
		"sda":             annealed(SDA{Iterations: 14, Batch: 7, Grow: 9}),
		"sda exact":       annealed(SDA{Iterations: 12, Batch: 7, Grow: 9, Exact: true}),
		"sda scale":       annealed(SDA{Iterations: 19, Batch: 7, Grow: 9, Scale: true}),
		"tempered linear": annealed(TemperedStart{Then: Schedule[Linear]{Iterations: 6, Rule: Linear{Batch: 7}}}),
		"tempered sda":    annealed(TemperedStart{ESS: 0.7, Then: SDA{Iterations: 14, Batch: 7}}),
		"literal": with(func(s *Sampler) {
			s.Path, s.Weighting, s.Resample = Schedule[Linear]{Iterations: 9, Rule: Linear{Batch: 7, Grow: 5}}, Momentum{Literal: true}, Resampler{When: Never{}}
			s.Move = mcmc.Unadjusted{Steps: 3, Step: 0.05}
		}),
		"cheap gradients": with(func(s *Sampler) {
			s.Path, s.Weighting = Schedule[Full]{Iterations: 5}, Momentum{}
			s.Move = mcmc.Unadjusted{Steps: 3, Step: 0.05, Gradient: &mcmc.MiniBatch{Batch: 8}}
		}),
		"cheap linear": with(func(s *Sampler) {
			s.Path, s.Weighting, s.Resample = Schedule[Linear]{Iterations: 9, Rule: Linear{Batch: 7, Grow: 5}}, Momentum{}, Resampler{}
			s.Move = mcmc.Unadjusted{Steps: 3, Step: 0.05, Gradient: &mcmc.MiniBatch{Batch: 4}}
		}),
		"chains": with(func(s *Sampler) {
			s.Path, s.Start, s.Keep, s.Resample = Fixed{Epochs: 70}, start, Spread{4 * 150}, Resampler{}
			s.Move = mcmc.HMC{Steps: 8, Start: 0.3, Accept: 0.75, Jitter: 0.2}
		}),
		"short chains": with(func(s *Sampler) {
			s.Path, s.Resample = Fixed{Epochs: 20}, Resampler{}
			s.Move = mcmc.HMC{Steps: 1}
		}),
		"chains of pcn": with(func(s *Sampler) {
			s.Path, s.Resample, s.Keep = Fixed{Epochs: 30}, Resampler{}, Spread{300}
			s.Move = mcmc.PCN{}
		}),
		"chains of nuts": with(func(s *Sampler) {
			s.Path, s.Resample, s.Particles, s.Keep = Fixed{Epochs: 500}, Resampler{}, 3, Spread{3 * 5}
			s.Move = mcmc.NUTS{}
		}),
		"chains of sghmc": with(func(s *Sampler) {
			s.Path, s.Resample, s.Particles, s.Keep = Fixed{Epochs: 60}, Resampler{}, 3, Spread{3 * 5}
			s.Move = mcmc.SGHMC{Batch: 9, Step: 0.01, Friction: 0.2}
		}),
		"persistent": with(func(s *Sampler) { s.Move, s.Weighting = persistent{Steps: 2}, Reversal{} }),
		"persistent chains": with(func(s *Sampler) {
			s.Path, s.Start, s.Resample, s.Move = Fixed{Epochs: 40}, start, Resampler{}, persistent{Steps: 2}
		}),
		"slices":           with(func(s *Sampler) { s.Move = slice{} }),
		"chains of slices": with(func(s *Sampler) { s.Path, s.Resample, s.Move = Fixed{Epochs: 30}, Resampler{}, slice{} }),
	}
	learned := func(path Targets, change func(s *Sampler)) func(int) *Sampler {
		return with(func(s *Sampler) {
			m := newLocation(3)
			m.learned = 2
			s.Model, s.Psi, s.Path, s.Resample = m, []float64{0.5, -1}, path, Resampler{}
			s.Move, s.Learn = mcmc.Unadjusted{Steps: 1, Step: 0.05}, By[nn.Adam]{Rate: 0.05}
			s.Judge = func(_ context.Context, st *State) (loss float64, err error) { // falls and rises again
				for j, l := range st.LogW {
					loss += math.Exp(l) * (st.Theta[3*j] + st.Psi[0] - 1.6) * (st.Theta[3*j] + st.Psi[0] - 1.6)
				}
				return loss, nil
			}
			change(s)
		})
	}
	for name, kind := range map[string]func(int) *Sampler{
		"learn constant": learned(Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 11}}, func(s *Sampler) { s.Keep = Best{} }),
		"learn full":     learned(Schedule[Full]{Iterations: 5}, func(s *Sampler) { s.Learn, s.Keep = By[nn.SGD]{0.1, nn.SGD{Momentum: 0.5}}, Best{} }),
		"learn linear":   learned(Schedule[Linear]{Iterations: 9, Rule: Linear{Batch: 7, Grow: 5}}, func(s *Sampler) { s.Keep = After{Iterations: 4} }),
		"learn tempered": learned(TemperedStart{Then: Schedule[Constant]{Epochs: 2, Rule: Constant{Batch: 11}}}, func(s *Sampler) { s.Keep = Best{} }),
		"learn tempering": learned(Tempering{}, func(s *Sampler) {
			s.Move, s.Learn = mcmc.HMC{Steps: 3, Mutations: mcmc.Mutations{Max: 9}}, By[nn.AdamW]{0.01, nn.AdamW{Decay: 0.1}}
		}),
		"learn chains": learned(Fixed{Epochs: 30}, func(s *Sampler) {
			s.Move, s.Weighting, s.Keep = mcmc.HMC{Steps: 2, Step: 0.1}, Unweighted{}, Spread{300}
		}),
		"learn walk": learned(Schedule[Constant]{Iterations: 7, Rule: Constant{Batch: 11}}, func(s *Sampler) { s.Move = mcmc.Walk{SD: 0.1} }),
		"bootstrap": learned(Schedule[Constant]{Epochs: 2, Rule: Constant{Batch: 11}}, func(s *Sampler) {
			s.Move, s.Weighting, s.Keep = mcmc.Walk{SD: 0.1}, Bootstrap{}, Best{}
		}),
		"tempered bootstrap": with(func(s *Sampler) {
			s.Path, s.Move, s.Resample, s.Keep = Schedule[Full]{Iterations: 6}, mcmc.Unadjusted{Steps: 2, Step: 0.05}, Resampler{}, After{Iterations: 3}
			s.Weighting = Bootstrap{Temperature{Warmup: 5}}
		}),
		"equal": with(func(s *Sampler) {
			s.Path, s.Move, s.Resample, s.Weighting = Schedule[Full]{Iterations: 6}, mcmc.Unadjusted{Steps: 2, Step: 0.05}, Resampler{}, Equal{}
		}),
		"metropolis": learned(Schedule[Full]{Iterations: 4}, func(s *Sampler) { s.Move = mcmc.Metropolis{SD: 0.3} }),
		"svgd": learned(Schedule[Constant]{Epochs: 2, Rule: Constant{Batch: 11}}, func(s *Sampler) {
			s.Move, s.Weighting = mcmc.SVGD{Rate: 0.01}, Unweighted{}
		}),
		"sghmc on batches": learned(Schedule[Constant]{Epochs: 3, Rule: Constant{Batch: 11}}, func(s *Sampler) {
			s.Move, s.Weighting, s.Keep, s.Particles = mcmc.SGHMC{Batch: 11, Step: 0.003}, Unweighted{}, Spread{15}, 3
		}),
		"chains of metropolis": with(func(s *Sampler) {
			s.Path, s.Resample, s.Move = Fixed{Epochs: 30}, Resampler{}, mcmc.Metropolis{SD: 0.4}
		}),
		"epoch": with(func(s *Sampler) {
			s.Path, s.Move, s.Resample, s.Keep = Schedule[Full]{Iterations: 5}, mcmc.Epoch{Batch: 11, Step: 0.02}, Resampler{}, After{Iterations: 2, As: "bfloat16"}
		}),
		"epoch of its own": learned(Schedule[Constant]{Iterations: 5, Rule: Constant{Batch: 11}}, func(s *Sampler) {
			s.Move, s.Weighting = mcmc.Epoch{Batch: 4, Step: 0.02, Order: "own"}, Bootstrap{}
		}),
		"weights kept": with(func(s *Sampler) {
			s.Path, s.Move, s.Resample, s.Keep = Schedule[Full]{Iterations: 6}, mcmc.Unadjusted{Step: 0.05}, Resampler{}, After{Iterations: 3}
		}),
	} {
		all[name] = kind
	}
	for name, c := range pathCases {
		if path := c.path(12); path.Traits().Batches {
			all["row "+name] = annealed(path)
		}
	}
	for _, row := range mcmc.Moves {
		faults := config.NewFaults()
		mcmc.CheckForPopulation(row.Part, false, faults)
		if row.Part.Traits().Invariant() && len(faults.All()) == 0 && config.Check(row.Part) == nil { // the others move chains, or need settings
			all["move "+row.Name] = with(func(s *Sampler) { s.Move = row.Part.ForPopulation(mcmc.Mutations{Count: 4}, false) })
		}
	}
	for _, row := range Schemes {
		all["scheme "+row.Name] = with(func(s *Sampler) { s.Resample = Resampler{Scheme: row.Part, When: BelowRatio(0.8)} })
	}
	return all
}

// Every row of every table has a run among the kinds.
func TestKindsHaveEveryRow(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range kinds() {
		s := kind(0)
		path := s.Path
		if start, ok := path.(TemperedStart); ok {
			path = start.Then
		}
		if path, ok := path.(Path); ok {
			seen["path "+Paths.Name(path)] = true
		}
		if move, ok := s.Move.(mcmc.Move); ok {
			seen["move "+mcmc.Moves.Name(move)] = true
		}
		if w, ok := s.weighting().(Weighting); ok {
			seen["weighting "+Weightings.Name(w)] = true
		}
		if s.Learn != nil {
			seen["learner "+Learners.Name(s.Learn)] = true
		}
		if s.Keep == nil {
			s.Keep = Last{}
		}
		seen["keeper "+Keepers.Name(s.Keep)] = true
		seen["scheme "+Schemes.Name(s.Resample.scheme())] = true
		seen["occasion "+Occasions.Name(s.Resample.when(s.Path, s.weighting()))] = true
	}
	for family, names := range map[string][]string{
		"path": Paths.Names(), "move": mcmc.Moves.Names(), "weighting": Weightings.Names(), "scheme": Schemes.Names(), "occasion": Occasions.Names(),
		"learner": Learners.Names(), "keeper": Keepers.Names(),
	} {
		for _, name := range names {
			if !seen[family+" "+name] {
				t.Errorf("no run has %s %s", family, name)
			}
		}
	}
}
