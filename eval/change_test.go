package eval

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// TestChange compares with closed forms: for the network that predicts N(x, 1) by states of two chains, for a single chain by its halves, and
// for class probabilities.
func TestChange(t *testing.T) {
	p := problem(t, testkit.Table(300), false, false)
	for _, c := range []struct {
		name    string
		chains  [][]float64
		nll, by float64
	}{
		// Means ±1 and within variance 1: between chains the variance is 2, v = 1 + 2/2 = 2, 2/(2·2·2) = 1/4 and √(2/2/2).
		{"two chains", [][]float64{{1, 1, 1}, {-1, -1, -1}}, .25, math.Sqrt(.5)},
		{"two halves", [][]float64{{1, 1, 1, -1, -1, -1}}, .25, math.Sqrt(.5)},
		// Four chains, two of them 3 away: variance 3, v = 1 + 9/4.
		{"half are broken", [][]float64{{0, 0}, {0, 0}, {3, 3}, {3, 3}}, 3 / 3.25 / 8, math.Sqrt(3. / 4 / 3.25)},
		{"agree", [][]float64{{2, 2}, {2, 2}, {2, 2}}, 0, 0},
		// Means 0, variances 2 and 5 with that of the states: the variance of ln σ is (ln(5/2))²/8, over two chains.
		{"other spreads", [][]float64{{1, -1}, {2, -2}}, math.Pow(math.Log(2.5), 2) / 16, 0},
	} {
		got := compared(t, levels(t, c.chains), &Record{}, p).Change
		if !got.Numbers || !(math.Abs(float64(got.NLL)-c.nll) < 1e-9) || !(math.Abs(float64(got.Mean)-c.by) < 1e-9) {
			t.Errorf("%s: %+v, want %v nats and %v", c.name, got, c.nll, c.by)
		}
	}
	if got := compared(t, levels(t, [][]float64{{1}}), &Record{}, p).Change; got != nil {
		t.Errorf("one state: %+v", got)
	}
	// Probabilities .9, .1 and .5, .5: s² = .08 for both, p̄ = .7 and .3; and a class that no chain thinks possible.
	got := compareMeans([]chainMean{{probs: []float64{.9, .1, 0}}, {probs: []float64{.5, .5, 0}}}, 1)
	if want := .08/(4*.7) + .08/(4*.3); got.Numbers || !(math.Abs(float64(got.NLL)-want) < 1e-12) || !(math.Abs(float64(got.Mean)-.2) < 1e-12) {
		t.Errorf("classes: %+v, want %v nats and .2", got, want)
	}
	if got := compareMeans([]chainMean{{probs: []float64{math.NaN(), .1}}, {probs: []float64{.5, .5}}}, 1).found(); !got.Matters() {
		t.Errorf("a chain that overflows does not matter: %+v", got)
	}
}

// TestChangeIsTheCost: the NLL that the chains' differences cost is that by which one run's predictions are worse than those of endlessly many
// chains, for targets drawn from these. Of 4 chains with logits 1 + .5 N(0, 1) the mean over 20,000 runs agrees within a tenth.
func TestChangeIsTheCost(t *testing.T) {
	draw := rng.Key{Seed: 11, Purpose: rng.Synthetic}.Stream()
	yes := func() float64 { return 1 / (1 + math.Exp(-1-.5*draw.Normal())) }
	endless := 0.0
	const many, runs = 400_000, 20_000
	for range many {
		endless += yes() / many
	}
	cost, said := 0.0, 0.0
	for range runs {
		var chains []chainMean
		p := 0.0
		for range 4 {
			one := yes()
			p += one / 4
			chains = append(chains, chainMean{probs: []float64{one, 1 - one}})
		}
		cost += (endless*math.Log(endless/p) + (1-endless)*math.Log((1-endless)/(1-p))) / runs
		said += float64(compareMeans(chains, 1).NLL) / runs
	}
	if !(math.Abs(said-cost) < .1*cost) {
		t.Errorf("the chains cost %v nats, and they say %v", cost, said)
	}
}

// TestChainsWarn: what is found of chains depends on what their differences do to the predictions, and not on R-hat: chains whose restarts are
// broken by half are warned of, and chains in modes that predict alike are not.
func TestChainsWarn(t *testing.T) {
	p := problem(t, testkit.Table(300), false, false)
	small := walk(4, 80, 0, 0)
	for c := range small {
		for i := range small[c] {
			small[c][i] = float64(float32(.01*small[c][i] + .05*float64(c)))
		}
	}
	broken := walk(4, 80, 0, 0)
	for c := range broken[:2] {
		for i := range broken[c] {
			broken[c][i] += 8
		}
	}
	for _, c := range []struct {
		name   string
		chains [][]float64
		want   string
		warns  bool
	}{{"modes that predict alike", small, "chains-apart ", false}, {"half are broken", broken, "chains-apart chains-rough ", true}, {"one mode", walk(4, 80, 0, 0), "chains-agree ", false}} {
		found := compared(t, levels(t, c.chains), &Record{LogLikelihoods: c.chains, Gradients: 1}, p).Findings()
		warns := slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Warning() })
		if got := kinds(found); got != c.want || warns != c.warns {
			t.Errorf("%s: found %q, which warns: %v; want %q, %v", c.name, got, warns, c.want, c.warns)
		}
	}
}

// TestLimit: differences matter from the standard error of the NLL on, but from .01 nats at the least, and from .05 at the most.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		scatter float64
		n       int
		want    float64
	}{{.01, 100, .01}, {.3, 101, .03}, {2, 100, .05}, {0, 1, .01}, {math.Inf(1), 20, .01}} {
		change := &Change{}
		change.limit(around(0, c.scatter, c.n))
		if !(math.Abs(float64(change.Limit)-c.want) < 1e-3) {
			t.Errorf("losses ± %v of %d examples: a limit of %v, want %v", c.scatter, c.n, change.Limit, c.want)
		}
	}
}

// TestApart: the chains alone are their particles, with the weights that these have among each other, and together they are all.
func TestApart(t *testing.T) {
	e := ensemble(t, network(t, 3, nn.Categorical{}), 3, 4, bnn.Equal{})
	parts, err := apart(e, e.Island)
	if err != nil || len(parts) != 3 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for c, part := range parts {
		sum := 0.0
		for j, l := range part {
			sum += math.Exp(l)
			if own := e.Island[j] == int32(c); own != !math.IsInf(l, -1) || own && !(math.Abs(l-part[4*c]-e.LogWeights[j]+e.LogWeights[4*c]) < 1e-12) {
				t.Errorf("chain %d: particle %d has the log-weight %v", c, j, l)
			}
		}
		if !(math.Abs(sum-1) < 1e-12) {
			t.Errorf("chain %d has the weight %v", c, sum)
		}
	}
	var all []chainMean
	p := problem(t, testkit.Table(300, "a", "b", "c"), true, false)
	for j := range e.Size() {
		v, err := ofChain(t.Context(), member(e, j), p.Validate, nil)
		if err != nil || len(v.probs) != 3*p.Validate.Len() {
			t.Fatalf("%d probabilities, %v", len(v.probs), err)
		}
		all = append(all, v)
	}
	one, err := ofChain(t.Context(), &bnn.Ensemble{Net: e.Net, Theta: e.Theta, LogWeights: parts[1], Island: e.Island, LogEvidence: e.LogEvidence}, p.Validate, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, have := range one.probs {
		want := 0.0
		for j, l := range parts[1] {
			want += math.Exp(l) * all[j].probs[i]
		}
		if !(math.Abs(have-want) < 1e-9) {
			t.Fatalf("probability %d of chain 1: %v, want %v", i, have, want)
		}
	}
}
