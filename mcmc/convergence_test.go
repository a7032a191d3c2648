package mcmc

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// lehmer is M chains of n states that a few lines of any language make: x_i = a x_{i−1} + u_i from x_0 = 0, with u of chain c from
// the generator s → 6364136223846793005 s + 1442695040888963407 (mod 2⁶⁴), s = c+1 at first, u = (s >> 40)/2²⁴ − ½. Chain c has
// the states stretchᶜ x_i + shift c.
func lehmer(chains, n int, a, shift, stretch float64) [][]float64 {
	all := make([][]float64, chains)
	for c := range all {
		s, x := uint64(c+1), 0.0
		for range n {
			s = 6364136223846793005*s + 1442695040888963407
			x = float64(a*x) + (float64(s>>40)/(1<<24) - 0.5)
			all[c] = append(all[c], float64(x*math.Pow(stretch, float64(c)))+float64(shift*float64(c)))
		}
	}
	return all
}

// TestDiagnosticsEqualArviz: the numbers are those of arviz 0.23.4 for the chains of lehmer: rhat(method="rank"),
// ess(method="bulk"), ess(method="tail"), mcse(method="mean"), mcse(method="sd"). It has no R-hat of one chain.
func TestDiagnosticsEqualArviz(t *testing.T) {
	for _, c := range []struct {
		name                         string
		chains, n                    int
		a, shift, stretch            float64
		rHat, bulk, tail, mean, ofSD float64
	}{
		{"independent", 4, 100, 0, 0, 1, 1.004902993893124, 394.4082075777307, 413.13031118745243, 0.015417530253781503, 0.007059659577129612},
		{"one chain, odd", 1, 101, 0.5, 0, 1, math.NaN(), 39.184245338411976, 57.82848151062156, 0.050775452563642944, 0.02181029377109008},
		{"antithetic", 3, 60, -0.75, 0, 1, 0.9952908231403539, 405.9490509185951, 148.10250385490866, 0.01957564208285452, 0.03160317963152792},
		{"slow", 4, 200, 0.9375, 0, 1, 1.1633919198805067, 19.27687643706472, 53.59158684356509, 0.18915186077699514, 0.06132207512998941},
		{"shifted", 4, 50, 0.5, 0.25, 1, 1.3797403492124847, 9.744553599368611, 55.3549848078778, 0.14554870800202188, 0.028738312783403126},
		{"spread", 4, 50, 0.5, 0, 2, 1.3008520180255554, 106.32104291009996, 51.98642712857755, 0.14212221163229116, 0.34268240635261427},
		{"short", 8, 10, 0.25, 0, 1, 1.0037411332568573, 124.19606072896345, 75.08090614886733, 0.02268823925585147, 0.010511121365809811},
	} {
		chains := lehmer(c.chains, c.n, c.a, c.shift, c.stretch)
		for what, v := range map[string][2]float64{
			"R-hat": {RHat(chains), c.rHat}, "bulk ESS": {BulkESS(chains), c.bulk}, "tail ESS": {TailESS(chains), c.tail},
			"MCSE": {MCSE(chains), c.mean}, "MCSE of the sd": {MCSEOfSD(chains), c.ofSD},
		} {
			if !math.IsNaN(v[1]) && !golden.Near(v[0], v[1], 1e-10, 0) {
				t.Errorf("%s: %s is %v, want %v", c.name, what, v[0], v[1])
			}
		}
	}
	ties := mapChains(lehmer(4, 50, 0.5, 0, 2), func(x float64) float64 { return math.Floor(8*x) / 8 })
	for what, v := range map[string][2]float64{
		"R-hat": {RHat(ties), 1.2821445100530708}, "bulk ESS": {BulkESS(ties), 103.97850715317513}, "tail ESS": {TailESS(ties), 42.0934589663991},
	} {
		if !golden.Near(v[0], v[1], 1e-10, 0) {
			t.Errorf("with ties, %s is %v, want %v", what, v[0], v[1])
		}
	}
}

// TestESSOfAutoregression: n states of AR(1) are worth n (1−a)/(1+a) independent ones, in several chains too. The bounds are those
// of TestIACTOfAutoregression for all states together. Normal scores of a normal chain are the chain itself, so the bulk ESS
// is the ESS of the mean, and the mean lies within five MCSE of 0 (6e-7).
func TestESSOfAutoregression(t *testing.T) {
	const m, n = 4, 1 << 15
	for i, a := range []float64{-0.5, 0, 0.5, 0.9} {
		var chains [][]float64
		for c := range m {
			chains = append(chains, autoregressive(a, n, 10*(i+1)+c))
		}
		tau := (1 + a) / (1 - a)
		want, bound := m*n/tau, 5*math.Sqrt(2*(24*max(tau, 1)+1)/(m*n))
		if got := BulkESS(chains); !(math.Abs(got/want-1) <= bound) {
			t.Errorf("a = %v: bulk ESS %v, want %v ± %.1f %%", a, got, want, 100*bound)
		}
		se := math.Sqrt(tau/(m*n)) / math.Sqrt(1-a*a)
		if got := MCSE(chains); !(math.Abs(got/se-1) <= bound) || !(math.Abs(mean(slices.Concat(chains...))) <= 5*se) {
			t.Errorf("a = %v: mean %v, MCSE %v, want %v ± %.1f %%", a, mean(slices.Concat(chains...)), got, se, 100*bound)
		}
		if r := RHat(chains); !(math.Abs(r-1) <= 0.005) {
			t.Errorf("a = %v: R-hat %v of chains that agree", a, r)
		}
	}
}

// TestNoAnswer: where the states do not give an answer, there is no number.
func TestNoAnswer(t *testing.T) {
	good := lehmer(2, 40, 0.5, 0, 1)
	with := func(x float64) [][]float64 {
		chains := lehmer(2, 40, 0.5, 0, 1)
		chains[1][7] = x
		return chains
	}
	for name, chains := range map[string][][]float64{
		"none": nil, "empty": {{}, {}}, "short": lehmer(4, 7, 0, 0, 1), "different lengths": {good[0], good[1][:39]},
		"NaN": with(math.NaN()), "infinite": with(math.Inf(1)), "minus infinite": with(math.Inf(-1)),
		"constant": {slices.Repeat([]float64{0.1}, 20), slices.Repeat([]float64{0.1}, 20)},
	} {
		for what, v := range map[string]float64{
			"R-hat": RHat(chains), "bulk ESS": BulkESS(chains), "tail ESS": TailESS(chains), "MCSE": MCSE(chains), "MCSE of the sd": MCSEOfSD(chains),
		} {
			if !math.IsNaN(v) {
				t.Errorf("%s: %s is %v, want NaN", name, what, v)
			}
		}
	}
	if v := MCSE(mapChains(lehmer(2, 40, 0.5, 0, 1), func(x float64) float64 { return 1e-200 * x })); !math.IsNaN(v) {
		t.Errorf("the MCSE of values whose variance is 0 by underflow is %v, want NaN", v)
	}
	if v := BulkESS(lehmer(4, 9, 0, 0, 1)); !math.IsNaN(v) {
		t.Errorf("the ESS of halves of 4 states is %v, want NaN", v)
	}
}

// TestChainsThatStand: each of four chains stays where it began, so they never agree. They are worth about one state each.
func TestChainsThatStand(t *testing.T) {
	var chains [][]float64
	for c := range 4 {
		chains = append(chains, slices.Repeat([]float64{float64(c)}, 100))
	}
	if r, ess := RHat(chains), BulkESS(chains); !math.IsInf(r, 1) || !(ess < 5) {
		t.Errorf("R-hat %v and bulk ESS %v, want +Inf and less than 5", r, ess)
	}
	coin := [][]float64{slices.Repeat([]float64{0, 1, 1, 0}, 5), slices.Repeat([]float64{1, 0, 0, 1}, 5)}
	if r := RHat(coin); !(r < 1) { // all values are equally far from the median
		t.Errorf("R-hat of a number with two values is %v", r)
	}
}

// TestJackknife: for the variance of a sum of M numbers the jackknife is known in closed form: log without_m = −x_m has
// s² = (M−1)/M Σ (x_m − x̄)².
func TestJackknife(t *testing.T) {
	low, high := Jackknife(2, []float64{1, math.E, 1, math.E})
	s := math.Sqrt(3. / 4 * 1)
	if !golden.Near(low, 2*math.Exp(-2*s), 1e-14, 0) || !golden.Near(high, 2*math.Exp(2*s), 1e-14, 0) {
		t.Errorf("interval %v to %v, want 2 exp(±2·√¾)", low, high)
	}
	for name, c := range map[string]struct {
		all     float64
		without []float64
	}{
		"one chain": {1, []float64{1}}, "none": {1, nil}, "NaN": {math.NaN(), []float64{1, 2}}, "NaN without a chain": {1, []float64{1, math.NaN()}},
		"infinite": {math.Inf(1), []float64{1, 2}}, "infinite without a chain": {1, []float64{math.Inf(1), 1}}, "not positive": {1, []float64{0, 1}},
	} {
		if low, high := Jackknife(c.all, c.without); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%s: interval %v to %v", name, low, high)
		}
	}
}

// TestJackknifeOfRHat: the standard error of log R-hat that the jackknife gives is that of repetitions, for chains of few moves
// that differ: 8 chains of 10 states around centres of their own. Over 1,000 repetitions the ratio of the mean square of the
// one to the variance of the other is known to 6 % (one standard deviation). The jackknife's variance is too large rather than
// too small (Efron and Stein 1981), here by 18 %. The bounds are five standard deviations around 1 and 1.2; a lost factor
// M − 1 is 7.
func TestJackknifeOfRHat(t *testing.T) {
	const repetitions, m, n = 1000, 8, 10
	var logs []float64
	squares := 0.0
	for r := range repetitions {
		s := rng.Key{Seed: 15, Purpose: rng.Synthetic, Iteration: r}.Stream()
		chains := make([][]float64, m)
		for c := range chains {
			centre := s.Normal()
			for range n {
				chains[c] = append(chains[c], centre+s.Normal())
			}
		}
		all := RHat(chains)
		var without []float64
		for c := range chains {
			without = append(without, RHat(slices.Delete(slices.Clone(chains), c, c+1)))
		}
		low, high := Jackknife(all, without)
		se := math.Log(high/low) / 4
		logs, squares = append(logs, math.Log(all)), squares+se*se/repetitions
	}
	if ratio := squares / variance(logs); !(ratio > 0.7 && ratio < 1.5) {
		t.Errorf("the jackknife's variance is %v of that over repetitions", ratio)
	}
}
