package starling

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
)

// TestNoiseByRule: a target of few values, or with one that is frequent, has one noise for all rows, which the config explains. Any other has a
// floor.
func TestNoiseByRule(t *testing.T) {
	one := nn.Gaussian{SD: nn.Learned}
	for name, c := range map[string]struct {
		look data.Look
		want nn.Likelihood
		says string
	}{
		"few":     {data.Look{Few: true, Spread: &data.Spread{Distinct: 6, Share: .4, Common: 3}}, one, "the target has 6 different values only"},
		"zeros":   {data.Look{Spread: &data.Spread{Share: .68}}, one, "68 % of them have the value 0\n"},
		"often":   {data.Look{Spread: &data.Spread{Share: .1, Common: 5.1, Least: 2}}, one, "10 % of them have the value 5.1\n"},
		"less":    {data.Look{Spread: &data.Spread{Share: .09}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "depends on the inputs"},
		"amounts": {data.Look{Spread: &data.Spread{Tails: 9, Least: 1, Ratio: 27, Skew: .7, LogSkew: -.03}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "its 95 % quantile is 27 times its 5 % quantile; skewness 0.7, of logarithms -0.03"},
		"narrow":  {data.Look{Spread: &data.Spread{Least: 1, Ratio: 4.9, Skew: .7, LogSkew: .01}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "depends on the inputs"},
		"uneven":  {data.Look{Spread: &data.Spread{Least: 1, Ratio: 27, Skew: .4, LogSkew: -.21}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "depends on the inputs"},
		"even":    {data.Look{Spread: &data.Spread{Least: 1, Ratio: 27, Skew: .29, LogSkew: 0}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "depends on the inputs"},
		"tails":   {data.Look{Spread: &data.Spread{Tails: 6}}, nn.Gaussian{SD: nn.Predicted, Floor: .003}, "span 6 times"},
	} {
		c.look.Rows, c.look.Inputs = 100, 3
		text := string(tableConfig(data.CSV{File: "t.csv", Target: "y"}, &c.look, noiseByRule).Config())
		spec, err := ParseSpec("new", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if spec.Model.Likelihood != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s: %+v, want %+v, because %q:\n%s", name, spec.Model.Likelihood, c.want, c.says, text)
		}
		if zeros := strings.Contains(text, "of the rows are 0"); zeros != (name == "zeros") {
			t.Errorf("%s: many zeros are named: %v", name, zeros)
		}
		if tails := strings.Contains(text, "{student: {df: learned, sd: learned}}"); tails != (name == "tails") {
			t.Errorf("%s: heavy tails are named: %v", name, tails)
		}
		if logs := strings.Contains(text, "target: log"); logs != (name == "amounts") {
			t.Errorf("%s: logarithms are proposed: %v", name, logs)
		}
		if _, err := nn.New([]int{3}, spec.Model.Layers, spec.Model.Likelihood); err != nil {
			t.Error(err)
		}
	}
}

// brief are sets for a trial, and for a run after it, of a second.
var brief = []string{"method.mcmc.epochs=1000", "method.mcmc.keep=40", "method.mcmc.trace.every=20"}

// tableOf writes a table of rows of three normal inputs and a target.
func tableOf(t *testing.T, rows int, target func(x []float64, s *rng.Stream) float64) data.CSV {
	t.Helper()
	s := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream()
	var b strings.Builder
	b.WriteString("a,b,c,y\n")
	for range rows {
		x := []float64{s.Normal(), s.Normal(), s.Normal()}
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%.5f\n", x[0], x[1], x[2], target(x, s))
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	save(t, file, []byte(b.String()))
	return data.CSV{File: file, Target: "y"}
}

// TestChoose: noise that grows by e⁴ over the inputs is predicted. Noise that is the same everywhere, but for a row in twenty that is 30 times
// as far off, is one number. The choice is that of any number of threads, is said, and is no choice where sets say what the noise is, where
// there is none, or where the rows are many.
func TestChoose(t *testing.T) {
	uneven := func(x []float64, s *rng.Stream) float64 { return x[0] + .2*math.Exp(2*x[1])*s.Normal() }
	outlying := func(x []float64, s *rng.Stream) float64 {
		y := x[0] + .2*s.Normal()
		if s.IntN(20) == 0 {
			y += 6 * s.Normal()
		}
		return y
	}
	for name, c := range map[string]struct {
		target func([]float64, *rng.Stream) float64
		want   float64
	}{"uneven": {uneven, nn.Predicted}, "outlying": {outlying, nn.Learned}} {
		specs, err := NewSpecs("t", tableOf(t, 300, c.target), brief...)
		if err != nil || len(specs) != 2 {
			t.Fatalf("%s: %d specs, %v", name, len(specs), err)
		}
		for threads := range 2 {
			said := ""
			spec, err := Choose(t.Context(), specs, Options{Threads: threads + 1, Progress: func(e Event) {
				switch e := e.(type) {
				case *Notice:
					said += e.Text
				case *Progress:
					if e.Phase != "trial of the noise" {
						t.Errorf("%s: progress of %s", name, e.Phase)
					}
				default:
					t.Errorf("%s: the event %T", name, e)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got := spec.Model.Likelihood.(nn.Gaussian).SD; got != c.want || !strings.Contains(said, "(30 rows)") {
				t.Errorf("%s: sd %v, want %v: %s", name, got, c.want, said)
			}
			if err := spec.Verify(); err != nil {
				t.Error(err)
			}
		}
	}
	table := tableOf(t, 200, uneven)
	for _, sets := range [][]string{
		{"model.likelihood={gaussian: {sd: learned}}", "model.layers=[{dense: 1}]"}, {"model.likelihood={gaussian: {sd: 1}}", "model.layers=[{dense: 1}]"}, {"data.whole=true", "map.patience=0"},
	} {
		specs, err := NewSpecs("t", table, sets...)
		if err != nil || len(specs) != 1 {
			t.Errorf("%q: %d specs, %v", sets, len(specs), err)
		}
	}
	if specs, err := NewSpecs("t", tableOf(t, mostTried+1, uneven)); err != nil || len(specs) != 1 || specs[0].Model.Likelihood.(nn.Gaussian).SD != nn.Predicted {
		t.Errorf("many rows: %d specs, %v", len(specs), err)
	}
	zeros := func([]float64, *rng.Stream) float64 { return 0 }
	if specs, err := NewSpecs("t", tableOf(t, mostTried+1, func(x []float64, s *rng.Stream) float64 { return max(0, x[0]) })); err != nil || len(specs) != 1 || specs[0].Model.Likelihood.(nn.Gaussian).SD != nn.Learned {
		t.Errorf("many rows with many zeros: %d specs, %v", len(specs), err)
	}
	if specs, err := NewSpecs("t", tableOf(t, 50, zeros)); err == nil {
		t.Errorf("nothing but zeros: %d specs", len(specs))
	}
}

// TestTablesThatLost: on a target of which most are 0, on one without noise, and on one that is nearly linear, the config of a table predicts no
// worse than its own restarts, by more than two standard errors, and on the first than a linear model with one noise. No run ends for a restart. The config that is kept names
// the noise, and that many are 0 is told. Chains are a tenth of those of the config. With plain SGD the second has 17.8 and its restarts 1.2,
// and of the third a restart leaves the numbers.
func TestTablesThatLost(t *testing.T) {
	even, uneven := "likelihood: {gaussian: {sd: learned}}", "likelihood: {gaussian: {sd: predicted, floor: 0.003}}"
	for _, c := range []struct {
		file, target, noise string
		most                float64
	}{{"zi", "y", even, 2.6}, {"exact", "y", uneven, 2.5}, {"fertility", "y2010", uneven, -2}} {
		table := data.CSV{File: filepath.Join("testdata", "tables", c.file+".csv"), Target: c.target}
		specs, err := NewSpecs("t", table, "method.mcmc.epochs=1500", "method.mcmc.keep=80")
		if err != nil {
			t.Fatal(err)
		}
		spec, err := Choose(t.Context(), specs, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Fit(t.Context(), spec, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, by, squares := r.Metrics, 0.0, 0.0
		n := float64(m.N)
		for i, l := range r.Assessment.Losses.Posterior {
			d := l - r.Assessment.Losses.DeepEnsemble[i]
			by, squares = by+d/n, squares+d*d/n
		}
		if se := math.Sqrt((squares - by*by) / n); !(by <= 2*se) || !(float64(m.NLL) <= c.most) || r.Restarts.Size() != 4 {
			t.Errorf("%s: NLL %.3f, of %d restarts %.3f, a difference of %.3f ± %.3f; want at most %v", c.file, m.NLL, r.Restarts.Size(), m.DeepEnsemble.NLL, by, se, c.most)
		}
		zeros := strings.Contains(strings.Join(r.Notes(), "\n"), "y is 0 in 70 % of the rows")
		if zeros != (c.file == "zi") || zeros && !(float64(m.NLL) <= linearNLL(t, r.Data)+.05) {
			t.Errorf("%s: many zeros are named: %v; a linear model has %.3f", c.file, zeros, linearNLL(t, r.Data))
		}
		if !strings.Contains(string(r.Spec.YAML()), c.noise) {
			t.Errorf("%s: want %s in\n%s", c.file, c.noise, r.Spec.YAML())
		}
	}
}

// linearNLL is the test NLL, in the target's units, of least squares with the residuals' standard deviation.
func linearNLL(t *testing.T, p *data.Problem) float64 {
	t.Helper()
	design := func(set *data.Set) (*mat.Dense, []float64) {
		n := set.Features()
		x, y := mat.NewDense(set.Len(), n+1, nil), eval.Targets(set, p)
		for i := range set.Len() {
			x.Set(i, n, 1)
			for k, v := range set.F32[i*n : (i+1)*n] {
				x.Set(i, k, float64(v))
			}
		}
		return x, y
	}
	x, y := design(p.Train)
	var w mat.VecDense
	if err := w.SolveVec(x, mat.NewVecDense(len(y), y)); err != nil {
		t.Fatal(err)
	}
	square := func(x *mat.Dense, y []float64) float64 {
		var r mat.VecDense
		r.MulVec(x, &w)
		r.SubVec(&r, mat.NewVecDense(len(y), y))
		return mat.Dot(&r, &r) / float64(len(y))
	}
	noise := square(x, y)
	x, y = design(p.Test)
	return .5*math.Log(2*math.Pi*noise) + .5*square(x, y)/noise
}

// TestHeavyTails: of noise with a row in twenty that is 30 times as far off, a Student-t finds few degrees of freedom and the scale of most rows,
// and predicts new rows better than a normal distribution by more than .3 nats; 90 % of the targets lie in their intervals, up to four
// standard errors of 30 rows.
func TestHeavyTails(t *testing.T) {
	table := tableOf(t, 300, func(x []float64, s *rng.Stream) float64 {
		y := x[0] + .2*s.Normal()
		if s.IntN(20) == 0 {
			y += 6 * s.Normal()
		}
		return y
	})
	nll := map[string]float64{}
	for _, likelihood := range []string{"{gaussian: {sd: learned}}", "{student: {df: learned, sd: learned}}"} {
		specs, err := NewSpecs("t", table, append(brief, "model.layers=[{dense: 1}]", "model.likelihood="+likelihood)...)
		if err != nil || len(specs) != 1 {
			t.Fatalf("%d specs, %v", len(specs), err)
		}
		r, err := Fit(t.Context(), specs[0], Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		nll[likelihood] = float64(r.Metrics.NLL)
		if _, ok := specs[0].Model.Likelihood.(nn.Student); !ok {
			continue
		}
		if in := float64(r.Metrics.Coverage.In90); !(math.Abs(in-.9) <= 4*math.Sqrt(.9*.1/30)) {
			t.Errorf("%.2f of the targets in their intervals", in)
		}
		d, sd := r.Net.Dim(), r.Data.Schema.Targets.SD[0]
		for j := range r.Posterior.Size() {
			own := r.Posterior.Theta[(j+1)*d-2 : (j+1)*d]
			if df, scale := 2+math.Exp(float64(own[0])), sd*math.Exp(float64(own[1])); !(df < 5) || !(scale > .1 && scale < .35) {
				t.Fatalf("member %d: %.2f degrees of freedom, scale %.3f", j, df, scale)
			}
		}
	}
	if by := nll["{gaussian: {sd: learned}}"] - nll["{student: {df: learned, sd: learned}}"]; !(by > .3) {
		t.Errorf("%v: better by %.3f", nll, by)
	}
}
