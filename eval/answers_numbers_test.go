package eval

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/decide"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
)

// stretchedByHand are two components ¾ and ¼ that are c times as wide about their mean.
func stretchedByHand(mu, sd [2]float64, c float64) ([2]float64, [2]float64) {
	m := 0.75*mu[0] + 0.25*mu[1]
	return [2]float64{m + c*(mu[0]-m), m + c*(mu[1]-m)}, [2]float64{c * sd[0], c * sd[1]}
}

// twoMoments are the mean, √(Σ w σ²) and √(Σ w (μ − mean)²) of two components ¾ and ¼ of these means and standard deviations.
func twoMoments(mu, sd [2]float64) (mean, aleatoric, epistemic float64) {
	mean = 0.75*mu[0] + 0.25*mu[1]
	return mean, math.Sqrt(0.75*sd[0]*sd[0] + 0.25*sd[1]*sd[1]), math.Sqrt(0.75*(mu[0]-mean)*(mu[0]-mean) + 0.25*(mu[1]-mean)*(mu[1]-mean))
}

// quantileByHand is the z where ¾ Φ((z − μ₀)/σ₀) + ¼ Φ((z − μ₁)/σ₁) is the level, by bisection.
func quantileByHand(mu, sd [2]float64, level float64) float64 {
	low, high := -1e4, 1e4
	for range 200 {
		z := (low + high) / 2
		if 0.375*math.Erfc((mu[0]-z)/sd[0]/math.Sqrt2)+0.125*math.Erfc((mu[1]-z)/sd[1]/math.Sqrt2) < level {
			low = z
		} else {
			high = z
		}
	}
	return low
}

// TestPredictLearntNumbers: every column, in closed form from the two laws that the members predict: numbers of z and logarithms of amounts. The mean is the
// ensemble's, also of amounts, since it is what a promised risk is about; standard deviations of amounts are those of the stretched logarithms. Intervals and what abstains do not depend on --untempered.
func TestPredictLearntNumbers(t *testing.T) {
	for _, logs := range []bool{false, true} {
		run := twoNormals(t, 1)
		scale, shift, sd := 8., 100., [2]float64{1, 0.25}
		unit := func(z float64) float64 { return z }
		written := twoMoments
		if logs {
			run.Posterior, run.Schema.Targets = amountsOf(t)
			scale, shift, sd, unit = .5, 1, [2]float64{.5, 1}, math.Exp
			written = func(mu, sd [2]float64) (float64, float64, float64) { // of the log-normal laws
				var own, spread [2]float64
				for j := range own {
					own[j] = math.Exp(mu[j] + sd[j]*sd[j]/2)
					spread[j] = own[j] * math.Sqrt(math.Exp(sd[j]*sd[j])-1)
				}
				return twoMoments(own, spread)
			}
		}
		learn := func(n, step int) *data.Set {
			s := &data.Set{Name: "examples", Shape: []int{1}, Outputs: 1}
			for i := range n {
				x := 2 * math.Sin(float64(step*i))
				s.F32, s.Values = append(s.F32, float32(x)), append(s.Values, float32(x/2+3.5*math.Sin(float64(11*i))))
			}
			return s
		}
		p := &data.Problem{Validate: learn(200, 3), Train: learn(300, 5), Schema: run.Schema}
		run.Decision = learnt(t, run, p, decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.8}, Abstain: &decide.Abstain{At: decide.Coverage(0.6)}})
		l := run.Decision.Learnt
		c, widen, threshold := l.Factor.Posterior, l.Intervals.Widen, float64(l.Abstain.Threshold)
		if !(math.Abs(c-1) > .1) || !(math.Abs(widen) > 1e-3) {
			t.Fatalf("a factor of %v and intervals wider by %v show nothing", c, widen)
		}
		var xs []float64
		for i := range 1500 {
			xs = append(xs, 2.2*math.Sin(float64(i)))
		}
		in := saved(t, "in.npy", npy(t, []int{len(xs), 1}, xs...))
		run.Quantiles = []float64{0.25, 0.9}
		abstained := 0
		var before [][]string
		for _, run.Untempered = range []bool{false, true} {
			table := predicted(t, run, in)
			if got := strings.Join(table[0], ","); got != "row,mean,sd_aleatoric,sd_epistemic,q25,q90,missing,outside,abstain,low,high" {
				t.Fatalf("columns %s", got)
			}
			out := filepath.Join(t.TempDir(), "out.npy")
			if _, err := run.File(t.Context(), in, out); err != nil {
				t.Fatal(err)
			}
			a, err := data.ReadNPY(out)
			if err != nil || !slices.Equal(a.Shape, []int{len(xs), 5}) {
				t.Fatalf("%+v, %v", a, err)
			}
			array := a.Float64s()
			for i, row := range table[1:] {
				x := scale * float64(float32(xs[i]))
				mu, own := [2]float64{shift + x, shift - x}, [2]float64{scale * sd[0], scale * sd[1]}
				m, s := stretchedByHand(mu, own, c)
				low, high := unit(quantileByHand(m, s, 0.1))-widen, unit(quantileByHand(m, s, 0.9))+widen
				if low > high {
					low = (low + high) / 2
					high = low
				}
				mean, al, ep := written(mu, own)
				doubt := math.Hypot(al, ep)
				if run.Untempered {
					m, s = mu, own
				}
				_, al, ep = written(m, s)
				want := []float64{mean, al, ep, unit(quantileByHand(m, s, 0.25)), unit(quantileByHand(m, s, 0.9)), low, high}
				for k, at := range []int{1, 2, 3, 4, 5, 9, 10} {
					if got := testkit.Number(t, row[at]); !golden.Near(got, want[k], 2e-5, 2e-5) {
						t.Fatalf("logs %v, untempered %v, row %d: %s is %v, want %v", logs, run.Untempered, i, table[0][at], got, want[k])
					}
					if at <= 5 && array[5*i+at-1] != testkit.Number(t, row[at]) {
						t.Fatalf("row %d: the array has %v for %s", i, array[5*i+at-1], row[at])
					}
				}
				if want := strconv.Itoa(int(indicator(doubt > threshold))); !golden.Near(doubt, threshold, 1e-4, 0) && row[8] != want {
					t.Fatalf("row %d: abstain is %q, its sd %v, the threshold %v", i, row[8], doubt, threshold)
				}
				if row[8] == "1" {
					abstained++
				}
				if before != nil && (!slices.Equal(row[8:], before[1+i][8:]) || row[1] != before[1+i][1]) {
					t.Fatalf("row %d is %q untempered, and %q", i, row, before[1+i])
				}
			}
			before = table
		}
		if abstained < 600 || abstained > 2400 {
			t.Errorf("%d of 3000 rows abstain: the test says little", abstained)
		}
	}
}

// TestPredictLearntNumbersUndefined: where the network overflows, the row abstains, and its interval is all numbers. What was not learnt is empty.
func TestPredictLearntNumbersUndefined(t *testing.T) {
	run := twoNormals(t, 1)
	p := &data.Problem{Schema: run.Schema, Train: &data.Set{Name: "train", Shape: []int{1}, Outputs: 1}}
	for i := range 60 {
		p.Train.F32, p.Train.Values = append(p.Train.F32, float32(i)/30), append(p.Train.Values, float32(math.Sin(float64(7*i))))
	}
	p.Validate = p.Train
	in := saved(t, "in.npy", npy(t, []int{1, 1}, 0.5))
	theta := slices.Clone(run.Posterior.Theta)
	for _, by := range []decide.Signal{decide.SD{}, decide.Epistemic{}} {
		copy(run.Posterior.Theta, theta)
		run.Decision = learnt(t, run, p, decide.Settings{Temperature: true, Sets: &decide.Sets{Rate: 0.9}, Abstain: &decide.Abstain{By: by, At: decide.Coverage(0.9)}})
		run.Posterior.Theta[0] = float32(math.Inf(1))
		if got := strings.Join(predicted(t, run, in)[1], ","); !strings.HasSuffix(got, ",,,1,-inf,inf") || !strings.Contains(got, ",NaN,NaN,NaN,NaN,") {
			t.Errorf("by %s: %s", by, got)
		}
	}
	copy(run.Posterior.Theta, theta)
	for suffix, by := range map[string]decide.Settings{",,,,": {Temperature: true}, ",,,0,,": {Abstain: &decide.Abstain{At: decide.Coverage(0.999)}}} {
		run.Decision = learnt(t, run, p, by)
		if got := strings.Join(predicted(t, run, in)[1], ","); !strings.HasSuffix(got, suffix) {
			t.Errorf("%+v: %s, want %s", by, got, suffix)
		}
	}
}

// TestInfiniteNumbersAbstain: members that all overflow to the same infinite mean agree, and have no answer.
func TestInfiniteNumbersAbstain(t *testing.T) {
	v := &bnn.Regression{Mean: []float64{math.Inf(-1), 3}, Aleatoric: []float64{1, 1}, Epistemic: []float64{0, 0}}
	r := numberRows(v, 2)
	if !math.IsNaN(r.SD[0]) || !math.IsNaN(r.Epistemic[0]) || r.SD[1] != 1 || r.Epistemic[1] != 0 || v.Epistemic[0] != 0 {
		t.Errorf("%+v of %+v", r, v)
	}
}

// TestPredictStretched: at each width the prediction is that of the stretched ensemble, to the last bit.
func TestPredictStretched(t *testing.T) {
	run := twoNormals(t, 2)
	set := &data.Set{Name: "x", Shape: []int{1}}
	for i := range 70 {
		set.F32 = append(set.F32, float32(math.Sin(float64(i))))
	}
	logs := &data.Standard{Mean: []float64{1, 2}, SD: []float64{.5, .3}, To: 1, Log: true}
	for _, logs := range []*data.Standard{nil, logs} {
		asked := []bnn.Stretch{{Times: 1, Quantiles: []float64{0.1, 0.7}}, {Times: 1.7}, {Times: 0.4, Quantiles: []float64{0.5}}}
		all, err := run.Posterior.PredictStretched(t.Context(), set, logs, asked, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, by := range asked {
			e := run.Posterior
			if by.Times != 1 {
				e = e.Stretched(by.Times)
			}
			want, err := e.PredictAmounts(t.Context(), set, logs, by.Quantiles, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := all[k]
			if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Aleatoric, want.Aleatoric) || !slices.Equal(got.Epistemic, want.Epistemic) || !slices.Equal(got.Quantiles, want.Quantiles) || got.Outputs != 2 {
				t.Errorf("%v times: %+v, want %+v", by.Times, got, want)
			}
		}
	}
}
