package nn

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// TestGoldenAdam runs the Adam steps of priors.json; package bnn tests the other kinds of that file.
func TestGoldenAdam(t *testing.T) {
	text, err := os.ReadFile("testdata/priors.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name, Kind       string
			Inputs, Expected json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range golden.Cases {
		switch c.Kind {
		case "anchored_prior", "target", "gohsmc_gradient", "param_counts":
			continue
		case "adam":
		default:
			t.Errorf("case %s: unknown kind %q", c.Name, c.Kind)
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			var in struct {
				P0                    []float64   `json:"p0"`
				Grads                 [][]float64 `json:"grads_of_loss"`
				LR, Beta1, Beta2, Eps float64
			}
			var want struct{ P [][]float64 }
			if err := json.Unmarshal(c.Inputs, &in); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(c.Expected, &want); err != nil {
				t.Fatal(err)
			}
			o := Adam{Rate: Constant(in.LR), Beta1: in.Beta1, Beta2: in.Beta2, Epsilon: in.Eps}
			var m Moments
			for k, g := range in.Grads {
				o.Step(&m, in.P0, g)
				wantNear(t, in.P0, want.P[k], 1e-10, 1e-12)
			}
		})
	}
	if ran == 0 {
		t.Error("priors.json has no case of kind adam")
	}
}

// wantNear compares elementwise by golden.Near.
func wantNear(t *testing.T, got, want []float64, rel, abs float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if !golden.Near(got[i], want[i], rel, abs) {
			t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// Under a constant gradient g the velocity after t steps is g(1−μᵗ)/(1−μ), a geometric sum.
func TestSGDClosedForm(t *testing.T) {
	const rate, mu, g, steps = 0.25, 0.75, -2.0, 9
	theta, plain := []float64{3}, []float64{3}
	var m, n Moments
	want := 3.0
	for k := 1; k <= steps; k++ {
		SGD{Rate: Constant(rate), Momentum: mu}.Step(&m, theta, []float64{g})
		SGD{Rate: Constant(rate)}.Step(&n, plain, []float64{g})
		want -= rate * g * (1 - math.Pow(mu, float64(k))) / (1 - mu)
		wantNear(t, theta, []float64{want}, 1e-14, 0)
	}
	wantNear(t, plain, []float64{3 - rate*g*steps}, 0, 0)
	if m.Steps != steps || n.First != nil {
		t.Errorf("steps %d, want %d; plain SGD keeps %v", m.Steps, steps, n.First)
	}
}

// Without a gradient AdamW only decays, θₜ = θ₀(1−ηλ)ᵗ, and does so before Adam's step, which for the first gradient
// is η sign(g) but for ε.
func TestAdamWDecay(t *testing.T) {
	o := AdamW{Adam: Adam{Rate: Constant(0.5)}, Decay: 0.25}
	var m Moments
	theta := []float64{2, -1}
	o.Step(&m, theta, []float64{0, 0})
	o.Step(&m, theta, []float64{0, 0})
	wantNear(t, theta, []float64{2 * 0.875 * 0.875, -0.875 * 0.875}, 1e-15, 0)

	theta, m = []float64{2, -1}, Moments{}
	o.Step(&m, theta, []float64{1e-3, -10})
	wantNear(t, theta, []float64{2*0.875 - 0.5, -0.875 + 0.5}, 0, 1e-5)

	theta, m = []float64{1}, Moments{}
	AdamW{Adam: Adam{Rate: Constant(1)}}.Step(&m, theta, []float64{0})
	wantNear(t, theta, []float64{0.99}, 1e-15, 0)
}

// A state that was saved in the middle continues with the same bytes.
func TestMomentsRoundTrip(t *testing.T) {
	decay := StepDecay(0.1, 0.5, 3)
	for name, o := range map[string]Optimiser{
		"sgd": SGD{Rate: decay, Momentum: 0.9}, "adam": Adam{Rate: decay}, "adamw": AdamW{Adam: Adam{Rate: decay}},
	} {
		grad := func(theta []float64) []float64 { return []float64{theta[0] - 1, 4 * (theta[1] + 2)} }
		var m Moments
		theta := []float64{5, 5}
		for range 5 {
			o.Step(&m, theta, grad(theta))
		}
		saved, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Moments
		if err := json.Unmarshal(saved, &back); err != nil {
			t.Fatal(err)
		}
		other := append([]float64(nil), theta...)
		for range 5 {
			o.Step(&m, theta, grad(theta))
			o.Step(&back, other, grad(other))
		}
		if theta[0] != other[0] || theta[1] != other[1] {
			t.Errorf("%s: %v after a round trip, want %v", name, other, theta)
		}
	}
}

func TestSchedules(t *testing.T) {
	decay := StepDecay(0.8, 0.5, 10)
	for _, c := range []struct {
		step int
		want float64
	}{{0, 0.8}, {9, 0.8}, {10, 0.4}, {19, 0.4}, {30, 0.1}} {
		if got := decay(c.step); got != c.want {
			t.Errorf("rate of step %d is %v, want %v", c.step, got, c.want)
		}
	}
	if got := Constant(0.03)(1 << 30); got != 0.03 {
		t.Errorf("constant rate is %v", got)
	}
}

func TestEarlyStop(t *testing.T) {
	e := EarlyStop{Patience: 3}
	losses := []float64{math.NaN(), 5, 4, 4, 6, 3.5, 3.6, math.NaN(), 3.5}
	for i, loss := range losses {
		stop := e.Observe(loss, []float64{float64(i)})
		if want := i == len(losses)-1; stop != want {
			t.Fatalf("after loss %d stop is %v, want %v", i, stop, want)
		}
	}
	if e.BestAt != 6 || e.Best != 3.5 || e.Theta[0] != 5 {
		t.Errorf("best %v at %d with θ %v, want 3.5 at 6 with θ 5", e.Best, e.BestAt, e.Theta)
	}
	never := EarlyStop{}
	for range 1000 {
		if never.Observe(1, nil) {
			t.Fatal("stopped without patience")
		}
	}
}

func TestOptimiserPanicsOnLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a gradient of another length did not panic")
		}
	}()
	Adam{Rate: Constant(1)}.Step(&Moments{}, make([]float64, 3), make([]float64, 2))
}
