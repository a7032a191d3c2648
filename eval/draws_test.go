package eval

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/nn"
)

// twoNormals predicts, for an input x of one number, 100 + 8·z of z ~ ¾ N(x, 1) + ¼ N(−x, ¼²) with an output, and with a second one, if
// there are two, of the same mean.
func twoNormals(t *testing.T, outputs int) *Predictor {
	t.Helper()
	net, err := nn.New([]int{1}, []nn.Layer{nn.Dense{Units: 2 * outputs}}, nn.Gaussian{SD: nn.Predicted})
	if err != nil {
		t.Fatal(err)
	}
	one := func(slope, logSD float64) (theta []float64) {
		theta = slices.Concat(slices.Repeat([]float64{slope}, outputs), slices.Repeat([]float64{0}, outputs))
		return slices.Concat(theta, slices.Repeat([]float64{0}, outputs), slices.Repeat([]float64{logSD}, outputs))
	}
	e, err := bnn.Combine(net, []bnn.Island{{
		Theta: slices.Concat(one(1, 0), one(-1, -math.Log(4))), LogWeights: []float64{math.Log(0.75), math.Log(0.25)},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	units := &data.Standard{Mean: slices.Repeat([]float64{100}, outputs), SD: slices.Repeat([]float64{8}, outputs), To: 1}
	return &Predictor{Posterior: e, Schema: &data.Schema{Shape: []int{1}, Outputs: outputs, Targets: units}, Seed: 7}
}

// Quantiles by the definition: the mixture's CDF at each is its level. Those of the usual levels are the usual columns.
func TestPredictQuantiles(t *testing.T) {
	p := twoNormals(t, 1)
	in := saved(t, "in.npy", npy(t, []int{2, 1}, 0, 3))
	usual := predicted(t, p, in)
	p.Quantiles = []float64{0.9, 0.5, 0.025, 0.1}
	table := predicted(t, p, in)
	if got := strings.Join(table[0], ","); got != "row,mean,sd_aleatoric,sd_epistemic,q90,q50,q02.5,q10,missing,outside" {
		t.Fatalf("columns %s", got)
	}
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	for r, x := range []float64{0, 3} {
		for k, level := range p.Quantiles {
			z := (testkit.Number(t, table[1+r][4+k]) - 100) / 8
			if at := 0.75*cdf(z-x) + 0.25*cdf(4*(z+x)); !golden.Near(at, level, 1e-8, 0) {
				t.Errorf("row %d: the CDF at the quantile %v is %v", r, level, at)
			}
		}
		if !slices.Equal(table[1+r][:4], usual[1+r][:4]) || table[1+r][5] != usual[1+r][5] {
			t.Errorf("other quantiles change the rest: %v, %v", table[1+r], usual[1+r])
		}
	}
	for _, q := range [][]float64{{0}, {1}, {-0.1}, {0.5, 0.5}, {math.NaN()}} {
		p.Quantiles = q
		if _, err := p.To(t.Context(), in, &strings.Builder{}); err == nil {
			t.Errorf("quantiles %v: no error", q)
		}
	}
}

// Draws have the distribution that the quantiles are of, a draw of all rows and targets is of one network, and the first draws of a row depend
// on the seed and its number alone: neither on the rows after it, the number of draws nor the threads.
func TestPredictDraws(t *testing.T) {
	const n = 40000
	p := twoNormals(t, 1)
	p.Draws = n
	table := predicted(t, p, saved(t, "in.npy", npy(t, []int{2, 1}, 0, 3)))
	if len(table[0]) != 9+n || table[0][9] != "draw_1" || table[0][8+n] != "draw_40000" {
		t.Fatalf("%d columns", len(table[0]))
	}
	for r, row := range table[1:] {
		// A share of n draws has an sd of √(q(1−q)/n) and is within 5.1 sd but for a chance of 3e-7; an error of 1.3 % of the draws would show.
		for k, q := range []float64{0.05, 0.5, 0.95} {
			limit, below := testkit.Number(t, row[4+k]), 0
			for _, cell := range row[9:] {
				if testkit.Number(t, cell) < limit {
					below++
				}
			}
			if share := float64(below) / n; !(math.Abs(share-q) < 5.1*math.Sqrt(q*(1-q)/n)) {
				t.Errorf("row %d: %v of the draws are below the quantile %v", r, share, q)
			}
		}
	}
	if slices.Equal(table[1][9:], table[2][9:]) {
		t.Error("two rows have the same draws")
	}

	few := *p
	few.Draws, few.Pool = 3, pool.New(3)
	x := make([]float64, 1500)
	x[1] = 3
	long := predicted(t, &few, saved(t, "long.npy", npy(t, []int{1500, 1}, x...)))
	few.Pool = pool.New(1)
	if again := predicted(t, &few, saved(t, "long.npy", npy(t, []int{1500, 1}, x...))); !slices.EqualFunc(again, long, slices.Equal) {
		t.Error("other threads give other draws")
	}
	for r := range 2 {
		if !slices.Equal(long[1+r][:12], table[1+r][:12]) {
			t.Errorf("row %d has other draws among more rows: %v, %v", r, long[1+r], table[1+r][:12])
		}
	}
	seen := map[string]bool{}
	for _, row := range long[3:] {
		seen[row[9]] = true
	}
	if len(seen) != 1498 {
		t.Errorf("of 1,498 equal rows %d have a first draw of their own", len(seen))
	}
	few.Seed = 8
	if other := predicted(t, &few, saved(t, "in.npy", npy(t, []int{2, 1}, 0, 3))); other[1][9] == table[1][9] {
		t.Error("another seed gives the same draws")
	}

	both := twoNormals(t, 2)
	both.Draws = 2000
	row := predicted(t, both, saved(t, "in.npy", npy(t, []int{2, 1}, 6, -6)))
	if row[0][15] != "draw_1_0" || row[0][16] != "draw_1_1" {
		t.Fatalf("columns %v", row[0][:17])
	}
	for d := range 2000 { // means of 148 and 52, with an sd of 8 or 2: the targets of a draw are on one side
		a, b := testkit.Number(t, row[1][15+2*d]), testkit.Number(t, row[1][16+2*d])
		if (a > 100) != (b > 100) {
			t.Fatalf("draw %d: %v and %v are of two networks", d, a, b)
		}
		if c := testkit.Number(t, row[2][15+2*d]); (a > 100) == (c > 100) {
			t.Fatalf("draw %d: %v and %v of the rows 0 and 1 are of two networks", d, a, c)
		}
	}
}

// Draws of classes are their names, as often as they are probable.
func TestPredictDrawsOfClasses(t *testing.T) {
	const n = 20000
	run := predictor(t, problem(t, testkit.Table(300, "yes", "no", "perhaps"), true, false), 3, nn.Categorical{})
	run.Draws = n
	table := predicted(t, run, saved(t, "in.csv", "a,b\n50.5,0.001\n49.75,-0.0005\n"))
	for r, row := range table[1:] {
		counts := map[string]int{}
		for _, name := range row[len(row)-n:] {
			counts[name]++
		}
		for k, name := range []string{"no", "perhaps", "yes"} {
			q := testkit.Number(t, row[2+k])
			// 5.1 sd: a chance of 3e-7 for each; an error of 2 % of the draws would show.
			if share := float64(counts[name]) / n; !(math.Abs(share-q) <= 5.1*math.Sqrt(q*(1-q)/n)) {
				t.Errorf("row %d: %s is %v of the draws, and its probability is %v", r, name, share, q)
			}
		}
	}
	run.Quantiles = []float64{0.5}
	if _, err := run.To(t.Context(), saved(t, "in.csv", "a,b\n50.5,0.001\n"), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "the run predicts classes") {
		t.Errorf("quantiles of classes: %v", err)
	}
}

// Files of predictions with draws and other quantiles are told by their headers, and the names of quantiles are their levels.
func TestIsPredictionsAsked(t *testing.T) {
	for header, want := range map[string]bool{
		"row,mean,sd_aleatoric,sd_epistemic,q10,q50,q97.5\n":                                          true,
		"row,id,mean,sd_aleatoric,sd_epistemic,q50,draw_1,draw_2\n":                                   true,
		"row,mean_0,sd_aleatoric_0,sd_epistemic_0,q10_0,mean_1,sd_aleatoric_1,sd_epistemic_1,q10_1\n": true,
		"row,class,p_0,p_1,entropy_total,entropy_aleatoric,entropy_epistemic,abstain,draw_1\n":        true,
		"row,mean,sd_aleatoric,sd_epistemic,q5\n":                                                     false,
		"row,mean,sd_aleatoric,sd_epistemic,draw_1\n":                                                 false,
		"row,draw_1\n": false,
	} {
		if got := IsPredictions([]byte(header)); got != want {
			t.Errorf("%s: %v", header, got)
		}
	}
	for level, want := range map[float64]string{0.05: "q05", 0.5: "q50", 0.1: "q10", 0.975: "q97.5", 0.001: "q00.1", 0.07: "q07", 0.99999: "q99.999"} {
		if got := quantileName(level); got != want || !isQuantile(want) {
			t.Errorf("%v: %s, want %s", strconv.FormatFloat(level, 'g', -1, 64), got, want)
		}
	}
}
