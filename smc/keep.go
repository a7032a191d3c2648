package smc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/mcmc"
)

// Keeper says which states of a run make its ensemble. Without one it is the last state.
type Keeper interface {
	// Judged reports whether states are chosen by Sampler.Judge, which must be there then.
	Judged() bool
	// suits says why a sampler cannot keep these states.
	suits(s keeping) (f faults)
	// keep keeps the state after an iteration that began with spent, if it is one of them.
	keep(ctx context.Context, s keeping, st *State, spent int, info *Info) error
	// warmup is the number of iterations before the first state that may be kept, if the settings say it, else 0.
	warmup() int
	// held is the largest number of states that are kept, of all particles together, in a run of so many iterations.
	held(particles, iterations int) int
}

// Held is the largest number of states that a run keeps in addition to the present ones of its particles, on a path for n examples.
func Held(k Keeper, path Targets, particles, n int) int {
	if k == nil {
		return 0
	}
	return k.held(particles, Iterations(path, n))
}

// SuitsWarmUp refuses a weighting with a rule for the warm-up where no iteration is one.
func SuitsWarmUp(w Weigher, k Keeper) error {
	if w == nil || !w.Traits().WarmsUp || k != nil && k.warmup() > 0 {
		return nil
	}
	return errors.New("has a temperature for the warm-up, but no iteration is one: want keep: {after: …} with the iterations of the warm-up, or one temperature")
}

// Iterations is the number of iterations of a path for n examples; 0: it is not known before the end.
func Iterations(path Targets, n int) int {
	_, all := counted(path, &State{Examples: n})
	return all
}

// keeping is what a Keeper knows of a sampler.
type keeping struct {
	path                Targets
	particles, examples int
	costs               int  // evaluations that an iteration takes
	varies              bool // moves take different numbers of evaluations
	weighs              bool // weights may differ
	judge               func(ctx context.Context, st *State) (loss float64, err error)
}

// limits are the budget of the path, and all the number of its iterations, for the sampler's examples; 0: there is none, or it is not known.
func (s keeping) limits() (budget, all int) {
	return budgetOf(s.path, &State{Examples: s.examples}), Iterations(s.path, s.examples)
}

// Keepers lists what a config can say of the states to keep. A state has the particles, their weights and ψ of one iteration.
var Keepers = config.Table[Keeper]{
	{Name: "last", Part: Last{}},
	{Name: "spread", Part: Spread{}},
	{Name: "after", Part: After{}},
	{Name: "best", Part: Best{}},
}

// Last is the last state.
type Last struct{}

// Spread are states of equal weight, evenly over the second half of the run: of its budget or, on a path without one, of its
// iterations.
type Spread struct {
	States int `yaml:"states,nonzero"` // of all particles together; fewer are kept if moves that vary, as NUTS does, are fewer
}

// After is the state of every iteration after a warm-up, with its weights (smc-sghmc-ensembles, section 2.2). Parameters are
// rounded to the nearest number of the format, so that the ensemble is the same whether its states were moved to files on the way
// (State.Unload) or not.
type After struct {
	Iterations int                `yaml:"iterations,short"` // of the warm-up
	As         safetensors.Format `yaml:"as,beside"`        // float32 or bfloat16; empty: float32
}

// Best is the state of the smallest loss by Sampler.Judge, the first of several that are as good. States are judged at the end of
// each epoch on a path in epochs, else in every iteration. A loss that is NaN counts as infinite.
type Best struct{}

func (Last) warmup() int { return 0 }

func (Spread) warmup() int { return 0 }

func (k After) warmup() int { return k.Iterations }

func (Best) warmup() int { return 0 }

func (Last) held(int, int) int { return 0 }

func (k Spread) held(int, int) int { return k.States }

func (k After) held(particles, iterations int) int {
	return particles * max(0, iterations-k.Iterations)
}

func (Best) held(particles, _ int) int { return particles }

// Check notes impossible settings.
func (k Spread) Check(f *config.Faults) {
	f.If(k.States < 1, "states", "want at least 1, have %d", k.States)
}

// Check notes impossible settings.
func (k After) Check(f *config.Faults) {
	f.If(k.Iterations < 0, "iterations", "want at least 0, have %d", k.Iterations)
	if k.As != "" {
		f.OneOf("as", string(k.As), safetensors.Formats...)
	}
}

// Defaults fills in the format.
func (k *After) Defaults() { k.As = k.Format() }

// Format is that of the states that are kept, in files too.
func (k After) Format() safetensors.Format { return cmp.Or(k.As, safetensors.Float32) }

// Judged is false.
func (Last) Judged() bool { return false }

// Judged is false.
func (Spread) Judged() bool { return false }

// Judged is false.
func (After) Judged() bool { return false }

// Judged is true.
func (Best) Judged() bool { return true }

const noEnd = "only a path with a budget of epochs, or with a number of iterations that is known before, keeps states along the way: keep the last"

func (Last) suits(keeping) faults { return nil }

func (k Spread) suits(s keeping) (f faults) {
	j, n := s.particles, s.examples
	budget, all := s.limits()
	f.add(k.States%j != 0, "%d states to keep are not a multiple of %d particles", k.States, j)
	if budget > 0 {
		most := j * (budget / n) / (2 * s.costs)
		f.add(k.States > most, "%d states to keep, but the second half of %d epochs has moves for %d", k.States, budget/n, most)
		return f
	}
	most := j * (all / 2)
	f.add(all == 0, noEnd)
	f.add(all > 0 && k.States > most, "%d states to keep, but the second half of %d iterations has %d", k.States, all, most)
	f.add(j > 1 && s.weighs, "states spread over the second half have equal weights, those of this population differ: take after, which keeps weights")
	return f
}

func (k After) suits(s keeping) (f faults) {
	budget, all := s.limits()
	f.add(all == 0 && budget == 0, noEnd)
	f.add(all > 0 && k.Iterations >= all, "a warm-up of %d iterations leaves none of the %d of the path: take fewer than %d, or more iterations of the path", k.Iterations, all, all)
	return f
}

func (Best) suits(keeping) faults { return nil }

func (Last) keep(context.Context, keeping, *State, int, *Info) error { return nil }

func (k Spread) keep(_ context.Context, s keeping, st *State, spent int, _ *Info) error {
	n, budget := k.States/st.J, budgetOf(s.path, st)
	switch made, all := counted(s.path, st); {
	case budget == 0:
		st.keep(n, made, all)
	case !s.varies:
		st.keep(n, st.Spent, budget)
	case 2*spent >= budget:
		st.keepByMoves(n, s.path.Done(st))
	}
	return nil
}

func (k After) keep(_ context.Context, s keeping, st *State, _ int, _ *Info) error {
	if !k.Keeps(s.path, st) {
		return nil
	}
	at, format := len(st.Kept), k.Format()
	st.hold()
	for i, x := range st.Kept[at:] {
		rounded, ok := format.Round(x)
		if !ok {
			return &mcmc.Diverged{Err: fmt.Errorf("parameter %d of particle %d is %.6g, beyond the range of %s in which states are kept: take a smaller step, or a narrower prior", i%st.D, i/st.D, x, format)}
		}
		st.Kept[at+i] = float64(rounded)
	}
	st.KeptLogW = append(st.KeptLogW, st.LogW...)
	return nil
}

// Keeps reports whether the state after an iteration is kept.
func (k After) Keeps(path Targets, st *State) bool {
	return iterations(path, st) > k.Iterations
}

func (Best) keep(ctx context.Context, s keeping, st *State, _ int, info *Info) error {
	made, all := counted(s.path, st)
	if all > 0 && made == 0 { // a TemperedStart has not reached the path
		return nil
	}
	if epoch := PerEpoch(s.path, st.Examples); epoch > 0 && made%epoch != 0 && !s.path.Done(st) {
		return nil
	}
	loss, err := s.judge(ctx, st)
	if err != nil {
		return err
	}
	if math.IsNaN(loss) {
		loss = math.Inf(1)
	}
	info.Loss = (*numeral.Number)(&loss)
	if st.BestK > 0 && !(loss < st.BestLoss) {
		return nil
	}
	st.BestK, st.BestLoss = st.K, loss
	st.BestTheta = append([]float64(nil), st.Theta...) // new memory: a copy of st may have the old
	st.BestLogW = append([]float64(nil), st.LogW...)
	st.BestPsi = append([]float64(nil), st.Psi...)
	return nil
}

// keep keeps the states that are due after an iteration: n of each particle, evenly over the second half of what the run has in all,
// of which some is done: of a budget, or of iterations.
//
// Where all moves cost the same, state i = 1…n is due at (1 + i/n)/2 of the budget.
func (st *State) keep(n, done, all int) {
	if 2*n*done >= all*(n+len(st.KeptLL)/st.J+1) {
		st.hold()
	}
}

// keepByMoves is keep where the cost of a move depends on the states (NUTS). A point of the budget would lie in a long move more
// often than in a short one, and the states after long moves are not like the others. So states are kept by moves: every
// stride-th state of the moves that begin in the second half. When 2n are held, every other one is dropped and the stride
// doubles. At the end of the path n of those held remain, evenly, the last one among them; or all, if there are fewer.
func (st *State) keepByMoves(n int, done bool) {
	st.Late++
	stride := 1
	for (st.Late-1)/stride >= 2*n {
		stride *= 2
	}
	if st.Late%stride == 0 {
		st.hold()
	}
	if held := len(st.KeptLL) / st.J; held == 2*n || done && held > n {
		st.thin(n)
	}
}

// hold keeps the present state of all particles.
func (st *State) hold() {
	st.Kept = append(st.Kept, st.Theta...)
	st.KeptLL = append(st.KeptLL, st.LL...)
	st.KeptPsi = append(st.KeptPsi, st.Psi...)
}

// thin leaves n of the times at which states were kept: of m, the ones at m/n, 2m/n, … m, rounded up. The states that it drops
// may be those of a copy of st, so it writes to new memory.
func (st *State) thin(n int) {
	theta, ll, psi, l := st.Kept, st.KeptLL, st.KeptPsi, len(st.Psi)
	m := len(ll) / st.J
	st.Kept, st.KeptLL, st.KeptPsi = nil, nil, nil
	for i := 1; i <= n; i++ {
		time := (i*m+n-1)/n - 1
		at := time * st.J
		st.Kept = append(st.Kept, theta[at*st.D:(at+st.J)*st.D]...)
		st.KeptLL = append(st.KeptLL, ll[at:at+st.J]...)
		st.KeptPsi = append(st.KeptPsi, psi[time*l:(time+1)*l]...)
	}
}

// iterations is how many iterations are made at st, those of a path with a budget included.
func iterations(path Targets, st *State) int {
	made, all := counted(path, st)
	if all == 0 {
		return st.K
	}
	return made
}
