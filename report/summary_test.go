package report

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/uq"
)

// text is all that a summary says, and warned is what it warns of.
func text(topics []topic) (all, warned string) {
	for _, t := range topics {
		all += t.Title + ". " + strings.Join(t.Text, " ") + " " + strings.Join(t.Warnings, " ") + "\n"
		warned += strings.Join(t.Warnings, "\n") + "\n"
	}
	return strings.ReplaceAll(all, "\u00a0", " "), strings.ReplaceAll(warned, "\u00a0", " ")
}

// TestSummary breaks one thing at a time and reads the warning.
func TestSummary(t *testing.T) {
	smc, chains := shape{n: 200, restarts: true, groups: []string{"far"}}, shape{n: 200, chains: true, islands: 4, lines: 40}
	for _, c := range []struct {
		what  string
		shape shape
		make  func(f fixture)
		says  string // in all of it
		warns string // in a warning
		quiet string // in no warning
	}{
		{"sound", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 3
			}
		}, "3 still have descendants", "", "descend from one"},
		{"one ancestor", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 1
			}
		}, "", "In each of the 3 islands all particles descend from one particle", ""},
		{"one ancestor in one island", smc, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].Ancestors = 1 + f.run.Trace[i].Island
			}
		}, "", "In 1 of 3 islands all particles descend from one", ""},
		{"evidence scatters", smc, func(f fixture) { *f.j.Metrics.LogEvidenceSD = 7 }, "", "scatters by 7.0 nats", ""},
		{"evidence agrees", smc, func(f fixture) { *f.j.Metrics.LogEvidenceSD = .5 }, "standard deviation of 0.5 over the islands", "", "scatters"},
		{"deep ensemble better", smc, func(fixture) {}, "", "deep ensemble of the 3 MAPs, which costs no sampling, does better", ""},
		{"MAP better", smc, func(f fixture) { f.j.Metrics.MAP.NLL = .01 }, "", "best single network has a better NLL", ""},
		{"deep ensemble worse", smc, func(f fixture) { f.j.Metrics.DeepEnsemble.NLL = 9 }, "comes to 9.000", "", "does better"},
		{"uneven weights", smc, func(f fixture) {
			for i := range f.run.Posterior.LogWeights {
				f.run.Posterior.LogWeights[i] = math.Inf(-1)
			}
			f.run.Posterior.LogWeights[0] = 0
		}, "", "The weights are uneven: 12 networks count for 1.0", ""},
		{"dead", smc, func(f fixture) { f.run.Posterior.LogWeights[0] = math.Inf(-1) }, "", "1 network has no weight", ""},
		{"broken", smc, func(f fixture) { f.run.Trace[2].Broken = 4 }, "", "4 proposals had infinite", ""},
		{"moves refused", smc, func(f fixture) { f.run.Trace[len(f.run.Trace)-1].Acceptance = .01 }, "", "accepted on island 2", ""},
		{"not at the posterior", smc, func(f fixture) { f.run.Trace[len(f.run.Trace)-1].Temperature = .5 }, "", "Island 2 ended at the power 0.5000", ""},
		{"training examples", smc, func(f fixture) { f.j.Metrics.On = "train" }, "training examples it gets", "judged on the examples that it learnt from", ""},
		{
			"trained elsewhere", shape{single: true, n: 200}, func(f fixture) { f.j.Metrics.On = "train" },
			"was taught to tell 2 classes apart from 3 numbers elsewhere, and is judged as it is. ",
			"trained on these very examples is not known", "learnt from",
		},
		{"a column", smc, func(f fixture) { f.run.Schema.Target, f.run.Schema.Named = "kind", true }, "taught to tell 2 classes of kind apart", "", ""},
		{"a column of numbers", shape{n: 200, outputs: 1}, func(f fixture) {
			f.run.Schema.Target, f.run.Schema.Named = "price", true
		}, "taught to predict price from", "", ""},
		{"guesses", smc, func(f fixture) { *f.j.Metrics.Accuracy = .5 }, "", "not clearly better than to name the most frequent", ""},
		{"badly calibrated", smc, func(f fixture) { *f.j.Metrics.ECE = .3 }, "", "not to be taken at their word", ""},
		{"calibrated", smc, func(f fixture) { *f.j.Metrics.ECE = .01 }, "can be taken at their word", "", "their word"},
		{"blind", smc, func(f fixture) {
			for i := range f.j.Groups[0].Epistemic {
				f.j.Groups[0].Epistemic[i] = 0
			}
		}, "", "It does not notice that far is foreign: AUROC 0.00", ""},
		{"fooled", smc, func(f fixture) {
			for i := range f.j.Groups[0].Len() {
				p := probs(f.j.Groups[0], i)
				p[0], p[1] = .99, .01
			}
		}, "", "more than 90 % sure of 100 % of far", ""},
		{"nothing foreign", chains, func(fixture) {}, "It was shown nothing foreign", "", ""},
		{"stuck", chains, func(f fixture) {
			for i := range f.run.Trace {
				if f.run.Trace[i].Island == 1 {
					f.run.Trace[i].Acceptance = .02
				}
			}
		}, "", "Chain 1 is stuck", ""},
		{"apart", chains, func(f fixture) {
			for i := range f.run.Trace {
				f.run.Trace[i].LogLikelihood += uq.Number(1000 * f.run.Trace[i].Island)
			}
		}, "", "do not agree yet", ""},
		{"one far away", chains, func(f fixture) {
			f.run.Trace[len(f.run.Trace)-1].LogLikelihood = -1e5
		}, "", "Chain 3 ended at a log-likelihood far from", ""},
		{"together", chains, func(fixture) {}, "Their log-likelihoods agree", "", "agree yet"},
		{"one network", shape{single: true, n: 100}, func(fixture) {}, "What came out is one network", "cannot disagree with itself", ""},
		{"intervals hold", shape{outputs: 1, n: 400}, func(fixture) {}, "Its intervals hold what they promise", "", "intervals"},
		{"too narrow", shape{outputs: 1, n: 400}, func(f fixture) {
			for i := range f.j.Values.PIT {
				f.j.Values.PIT[i] = float64(i % 2)
			}
		}, "", "intervals are too narrow: 0.0 %", ""},
		{"too wide", shape{outputs: 1, n: 400}, func(f fixture) {
			for i := range f.j.Values.PIT {
				f.j.Values.PIT[i] = .5
			}
		}, "", "intervals are too wide: 100.0 %", ""},
		{"no better than the mean", shape{outputs: 1, n: 400}, func(f fixture) { *f.j.Metrics.RMSE = 1e6 }, "", "no better than to predict the mean", ""},
	} {
		f := c.shape.make(t)
		c.make(f)
		v, err := newView(f.run, f.j)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		all, warned := text(v.summary())
		if !strings.Contains(all, c.says) {
			t.Errorf("%s: the summary does not say %q:\n%s", c.what, c.says, all)
		}
		if !strings.Contains(warned, c.warns) {
			t.Errorf("%s: no warning %q:\n%s", c.what, c.warns, warned)
		}
		if c.quiet != "" && strings.Contains(warned, c.quiet) {
			t.Errorf("%s: a warning of %q:\n%s", c.what, c.quiet, warned)
		}
	}
}

// TestRHat compares with a case worked out by hand: halves of mean 0 and 2 with variance 4/3 (n = 4) give
// √((3/4·4/3 + 4/3)/(4/3)) = √(7/4); equal halves √(3/4).
func TestRHat(t *testing.T) {
	low, high := []float64{-1, 1, -1, 1}, []float64{1, 3, 1, 3}
	for _, c := range []struct {
		chains [][]float64
		want   float64
	}{
		{[][]float64{append(append([]float64{}, low...), high...)}, math.Sqrt((1 + 2) / (4. / 3))},
		{[][]float64{append(append([]float64{}, low...), low...)}, math.Sqrt(3. / 4)},
		{[][]float64{low}, math.NaN()},
		{[][]float64{make([]float64, 8), make([]float64, 9)}, math.NaN()},
		{nil, math.NaN()},
	} {
		if got := rHat(c.chains); !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("R-hat of %v is %v, want %v", c.chains, got, c.want)
		}
	}
}

// TestWilson compares with Brown, Cai & DasGupta (2001): 0 of 10 gives (0, 0.2775), 5 of 10 (0.2366, 0.7634).
func TestWilson(t *testing.T) {
	for _, c := range [][4]float64{{0, 10, 0, .2775}, {5, 10, .2366, .7634}, {10, 10, .7225, 1}, {0, 0, 0, 1}} {
		if l, h := wilson(c[0], c[1]); !(math.Abs(l-c[2]) < 1e-4 && math.Abs(h-c[3]) < 1e-4) {
			t.Errorf("%v of %v: %v to %v", c[0], c[1], l, h)
		}
	}
}

// TestReceiver keeps the area of the curve that it thins.
func TestReceiver(t *testing.T) {
	negative, positive := []float64{0, 1, 2, 2, 3}, []float64{2, 3, 4}
	k := receiver(negative, positive, 1000)
	area := 0.0
	for i := 1; i < len(k.x); i++ {
		area += (k.x[i] - k.x[i-1]) * (k.y[i] + k.y[i-1]) / 2
	}
	if !(math.Abs(area-uq.AUROC(negative, positive)) < 1e-12) || k.x[len(k.x)-1] != 1 || k.y[len(k.y)-1] != 1 {
		t.Errorf("area %v of %v, want %v", area, k, uq.AUROC(negative, positive))
	}
	if k := receiver(nil, positive, 10); !math.IsNaN(k.area) || k.x != nil {
		t.Error("a curve of nothing")
	}
}

// TestNumbers writes numbers for people.
func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(.937), "93.7\u00a0%"}, {percent(math.NaN()), "–"}, {fixed(-1234.5, 1), "−1,234.5"}, {fixed(-.0001, 2), "0.00"},
		{fixed(math.Inf(-1), 2), "−∞"}, {significant(.08), "0.08000"}, {significant(-12345.6), "−12,346"}, {significant(1e-9), "1e-09"},
		{significant(0.), "0"}, {shortest(float64(float32(.1)), 0), "0.1"}, {shortest(-1.4e-6, 100), "0"}, {shortest(1234.5, 0), "1,234.5"},
		{shortest(-2.3000001, 2), "−2.3"}, {count(12216000), "12,216,000"}, {count(999), "999"}, {several(1, "row"), "1 row"},
		{several(2000, "row"), "2,000 rows"}, {list([]string{"a", "b", "c"}), "a, b and c"}, {list(nil), ""}, {span(1, 1.04, 1), "1.0"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestMethods says how ensembles were come by.
func TestMethods(t *testing.T) {
	s := starling.Spec{Method: starling.Method{SMC: &starling.SMC{Islands: 1, Particles: 9, Move: starling.Move{PCN: &starling.PCN{}}}}}
	if got := Method(&s); got != "1 island of 9 particles by tempered SMC with pCN" {
		t.Error(got)
	}
	m := s.Method.SMC
	m.Islands, m.Path.SDA, m.Move = 2, &starling.Schedule{}, starling.Move{Leapfrog: &starling.Leapfrog{Steps: 3}}
	if got := Method(&s); got != "2 islands of 9 particles by smooth data annealing with unadjusted HMC (3 leapfrogs)" {
		t.Error(got)
	}
	m.Path, m.Move.Leapfrog = starling.Path{Full: &starling.Schedule{}}, &starling.Leapfrog{Steps: 1, Gradient: &starling.Gradient{Batch: 500}}
	if got := Method(&s); got != "2 islands of 9 particles by SMC on full batches with unadjusted Langevin dynamics by gradients of 500 examples" {
		t.Error(got)
	}
	s.Prior.Anchor, s.MAP = &starling.Anchor{S: 0}, &starling.MAP{}
	if got := Method(&s); got != "the best MAP alone (s = 0)" {
		t.Error(got)
	}
}
