package paper

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/dense"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/mcmc"
)

// The anchored priors and the cold posterior are the golden ones.
func TestToyGolden(t *testing.T) {
	found := map[string]int{}
	for _, c := range golden.Read(t, "priors.json") {
		var in struct {
			Theta    []float64
			ThetaMAP []float64 `json:"theta_map"`
			V, S     float64
			Variance float64 `json:"prior_var"`
			Lambda   float64
		}
		var want struct {
			LogPrior float64 `json:"log_prior"`
			Grad     []float64
			LogLik   float64   `json:"loglik_full"`
			Cold     float64   `json:"logpost_cold_both"`
			GradFull []float64 `json:"grad_full"`
		}
		if c.Kind != "anchored_prior" && c.Kind != "target" {
			continue
		}
		if err := errors.Join(json.Unmarshal(c.Inputs, &in), json.Unmarshal(c.Expected, &want)); err != nil {
			t.Fatal(err)
		}
		found[c.Kind]++
		d := len(in.Theta)
		grad := make([]float64, d)
		if c.Kind == "anchored_prior" {
			got := anchoredTarget(in.S, in.V, in.ThetaMAP)
			if log := got.LogDensity(in.Theta, grad); got.Power != 1 || !golden.Near(log, want.LogPrior, 1e-10, 1e-12) {
				t.Errorf("%s: %v, log-density %v, want %v", c.Name, got, log, want.LogPrior)
			}
			for i, g := range grad {
				if !golden.Near(g, want.Grad[i], 1e-10, 1e-12) {
					t.Errorf("%s: gradient %v, want %v", c.Name, grad, want.Grad)
				}
			}
			continue
		}
		// What the cold prior's normalisation adds is left out of the golden value.
		at, v := 1/in.Lambda, in.Variance
		cold := coldTarget(at, v, d)
		constant := 0.5 * float64(d) * (math.Log(2*math.Pi*at*v) - math.Log(2*math.Pi*v)/at)
		if got := cold.Power*want.LogLik + cold.LogDensity(in.Theta, grad) + constant; !golden.Near(got, want.Cold, 1e-10, 1e-12) {
			t.Errorf("%s: %v, want %v", c.Name, got, want.Cold)
		}
		for i, g := range grad {
			likelihood := want.GradFull[i] + in.Theta[i]/v
			if got := cold.Power*likelihood + g; !golden.Near(got, want.GradFull[i]/at, 1e-10, 1e-12) {
				t.Errorf("%s: gradient %v by coordinate %d, want %v", c.Name, got, i, want.GradFull[i]/at)
			}
		}
	}
	if found["anchored_prior"] < 3 || found["target"] < 1 {
		t.Errorf("golden cases: %v", found)
	}
}

// The added target is the posterior times the normal about the MAP, but for a constant, and T = 1 and s = 1 are the posterior.
func TestToyAdded(t *testing.T) {
	const v, s = 0.7, 0.4
	top := []float64{0.9, -0.3}
	prior, factor, added := newToy("", 0, 1, []float64{0, 0}, v), newToy("", 0, 1, top, s), addedTarget(s, v, top)
	first := math.NaN()
	for _, theta := range [][]float64{{0, 0}, {1, 2}, {-3, 0.5}, {0.9, -0.3}} {
		ratio := prior.LogDensity(theta, nil) + factor.LogDensity(theta, nil) - added.LogDensity(theta, nil)
		if math.IsNaN(first) {
			first = ratio
		}
		if !golden.Near(ratio, first, 1e-12, 1e-12) {
			t.Errorf("at %v the product is e^%v of the added target, and was e^%v", theta, ratio, first)
		}
	}
	one, cold := anchoredTarget(1, v, top), coldTarget(1, v, 2)
	if one.Kind, cold.Kind = "", ""; !reflect.DeepEqual(one, cold) || !reflect.DeepEqual(one, newToy("", 1, 1, []float64{0, 0}, v)) {
		t.Errorf("s = 1 is %v and T = 1 is %v", one, cold)
	}
}

// Gradients are those of finite differences, and so are the condition numbers. Where the smallest curvature of the likelihood is 0, which is
// where it is largest, section 5 is exact: λv + 1 for the posterior at every temperature, and λvs + 1 with the anchor.
func TestToyCondition(t *testing.T) {
	top := toyMAP()
	ridge := [2]float64{0.8, toySeen - 0.64}
	for _, target := range toyTargets() {
		if err := mcmc.CheckGradient(t.Context(), target, target); err != nil {
			t.Errorf("%s: %v", target.name(), err)
		}
		const h = 1e-4
		log := func(a, b float64) float64 {
			theta := []float64{top[0] + a, top[1] + b}
			return target.Power*toyLog(theta, nil) + target.LogDensity(theta, nil)
		}
		cross := -(log(h, h) - log(h, -h) - log(-h, h) + log(-h, -h)) / (4 * h * h)
		hessian := []float64{-(log(h, 0) - 2*log(0, 0) + log(-h, 0)) / (h * h), cross, cross, -(log(0, h) - 2*log(0, 0) + log(0, -h)) / (h * h)}
		values, _ := dense.Eigen(hessian, 2)
		here, formula := target.condition(top)
		if want := values[1] / values[0]; !golden.Near(here, want, 1e-3, 0) || !(formula < here) {
			t.Errorf("%s: condition number %v, by finite differences %v, by section 5 %v", target.name(), here, want, formula)
		}
		lambda := (1 + 4*ridge[0]*ridge[0]) / (toyNoise * toyNoise) // the square of the gradient of θ₂ + θ₁²
		want := map[string]float64{"anchored": target.At, "cold": 1, "added": target.At * toyPrior / (target.At + toyPrior) / toyPrior}[target.Kind]*lambda*toyPrior + 1
		if here, formula := target.condition(ridge); !golden.Near(here, want, 1e-9, 0) || !golden.Near(formula, want, 1e-9, 0) {
			t.Errorf("%s, no curvature along the ridge: condition number %v, by the formula %v, want %v", target.name(), here, formula, want)
		}
	}

	// The MAP is the maximum: the gradient is 0, and the Hessian of the posterior positive.
	grad, prior, posterior := make([]float64, 2), make([]float64, 2), toyTargets()[0]
	toyLog(top[:], grad)
	posterior.LogDensity(top[:], prior)
	for i := range grad {
		if !(math.Abs(grad[i]+prior[i]) < 1e-12) {
			t.Errorf("the gradient at the MAP is %v", []float64{grad[0] + prior[0], grad[1] + prior[1]})
		}
	}
	if here, _ := posterior.condition(top); !(here > 0) {
		t.Errorf("the condition number at the MAP is %v", here)
	}
}

// Quadrature in the plane by another road: given θ₁ the target is normal in θ₂, so that one integral is left, of
//
//	N(θ₁; m₁, V) √(2πσ²/p) (2πσ²)^(−p/2) N(y − θ₁²; m₂, V + σ²/p).
func TestToyTruth(t *testing.T) {
	for _, target := range toyTargets() {
		const step = 1e-4
		p, v, noise := target.Power, target.Variance, toyNoise*toyNoise
		w := v + noise/p
		normal := func(x, variance float64) float64 { return math.Exp(-x*x/(2*variance)) / math.Sqrt(2*math.Pi*variance) }
		var z float64
		var mean, square [2]float64
		for x := -8 + step/2; x < 8; x += step {
			seen := toySeen - x*x - target.Mean[1]
			mass := step * normal(x-target.Mean[0], v) * math.Sqrt(2*math.Pi*noise/p) * math.Pow(2*math.Pi*noise, -p/2) * normal(seen, w)
			given := target.Mean[1] + v/w*seen
			z += mass
			mean[0] += mass * x
			square[0] += mass * x * x
			mean[1] += mass * given
			square[1] += mass * (given*given + v*noise/p/w)
		}
		got := target.truth()
		if !golden.Near(got.LogZ, math.Log(z), 0, 1e-6) {
			t.Errorf("%s: log Z is %v, want %v", target.name(), got.LogZ, math.Log(z))
		}
		for i := range mean {
			m := mean[i] / z
			if sd := math.Sqrt(square[i]/z - m*m); !golden.Near(got.Mean[i], m, 0, 1e-5*sd) || !golden.Near(got.SD[i], sd, 1e-5, 0) {
				t.Errorf("%s, coordinate %d: mean %v and sd %v, want %v and %v", target.name(), i+1, got.Mean[i], got.SD[i], m, sd)
			}
		}
		var sum float64
		for _, share := range got.cells {
			sum += share
		}
		if !(sum > 0.95 && sum < 1+1e-9) {
			t.Errorf("%s: the picture has %v of the mass", target.name(), sum)
		}
	}
}

// Chains have the means of quadrature: an error is at most six standard errors by the IACT that the chain itself states, for two moves, ten
// targets and two coordinates, of which a right one fails once in 10⁷ (seeds are fixed). Between the MAP and the posterior draws become cheap
// with s; and a cold chain that stays on one arm does not pass for one that mixes.
func TestToyChains(t *testing.T) {
	costs := map[string]float64{}
	for _, target := range toyTargets() {
		if target.Kind == "cold" && target.At < 0.5 || target.Kind == "added" && target.At > 0.25 {
			continue
		}
		score := toyScore{toyTarget: target, toyTruth: target.truth()}
		for _, kernel := range toyKernels {
			run, err := target.chain(t.Context(), kernel.move, 3, 40000)
			if err != nil {
				t.Fatal(err)
			}
			if run.Gradients < 19000 || run.Gradients > 20500 || len(run.ACF) != toyLags+1 || run.ACF[0] != 1 {
				t.Errorf("%s, %s: %d gradients after the warm-up; autocorrelation %v", target.name(), kernel.name, run.Gradients, run.ACF)
			}
			for i, m := range run.Mean {
				se := score.SD[i] * math.Sqrt(max(1, float64(run.IACT[i]))/float64(run.States))
				if !(math.Abs(m-score.toyTruth.Mean[i]) < 6*se) {
					t.Errorf("%s, %s, coordinate %d: mean %v ± %v, want %v", target.name(), kernel.name, i+1, m, se, score.toyTruth.Mean[i])
				}
			}
			joined := score.moves(kernel.name, []toyRun{run, run})
			if !golden.Near(float64(joined.IACT), float64(max(run.IACT[0], run.IACT[1])), 1e-12, 0) || joined.Known != run.Enough {
				t.Errorf("%s, %s: %+v", target.name(), kernel.name, joined)
			}
			costs[target.name()+" "+kernel.name] = float64(joined.Cost)
		}
	}
	for _, kernel := range toyKernels {
		if a, b := costs["anchored s = 0.1 "+kernel.name], costs["anchored s = 1 "+kernel.name]; !(a < b/10) {
			t.Errorf("%s: a draw costs %v gradients at s = .1, and %v of the posterior", kernel.name, a, b)
		}
	}

	cold := coldTarget(0.01, toyPrior, 2)
	run, err := cold.chain(t.Context(), mcmc.NUTS{}, 3, 10000)
	if err != nil {
		t.Fatal(err)
	}
	joined := toyScore{toyTarget: cold, toyTruth: cold.truth()}.moves("NUTS", []toyRun{run})
	if run.Crossings != 0 || !run.Enough || joined.Known || !strings.HasPrefix(joined.cost(), "(") || !(joined.Error > 0.5) {
		t.Errorf("a chain that stays on one arm: %+v", joined)
	}
}

// The study has the same figures with any number of threads, and a picture that is XML.
func TestToyStudy(t *testing.T) {
	var lines int
	with := func(threads int) *toyShown {
		shown, err := toyStudy.Run(t.Context(), []uint64{1, 2}, true, mcmc.NewPool(threads), func(string) { lines++ })
		if err != nil {
			t.Fatal(err)
		}
		all := shown.(*toyShown)
		all.Seconds = 0
		return all
	}
	one, two := with(1), with(2)
	if !reflect.DeepEqual(one, two) || lines != 30 {
		t.Errorf("%d lines; one thread\n%+v\ntwo\n%+v", lines, one, two)
	}
	if p := one.Targets[0]; p.Variation != 0 || one.Targets[5].Variation != 0 || !(one.Targets[4].Variation > 0.8) {
		t.Errorf("the posterior is %v from itself, and T = 1 is %v", p.Variation, one.Targets[5].Variation)
	}
	var text bytes.Buffer
	if err := one.WriteText(&text); err != nil || !strings.Contains(text.String(), "2 chains, 10000 gradients each") {
		t.Errorf("%v: %s", err, text.String())
	}
	if charts, err := elements(one.Picture(), "svg"); charts != 1+15+3+2 || err != nil {
		t.Errorf("picture of %d elements svg: %v", charts, err)
	}
}
