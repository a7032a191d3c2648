package eval

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// level is a network that predicts the same number for every input, its bias.
func level(t *testing.T) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{2}, []nn.Layer{nn.Dense{Units: 1}}, nn.Gaussian{SD: 1})
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// levels is the ensemble of chains whose states predict the given numbers.
func levels(t *testing.T, chains [][]float64) *bnn.Ensemble {
	t.Helper()
	var all []bnn.Island
	for _, c := range chains {
		var island bnn.Island
		for _, x := range c {
			island.Theta = append(island.Theta, 0, 0, x)
		}
		all = append(all, island)
	}
	e, err := bnn.Combine(level(t), all, bnn.Equal{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// walk is chains x_t = a x_{t−1} + e_t of numbers that float32 holds, with the sum of a shift and its chain's number.
func walk(chains, n int, a, shift float64) [][]float64 {
	all := make([][]float64, chains)
	for c := range all {
		s, x := rng.Key{Seed: 3, Purpose: rng.Synthetic, Island: c}.Stream(), 0.0
		for range n {
			x = a*x + s.Normal()
			all[c] = append(all[c], float64(float32(x+shift*float64(c))))
		}
	}
	return all
}

func compared(t *testing.T, e *bnn.Ensemble, r *Record, p *data.Problem) *Chains {
	t.Helper()
	a, err := Evaluate(t.Context(), &Ensembles{Posterior: e, Chains: r}, p, nil, false, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	return a.Metrics.Chains
}

// TestChainsAreComparedByTheirPredictions: R-hat and its interval are those of the predictions that each state makes by itself, for
// classes by a softmax and by a sigmoid, and for a regression.
func TestChainsAreComparedByTheirPredictions(t *testing.T) {
	const chains, states = 3, 9
	for name, c := range map[string]struct {
		outputs int
		lik     nn.Likelihood
		classes bool
	}{
		"softmax": {2, nn.Categorical{}, true}, "sigmoid": {1, nn.Bernoulli{}, true}, "regression": {1, nn.Gaussian{SD: nn.Learned}, false},
		"predicted noise": {2, nn.Gaussian{SD: nn.Predicted}, false},
	} {
		var names []string
		if c.classes {
			names = []string{"no", "yes"}
		}
		p := problem(t, testkit.Table(300, names...), c.classes, !c.classes)
		e := ensemble(t, network(t, c.outputs, c.lik), chains, states, bnn.Equal{})
		var each []float64 // of each state, the prediction for each input
		var whole *uq.Predictive
		if c.classes {
			var err error
			if whole, err = e.Predict(t.Context(), p.Validate, nil); err != nil {
				t.Fatal(err)
			}
		}
		n := p.Validate.Len()
		for j := range e.Size() {
			if !c.classes {
				v, err := member(e, j).PredictRegression(t.Context(), p.Validate, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				each = append(each, v.Mean...)
				continue
			}
			v, err := member(e, j).Predict(t.Context(), p.Validate, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				each = append(each, v.Probs[i*2+uq.Argmax(whole.Probs[i*2:i*2+2])])
			}
		}
		summary := func(leave int) (median, q95 float64) {
			var all []float64
			for i := range n {
				var split [][]float64
				for c := range chains {
					var chain []float64
					for s := range states {
						chain = append(chain, each[(c*states+s)*n+i])
					}
					if c != leave {
						split = append(split, chain)
					}
				}
				all = append(all, mcmc.RHat(split))
			}
			slices.Sort(all)
			return all[(n+1)/2-1], all[(95*n+99)/100-1]
		}
		got := compared(t, e, &Record{}, p)
		if got.On != "validation" || got.N != n || got.Chains != chains || got.States != states || got.RHatPredictions == nil {
			t.Fatalf("%s: %+v", name, got)
		}
		median, q95 := summary(-1)
		var medians, q95s []float64
		for c := range chains {
			m, q := summary(c)
			medians, q95s = append(medians, m), append(q95s, q)
		}
		low, high := mcmc.Jackknife(median, medians)
		low95, high95 := mcmc.Jackknife(q95, q95s)
		r := got.RHatPredictions
		for what, v := range map[string][2]float64{
			"median": {float64(r.Median), median}, "95 %": {float64(r.Q95), q95},
			"low": {float64(r.MedianInterval[0]), low}, "high": {float64(r.MedianInterval[1]), high},
			"low of 95 %": {float64(r.Q95Interval[0]), low95}, "high of 95 %": {float64(r.Q95Interval[1]), high95},
		} {
			if !golden.Near(v[0], v[1], 1e-12, 0) {
				t.Errorf("%s, %s: %v, want %v", name, what, v[0], v[1])
			}
		}
	}
}

// TestChains: what chains of known numbers are found to be. All predictions of a state are the same number, so the median is the
// number's own.
func TestChains(t *testing.T) {
	p := problem(t, testkit.Table(300), false, false)
	still := [][]float64{slices.Repeat([]float64{1}, 60), slices.Repeat([]float64{2}, 60)}
	standing := walk(4, 10, 0, 0) // one moves and the others do not: without it R-hat is infinite, so there is no interval
	for c := range 3 {
		standing[c] = slices.Repeat([]float64{float64(10 * c)}, 10)
	}
	uneven := walk(3, 80, 0, 0)
	uneven[1] = append([]float64{1e3, 1e3, 1e3}, uneven[1]...) // it keeps more: the last ones count
	for _, c := range []struct {
		name    string
		chains  [][]float64
		rHat    bool
		between bool // R-hat has an interval
		ess     bool
		reason  string
		kind    string
	}{
		{"agree", walk(4, 80, 0, 0), true, false, true, "", "chains-agree"},
		{"in different modes", walk(4, 80, 0, 3), true, false, true, "", "chains-apart"},
		{"few, in different modes", walk(8, 10, 0, 5), true, true, false, "a chain keeps 10 states, and an ESS needs 50.", "chains-apart"},
		{"few", walk(8, 10, 0.5, 0), true, true, false, "10 states, and an ESS needs 50.", "chains-unsure"},
		{"slow", walk(4, 100, 0.95, 0), true, true, false, "a chain keeps 100 states, and an ESS needs about ", "chains-apart"},
		{"few, all but one standing", standing, true, false, false, "10 states, and an ESS needs 50.", "chains-apart"},
		{"one, long", walk(1, 400, 0, 0), true, false, true, "", "chains-agree"},
		{"one, few", walk(1, 20, 0, 0), true, false, false, "20 states, and an ESS needs 50.", "chains-unsure"},
		{"last states", walk(8, 1, 0, 0), false, false, false, "a chain keeps 1 state, and R-hat needs 8", "chains-uncompared"},
		{"standing", still, true, false, false, "60 states, and most predictions are the same in all of them", "chains-apart"},
		{"all the same", [][]float64{still[0], still[0]}, false, false, false, "no prediction is finite", "chains-uncompared"},
		{"of different lengths", uneven, true, false, true, "", "chains-agree"},
	} {
		const gradients = 640
		got := compared(t, levels(t, c.chains), &Record{LogLikelihoods: c.chains, Gradients: gradients}, p)
		last := make([][]float64, len(c.chains))
		for i, chain := range c.chains {
			last[i] = chain[len(chain)-got.States:]
		}
		want := mcmc.RHat(last)
		r := got.RHatPredictions
		if (r != nil) != c.rHat || r != nil && (float64(r.Median) != want || float64(r.Q95) != want || float64(*got.RHatLogLikelihood) != want) {
			t.Errorf("%s: R-hat %+v, want %v", c.name, got, want)
		}
		if r != nil && ((r.MedianInterval != nil) != c.between || (got.RHatLogLikelihoodInterval != nil) != c.between) {
			t.Errorf("%s: intervals %v and %v", c.name, r.MedianInterval, got.RHatLogLikelihoodInterval)
		}
		if c.between && !(r.MedianInterval[0] < r.Median && r.Median < r.MedianInterval[1]) {
			t.Errorf("%s: R-hat %v outside its interval %v", c.name, r.Median, *r.MedianInterval)
		}
		if (got.ESSPredictions != nil) != c.ess || (got.ESSPerGradient != nil) != c.ess || !strings.Contains(got.Reason+".", c.reason) || (got.Reason == "") != c.ess {
			t.Errorf("%s: ESS %v, by gradient %v, for the reason %q, want %q", c.name, got.ESSPredictions, got.ESSPerGradient, got.Reason, c.reason)
		}
		if ess := mcmc.BulkESS(last); c.ess && (float64(*got.ESSPredictions) != ess || float64(*got.ESSPerGradient) != ess/gradients) {
			t.Errorf("%s: ESS %v and %v, want %v", c.name, *got.ESSPredictions, *got.ESSPerGradient, ess)
		}
		if e := got.ESSLogLikelihood; (e != nil) != c.ess || c.ess && float64(*e) != mcmc.BulkESS(last) {
			t.Errorf("%s: an ESS of the log-likelihood of %v, want %v", c.name, e, mcmc.BulkESS(last))
		}
		if kind := got.Findings()[0].Kind; c.kind != "" && kind != c.kind {
			t.Errorf("%s: %s, want %s", c.name, kind, c.kind)
		}
	}
}

// TestNoRHatIsNoAgreement: chains whose predictions have no R-hat are warned of, whatever the reason, unless they keep few states of
// many moves and their log-likelihoods agree. An R-hat of the log-likelihood that is missing although there are moves enough is no
// agreement either. Of chains that are too short for an ESS, the rough one warns.
func TestNoRHatIsNoAgreement(t *testing.T) {
	number := func(x float64) *uq.Number { return (*uq.Number)(&x) }
	predictions := func(x float64) *PredictionRHat {
		return &PredictionRHat{Median: uq.Number(x), Q95: uq.Number(x), MedianInterval: &[2]uq.Number{uq.Number(x - 0.01), uq.Number(x + 0.01)}}
	}
	for _, c := range []struct {
		chains Chains
		want   string
	}{
		{Chains{Chains: 4, Moves: 5, States: 5}, "chains-uncompared "},
		{Chains{Chains: 4, Moves: 500, States: 5, RHatLogLikelihood: number(1.05)}, "chains-untold "},
		{Chains{Chains: 4, Moves: 500, States: 5, RHatLogLikelihood: number(4.2)}, "chains-uncompared "},
		{Chains{Chains: 4, Moves: 500, States: 5, RHatLogLikelihood: number(math.NaN())}, "chains-uncompared "},
		{Chains{Chains: 4, Moves: 500, States: 80, RHatLogLikelihood: number(1.01)}, "chains-uncompared "}, // no prediction is finite
		{Chains{Chains: 4, Moves: 5, States: 10, RHatPredictions: predictions(1.02)}, "chains-agree "},     // a line of the trace has several moves
		{Chains{Chains: 4, Moves: 500, States: 10, RHatPredictions: predictions(1.02)}, "chains-unsure "},
		{Chains{Chains: 4, Moves: 500, States: 10, RHatPredictions: predictions(1.02), RHatLogLikelihood: number(1.02)}, "chains-agree "},
		{Chains{Chains: 4, Moves: 99, States: 99, RHatPredictions: predictions(1.02), RHatLogLikelihood: number(1.02), ESSRough: number(49)}, "chains-agree few-states "},
		{Chains{Chains: 4, Moves: 99, States: 99, RHatPredictions: predictions(1.02), RHatLogLikelihood: number(1.02), ESSRough: number(50)}, "chains-agree "},
		{Chains{Chains: 4, Moves: 99, States: 99, RHatPredictions: predictions(1.02), RHatLogLikelihood: number(1.02), ESSPredictions: number(math.NaN())}, "chains-agree few-states "},
	} {
		if got := kinds(c.chains.Findings()); got != c.want {
			t.Errorf("%+v: found %q, want %q", c.chains, got, c.want)
		}
	}
	slow := compared(t, levels(t, walk(2, 60, 0.9, 0)), &Record{LogLikelihoods: walk(2, 60, 0.9, 0)}, problem(t, testkit.Table(300), false, false))
	if want := mcmc.BulkESS(walk(2, 60, 0.9, 0)); slow.ESSPredictions != nil || slow.ESSRough == nil || float64(*slow.ESSRough) != want {
		t.Errorf("of slow chains the rough ESS is %v, want %v", slow.ESSRough, want)
	}
}

// TestFewStates: states that are worth fewer than 50 independent ones are warned of, unless the chains are apart, where each is worth
// about one.
func TestFewStates(t *testing.T) {
	for _, c := range []struct {
		rHat, ess float64
		want      string
	}{{1.01, 49.9, "chains-agree few-states "}, {1.01, 50, "chains-agree "}, {1.9, 4, "chains-apart "}} {
		ess, likelihood := uq.Number(c.ess), uq.Number(1)
		chains := &Chains{
			Chains: 4, States: 100, RHatPredictions: &PredictionRHat{Median: uq.Number(c.rHat), Q95: 2}, RHatLogLikelihood: &likelihood, ESSPredictions: &ess,
		}
		if got := kinds(chains.Findings()); got != c.want {
			t.Errorf("%+v: found %q", c, got)
		}
	}
}

// TestShortChainsWithoutInterval: several are apart by their median, and never agree by it; one is uncertain unless it stands still.
func TestShortChainsWithoutInterval(t *testing.T) {
	for _, c := range []struct {
		chains int
		rHat   float64
		want   string
	}{{4, 10.28, "chains-apart "}, {4, 1.05, "chains-unsure "}, {1, 10.28, "chains-unsure "}, {1, 1.05, "chains-unsure "}, {1, math.Inf(1), "chains-apart "}} {
		chains := &Chains{Chains: c.chains, States: 10, RHatPredictions: &PredictionRHat{Median: uq.Number(c.rHat), Q95: uq.Number(c.rHat)}}
		if got := kinds(chains.Findings()); got != c.want {
			t.Errorf("%+v: found %q", c, got)
		}
	}
}

// TestComparedInputs: at most 500 inputs, at equal distances; the training inputs where nothing was held out. Without gradients there
// is no ESS by gradient.
func TestComparedInputs(t *testing.T) {
	whole := problem(t, testkit.Table(1300), false, false)
	whole.Validate = nil
	got := compared(t, levels(t, walk(4, 80, 0, 0)), &Record{}, whole)
	if got.On != "train" || got.N != ComparedInputs || got.ESSPredictions == nil || got.ESSPerGradient != nil {
		t.Errorf("%+v, want an ESS by %d training inputs and none by gradient", got, ComparedInputs)
	}
	set := evenly(whole.Train, 4)
	n := whole.Train.Len()
	for i := range 4 {
		at := i * n / 4
		if !slices.Equal(set.F32[2*i:2*i+2], whole.Train.F32[2*at:2*at+2]) {
			t.Errorf("input %d of 4 is not example %d of %d", i, at, n)
		}
	}
	if evenly(whole.Train, n) != whole.Train {
		t.Error("all inputs are not the set itself")
	}
}

// TestChainsReadBack: the JSON reads back as it was, also without numbers.
func TestChainsReadBack(t *testing.T) {
	p := problem(t, testkit.Table(300), false, false)
	for _, n := range []int{1, 10, 80} {
		was := compared(t, levels(t, walk(4, n, 0, 0)), &Record{LogLikelihoods: walk(4, n, 0, 0), Gradients: 1}, p)
		text, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		back := new(Chains)
		if err := json.Unmarshal(text, back); err != nil || !cmp.Equal(was, back) {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
}

// TestQuantile is by definition: infinity is a value, and NaN is none.
func TestQuantile(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		values []float64
		share  float64
		want   float64
	}{
		{[]float64{3, nan, 1, 2}, .5, 2}, {[]float64{3, nan, 1, 2}, .95, 3}, {[]float64{inf, 1, inf}, .5, inf}, {[]float64{4, 1, 3, 2}, .5, 2}, {[]float64{7}, 0, 7},
	} {
		if got := nearestRank(c.values, c.share); got != c.want {
			t.Errorf("%v of %v is %v, want %v", c.share, c.values, got, c.want)
		}
	}
	if got := nearestRank([]float64{nan}, .5); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

// TestChainsOfIslands: chains that share an island, whose states are kept time after time, are compared as if each were an island of its own.
func TestChainsOfIslands(t *testing.T) {
	const islands, together, states = 2, 3, 60
	p := problem(t, testkit.Table(300), false, false)
	chains := walk(islands*together, states, .3, .2)
	apart := levels(t, chains)
	var mixed [][]float64
	for i := range islands {
		var island []float64
		for k := range states {
			for c := range together {
				island = append(island, chains[i*together+c][k])
			}
		}
		mixed = append(mixed, island)
	}
	r := &Record{LogLikelihoods: chains, Gradients: 1000}
	want, got := compared(t, apart, r, p), compared(t, levels(t, mixed), r, p)
	if want.RHatPredictions == nil || want.Chains != islands*together || want.States != states || want.Change == nil {
		t.Fatalf("%+v", want)
	}
	change, same := *got.Change, *want.Change
	if !(math.Abs(float64(change.NLL-same.NLL)) <= 1e-12*float64(same.NLL)) { // the particles are summed in another order
		t.Errorf("a change of %v, want %v", change.NLL, same.NLL)
	}
	got.Change, want.Change = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
