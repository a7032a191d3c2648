package method

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/smc"
)

// small are methods that take milliseconds, one for each row of Methods, with their titles and sizes.
var small = map[string]struct {
	m     Method
	title string
	size  int // of the ensemble
	found []string
}{
	"map":      {MAP{}, "the best MAP alone", 1, nil},
	"ensemble": {Ensemble{}, "a deep ensemble of 8 MAP restarts", 8, nil},
	"swa":      {SWA{Averaging{Members: 2, Warmup: 1, Snapshots: 2}}, "2 networks by stochastic weight averaging over 2 epochs each", 2, nil},
	"swag":     {SWAG{Averaging: Averaging{Snapshots: 3}, Rank: 2, Draws: 4}, "SWAG (rank 2, 3 snapshots, 4 draws)", 4, []string{"swag-narrow"}},
	"dropout":  {Dropout{Passes: 6}, "Monte Carlo dropout of the best MAP, 6 masks", 6, nil},
	"laplace":  {Laplace{Draws: 7}, "Laplace (kron, 7 draws, linearised)", 7, []string{"laplace-evidence", "laplace-off-mode"}},
	"vi":       {VI{Epochs: 4, Draws: 12}, "mean-field variational inference (4 epochs, 12 draws)", 12, []string{"elbo-unsettled", "mean-field"}},
	"svgd": {
		SVGD{Particles: 5, Epochs: 3, Batch: 16}, "SVGD of 5 particles, 3 epochs", 5, []string{"svgd", "islands-end", "no-weights"},
	},
	"as-is": {AsIs{}, "a trained network as it is", 1, []string{"as-is"}},
	"mcmc": {
		MCMC{Chains: 3, Epochs: 1200, Keep: 6, Move: mcmc.HMC{Steps: 60}}, "3 chains of HMC (60 leapfrogs), 1,200 epochs each", 6,
		[]string{"chains-end"},
	},
	"smc": {SMC{Particles: 4, Islands: 2, Move: mcmc.PCN{Mutations: mcmc.Mutations{Count: 10}}}, "2 islands of 4 particles by tempered SMC with pCN", 8, []string{"islands-end", "single-ancestor", "evidence-scatters"}},
}

// Every row of the table can be completed, checked, described, measured and carried out on a small job.
func TestEveryMethod(t *testing.T) {
	for _, row := range Methods {
		c, ok := small[row.Name]
		if !ok {
			t.Errorf("method %s has no case: add one to small", row.Name)
			continue
		}
		if got := Methods.Name(c.m); got != row.Name {
			t.Errorf("the case of %s is a %s", row.Name, got)
		}
		m := c.m.Settle(around(c.m), unheard())
		if !c.m.Needs().Search { // what it needs may depend on what was left out
			m = m.Settle(around(m), unheard())
		}
		said := faults(func(f *config.Faults) {
			m.Settle(around(m), f)
			settleWith(m, around(m), Sizes{60, 40, 1}, f)
		})
		if err := config.Check(m); err != nil || said != nil {
			t.Errorf("%s: %v, %q", row.Name, err, said)
		}
		if got := m.Title(); got != c.title {
			t.Errorf("%s is titled %q, want %q", row.Name, got, c.title)
		}
		job := newJob(t, 2).provide(m)
		var told []Status
		job.Tell = func(s Status) { told = append(told, s) }
		memory := m.Memory(job)
		if memory.Bytes < programBytes || memory.Bytes > programBytes+16<<20 {
			t.Errorf("%s: a small job takes %d bytes", row.Name, memory.Bytes)
		}
		for _, s := range memory.Scales {
			if s.Bytes(s.Now) != memory.Bytes || s.Bytes(s.Now+1) <= memory.Bytes || s.Fits(s.Now) == "" {
				t.Errorf("%s: %d bytes, by its %d %s %d", row.Name, memory.Bytes, s.Now, s.Field, s.Bytes(s.Now))
			}
		}
		out := do(t, job, m)
		if out.Posterior.Net != job.Net || out.Posterior.Size() != c.size || !slices.Equal(kinds(out.Findings), c.found) {
			t.Errorf("%s results in %d particles, want %d, and finds %q", row.Name, out.Posterior.Size(), c.size, words(out.Findings))
		}
		islands := map[int]int{} // the iterations of each
		for _, l := range out.Trace {
			islands[l.Island]++
		}
		if s := m.Sampling(); s == nil {
			if len(islands) > 0 && out.Trace[0].ELBO == nil {
				t.Errorf("%s samples nothing, and leaves %d lines", row.Name, len(out.Trace))
			}
		} else if len(islands) != s.Islands || s.Path == nil || s.Move == nil || s.Combine == nil {
			t.Errorf("%s has %d islands in the trace: %+v", row.Name, len(islands), s)
		}
		if works := len(out.Cost.Phases) > 0; works != (told != nil) {
			t.Errorf("%s works: %v, and told %d times of progress", row.Name, works, len(told))
		}
		for i, s := range told {
			first, last := i == 0 || told[i-1].Phase != s.Phase, i == len(told)-1 || told[i+1].Phase != s.Phase
			if first && s.Phase != "" && s.Share == 0 && !s.Ended { // the phase begins
				continue
			}
			if first || s.Phase == "" || s.Long == "" || s.Short == "" || s.Ended != last || !(s.Share > 0 && s.Share <= 1) || last && s.Share != 1 {
				t.Errorf("%s: status %d of %d: %+v", row.Name, i, len(told), s)
			}
		}
	}
}

// What a config leaves out depends on what stands around the method.
func TestComplete(t *testing.T) {
	init, searched := Around{Init: true}, Around{Init: true, Search: &Search{}}
	anchored := Around{Init: true, Prior: bnn.PriorSettings{Anchor: &bnn.Anchor{S: 0.1}}}
	full := smc.Schedule[smc.Full]{Iterations: 3}
	mcmcOf := func(m Method) MCMC { return m.(MCMC) }
	smcOf := func(m Method) SMC { return m.(SMC) }
	for what, c := range map[string]struct{ got, want any }{
		"chains":                           {MCMC{}.Settle(Around{}, unheard()), MCMC{Chains: 8, Start: "map", Epochs: 1600, Keep: 80, Move: mcmc.HMC{}.ForChains()}},
		"chains of a trained network":      {mcmcOf(MCMC{}.Settle(init, unheard())).Start, "init"},
		"chains, and a search":             {mcmcOf(MCMC{}.Settle(searched, unheard())).Start, "map"},
		"chains at draws":                  {mcmcOf(MCMC{Start: "prior"}.Settle(init, unheard())).Start, "prior"},
		"as many states as moves":          {mcmcOf(MCMC{Chains: 3, Epochs: 800, Move: mcmc.HMC{Steps: 80}}.Settle(Around{}, unheard())).Keep, 3 * 5},
		"no move in the second half":       {mcmcOf(MCMC{Epochs: 159, Move: mcmc.HMC{Steps: 80}}.Settle(Around{}, unheard())).Keep, KeepLast},
		"one move in the second half":      {mcmcOf(MCMC{Epochs: 160, Move: mcmc.HMC{Steps: 80}}.Settle(Around{}, unheard())).Keep, 8},
		"short chains":                     {mcmcOf(MCMC{Chains: 2, Epochs: 8, Move: mcmc.PCN{}}.Settle(Around{}, unheard())).Keep, 2 * 4},
		"a judged width":                   {Laplace{}.Settle(Around{Judged: true}, unheard()).(Laplace).Precision, PrecisionValidation},
		"a width that nobody judges":       {Laplace{}.Settle(Around{}, unheard()).(Laplace).Precision, PrecisionPrior},
		"passes":                           {Dropout{}.Settle(Around{}, unheard()), Dropout{10}},
		"islands":                          {SMC{}.Settle(Around{}, unheard()), SMC{Islands: 1, Combine: bnn.Equal{}, Path: smc.Tempering{}, Move: mcmc.HMC{}.ForPopulation(mcmc.UntilTravelled, false), Resample: smc.Resampler{Scheme: smc.Multinomial{}, When: smc.Always{}}}},
		"islands of a trained network":     {smcOf(SMC{}.Settle(init, unheard())).Start, Place(FromInit{})},
		"islands at an anchor":             {smcOf(SMC{}.Settle(anchored, unheard())).Start, Place(nil)},
		"batches":                          {smcOf(SMC{Path: full}.Settle(Around{}, unheard())).Start, FromPrior{}},
		"batches of a trained network":     {smcOf(SMC{Path: full}.Settle(init, unheard())).Start, FromInit{}},
		"batches, and a search":            {smcOf(SMC{Path: full}.Settle(searched, unheard())).Start, FromPrior{}},
		"batches at an anchor":             {smcOf(SMC{Path: full}.Settle(anchored, unheard())).Start, FromPrior{}},
		"resampling of batches":            {smcOf(SMC{Path: full}.Settle(Around{}, unheard())).Resample.When, smc.BelowRatio(0.5)},
		"weights of an unadjusted move":    {smcOf(SMC{Path: full, Move: mcmc.Unadjusted{}}.Settle(Around{}, unheard())).Weight, smc.Momentum{}},
		"literal weights, where asked for": {smcOf(SMC{Move: mcmc.Unadjusted{}, Weight: smc.Momentum{Literal: true}}.Settle(Around{}, unheard())).Weight, smc.Momentum{Literal: true}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %+v, want %+v", what, c.got, c.want)
		}
	}
}

// What must be there before: as many restarts as particles start from, each from its own.
func TestNeeds(t *testing.T) {
	full := smc.Schedule[smc.Full]{Iterations: 3}
	for _, c := range []struct {
		m    Method
		want Needs
	}{
		{MAP{}, Needs{Search: true, Prior: true, Single: true}},
		{Ensemble{}, Needs{Search: true, Prior: true}},
		{Dropout{}, Needs{Search: true, Prior: true, Dropout: true}},
		{AsIs{}, Needs{Init: true, Whole: true, Partly: true, Frozen: true, Single: true}},
		{SWA{}, Needs{Search: true, Prior: true, Single: true}},
		{SWA{Averaging{Members: 3}}, Needs{Search: true, Prior: true, Restarts: 3}},
		{SWAG{}, Needs{Search: true, Prior: true, Partly: true}},
		{VI{}, Needs{Prior: true, Posterior: true, Partly: true}},
		{MCMC{Chains: 5, Start: "map"}, Needs{Islands: 5, Search: true, Restarts: 5, Prior: true, Posterior: true, Partly: true}},
		{MCMC{Chains: 6, Together: 3, Start: "prior"}, Needs{Islands: 2, Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{MCMC{Chains: 5, Start: "prior"}, Needs{Islands: 5, Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{MCMC{Chains: 5, Start: "init"}, Needs{Islands: 5, Prior: true, Posterior: true, Partly: true, Frozen: true, Init: true}},
		{SMC{Particles: 4, Islands: 3, Path: smc.Tempering{}}, Needs{Islands: 3, Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{SMC{Particles: 4, Islands: 3, Path: full, Start: FromTempered{}}, Needs{Islands: 3, Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{SMC{Particles: 4, Islands: 3, Path: full, Start: FromMAP{}}, Needs{Islands: 3, Search: true, Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{SMC{Particles: 4, Islands: 3, Path: full, Start: FromRestarts{}}, Needs{Islands: 3, Search: true, Restarts: 12, Prior: true, Posterior: true, Partly: true}},
		{SMC{Particles: 4, Path: full, Start: FromPrior{}, Learning: Learning{smc.By[nn.Adam]{Rate: 0.1}}}, Needs{Islands: 1, Prior: true, Posterior: true, Partly: true}},
		{Laplace{}, Needs{Prior: true, Posterior: true, Partly: true, Frozen: true, Point: true}},
		{SVGD{}, Needs{Prior: true, Posterior: true, Partly: true, Frozen: true}},
		{SMC{Particles: 4, Islands: 3, Path: full, Start: FromInit{}}, Needs{Islands: 3, Prior: true, Posterior: true, Partly: true, Frozen: true, Init: true}},
	} {
		if got := c.m.Needs(); got != c.want {
			t.Errorf("%+v needs %+v, want %+v", c.m, got, c.want)
		}
	}
}

// An anchored posterior at s = 0 is its anchor, and says so.
func TestPoint(t *testing.T) {
	job := newJob(t, 1).provide(MAP{})
	job.About.Anchor = &bnn.Anchor{}
	out := do(t, job, MAP{})
	if away(out.Posterior, job.Points.Best()) > 1e-6 || words(out.Findings) != "prior.anchor.s is 0: the posterior is the MAP alone, an ensemble of one; nothing was sampled" {
		t.Errorf("%v from the best restart; found %q", away(out.Posterior, job.Points.Best()), words(out.Findings))
	}
	job = newJob(t, 1).provide(AsIs{})
	job.About.Anchor = &bnn.Anchor{}
	out = do(t, job, AsIs{})
	if away(out.Posterior, job.Init) > 1e-6 || words(out.Findings) != "prior.anchor.s is 0: the posterior is the network of model.init alone, an ensemble of one; nothing was sampled" {
		t.Errorf("%v from the network; found %q", away(out.Posterior, job.Init), words(out.Findings))
	}
}

// The prior is anchored at the best restart or, without a search, at the trained network: with s small, chains stay there.
func TestAnchored(t *testing.T) {
	for _, searched := range []bool{true, false} {
		m := SMC{Particles: 3, Move: mcmc.HMC{}}.Settle(Around{}, unheard()).(SMC)
		job := newJob(t, 1).provide(AsIs{})
		if searched {
			job.Search = around(MAP{}).Search
		}
		job.About.Anchor = &bnn.Anchor{S: 1e-6}
		out := do(t, job, m)
		anchor := job.Init
		if searched {
			anchor = job.Points.Best()
		}
		// The prior's sd is √(0.5e-6) = 7e-4; of 3×75 normals none is beyond 7 but in one of 1e9 runs.
		if far := away(out.Posterior, anchor); far == 0 || !(far < 7*math.Sqrt(0.5e-6)) {
			t.Errorf("searched %v: a particle is %v from the anchor", searched, far)
		}
		if islands := out.Posterior.LogEvidence; islands[0] == 0 {
			t.Errorf("searched %v: no evidence", searched)
		}
	}
}
