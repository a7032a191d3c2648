package eval

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/testkit"
)

// amountsOf predicts with two networks of weights ¾ and ¼, for an input x of one number, ln y ~ N(1 + ½x, ¼²) and N(1 − ½x, ½²): the logarithms
// have a standardisation of mean 1 and sd ½.
func amountsOf(t *testing.T) (*bnn.Ensemble, *data.Standard) {
	t.Helper()
	p := twoNormals(t, 1)
	e := p.Posterior
	d := e.Net.Dim()
	e.Theta[d-1], e.Theta[2*d-1] = -math.Ln2, 0 // log σ of z: ½ and 1
	return e, &data.Standard{Mean: []float64{1}, SD: []float64{.5}, To: 1, Log: true}
}

// TestAmountsInUnits: predictions and scores of amounts, by hand from the two log-normal laws. A Jacobian left out of the NLL would be off by 1.27
// nats, a mean without σ²/2 by 4 %.
func TestAmountsInUnits(t *testing.T) {
	e, s := amountsOf(t)
	p := &data.Problem{
		Name: "amounts", Schema: &data.Schema{Shape: []int{1}, Outputs: 1, Targets: s},
		Test: &data.Set{Name: "test", Shape: []int{1}, F32: []float32{0, 1, -2}, Values: []float32{0.5, -1, 2}, Outputs: 1},
	}
	a := evaluated(t, e, p)
	var truth, mean, noise, apart, density, pit []float64
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	weights, sd := []float64{.75, .25}, []float64{.25, .5}
	for i, x := range []float64{0, 1, -2} {
		log := 1 + .5*float64(p.Test.Values[i])
		mu := []float64{1 + .5*x, 1 - .5*x}
		var m, second, between, l, c float64
		for j, w := range weights {
			own := math.Exp(mu[j] + sd[j]*sd[j]/2)
			m += w * own
			second += w * own * own * (math.Exp(sd[j]*sd[j]) - 1)
			z := (log - mu[j]) / sd[j]
			l += w * math.Exp(-z*z/2) / sd[j] / math.Sqrt(2*math.Pi)
			c += w * cdf(z)
		}
		for j, w := range weights {
			d := math.Exp(mu[j]+sd[j]*sd[j]/2) - m
			between += w * d * d
		}
		truth, mean, noise, apart = append(truth, math.Exp(log)), append(mean, m), append(noise, math.Sqrt(second)), append(apart, math.Sqrt(between))
		density, pit = append(density, math.Log(l)-log), append(pit, c)
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		for i := range want {
			if len(got) != len(want) || !golden.Near(got[i], want[i], 1e-6, 1e-6) {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	r := a.Regression
	near("targets", r.Targets, truth)
	near("means", r.Mean, mean)
	near("noise", r.Aleatoric, noise)
	near("spread", r.Epistemic, apart)
	near("PIT", r.PIT, pit)
	near("losses", negative(a.Losses.Posterior), density)
	nll := -(density[0] + density[1] + density[2]) / 3
	near("NLL", []float64{float64(a.Metrics.NLL)}, []float64{nll})
	validation, _, err := Validation(t.Context(), e, p.Test, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	near("validation NLL", []float64{float64(validation)}, []float64{nll})
	losses, _, err := Losses(t.Context(), e, p.Test, nil)
	if err != nil {
		t.Fatal(err)
	}
	near("losses in units", negative(InUnits(losses, p.Test, p)), density)
	near("spreads", []float64{float64(a.Metrics.Spread[0].Aleatoric), float64(a.Metrics.Spread[0].Epistemic)},
		[]float64{(noise[0] + noise[1] + noise[2]) / 3, (apart[0] + apart[1] + apart[2]) / 3})
	crps := 0.0
	for i, x := range []float64{0, 1, -2} { // by its definition
		of := func(log float64) float64 {
			f := .75*cdf((log-1-.5*x)/.25) + .25*cdf((log-1+.5*x)/.5)
			if log >= math.Log(truth[i]) {
				f--
			}
			return f * f * math.Exp(log)
		}
		const steps = 40000
		for k := range steps {
			crps += of(-8+(float64(k)+.5)*16/steps) * 16 / steps / 3
		}
	}
	if got := float64(*a.Metrics.CRPS); !(math.Abs(got-crps) <= 1e-4) {
		t.Errorf("CRPS %v, by its integral %v", got, crps)
	}
}

// TestPredictAmounts: a file's predictions are those of the assessment, and 40,000 draws have their moments and quantiles: a mean within 4.9 standard
// errors, which chance exceeds once in a million times. Draws that were not exponentials would be off by 60 standard errors.
func TestPredictAmounts(t *testing.T) {
	const n = 40000
	e, s := amountsOf(t)
	p := &Predictor{Posterior: e, Schema: &data.Schema{Shape: []int{1}, Outputs: 1, Targets: s}, Seed: 3, Draws: n}
	table := predicted(t, p, saved(t, "in.npy", npy(t, []int{2, 1}, 1, -2)))
	first := slices.Index(table[0], "draw_1")
	for _, row := range table[1:] {
		number := func(column string) float64 { return testkit.Number(t, row[slices.Index(table[0][:first], column)]) }
		mean, sd := number("mean"), math.Hypot(number("sd_aleatoric"), number("sd_epistemic"))
		var sum, squares float64
		below := map[string]float64{"q05": 0, "q50": 0, "q95": 0}
		for d := range n {
			y := testkit.Number(t, row[first+d])
			sum += y / n
			squares += (y - mean) * (y - mean) / n
			for q := range below {
				if y < number(q) {
					below[q] += 1. / n
				}
			}
		}
		if !(math.Abs(sum-mean) <= 4.9*sd/math.Sqrt(n)) {
			t.Errorf("draws have the mean %v, want %v ± %v", sum, mean, sd/math.Sqrt(n))
		}
		if !(math.Abs(math.Sqrt(squares)/sd-1) <= .05) {
			t.Errorf("draws have the sd %v, want %v", math.Sqrt(squares), sd)
		}
		for q, share := range below {
			level := testkit.Number(t, "0."+strings.TrimPrefix(q, "q"))
			if !(math.Abs(share-level) <= 4.9*math.Sqrt(level*(1-level)/n)) {
				t.Errorf("a share of %v of the draws is below %s", share, q)
			}
		}
	}
}

// TestGuessOfAmounts: the guess has the log-normal law of the training targets, in the target's units, and says so.
func TestGuessOfAmounts(t *testing.T) {
	learnt, y := []float64{1, math.E, math.E * math.E, 20}, []float64{2, 3}
	var logs []float64
	for _, v := range learnt {
		logs = append(logs, math.Log(v))
	}
	mean, square := (logs[0]+logs[1]+logs[2]+logs[3])/4, 0.0
	for _, l := range logs {
		square += (l - mean) * (l - mean) / 4
	}
	for i, got := range logNormalLosses(y, learnt, 1) {
		d := math.Log(y[i]) - mean
		if want := d*d/2/square + math.Log(2*math.Pi*square)/2 + math.Log(y[i]); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("loss %v of %v, want %v", got, y[i], want)
		}
	}
	a := &Assessment{Problem: &data.Problem{Schema: &data.Schema{Targets: &data.Standard{Log: true}}}, Regression: &Regression{}}
	if got := a.Guess(); got != "the log-normal law of the training targets" {
		t.Errorf("the guess is %s", got)
	}
}
