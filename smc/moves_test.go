package smc

import (
	"context"
	"math"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/mcmc"
)

// Moves that only tests have. They use what a Move may do and those of package mcmc do not: tune several numbers or none, keep
// momenta, take a number of evaluations that differs between particles.

// persistent is Hamiltonian Monte Carlo with a partial refreshment of the momentum (Horowitz 1991): p ← αp + √(1−α²)ξ with
// ξ ~ N(0, I), some leapfrogs, accept/reject, and −p if the proposal is rejected. It tunes log h, by the acceptance, and
// logit α, which falls as moves are rejected: a momentum that turns round again and again leads nowhere.
type persistent struct {
	Steps int
	Fixed []float64 // log h and logit α that stay; nil: tuned
}

func (m persistent) Traits() mcmc.Traits {
	return mcmc.Traits{Needs: mcmc.Needs{Gradient: true, Momentum: true}, Costs: m.Steps}
}
func (m persistent) Tuning(*mcmc.Target, int) ([]float64, error) {
	if m.Fixed != nil {
		return append([]float64(nil), m.Fixed...), nil
	}
	return []float64{math.Log(0.3), 0.5}, nil
}

func (m persistent) Mutate(ctx context.Context, w *mcmc.Work, t *mcmc.Target, p *mcmc.Population, tuning []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	w.Fit(p)
	q, d := &w.Proposal, p.D
	h, keep := rng.Exp(tuning[0]), 1/(1+rng.Exp(-tuning[1]))
	out := mcmc.Outcome{
		Energy: make([]float64, p.J), Probability: make([]float64, p.J), Step: h, Gradients: make([]int, p.J), Values: make([]int, p.J),
	}
	q.Copy(p)
	noise, gradLP := make([]float64, d), make([]float64, d)
	for j := range p.J {
		key := now.Key
		key.Purpose, key.Particle = rng.Momentum, j
		key.Stream().Normals(noise)
		for i, xi := range noise {
			v := float64(keep*p.Momentum[j*d+i]) + float64(math.Sqrt(1-float64(keep*keep))*xi)
			p.Momentum[j*d+i], q.Momentum[j*d+i] = v, v
		}
		out.Energy[j] = t.LogDensity(p, j) - mcmc.Kinetic(p.Momentum[j*d:(j+1)*d])
	}
	kick := func() {
		for j := range p.J {
			t.Prior.LogDensity(q.Theta[j*d:(j+1)*d], gradLP)
			for i, g := range gradLP {
				q.Momentum[j*d+i] += float64(h / 2 * (g + float64(t.Lambda*q.GradLL[j*d+i])))
			}
		}
	}
	for range m.Steps {
		kick()
		for i, v := range q.Momentum {
			q.Theta[i] += float64(h * v)
		}
		if err := t.Evaluate(ctx, q); err != nil {
			return mcmc.Outcome{}, err
		}
		kick()
	}
	accepted := 0.0
	for j := range p.J {
		out.Gradients[j] = m.Steps * t.Examples()
		out.Energy[j] -= t.LogDensity(q, j) - mcmc.Kinetic(q.Momentum[j*d:(j+1)*d])
		out.Probability[j] = min(1, rng.Exp(-out.Energy[j]))
		accepted += out.Probability[j] / float64(p.J)
		key := now.Key
		key.Purpose, key.Particle = rng.Accept, j
		if key.Stream().Float64() < out.Probability[j] {
			p.Set(j, q, j)
			continue
		}
		for i := j * d; i < (j+1)*d; i++ {
			p.Momentum[i] = -p.Momentum[i]
		}
	}
	if m.Fixed == nil {
		tuning[0] += float64(0.2 * (accepted - 0.8))
		tuning[1] += float64(0.1 * (accepted - 0.8))
	}
	return out, nil
}

// slice is elliptical slice sampling (Murray, Adams, MacKay 2010) for a prior N(m, sd²): on the ellipse through θ and a draw
// of the prior, points are tried in a shrinking bracket until one has a likelihood above a random level. It tunes nothing, and
// some particles try more points than others.
type slice struct{}

func (slice) Traits() mcmc.Traits                         { return mcmc.Traits{} }
func (slice) Tuning(*mcmc.Target, int) ([]float64, error) { return nil, nil }

func (slice) Mutate(ctx context.Context, _ *mcmc.Work, t *mcmc.Target, p *mcmc.Population, _ []float64, now mcmc.StepContext) (mcmc.Outcome, error) {
	prior, d := t.Prior.(mcmc.GaussianPrior), p.D
	out := mcmc.Outcome{
		Energy: make([]float64, p.J), Probability: make([]float64, p.J), Gradients: make([]int, p.J), Values: make([]int, p.J),
	}
	nu, at, ll := make([]float64, d), make([]float64, d), make([]float64, 1)
	for j := range p.J {
		theta, key := p.Theta[j*d:(j+1)*d], now.Key
		key.Purpose, key.Particle = rng.Proposal, j
		stream := key.Stream()
		stream.Normals(nu)
		level := p.LogLik(t.Lambda, t.Mu, j) + rng.Log(1-stream.Float64())
		angle := 2 * math.Pi * stream.Float64()
		low, high := angle-2*math.Pi, angle
		for out.Probability[j] = 1; ; angle = low + float64((high-low)*stream.Float64()) {
			for i, x := range theta {
				at[i] = prior.Mean(i) + float64((x-prior.Mean(i))*math.Cos(angle)) + float64(prior.SD(i)*nu[i]*math.Sin(angle))
			}
			if err := t.Model.LogLik(ctx, t.Rows, at, ll, nil); err != nil {
				return mcmc.Outcome{}, err
			}
			out.Values[j] += t.Examples()
			if mcmc.Power(t.Lambda, ll[0]) > level {
				break
			}
			if angle < 0 {
				low = angle
			} else {
				high = angle
			}
		}
		copy(theta, at)
		p.LL[j], p.LP[j] = ll[0], prior.LogDensity(theta, nil)
	}
	return out, nil
}

// repeated is a move that is made several times in an iteration.
type repeated struct {
	mcmc.Kernel
	often mcmc.Mutations
}

func (r repeated) Traits() mcmc.Traits {
	t := r.Kernel.Traits()
	t.Repeats = r.often
	return t
}

// Moves that keep momenta or take as many evaluations as it needs leave a target invariant, in runs and as chains.
func TestMovesOfTestsAreInvariant(t *testing.T) {
	p := newLocation(2).problem()
	moves := map[string]mcmc.Kernel{
		"persistent": repeated{persistent{Steps: 2}, mcmc.Mutations{Count: 6}},
		"slice":      repeated{slice{}, mcmc.Mutations{Count: 4}},
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			checkPosterior(t, p, len(moves), replicate(t, p, 20, Sampler{Path: Tempering{}, Move: move, Particles: 300, Seed: 15}))
		})
	}
	// Chains that begin at exact draws, with a momentum that lasts for some four moves; a tenth of the moves is rejected.
	draw := func(z, x []float64) {
		for i := range x {
			x[i] = p.mean[i] + math.Sqrt(p.vars[i])*z[i]
		}
	}
	tests := []func(x []float64) float64{
		func(x []float64) float64 { return x[0] - p.mean[0] },
		func(x []float64) float64 { return (x[0]-p.mean[0])*(x[0]-p.mean[0]) - p.vars[0] },
		func(x []float64) float64 { return (x[1]-p.mean[1])*(x[1]-p.mean[1]) - p.vars[1] },
	}
	stays(t, p, 1, persistent{Steps: 2, Fixed: []float64{math.Log(0.3), math.Log(0.8 / 0.2)}}, draw, tests)
}

// A momentum is a particle's own: drawn at the start, kept from move to move, and gone with its particle where resampling
// copies or drops it.
func TestMomentaMoveWithTheirParticles(t *testing.T) {
	s := kinds()["persistent"](0)
	s.Move = still{persistent{Steps: 1}}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var first State
	first.copy(st)
	variance := 0.0
	for _, v := range st.Momentum {
		variance += v * v / float64(len(st.Momentum))
	}
	if sd := math.Sqrt(2 / float64(len(st.Momentum))); !(math.Abs(variance-1) <= 4.9*sd) {
		t.Errorf("first momenta have mean square %v, want 1", variance)
	}
	if st.Momentum[0] == st.Theta[0]/2 { // the prior has sd 2: these were the same numbers of the stream
		t.Error("the first momentum is the first position's noise")
	}
	if _, err := s.Step(context.Background(), st); err != nil {
		t.Fatal(err)
	}
	copies := 0
	for j, a := range s.ancestors {
		if int(a) != j {
			copies++
		}
		for i := range st.D {
			if st.Momentum[j*st.D+i] != first.Momentum[int(a)*st.D+i] {
				t.Fatalf("particle %d, child of %d, has another momentum", j, a)
			}
		}
	}
	if copies == 0 {
		t.Error("nobody was resampled: the test asks for some")
	}
	if plain, _ := run(t, kinds()["tempering hmc"](0)); plain.Momentum != nil {
		t.Error("a move that draws momenta anew has some kept")
	}
}

// still is a move that needs what another needs and stays.
type still struct{ mcmc.Kernel }

func (still) Mutate(_ context.Context, _ *mcmc.Work, _ *mcmc.Target, p *mcmc.Population, _ []float64, _ mcmc.StepContext) (mcmc.Outcome, error) {
	return nothingDone(p), nil
}

// nothingDone is the outcome of a move that stays.
func nothingDone(p *mcmc.Population) mcmc.Outcome {
	return mcmc.Outcome{
		Energy: make([]float64, p.J), Probability: make([]float64, p.J), Gradients: make([]int, p.J), Values: make([]int, p.J),
	}
}

// Where particles take different numbers of evaluations, all are counted, and the budget is spent by the one with the most.
func TestEvaluationsAreCountedByParticle(t *testing.T) {
	s := kinds()["chains of slices"](0)
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var most, all, differ int
	s.Move = overheard{s.Move, func(out mcmc.Outcome) {
		longest := 0
		for _, v := range out.Values {
			longest = max(longest, v)
			all += v
			if v != out.Values[0] {
				differ++
			}
		}
		most += longest
	}}
	first := st.Values
	if err := s.Run(context.Background(), st, nil); err != nil {
		t.Fatal(err)
	}
	if st.Spent != most || st.Values != first+all || st.Gradients != 0 || differ == 0 {
		t.Errorf("spent %d and counted %d values, want %d and %d; %d particles differ from the first", st.Spent, st.Values-first, most, all, differ)
	}
}

// A state whose tuned numbers are not those of the move is refused.
func TestTunedNumbersBelongToTheMove(t *testing.T) {
	hmc := 7 + (3 + 9) + 8*(3+9) // step and counts, the moments of three coordinates, and a dense scale of them for each of eight folds
	for name, want := range map[string]int{"persistent": 2, "slices": 0, "tempering pcn": 5, "tempering hmc": hmc} {
		s := kinds()[name](0)
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Tuning) != want {
			t.Errorf("%s tunes %d numbers, want %d", name, len(st.Tuning), want)
		}
		st.Tuning = append(st.Tuning, 1)
		if _, err := s.Step(context.Background(), st); err == nil {
			t.Errorf("%s: a state with %d tuned numbers passes", name, want+1)
		}
	}
}
