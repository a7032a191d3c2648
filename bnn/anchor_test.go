package bnn

import (
	"math"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/nn"
)

// twoWidths is a prior of fan_in 2 over four weights of variance .5 and log_sd, whose variance is 1.
func twoWidths(t *testing.T) *Normal {
	t.Helper()
	tensors := []nn.Tensor{{Name: "0.weight", Shape: []int{1, 4}, Size: 4, FanIn: 4}, {Name: "log_sd", Shape: []int{1}, Offset: 4, Size: 1, Kind: nn.Own}}
	p, err := FanIn(tensors, 2)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	estimate = []float64{1, -2, 3, 0.5, -0.7}
	places   = [][]float64{{0.3, 0.1, -0.4, 2, 0.2}, {-1, 4, 0.25, 0.125, -3}, {0, 0, 0, 0, 0}}
)

// An added factor is the product of two normal densities, up to a constant: of log N(m, v) + log N(θ*, s), the differences between places. Mean and
// variance are the printed ones, v/(s+v) θ* and sv/(s+v) (scalable-bayesian-monte-carlo, section 2).
func TestAddedIsAProduct(t *testing.T) {
	const s = 0.3
	p := twoWidths(t)
	prior, err := PriorSettings{Family: NormalPrior{FanIn: 2}, Added: &Added{S: s}}.Apply(p, estimate)
	if err != nil {
		t.Fatal(err)
	}
	q := prior.(*Normal)
	density := func(theta []float64) float64 {
		sum := p.LogDensity(theta, nil)
		for i, x := range theta {
			sum -= (x - estimate[i]) * (x - estimate[i]) / (2 * s)
		}
		return sum
	}
	for i, v := range []float64{0.5, 0.5, 0.5, 0.5, 1} {
		if !golden.Near(q.Mean(i), v/(s+v)*estimate[i], 1e-14, 0) || !golden.Near(q.SD(i)*q.SD(i), s*v/(s+v), 1e-14, 0) {
			t.Errorf("component %d is N(%v, %v)", i, q.Mean(i), q.SD(i)*q.SD(i))
		}
	}
	for _, theta := range places[1:] {
		if got, want := q.LogDensity(theta, nil)-q.LogDensity(places[0], nil), density(theta)-density(places[0]); !golden.Near(got, want, 1e-12, 1e-12) {
			t.Errorf("log density at %v differs by %v, want %v", theta, got, want)
		}
	}
}

// A cold prior is the prior to the power 1/T, normalised, with the likelihood's own parameters: N(m, T V). Of a prior that is moved to an
// estimate it is that prior to the power.
func TestColdPrior(t *testing.T) {
	const temperature = 0.2
	for name, settings := range map[string]PriorSettings{"prior": {}, "anchored": {Anchor: &Anchor{S: 0.1}}, "added": {Added: &Added{S: 0.3}}} {
		p, err := settings.Apply(twoWidths(t), estimate)
		if err != nil {
			t.Fatal(err)
		}
		cold, err := Cold(p, temperature)
		if err != nil {
			t.Fatal(err)
		}
		was, is := p.(*Normal), cold.(*Normal)
		for i := range was.Dim() {
			if is.Mean(i) != was.Mean(i) || !golden.Near(is.SD(i)*is.SD(i), temperature*was.SD(i)*was.SD(i), 1e-14, 0) {
				t.Errorf("%s: component %d is N(%v, %v²), of N(%v, %v²)", name, i, is.Mean(i), is.SD(i), was.Mean(i), was.SD(i))
			}
		}
		for _, theta := range places[1:] {
			got := is.LogDensity(theta, nil) - is.LogDensity(places[0], nil)
			if want := (was.LogDensity(theta, nil) - was.LogDensity(places[0], nil)) / temperature; !golden.Near(got, want, 1e-12, 1e-12) {
				t.Errorf("%s: log density at %v differs by %v, want %v", name, theta, got, want)
			}
		}
	}
	mixture, err := NewScaleMixture(twoTensors(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Cold(mixture, temperature); err == nil {
		t.Error("a learned prior has a cold posterior")
	}
	if _, err := (&Added{S: 1}).Apply(mixture, make([]float64, mixture.Dim())); err == nil {
		t.Error("a learned prior takes a factor")
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := twoWidths(t).Cold(bad); err == nil {
			t.Errorf("temperature %v was taken", bad)
		}
		if _, err := twoWidths(t).Times(bad, estimate); err == nil {
			t.Errorf("a factor of variance %v was taken", bad)
		}
	}
}

func twoTensors() []nn.Tensor {
	return []nn.Tensor{{Name: "0.weight", Shape: []int{1, 4}, Size: 4, FanIn: 4}, {Name: "0.bias", Shape: []int{1}, Offset: 4, Size: 1, FanIn: 4, Kind: nn.Biases}}
}

// What a prior about an estimate cannot have is refused with the mend.
func TestBadEstimates(t *testing.T) {
	for text, want := range map[string]string{
		"{normal: {variance: 1}, added: {s: 0}}":                                "added.s: want a number above 0, have 0",
		"{normal: {variance: 1}, added: {s: -1}}":                               "added.s: want a number above 0, have -1",
		"{normal: {variance: 1}, added: {s: .inf}}":                             "added.s: want a number, have +Inf",
		"{normal: {variance: 1}, added: {}}":                                    "added",
		"{normal: {variance: learned}, added: {s: 1}}":                          "added: needs a normal prior with a given width, and this one has none: leave added out, or take a variance",
		"{normal: {variance: 1}, anchor: {s: 0.1}, added: {s: 0.1}}":            "two ways to do so: want one of them",
		"{normal: {variance: 1}, anchor: {s: 0.1, per: chain}}":                 "anchor.per: unknown name \"chain\"",
		"{normal: {variance: 1}, anchor: {s: 0.5, per: island}}":                "want s between 0 and 0.5, or leave per out",
		"{normal: {variance: 1}, anchor: {s: 0, per: island}}":                  "want s between 0 and 0.5, or leave per out",
		"{normal: {variance: learned}, anchor: {s: 0.1, per: island}, map: {}}": "unknown key \"map\"",
	} {
		_, _, err := config.Parse[PriorSettings]("p.yaml", []byte(text), nil, Priors)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"{normal: {variance: 1}, added: {s: 0.25}}", "{normal: {fan_in: 2}, anchor: {s: 0.1, per: island}}", "{normal: {fan_in: 2}, anchor: {s: 0.7, per: run}}"} {
		if _, _, err := config.Parse[PriorSettings]("p.yaml", []byte(text), nil, Priors); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
