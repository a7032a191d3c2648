package smc

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/weights"
	"github.com/starling-smc/starling/mcmc"
)

// The checks of data annealing (data-annealing-smc, section 8), one test each; 1, 2 and 3 are in package mcmc, 4 and 5
// in annealing_evidence_test.go, 8 with the presets. False-failure rates are those over seeds; as seeds are fixed, a test
// that passes once passes always.

// batches are rules with batches of 7 of 41 examples, the blocks that follow of 5.
func batches(t *testing.T, iterations int) map[string]Path {
	t.Helper()
	paths := map[string]Path{
		"sda exact": SDA{Iterations: iterations, Batch: 7, Grow: 5, Exact: true},
		"sda scale": SDA{Iterations: iterations, Batch: 7, Grow: 5, Scale: true},
	}
	for _, row := range Paths {
		if c, ok := caseOf(t, row.Name); ok && row.Part.Traits().Batches {
			paths[row.Name] = c.path(iterations)
		}
	}
	return paths
}

// Check 6: fresh batches use every example once per permutation; cumulative ones contain those before. That holds for every
// permutation: the false-failure rate is 0. The exact batch sizes are golden (TestGoldenSchedules).
func TestAnnealingCheck6Membership(t *testing.T) {
	m := newLocation(2)
	for name, path := range batches(t, 20) {
		s := &Sampler{Model: m, Prior: m.problem().prior, Path: path, Move: mcmc.Unadjusted{Step: 0.01}, Weighting: Momentum{}, Particles: 4, Seed: 3}
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var seen []int32
		last := map[int32]bool{}
		for !s.Done(st) {
			if _, err := s.Step(context.Background(), st); err != nil {
				t.Fatal(err)
			}
			target := s.target(st.Stage, st)
			now := map[int32]bool{}
			for _, rows := range [][]int32{target.Annealed, target.Rows} {
				for _, i := range rows {
					if now[i] && st.Rows.From/41 == (st.Rows.To-1)/41 { // else one pass ends in it and the next begins
						t.Fatalf("%s, iteration %d: example %d twice in one batch", name, st.K, i)
					}
					now[i] = true
				}
			}
			switch {
			case target.Rows == nil:
			case st.Rows.From > 0 && st.Annealed == 0 || name == "constant" || name == "ctr":
				seen = append(seen, target.Rows...)
			default:
				for i := range last {
					if !now[i] {
						t.Fatalf("%s, iteration %d: example %d has left", name, st.K, i)
					}
				}
			}
			last = now
		}
		for k := 0; k+41 <= len(seen); k += 41 {
			count := map[int32]int{}
			for _, i := range seen[k : k+41] {
				count[i]++
			}
			if len(count) != 41 {
				t.Errorf("%s: pass %d has %d different examples of 41", name, k/41, len(count))
			}
		}
		if (name == "constant" || name == "ctr") && len(seen) < 82 {
			t.Errorf("%s: only %d examples were looked at", name, len(seen))
		}
	}
}

// Check 7: a block's power never falls, and is 1 at once where all particles are equal. That holds whatever is drawn; only
// that 60 iterations take in all 8 blocks depends on it: over 200 seeds 28 ± 1.6 were needed, at most 34, and 60 are 20
// standard deviations away. Moments are golden.
func TestAnnealingCheck7PowersOfABlockRise(t *testing.T) {
	m := newLocation(2)
	for _, path := range []SDA{{}, {Exact: true}, {Scale: true}, {Exact: true, Scale: true}} {
		path.Iterations, path.Batch, path.Grow = 60, 7, 5
		s := &Sampler{
			Model: m, Prior: m.problem().prior, Path: path,
			Move: mcmc.Unadjusted{Steps: 3, Step: 0.05}, Weighting: Momentum{}, Particles: 500, Seed: 4,
		}
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		blocks, between := 1, 0
		for last := st.Stage; !s.Done(st); last = st.Stage {
			if _, err := s.Step(context.Background(), st); err != nil {
				t.Fatal(err)
			}
			scale := 1.0
			if path.Scale {
				scale = 41 / float64(st.Rows.To)
			}
			if st.Mu != scale || !(st.Lambda > 0 && st.Lambda <= scale) {
				t.Fatalf("iteration %d: powers %v and %v of a scale of %v", st.K, st.Lambda, st.Mu, scale)
			}
			if st.Rows != last.Rows {
				if blocks++; st.Lambda != 0.1*scale || st.Annealed != last.Rows.To {
					t.Fatalf("iteration %d: a block came in at %v after %+v", st.K, st.Stage, last)
				}
			} else if st.Lambda == scale && st.Rows.To < 41 {
				t.Fatalf("iteration %d: a block is at power 1, and the next one has not come in: %+v", st.K, st.Stage)
			} else if st.Lambda < last.Lambda {
				t.Fatalf("iteration %d: β fell from %v to %v", st.K, last.Lambda, st.Lambda)
			} else if st.Lambda > 0.1*scale && st.Lambda < scale {
				between++
			}
		}
		if blocks != 8 || st.Lambda != 1 || st.Rows.To != 41 || between == 0 {
			t.Errorf("%+v: %d blocks, ends at %+v, %d powers in between", path, blocks, st.Stage, between)
		}
	}
	for what, st := range map[string]*State{
		"equal particles":                        sdaState([]number{0.5, 0.5}, []float64{-3, -3}, []float64{-2, -2}),
		"particles too far apart for a variance": sdaState([]number{0.5, 0.5}, nil, []float64{1e200, -1e200}), // it overflows
	} {
		st.Lambda, st.Mu, st.K = 0.1, 1, 1
		if got := (SDA{}).raise(st); got != 1 {
			t.Errorf("%s raise β to %v, not 1", what, got)
		}
	}
}

// The exact rule divides by what the derivative of the entropy is, and the paper's by the variance and covariance of the
// sums as the target has them, scaled; both in closed form for Gaussians: with a prior N(.3, 1),
// annealed examples of precision b and a block of precision a, both to the scale c, the target at β is normal of precision
// 1 + c(b + aβ), and −dS/dβ = ca/2/(1 + c(b + aβ)). Particles are the nodes of a quadrature, whose error is far below the tolerance.
func TestEntropyRules(t *testing.T) {
	const a, y, z, beta, entropy = 3.0, 1.2, -0.7, 0.2, 0.1
	for _, in := range [][2]float64{{0, 1}, {2, 1}, {0, 2.5}, {2, 2.5}} {
		b, c := in[0], in[1]
		st := sdaState(make([]number, 4001), nil, nil)
		st.Lambda, st.Mu, st.K, st.Annealed = c*beta, c, 1, int(b)
		for j := range st.J {
			x := -10 + float64(j)/200
			st.LP[j], st.LL[j], st.AnnealedLL[j] = -(x-0.3)*(x-0.3)/2, -a*(x-y)*(x-y)/2, -b*(x-z)*(x-z)/2
			st.LogW[j] = st.LP[j] + c*st.AnnealedLL[j] + c*beta*st.LL[j]
		}
		if _, _, err := weights.Normalise(st.LogW, "particle"); err != nil {
			t.Fatal(err)
		}
		want := beta + entropy/(c*a/2/(1+c*(b+a*beta)))
		if got := (SDA{Entropy: entropy, Exact: true}).raise(st); !golden.Near(got, want, 1e-9, 0) {
			t.Errorf("annealed precision %v, scale %v: β = %v, want %v", b, c, got, want)
		}
		v := 1 / (1 + c*(b+a*beta)) // the variance; moments of (x − y)² and (x − z)² under a Gaussian
		m := v * (0.3 + c*(b*z+a*beta*y))
		moments := a*a/4*(2*v*v+4*v*(m-y)*(m-y)) + a*b/4*(2*v*v+4*v*(m-y)*(m-z))
		want = beta + entropy/(c*c*moments)
		if got := (SDA{Entropy: entropy}).raise(st); !golden.Near(got, want, 1e-9, 0) {
			t.Errorf("the paper's rule, annealed precision %v, scale %v: β = %v, want %v", b, c, got, want)
		}
	}
}

// A cumulative schedule pays for what is new: Linear costs what its batch sizes say. Full-batch trajectories cost S
// gradients an iteration, not S+1; fresh batches S+1, and of the copies that resampling has made only one; cheap gradients
// S+1 of their own and one value of all.
func TestAnnealingPaysOnce(t *testing.T) {
	const j, s, n = 150, 3, 41
	grown := func(infos []Info) (gradients, values int) { // Examples is what the target sees
		last := 0
		for k, info := range infos {
			places := info.Parents
			if k == 0 {
				places = j // the first particles, before the first resampling
			}
			gradients += places*(info.Examples-last) + j*s*info.Examples
			last = info.Examples
		}
		return gradients, 0
	}
	for name, want := range map[string]func(infos []Info) (gradients, values int){
		"full": func(infos []Info) (int, int) { return j * (n + len(infos)*s*n), 0 },
		"constant": func(infos []Info) (gradients, values int) {
			gradients = j * 7
			for k, info := range infos {
				if gradients += j * s * 7; k > 0 {
					gradients += info.Parents * 7
				}
			}
			return gradients, 0
		},
		"linear": grown, "sda": grown, "sda scale": grown,
		"cheap linear": func(infos []Info) (int, int) {
			values, _ := grown(infos)
			for _, info := range infos {
				values -= j * (s - 1) * info.Examples // one a trajectory
			}
			return j * len(infos) * (s + 1) * 4, values
		},
		"cheap gradients": func(infos []Info) (int, int) { return j * len(infos) * (s + 1) * 8, j * (n + len(infos)*n) },
	} {
		st, infos := run(t, kinds()[name](0))
		gradients, values := want(infos)
		if st.Gradients != gradients || st.Values != values {
			t.Errorf("%s: %d gradients and %d values, want %d and %d", name, st.Gradients, st.Values, gradients, values)
		}
		if name == "constant" && !slices.ContainsFunc(infos, func(i Info) bool { return i.Parents < j }) {
			t.Error("constant: no parent has two children: the test asks for some")
		}
	}
}

// After a change of target, before anybody moves, a particle's cache is what would be evaluated anew.
func TestChangeOfTargetKnowsAll(t *testing.T) {
	for name, make := range kinds() {
		s := make(0)
		if s.weighting().Traits().Afresh && s.Move.Traits().Blind { // nobody asks for values there
			continue
		}
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for !s.Done(st) {
			stage, err := s.Path.Next(st)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.prepare(st); err != nil {
				t.Fatal(err)
			}
			themselves(s.ancestors)
			here := new(State)
			here.copy(st)
			target := s.target(stage, here)
			change, err := s.retarget(context.Background(), here, target, stage)
			if err != nil {
				t.Fatal(err)
			}
			fresh := here.Population.Blank()
			copy(fresh.Theta, here.Theta)
			if err := target.Evaluate(context.Background(), &fresh); err != nil {
				t.Fatal(err)
			}
			if !same(fresh.LL, here.LL) || !same(fresh.GradLL, here.GradLL) || !same(fresh.AnnealedLL, here.AnnealedLL) || !same(fresh.AnnealedGrad, here.AnnealedGrad) {
				t.Fatalf("%s, iteration %d: a cache is not what is evaluated anew", name, st.K)
			}
			for j := range change {
				if want := stage.logLik(&fresh, j) - st.logLik(&st.Population, j); !golden.Near(change[j], want, 1e-9, 1e-9) {
					t.Fatalf("%s, iteration %d: the target changes by %v at particle %d, want %v", name, st.K, change[j], j, want)
				}
			}
			if _, err := s.Step(context.Background(), st); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// annealed is a run of smooth annealing whose first block has just been annealed in, ready for another target.
func annealed(t *testing.T) (*Sampler, *State) {
	ctx := context.Background()
	s := kinds()["sda scale"](0)
	st, err := s.Init(ctx)
	for ; err == nil && st.Annealed == 0; _, err = s.Step(ctx, st) {
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.prepare(st); err != nil {
		t.Fatal(err)
	}
	return s, st
}

// Examples that are annealed in stay so, and only the newest block joins them.
func TestImpossiblePathsAreRefused(t *testing.T) {
	ctx := context.Background()
	s, st := annealed(t)
	for _, stage := range []Stage{
		{Lambda: 1, Mu: 1, Rows: st.Rows},
		{Lambda: 1, Mu: 1, Rows: Rows{st.Rows.To + 1, 41}, Annealed: st.Rows.To + 1},
		{Lambda: 1, Mu: 1, Rows: Rows{st.Rows.To, 41}, Annealed: st.Annealed},
		{Lambda: 1},
	} {
		here := new(State)
		here.copy(st)
		if _, err := s.retarget(ctx, here, s.target(stage, here), stage); err == nil || !strings.Contains(err.Error(), "annealed in stay") {
			t.Errorf("from %+v to %+v: %v", st.Stage, stage, err)
		}
	}
}

// Where the examples stand, other powers cost no evaluation, also of examples that are annealed in; 0 switches them off.
func TestOtherPowersCostNothing(t *testing.T) {
	ctx := context.Background()
	s, st := annealed(t)
	for _, factors := range [][2]float64{{1, 2}, {1, 0}, {0.5, 0.5}, {0, 3}, {2, 1}} {
		stage, here := st.Stage, new(State)
		stage.Lambda *= factors[0]
		stage.Mu *= factors[1]
		here.copy(st)
		change, err := s.retarget(ctx, here, s.target(stage, here), stage)
		if err != nil {
			t.Fatalf("powers times %v: %v", factors, err)
		}
		if here.Gradients != st.Gradients || here.Values != st.Values || here.Stage != stage {
			t.Errorf("powers times %v: paid for %d gradients and %d values", factors, here.Gradients-st.Gradients, here.Values-st.Values)
		}
		for j := range st.J {
			want := (stage.Lambda-st.Lambda)*st.LL[j] + (stage.Mu-st.Mu)*st.AnnealedLL[j]
			if !golden.Near(change[j], want, 1e-9, 1e-9) {
				t.Fatalf("powers times %v: the target changes by %v at particle %d, want %v", factors, change[j], j, want)
			}
		}
	}
}

// A particle whose trajectory diverges is dead: it stays where it was, without weight and without children, and the others
// go on. A run ends with an error only when all are dead.
func TestDivergentTrajectoriesAreDead(t *testing.T) {
	cliff := density{1, func(theta, grad []float64) float64 { // no log-likelihood from 2 on
		if theta[0] > 2 {
			return math.NaN()
		}
		if grad != nil {
			grad[0] = 0
		}
		return 0
	}}
	const particles = 40
	sampler := func(when Occasion, step float64) *Sampler {
		return &Sampler{
			Model: cliff, Prior: normal{d: 1, sd: 1}, Path: Schedule[Full]{Iterations: 6}, Start: make([]float64, particles),
			Move: mcmc.Unadjusted{Steps: 3, Step: step}, Weighting: Momentum{}, Resample: Resampler{When: when}, Particles: particles, Seed: 5,
		}
	}
	died := 0
	for _, when := range []Occasion{Never{}, Always{}} {
		s := sampler(when, 0.5)
		st, err := s.Init(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for !s.Done(st) {
			before := new(State)
			before.copy(st)
			info, err := s.Step(context.Background(), st)
			if err != nil {
				t.Fatal(err)
			}
			dead, lines := 0, map[int32]bool{}
			for j, l := range st.LogW {
				parent := s.ancestors[j]
				is, was := math.IsInf(l, -1), math.IsInf(before.LogW[parent], -1)
				switch {
				case math.IsNaN(l) || !(st.Theta[j] <= 2) || st.LL[j] != 0:
					t.Fatalf("iteration %d: particle %d has log-weight %v at %v, log-likelihood %v", st.K, j, l, st.Theta[j], st.LL[j])
				case was && (when == (Always{}) || !is):
					t.Fatalf("iteration %d: the dead particle %d lives on in %d", st.K, parent, j)
				case is && !was && st.Theta[j] != before.Theta[parent]:
					t.Fatalf("iteration %d: particle %d is dead at %v, its trajectory began at %v", st.K, j, st.Theta[j], before.Theta[parent])
				case is:
					dead++
				default:
					lines[st.Roots[j]] = true
				}
			}
			if info.Ancestors != len(lines) {
				t.Errorf("iteration %d: %d first ancestors reported, %d have living descendants", st.K, info.Ancestors, len(lines))
			}
			if math.IsNaN(info.EnergySD) || math.IsInf(info.EnergySD, 0) || !(float64(info.LogLikelihood) == 0) {
				t.Errorf("iteration %d: energies scatter by %v and the mean log-likelihood is %v, where some are dead", st.K, info.EnergySD, info.LogLikelihood)
			}
			if when == (Always{}) && info.Divergent != dead {
				t.Errorf("iteration %d: %d trajectories diverged, %d particles are dead", st.K, info.Divergent, dead)
			}
			if dead == particles {
				t.Fatal("all particles are dead: the test asks for some that live")
			}
			died += dead
		}
	}
	if died == 0 {
		t.Error("no particle is dead: the test asks for some")
	}
	s := sampler(Never{}, 1e3)
	s.Start = nil
	s.Model = density{1, func(theta, grad []float64) float64 {
		if grad != nil {
			grad[0] = 0
		}
		if math.Abs(theta[0]) > 100 {
			return math.NaN()
		}
		return 0
	}}
	st, err := s.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), st, nil); err == nil || !strings.Contains(err.Error(), "all 40 particles are dead") {
		t.Errorf("trajectories that all diverge: error %v", err)
	}
}

// A batch that is impossible or undefined where a particle stands kills it there. What is remembered of that batch does not
// reach a weight when the next one is well.
func TestBatchesMayBeUndefined(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
		m := badRows{newLocation(1), bad}
		s := &Sampler{
			Model: m, Prior: m.problem().prior, Path: Schedule[Constant]{Iterations: 12, Rule: Constant{Batch: 7}},
			Move: mcmc.Unadjusted{Steps: 2, Step: 0.02}, Resample: Resampler{When: Never{}}, Particles: 40, Seed: 5,
		}
		st, infos := run(t, s)
		last := 0
		for _, info := range append(infos[1:], Info{Dead: dead(st.LogW)}) {
			if info.Dead < last {
				t.Errorf("%v: %d particles are dead after %d", bad, info.Dead, last)
			}
			last = info.Dead
		}
		if last == 0 || last == 40 || slices.ContainsFunc(st.Theta, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			t.Errorf("%v: %d of 40 particles are dead, at %v", bad, last, st.Theta)
		}
	}
}

// badRows is a location model whose example 3 is bad for parameters above 2.
type badRows struct {
	location
	bad float64
}

func (m badRows) LogLik(ctx context.Context, rows []int32, theta, ll, grad []float64) error {
	err := m.location.LogLik(ctx, rows, theta, ll, grad)
	for j, x := range theta {
		if x > 2 && slices.Contains(rows, 3) {
			ll[j] = m.bad
		}
	}
	return err
}

// Each pass over the examples, each island and each run has an order of its own.
func TestOrdersDiffer(t *testing.T) {
	order := func(seed uint64, island, pass int) string {
		s := &Sampler{Model: newLocation(2), Seed: seed, Island: island}
		return fmt.Sprint(s.rows(Rows{41 * pass, 41 * (pass + 1)}))
	}
	seen := map[string]bool{}
	for _, o := range []string{order(1, 0, 0), order(1, 0, 1), order(1, 0, 2), order(1, 1, 0), order(2, 0, 0)} {
		if seen[o] {
			t.Error("the same order twice")
		}
		seen[o] = true
	}
	s := &Sampler{Model: newLocation(2), Seed: 1} // one that keeps two orders, and goes back to the first
	for _, pass := range []int{0, 1, 2, 3, 0, 2} {
		if got := fmt.Sprint(s.rows(Rows{41 * pass, 41 * (pass + 1)})); got != order(1, 0, pass) {
			t.Errorf("pass %d has the order of another", pass)
		}
	}
}

// rest is a move that stays: no trajectory, no evaluation, no energy error.
type rest struct{}

func (rest) Traits() mcmc.Traits { // the tests weight it by its energy
	return mcmc.Traits{Corrected: mcmc.ByWeight, Needs: mcmc.Needs{Gradient: true}}
}
func (rest) Tuning(*mcmc.Target, int) ([]float64, error) { return []float64{0}, nil }
func (rest) Mutate(_ context.Context, _ *mcmc.Work, _ *mcmc.Target, p *mcmc.Population, _ []float64, _ mcmc.StepContext) (mcmc.Outcome, error) {
	return nothingDone(p), nil
}

// Check 9, other half: after resampling all weights are 1/J, and the log-likelihood of the last target, which the next
// weight needs, is that of the ancestor. At every iteration of a run, its state makes one with a resampling and no move:
// then a particle's weight is π_k(θ_j)/π_{k−1}(θ_j), both evaluated anew where it stands, but for the sum of all. Nothing
// here is left to chance: everything agrees to rounding, whatever is drawn.
func TestAnnealingCheck9CachesFollowTheAncestor(t *testing.T) {
	ctx := context.Background()
	for name, path := range batches(t, 12) {
		sampler := func(move mcmc.Kernel, when Occasion) *Sampler {
			m := newLocation(2)
			return &Sampler{
				Model: m, Prior: m.problem().prior, Path: path, Move: move, Weighting: Momentum{}, Resample: Resampler{When: when}, Particles: 60, Seed: 17,
			}
		}
		s, still := sampler(mcmc.Unadjusted{Steps: 3, Step: 0.05}, nil), sampler(rest{}, Always{})
		st, err := s.Init(ctx)
		if err != nil {
			t.Fatal(err)
		}
		told, moved := 0, 0 // iterations in which weights differ; particles in another's place
		for !s.Done(st) {
			here := new(State)
			here.copy(st)
			info, err := still.Step(ctx, here)
			if err != nil {
				t.Fatal(err)
			}
			anew := func(stage Stage) mcmc.Population {
				p := here.Population.Blank()
				copy(p.Theta, here.Theta)
				if err := still.target(stage, here).Evaluate(ctx, &p); err != nil {
					t.Fatal(err)
				}
				return p
			}
			last, now := anew(st.Stage), anew(here.Stage)
			if !same(now.LL, here.LL) || !same(now.AnnealedLL, here.AnnealedLL) || !same(now.GradLL, here.GradLL) ||
				!same(now.AnnealedGrad, here.AnnealedGrad) || !same(now.LP, here.LP) {
				t.Fatalf("%s, iteration %d: what is cached is not the ancestor's", name, here.K)
			}
			want := make([]float64, here.J)
			for j, a := range still.ancestors {
				if !slices.Equal(here.Theta[2*j:2*j+2], st.Theta[2*a:2*a+2]) {
					t.Fatalf("%s, iteration %d: particle %d does not stand where its ancestor %d stood", name, here.K, j, a)
				}
				if int(a) != j {
					moved++
				}
				want[j] = here.logLik(&now, j) - st.logLik(&last, j)
			}
			if _, _, err := weights.Normalise(want, "particle"); err != nil {
				t.Fatal(err)
			}
			for j, l := range here.LogW {
				if !golden.Near(l, want[j], 1e-9, 1e-9) {
					t.Fatalf("%s, iteration %d: particle %d, child of %d, has log-weight %v, want %v", name, here.K, j, still.ancestors[j], l, want[j])
				}
			}
			if !info.Resampled {
				t.Fatalf("%s, iteration %d: no resampling", name, here.K)
			}
			if slices.Max(want)-slices.Min(want) > 1e-3 {
				told++
			}
			if _, err := s.Step(ctx, st); err != nil {
				t.Fatal(err)
			}
		}
		if name != "full" && told == 0 || moved == 0 {
			t.Errorf("%s: weights differed in %d iterations, %d particles took another's place: the test asks for some", name, told, moved)
		}
	}
}

// Annealed examples and those that come in, to the same power, move particles as one set of examples to that power does.
func TestPartsToOnePowerAreOne(t *testing.T) {
	m := newLocation(2)
	prior := m.problem().prior
	all := make([]int32, len(m.y))
	for i := range all {
		all[i] = int32(i)
	}
	moved := func(target mcmc.Target) (theta, energy []float64) {
		target.Model, target.Prior = m, prior
		p := mcmc.NewPopulation(5, 2, mcmc.Needs{Gradient: true})
		if target.Annealed != nil {
			p.CarryAnnealed()
		}
		for i := range p.Theta {
			p.Theta[i] = float64(i) / 7
		}
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		out, err := mcmc.Unadjusted{Steps: 3, Step: 0.05}.Mutate(context.Background(), new(mcmc.Work), &target, &p, nil, mcmc.StepContext{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Theta, out.Energy
	}
	theta, energy := moved(mcmc.Target{Rows: all, Lambda: 2.5})
	parts, same := moved(mcmc.Target{Rows: all[15:], Annealed: all[:15], Lambda: 2.5, Mu: 2.5})
	for i := range theta {
		if !golden.Near(parts[i], theta[i], 1e-12, 1e-12) {
			t.Errorf("parameter %d goes to %v in parts, to %v as one", i, parts[i], theta[i])
		}
	}
	for j := range energy {
		if !golden.Near(same[j], energy[j], 1e-10, 1e-10) {
			t.Errorf("particle %d has energy error %v in parts, %v as one", j, same[j], energy[j])
		}
	}
}
