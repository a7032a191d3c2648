package method

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// What settings alone cannot be.
func TestCheck(t *testing.T) {
	chains := MCMC{}.Settle(Around{}, unheard()).(MCMC)
	islands := SMC{}.Settle(Around{}, unheard()).(SMC)
	batches := SMC{Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: mcmc.Unadjusted{Step: 0.1}}.Settle(Around{}, unheard()).(SMC)
	ofChains := func(change func(*MCMC)) Method { m := chains; change(&m); return m }
	ofIslands := func(m SMC, change func(*SMC)) Method { change(&m); return m }
	averaging := Averaging{}
	averaging.complete()
	for _, c := range []struct {
		m    Method
		want []string
	}{
		{Ensemble{Members: 2}, nil},
		{Ensemble{}, []string{"members: want at least 2, have 0"}},
		{SWA{averaging}, nil},
		{SWA{}, []string{"members: want at least 1, have 0", "rate: want a number above 0, have 0", "snapshots: want at least 1, have 0"}},
		{SWA{Averaging{Members: 1, Rate: 1, Momentum: 1, Warmup: -1, Snapshots: 1}}, []string{
			"momentum: want a number from 0, below 1, have 1", "warmup: want at least 0, have -1"}},
		{SWAG{Averaging: averaging, Rank: 75, Scale: 1, Draws: 1}, nil},
		{SWAG{Averaging: averaging, Rank: 76, Scale: 0, Draws: 0}, []string{
			"scale: want a number above 0, have 0", "draws: want at least 1, have 0",
			"rank: want at most as many as there are snapshots, 75, have 76: take more snapshots, or a lower rank"}},
		{SWAG{Averaging: Averaging{Members: 1, Rate: 1, Snapshots: 1}, Rank: 1, Scale: 1, Draws: 1}, []string{"snapshots: want at least 2, or diagonal: true, have 1"}},
		{SWAG{Averaging: averaging, Rank: 1, Scale: 1, Draws: 1}, []string{"rank: want at least 2, or diagonal: true, have 1"}},
		{SWAG{Averaging: averaging, Diagonal: true, Scale: 1, Draws: 1}, nil},
		{SWAG{Averaging: averaging, Diagonal: true, Rank: 4, Scale: 1, Draws: 1}, []string{
			"rank: is for a covariance that is not diagonal: leave out rank or diagonal"}},
		{chains, nil}, {islands, nil}, {batches, nil},
		{Dropout{Passes: 1}, nil},
		{Dropout{}, []string{"passes: want at least 1, have 0"}},
		{Dropout{Passes: -3}, []string{"passes: want at least 1, have -3"}},
		{Dropout{Passes: 1 << 24}, []string{"passes: want below 16777216, have 16777216"}},
		{ofChains(func(m *MCMC) { m.Keep = KeepLast }), nil},
		{ofChains(func(m *MCMC) { m.Chains, m.Epochs, m.Start, m.Keep = 0, 0, "maps", -2 }), []string{
			"chains: want at least 1, have 0", `start: unknown name "maps": did you mean "map"? (known: map, prior, init)`,
			"epochs: want at least 1, have 0", "keep: want a number of states or last, have -2",
		}},
		{ofChains(func(m *MCMC) { m.Chains = 1 << 24 }), []string{"chains: want below 16777216, have 16777216"}},
		{ofChains(func(m *MCMC) { m.Move = nil }), []string{"move: want one of " + strings.Join(mcmc.Moves.Names(), ", ")}},
		{ofChains(func(m *MCMC) { m.Move = mcmc.Unadjusted{Step: 0.1} }), []string{
			"move.leapfrog: belongs to smc, whose weights correct its errors: chains need " + strings.Join(mcmc.MovesWhere(true), " or "),
		}},
		{ofChains(func(m *MCMC) { m.Move = mcmc.PCN{Mutations: mcmc.Mutations{Count: 3}} }), []string{
			"move.pcn.mutations: belongs to smc; chains move for their epochs",
		}},
		{ofChains(func(m *MCMC) { m.Move = mcmc.NUTS{} }), nil},
		{ofChains(func(m *MCMC) { m.Move = mcmc.SGHMC{Batch: 9, Step: 0.1} }), nil},
		{ofIslands(islands, func(m *SMC) { m.Move = mcmc.SGHMC{Batch: 9, Step: 0.1} }), []string{
			"move.sghmc: belongs to mcmc: it has no accept step, and no weight corrects its errors; take hmc, or on a path of batches leapfrog",
		}},
		{ofIslands(islands, func(m *SMC) { m.Move = mcmc.NUTS{} }), []string{
			"move.nuts: belongs to mcmc: it learns its step and scale on one target, and a population's target changes; take hmc",
		}},
		{ofIslands(islands, func(m *SMC) { m.Particles, m.Islands = 1, 0 }), []string{
			"particles: want at least 2, have 1", "islands: want at least 1, have 0",
		}},
		{ofIslands(islands, func(m *SMC) { m.Path, m.Move = nil, nil }), []string{
			"path: want one of " + strings.Join(smc.Paths.Names(), ", "), "move: want one of " + strings.Join(mcmc.Moves.Names(), ", "),
		}},
		{ofIslands(islands, func(m *SMC) { m.Start = FromInit{} }), nil},
		{ofIslands(islands, func(m *SMC) { m.Start = FromRestarts{} }), []string{
			"start: sgd goes with a path of batches: with path tempering leave start out, which begins at the prior (at model.init, if nothing else uses it)",
		}},
		{ofIslands(islands, func(m *SMC) { m.Start = FromUntrained{By: bnn.JAX{}} }), []string{
			"start: jax goes with a path of batches: with path tempering leave start out, which begins at the prior (at model.init, if nothing else uses it)",
		}},
		{ofIslands(batches, func(m *SMC) { m.Start = FromUntrained{By: bnn.JAX{}} }), nil},
		{ofIslands(islands, func(m *SMC) { m.Weight = smc.Momentum{} }), []string{
			"weight: momentum would also count the energy errors of rejected proposals: use it with moves without accept or reject (" + strings.Join(mcmc.MovesWhere(false), " or ") + "); leave weight out for the move's own",
		}},
		{ofIslands(batches, func(m *SMC) { m.Weight = smc.Momentum{Literal: true} }), nil},
		{ofIslands(islands, func(m *SMC) { m.Weight = smc.Reversal{} }), nil},
		{ofIslands(islands, func(m *SMC) { m.Move, m.Weight = mcmc.PCN{}, smc.Reversal{} }), nil},
		{ofIslands(batches, func(m *SMC) { m.Weight = smc.Reversal{} }), []string{
			"weight: reversal leaves out the energy errors of moves without accept or reject: use it with moves that accept or reject (" + strings.Join(mcmc.MovesWhere(true), " or ") + "); leave weight out for the move's own",
		}},
	} {
		said := faults(func(f *config.Faults) { c.m.(config.Checker).Check(f) })
		if !slices.Equal(said, c.want) {
			t.Errorf("%+v:\n%s\nwant\n%s", c.m, strings.Join(said, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// What does not go with the settings around, and settings that do not go with one another.
func TestCheckWithin(t *testing.T) {
	bare := Around{Prior: bnn.PriorSettings{Family: bnn.NormalPrior{Variance: 1}}}
	init, few := bare, bare
	init.Init, few.Search = true, &Search{Restarts: 5}
	searched := Around{Init: true, Prior: bare.Prior, Search: &Search{Restarts: 1}}
	anchored := init
	anchored.Prior.Anchor = &bnn.Anchor{S: 0.1}
	full, constant := smc.Schedule[smc.Full]{Iterations: 3}, smc.Schedule[smc.Constant]{Iterations: 30, Rule: smc.Constant{Batch: 9}}
	cheap := func(n int) mcmc.Move { return mcmc.Unadjusted{Step: 0.1, Gradient: &mcmc.MiniBatch{Batch: n}} }
	literal := smc.Momentum{Literal: true}
	const (
		noInit   = ".start: init is the network of model.init, which is not given"
		unused   = " draws all particles and does not use model.init: want start: init, or no model.init"
		taken    = ": is for sampling: method as-is takes the network of model.init as it is"
		evidence = ".combine: islands cannot be weighted by evidence, because "
		equal    = ": want combine: equal"
		unknown  = " the weights of the first particles are unknown"
		dearer   = "; leave it out, or take fewer"
	)
	learned, short := bare, bare
	learned.Prior.Family, short.Prior.Family = bnn.LearnedPrior{Shape: 1, Rate: 1}, bnn.NormalPrior{Variance: bnn.LearnedVariance}
	width := " needs a normal prior with a given width, and this prior learns its own: take "
	given := ", or a variance, as in prior: {normal: {variance: 1}}"
	for _, c := range []struct {
		m      Method
		around Around
		want   string
	}{
		{VI{}, learned, "method.vi: vi" + width + "method: mcmc" + given}, {VI{}, short, "method.vi: vi" + width + "method: mcmc" + given},
		{VI{Keep: KeepValidation}, bare, "method.vi.keep: validation is the state of the smallest loss on the validation examples, and the data hold none out: " +
			"take keep: mean, or data with validation examples"},
		{MCMC{Start: "prior", Move: mcmc.PCN{}}, learned, "method.mcmc.move.pcn: pCN" + width + "move: hmc" + given},
		{SMC{Move: mcmc.PCN{}}, short, "method.smc.move.pcn: pCN" + width + "move: hmc" + given},
		{MCMC{Start: "prior", Move: mcmc.PCN{}}, bare, ""}, {VI{}, bare, ""},
		{MCMC{}, learned, ""}, {SMC{}, short, ""}, {SVGD{}, learned, ""}, {Ensemble{}, learned, ""}, {SWAG{}, learned, ""}, {Dropout{}, short, ""},
		{MAP{}, bare, ""}, {Ensemble{}, bare, ""}, {Ensemble{}, few, ""},
		{Ensemble{Members: 5}, few, ""},
		{MCMC{Start: "prior"}, init, "method.mcmc.start: prior draws the starts of all chains and does not use model.init: want start: init, or no model.init"},
		{MCMC{Start: "prior"}, anchored, ""}, {MCMC{Start: "prior"}, bare, ""},
		{Ensemble{Members: 4}, few, "map.restarts: 5 MAP restarts and 4 members: each member has a restart of its own, so leave map.restarts out"},
		{SWA{Averaging{Members: 1}}, few, ""},
		{SWA{Averaging{Members: 6}}, few, "map.restarts: 5 MAP restarts and 6 members: each member has a restart of its own, so leave map.restarts out"},
		{SWAG{Averaging: Averaging{Members: 5}}, few, ""},
		{SWAG{}, anchored, "prior.anchor: is for sampling: method swag goes on from the restarts as they are"},
		{Ensemble{}, searched, "map.restarts: one restart is not an ensemble: want at least 2, or method: map"},
		{Dropout{}, bare, ""}, {Dropout{}, few, ""},
		{Dropout{}, anchored, "prior.anchor: is for sampling: method dropout takes the best restart as it is"},
		{AsIs{}, Around{Init: true}, ""},
		{AsIs{}, Around{}, "method: as-is evaluates a trained network as it is: name the file of its weights, model.init"},
		{AsIs{}, init, "prior" + taken},
		{AsIs{}, Around{Init: true, Search: &Search{}}, "map" + taken},

		{MCMC{Chains: 5}, few, ""}, {MCMC{Chains: 6, Start: "prior"}, few, ""}, {MCMC{Start: "init"}, init, ""},
		{MCMC{Start: "init"}, bare, noInit},
		{MCMC{Chains: 6}, few, ".chains: 6 chains start from 5 MAP restarts, one each: want map.restarts of at least 6, or start: prior"},
		{MCMC{Chains: 3, Keep: 4}, bare, ".keep: 4 states are not a multiple of 3 chains"},
		{MCMC{Chains: 3, Keep: KeepLast, Epochs: 1, Move: mcmc.HMC{Steps: 1}}, bare, ""},
		{MCMC{Keep: KeepLast, Move: mcmc.NUTS{}}, bare, ".keep: the last state of NUTS is no draw of the posterior, as the budget ends more often after some states than after others: keep a number of states"},
		{MCMC{Keep: KeepLast, Epochs: 499}, bare, ".epochs: a chain that finds the length of its trajectories needs at least 500 epochs, have 499: take as many, or fix the leapfrogs: move: {hmc: {steps: 20}}"},
		{MCMC{Chains: 3, Keep: 30}, bare, ""},
		{MCMC{Chains: 3, Keep: 33, Epochs: 1600, Move: mcmc.HMC{Steps: 80}}, bare, ".keep: 33 states of 3 chains, but the second half of 1600 epochs has only 10 moves: keep at most 30, or last"},
		{MCMC{Epochs: 400, Move: mcmc.HMC{Steps: 80}, Trace: Trace{5}}, bare, ""},
		{MCMC{Epochs: 400, Move: mcmc.HMC{Steps: 80}, Trace: Trace{6}}, bare, ".trace.every: a line of the trace has 6 moves, but 400 epochs make only 5 of HMC (80 leapfrogs): want at most as many, or leave trace out"},
		{MCMC{Epochs: 80, Keep: KeepLast, Move: mcmc.HMC{Steps: 80}, Trace: Trace{1}}, bare, ""},
		{MCMC{Epochs: 40, Keep: KeepLast, Move: mcmc.HMC{Steps: 80}}, bare, ".epochs: a chain has 40 epochs, and one move of HMC (80 leapfrogs) takes 80: take more epochs, or shorter trajectories"},
		{MCMC{Epochs: 400, Move: mcmc.HMC{Length: 2, Step: 0.001}}, bare, ".epochs: a chain has 400 epochs, and one move of HMC (length 2) takes 2000: take more epochs, or shorter trajectories"},

		{SMC{}, bare, ""}, {SMC{}, init, ""}, {SMC{Path: full}, init, ""}, {SMC{Path: full, Start: FromPrior{}}, anchored, ""},
		{SMC{Path: full, Start: FromInit{}}, bare, noInit},
		{SMC{Path: full, Start: FromPrior{}}, init, ".start: prior" + unused},
		{SMC{Path: full, Start: FromTempered{}}, init, ".start: tempered" + unused},
		{SMC{Path: full, Start: FromUntrained{By: bnn.Torch{}}}, init, ".start: torch" + unused},
		{SMC{Path: full, Start: FromUntrained{By: bnn.Torch{}}}, anchored, ""}, {SMC{Path: full, Start: FromUntrained{By: bnn.He{}}}, bare, ""},
		{SMC{Path: full, Start: FromMAP{}}, searched, ""},
		{SMC{Path: full, Start: FromRestarts{}, Particles: 5}, few, ""},
		{SMC{Path: full, Start: FromRestarts{}, Particles: 3, Islands: 2}, few, "map.restarts: 6 particles start from 5 MAP restarts, one each: want map.restarts of at least 6, or another start"},
		{SMC{Path: smc.Tempering{ESS: 0.11}}, bare, ""},
		{SMC{Path: smc.Tempering{ESS: 0.1}, Particles: 10}, bare, ".particles: tempering keeps a share of 0.1 of 10 particles effective: at most one particle, so the path would be one step; want more than 10 particles"},
		{SMC{Path: full, Start: FromTempered{}, Particles: 2}, bare, ".particles: tempering keeps a share of 0.5 of 2 particles effective: at most one particle, so the path would be one step; want more than 2 particles"},
		{SMC{Path: full, Particles: 2}, bare, ""},
		{SMC{Path: full, Start: FromTempered{}, Move: cheap(5), Weight: literal}, bare, ".start: weight literal leaves out changes of target, but a tempered start weights particles by nothing else: the likelihood would never enter the weights; leave weight out for the move's own, or take another start"},

		{SMC{Combine: bnn.Evidence{}}, bare, ""},
		{SMC{Combine: bnn.Evidence{}}, init, evidence + "with start init" + unknown + equal},
		{SMC{Combine: bnn.Evidence{}, Path: full}, bare, ""},
		{SMC{Combine: bnn.Evidence{}, Path: full, Start: FromTempered{}}, bare, ""},
		{SMC{Combine: bnn.Evidence{}, Path: full, Start: FromRestarts{}}, bare, evidence + "with start sgd" + unknown + equal},
		{SMC{Combine: bnn.Evidence{}, Path: full, Start: FromMAP{}}, bare, evidence + "with start map" + unknown + equal},
		{SMC{Combine: bnn.Evidence{}, Path: full, Start: FromUntrained{By: bnn.JAX{}}}, bare, evidence + "with start jax" + unknown + equal},
		{SMC{Combine: bnn.Evidence{}, Path: full, Move: cheap(5), Weight: literal}, bare, evidence + "weight literal leaves out the change of target" + equal},
		{SMC{Combine: bnn.Evidence{}, Path: constant}, bare, evidence + "path constant goes from one fresh batch to another, and log Z would be far too low" + equal},
		{SMC{Combine: bnn.Evidence{}, Path: smc.SDA{Iterations: 30}}, bare, evidence + "path sda may end before all examples are annealed in" + equal},
		{SMC{Combine: bnn.Evidence{}, Path: smc.Schedule[smc.Linear]{Iterations: 9}}, bare, evidence + "path linear takes all examples in the last tenth of its iterations, and fewer than 10 iterations have none" + equal},
		{SMC{Combine: bnn.Evidence{}, Path: smc.Schedule[smc.Linear]{Iterations: 10}}, bare, ""},
		{SMC{Combine: bnn.Evidence{}, Path: constant, Start: FromRestarts{}, Particles: 2}, few, evidence + "with start sgd" + unknown + ", and path constant goes from one fresh batch to another, and log Z would be far too low" + equal},

		{SMC{Path: constant, Move: cheap(8)}, bare, ""},
		{SMC{Path: constant, Move: cheap(9)}, bare, ".move.leapfrog.gradient: 9 examples save nothing: a mini-batch must be smaller than the path's batches of 9" + dearer},
		{SMC{Path: full, Move: cheap(1000)}, bare, ""},
		{SMC{Path: smc.SDA{Iterations: 3}, Move: cheap(1)}, bare,
			".move.leapfrog.gradient: cannot be used with sda, where examples have different powers: leave it out, or choose another path"},
	} {
		name := Methods.Name(c.m)
		m, want := c.m.Settle(c.around, unheard()), c.want
		if strings.HasPrefix(want, ".") {
			want = "method." + name + want
		}
		said := strings.Join(faults(func(f *config.Faults) { m.Settle(c.around, f) }), "\n")
		if said != want {
			t.Errorf("%+v:\n%s\nwant\n%s", m, said, want)
		}
	}
	// Of a program, where nothing was completed.
	said := faults(func(f *config.Faults) {
		SMC{Particles: 9, Islands: 1, Path: smc.Tempering{}, Move: mcmc.HMC{}}.Settle(init, f)
		SMC{}.Settle(bare, f)
		MCMC{Keep: 3}.Settle(bare, f)
	})
	if want := []string{"method.smc.start: prior" + unused}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// Mini-batches that are no fewer examples than there are save nothing.
func TestCheckData(t *testing.T) {
	for n, want := range map[int]string{
		0: "", 59: "", 60: "method.smc.move.leapfrog.gradient: 60 examples save nothing: a mini-batch must be smaller than the training set of 60; leave it out, or take fewer",
	} {
		move := mcmc.Unadjusted{Step: 0.1}
		if n > 0 {
			move.Gradient = &mcmc.MiniBatch{Batch: n}
		}
		m := SMC{Path: smc.Schedule[smc.Full]{Iterations: 3}, Move: move}.Settle(Around{}, unheard())
		said := strings.Join(faults(func(f *config.Faults) { settleWith(m, Around{}, Sizes{60, 40, 1}, f) }), "\n")
		if said != want {
			t.Errorf("%d examples: %q, want %q", n, said, want)
		}
	}
}

// States that a path does not have are refused before anything runs.
func TestCheckDataKeep(t *testing.T) {
	epochs := smc.Schedule[smc.Constant]{Epochs: 4, Rule: smc.Constant{Batch: 20}} // 12 iterations of 60 examples
	spread, after := func(n int) smc.Keeper { return smc.Spread{States: n} }, func(n int) smc.Keeper { return smc.After{Iterations: n} }
	const equal = "keep: states spread over the second half have equal weights, those of this population differ: take after, which keeps weights"
	for _, c := range []struct {
		m    Method
		want string
	}{
		{SMC{Path: epochs}, ""}, {SMC{Path: epochs, Keep: smc.Best{}}, ""}, {SMC{Keep: smc.Last{}}, ""},
		{SMC{Path: epochs, Keep: after(11)}, ""},
		{SMC{Path: epochs, Keep: after(12)}, "keep: a warm-up of 12 iterations leaves none of the 12 of the path: take fewer than 12, or more iterations of the path"},
		{SMC{Keep: after(3)}, "keep: only a path with a budget of epochs, or with a number of iterations that is known before, keeps states along the way: keep the last"},
		{SMC{Path: epochs, Keep: spread(20)}, equal},
		{SVGD{Particles: 5, Epochs: 4, Batch: 20, Keep: spread(30)}, ""},
		{SVGD{Particles: 5, Epochs: 4, Batch: 20, Keep: spread(31)}, "keep: 31 states to keep are not a multiple of 5 particles, keep: 31 states to keep, but the second half of 12 iterations has 30"},
		{SVGD{Particles: 5, Epochs: 4, Batch: 20, Keep: after(12)}, "keep: a warm-up of 12 iterations leaves none of the 12 of the path: take fewer than 12, or more iterations of the path"},
	} {
		m := c.m.Settle(Around{Partly: true, Init: true}, unheard())
		said := strings.Join(faults(func(f *config.Faults) {
			settleWith(m, Around{Partly: true, Init: true, Judged: true}, Sizes{60, 40, 1}, f)
		}), ", ")
		if said = strings.ReplaceAll(said, "method."+Methods.Name(m)+".", ""); said != c.want {
			t.Errorf("%+v: %q, want %q", m, said, c.want)
		}
	}
}

// Where layers are learned, the default path is one on which they can be.
func TestPathOfLearning(t *testing.T) {
	for _, c := range []struct {
		m      SMC
		around Around
		want   smc.Path
	}{
		{SMC{}, Around{}, smc.Tempering{}}, {SMC{}, Around{Partly: true, Init: true}, smc.Tempering{}},
		{SMC{}, Around{Partly: true}, smc.Schedule[smc.Constant]{Epochs: 100, Rule: smc.Constant{Batch: 50}}},
		{SMC{Learning: Learning{smc.By[nn.SGD]{Rate: 1}}}, Around{Partly: true, Init: true}, smc.Schedule[smc.Constant]{Epochs: 100, Rule: smc.Constant{Batch: 50}}},
		{SMC{Path: smc.Tempering{ESS: .3}}, Around{Partly: true}, smc.Tempering{ESS: .3}},
	} {
		m := c.m.Settle(c.around, unheard()).(SMC)
		if m.Path != c.want {
			t.Errorf("%+v, %+v: path %+v", c.m, c.around, m.Path)
		}
		said := faults(func(f *config.Faults) { m.Settle(c.around, f) })
		if asked := c.m.Path != nil; asked != (len(said) == 1) || asked && !strings.Contains(said[0], "adaptive tempering chooses each temperature by likelihoods that learning changes") {
			t.Errorf("%+v, %+v: %q", c.m, c.around, said)
		}
	}
}

// A mini-batch of chains may be all examples, and no more.
func TestCheckDataOfChains(t *testing.T) {
	for n, want := range map[int]string{60: "", 61: "method.mcmc.move.sghmc.batch: want at most the 60 training examples, have 61"} {
		m := MCMC{Move: mcmc.SGHMC{Batch: n, Step: 0.1}}.Settle(Around{}, unheard())
		said := strings.Join(faults(func(f *config.Faults) { settleWith(m, Around{}, Sizes{60, 40, 1}, f) }), "\n")
		if said != want {
			t.Errorf("%d examples: %q, want %q", n, said, want)
		}
	}
}

// A dense scale is refused before anything is searched, with what it would take.
func TestCheckDataScale(t *testing.T) {
	dense := mcmc.HMC{Scale: mcmc.Dense}
	for _, m := range []Method{MCMC{Move: dense}.Settle(Around{}, unheard()), SMC{Path: smc.Tempering{}, Move: dense}.Settle(Around{}, unheard())} {
		for d, want := range map[int]string{
			500:  "",
			6320: ".move.hmc.scale: a dense scale is for at most 500 parameters: of 6320 it takes 639 MB for each chain and 2876 MB for each island",
		} {
			said := strings.Join(faults(func(f *config.Faults) { settleWith(m, Around{}, Sizes{60, d, 1}, f) }), "\n")
			if want == "" && said != "" || !strings.Contains(said, want) {
				t.Errorf("%v, %d parameters: %q, want %q", m, d, said, want)
			}
		}
	}
}
