package mcmc

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/rng"
)

// NUTS is the No-U-Turn Sampler (Hoffman and Gelman 2014) in the form that Stan has today: a Hamiltonian move that chooses its
// length by itself. A trajectory is doubled, forward or backward in time, until it makes a U-turn, and one of its states is
// taken with probability proportional to e^−H (nuts_tree.go). It leaves its target invariant.
//
// Step size and scale of the coordinates are learned in the first half of a chain's budget, the warm-up, and are frozen
// after it (nuts_warmup.go). In the warm-up a chain that is far off climbs to the bulk of its target (ascent.go). A trajectory costs at most 2¹⁰ − 1 gradients, and fewer where the budget has not enough left.
//
// NUTS is for small models on one target: chains. Each particle builds its own trajectory, one after another; step size and
// scale are shared. In Outcome, Probability is the mean of min(1, e^−ΔH) over the states of the trajectory, and Energy is ΔH of
// the state that was taken. A trajectory is divergent, and ends, where the energy has risen by more than 1,000, is NaN or is
// infinite.
type NUTS struct {
	Step   float64 `yaml:"step" words:"adapted=0"` // h, fixed, and the scale of all coordinates 1; 0: both adapted
	Accept float64 `yaml:"accept,omitempty"`       // acceptance to adapt to; 0: .8
}

const (
	mostDoublings = 10 // of a trajectory
	nutsAim       = 0.8
)

func (NUTS) String() string { return "NUTS" }

// Traits say that a trajectory is as long as it takes to turn back. Costs is 10 doublings, and a search for the first step
// size: the move after which a chain ascends, once, makes more. A short warm-up leaves the scale as it is, so that no budget is too small.
func (m NUTS) Traits() Traits {
	return Traits{
		Needs: Needs{Gradient: true}, Costs: 1<<mostDoublings - 1 + mostDoublings, Varies: true, Selects: true, Aim: m.aim(),
		Alone: "belongs to mcmc: it learns its step and scale on one target, and a population's target changes; take hmc",
	}
}

// aim is Accept, or its default, if the step size is adapted.
func (m NUTS) aim() float64 {
	switch {
	case m.Step != 0:
		return 0
	case m.Accept != 0:
		return m.Accept
	}
	return nutsAim
}

// Memory is the warm-up, and what a chain holds for a trajectory of 10 doublings: 11 subtrees of 5 vectors, two ends of 3, and 3
// vectors of scratch memory; and for an ascent.
func (m NUTS) Memory(_, d int) (tuned, scratch int) {
	kind := m.scaling(d)
	return stageNumbers + sizeOf(kind, d, 1), ((mostDoublings+1)*5+2*3+3)*d + ascentNumbers(kind, d)
}

// scaling is that of so many coordinates.
func (m NUTS) scaling(d int) Scaling {
	kind, _ := Scaling("").resolve(d, m.Step != 0) // the rule asks for no scale that it refuses
	return kind
}

// ForChains applies the default acceptance, .8.
func (m NUTS) ForChains() Move {
	if m.Step == 0 {
		def(&m.Accept, nutsAim)
	}
	return m
}

// ForPopulation returns m unchanged: populations cannot have the move.
func (m NUTS) ForPopulation(Mutations, bool) Move { return m }

// Check notes impossible settings.
func (m NUTS) Check(f *config.Faults) {
	f.If(!(m.Step >= 0) || math.IsInf(m.Step, 0), "step", "want a number above 0, have %.12g", m.Step)
	f.If(!(m.Accept >= 0 && m.Accept < 1), "accept", "want a number above 0 and below 1, have %.12g", m.Accept)
}

// Tuning returns the state of the warm-up.
func (m NUTS) Tuning(t *Target, _ int) ([]float64, error) {
	if err := config.Check(m); err != nil {
		return nil, fmt.Errorf("NUTS: %w", err)
	}
	step := m.Step
	if step == 0 {
		step = 1
	}
	return newWarmUp(t, m.scaling(t.Prior.Dim()), step), nil
}

// Mutate is one move of every particle.
func (m NUTS) Mutate(
	ctx context.Context, w *Work, t *Target, p *Population, tuning []float64, now StepContext,
) (out Outcome, err error) {
	w.Fit(p)
	r, u := w.trajectoryOf(p, t), warmUpOf(tuning, m.scaling(p.D), p.D)
	learns := m.Step == 0 && now.Progress < WarmUp
	left, searched := now.Left, 0
	if left == 0 {
		left = math.MaxInt32
	}
	r.in = u.scales
	if learns && u.fresh() {
		u.fromPrior(t, p)
		if searched, err = r.search(ctx, p, u, now.Key, left-1); err != nil {
			return Outcome{}, err
		}
	}
	r.size = u.steps().size(learns)
	out = w.outcome
	out.Step = r.size
	most, doublings := 0, min(mostDoublings, bits.Len(uint(left-searched+1))-1)
	for j := range p.J {
		if err = r.move(ctx, p, j, now.Key, doublings); err != nil {
			return Outcome{}, err
		}
		most = max(most, r.leapfrogs)
		out.Energy[j], out.Probability[j] = r.whole.energy-r.start, r.accepted/float64(r.leapfrogs)
		out.Gradients[j], out.Values[j] = r.leapfrogs*t.Examples(), 0
		if r.divergent {
			out.Divergent++
		}
	}
	if learns {
		u.steps().learn(mean(out.Probability), m.aim(), nutsRelaxation)
		moved := most + searched
		after := func(evaluations int) float64 {
			return now.Progress + float64((1-now.Progress)*float64(evaluations)/float64(left))
		}
		if u.observe(w, p, after(moved)) {
			n, err := r.nextStage(ctx, t, p, u, now.Key, left-moved)
			if err != nil {
				return Outcome{}, err
			}
			searched += n
			u.next(after(moved), after(moved+n))
		}
	}
	out.Gradients[0] += searched * t.Examples()
	return out, nil
}

// nextStage ends a stage of the warm-up: the chain ascends after the first buffer, and learns its scale after a window. A new scale asks for a
// search. It returns the number of evaluations.
func (r *trajectory) nextStage(
	ctx context.Context, t *Target, p *Population, u warmUp, key rng.Key, left int,
) (made int, err error) {
	changed := false
	switch {
	case !u.buffering():
		changed = u.fromWindow(t)
	case u.kind == Dense:
		if made, _, err = u.ascend(ctx, t, p, left/p.J); err != nil {
			return 0, err
		}
		changed = made > 0
	}
	if !changed {
		return made, nil
	}
	trials, err := r.search(ctx, p, u, key, left-made)
	return made + trials, err
}

// search finds a step size of which one leapfrog has an acceptance of about .8, and begins its adaptation there (Stan's rule):
// from the present one it is doubled or halved until the acceptance crosses .8. A trial starts at the first particle with a
// momentum of its own and is discarded. If the energy at the start is infinite, or most trials do not get there, the step size
// stays as it was. It returns the number of trials.
//
// HMC's search (find.go) is another one: the step of a population holds for a stage of few moves, so it averages over copies of
// particles and narrows its bracket. Here dual averaging goes on from a rough step.
func (r *trajectory) search(ctx context.Context, p *Population, u warmUp, key rng.Key, most int) (trials int, err error) {
	key.Purpose, key.Particle = rng.Search, 0
	stream := key.Stream()
	size, factor := u.steps().size(true), 0.0
	for trials < min(most, mostSearched) {
		r.begin(p, 0, stream)
		if !isFinite(r.start) {
			break
		}
		r.size = size
		ok, err := r.leaf(ctx, forward, &r.whole)
		if err != nil {
			return trials, err
		}
		trials++
		towards := 0.5
		if ok && r.start-r.whole.energy > logSearched {
			towards = 2
		}
		if factor != 0 && towards != factor {
			u.begins(size)
			return trials, nil
		}
		factor = towards
		size *= factor
	}
	u.begins(u.steps().size(true))
	return trials, nil
}

// mostSearched is the largest number of trials of a search: they cover nine powers of ten.
const mostSearched = 32

// logSearched is log .8.
const logSearched = -0.2231435513142097
