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
			o := Adam{Beta1: in.Beta1, Beta2: in.Beta2, Epsilon: in.Eps}
			var m Moments
			for k, g := range in.Grads {
				o.Step(&m, in.P0, g, in.LR)
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
		SGD{Momentum: mu}.Step(&m, theta, []float64{g}, rate)
		SGD{}.Step(&n, plain, []float64{g}, rate)
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
	o := AdamW{Decay: 0.25}
	var m Moments
	theta := []float64{2, -1}
	o.Step(&m, theta, []float64{0, 0}, 0.5)
	o.Step(&m, theta, []float64{0, 0}, 0.5)
	wantNear(t, theta, []float64{2 * 0.875 * 0.875, -0.875 * 0.875}, 1e-15, 0)

	theta, m = []float64{2, -1}, Moments{}
	o.Step(&m, theta, []float64{1e-3, -10}, 0.5)
	wantNear(t, theta, []float64{2*0.875 - 0.5, -0.875 + 0.5}, 0, 1e-5)

	theta, m = []float64{1}, Moments{}
	AdamW{}.Step(&m, theta, []float64{0}, 1)
	wantNear(t, theta, []float64{0.99}, 1e-15, 0)
}

// TestAdamWAndCosine compares with PyTorch 2.13 in float64: torch.optim.AdamW(lr=.05, weight_decay=.1) and
// CosineAnnealingLR(T_max=5), which steps once an epoch, on the logistic regression of four examples in batches of two,
// binary_cross_entropy_with_logits. The parameters after each epoch are those that PyTorch printed.
func TestAdamWAndCosine(t *testing.T) {
	x := [][]float64{{1, 0.5, 1}, {1, -1.5, 2}, {1, 2, -0.5}, {1, -0.25, -1}}
	y := []float64{1, 0, 1, 0}
	theta, o, m := []float64{0.5, -1, 2}, AdamW{Decay: 0.1}, Moments{}
	for epoch, want := range [][]float64{
		{0.4421297449199185, -0.8902573755081551, 1.8923909578689304},
		{0.4157269433329418, -0.7921804055055969, 1.8021900074175785},
		{0.4003277001839576, -0.721842919397603, 1.7385761592157767},
		{0.39290831541375554, -0.6849541398570269, 1.7054980010794185},
		{0.3909423761119179, -0.6747945911774959, 1.6964357754968173},
	} {
		for batch := 0; batch < 4; batch += 2 {
			grad := make([]float64, 3)
			for i := batch; i < batch+2; i++ {
				z := 0.0
				for k := range theta {
					z += theta[k] * x[i][k]
				}
				for k := range theta {
					grad[k] += (1/(1+math.Exp(-z)) - y[i]) * x[i][k] / 2
				}
			}
			o.Step(&m, theta, grad, 0.05*Cosine{}.Share(epoch, 5))
		}
		wantNear(t, theta, want, 1e-13, 0)
	}
}

// TestDecays: where an optimiser decays, a step without a gradient shrinks the parameters; where it does not, they stay.
func TestDecays(t *testing.T) {
	for _, row := range Optimisers {
		theta := []float64{2}
		row.Part.Step(new(Moments), theta, []float64{0}, 0.1)
		if row.Part.Decays() != (theta[0] < 2) {
			t.Errorf("%s decays: %v, and a step without a gradient leads from 2 to %v", row.Name, row.Part.Decays(), theta[0])
		}
	}
}

// A state that was saved in the middle continues with the same bytes.
func TestMomentsRoundTrip(t *testing.T) {
	for _, row := range Optimisers {
		name, o := row.Name, row.Part
		if name == "sgd" {
			o = SGD{Momentum: 0.9}
		}
		grad := func(theta []float64) []float64 { return []float64{theta[0] - 1, 4 * (theta[1] + 2)} }
		var m Moments
		theta := []float64{5, 5}
		for range 5 {
			o.Step(&m, theta, grad(theta), 0.1)
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
			o.Step(&m, theta, grad(theta), 0.1)
			o.Step(&back, other, grad(other), 0.1)
		}
		if theta[0] != other[0] || theta[1] != other[1] {
			t.Errorf("%s: %v after a round trip, want %v", name, other, theta)
		}
	}
}

// TestSchedules compares with the formulas of PyTorch's schedulers.
func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s         Schedule
		epoch, of int
		want      float64
	}{
		{Constant{}, 1 << 30, 1 << 31, 1},
		{StepDecay{Every: 10, Factor: 0.5}, 0, 40, 1},
		{StepDecay{Every: 10, Factor: 0.5}, 9, 40, 1},
		{StepDecay{Every: 10, Factor: 0.5}, 10, 40, 0.5},
		{StepDecay{Every: 10, Factor: 0.5}, 39, 40, 0.125},
		{StepDecay{}, 9, 28, 1}, // a third of 28, rounded up, is 10
		{StepDecay{}, 10, 28, 0.1},
		{StepDecay{Factor: 0.25}, 20, 28, 0.0625},
		{StepDecay{}, 0, 1, 1},
		{Cosine{}, 40, 40, 0},
	} {
		if got := c.s.Share(c.epoch, c.of); got != c.want {
			t.Errorf("%#v: the share of epoch %d of %d is %v, want %v", c.s, c.epoch, c.of, got, c.want)
		}
	}
	for epoch := range 300 {
		want := 0.5 * (1 + math.Cos(math.Pi*float64(epoch)/300))
		if got := (Cosine{}).Share(epoch, 300); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("cosine: the share of epoch %d of 300 is %v, want %v", epoch, got, want)
		}
	}
	for _, c := range []struct{ warmup, of int }{{1, 2}, {1, 300}, {3, 10}, {299, 300}} { // the rise, the whole rate, and the cosine of the rest
		s := Cosine{Warmup: c.warmup}
		for epoch := range c.warmup {
			if got, want := s.Share(epoch, c.of), float64(epoch+1)/float64(c.warmup+1); got != want {
				t.Errorf("%+v: the share of epoch %d is %v, want %v", c, epoch, got, want)
			}
		}
		for epoch := range c.of - c.warmup {
			if got, want := s.Share(c.warmup+epoch, c.of), (Cosine{}).Share(epoch, c.of-c.warmup); got != want {
				t.Errorf("%+v: the share of epoch %d is %v, want %v", c, c.warmup+epoch, got, want)
			}
		}
		if first, whole, last := s.Share(0, c.of), s.Share(c.warmup, c.of), s.Share(c.of-1, c.of); !(first > 0) || whole != 1 || !(last > 0) || s.Share(c.of, c.of) != 0 {
			t.Errorf("%+v: the shares are %v at first, %v behind the warm-up, %v at last", c, first, whole, last)
		}
	}
	for _, row := range Schedules {
		if first := row.Part.Share(0, 7); first != 1 {
			t.Errorf("%s: the share of the first epoch is %v", row.Name, first)
		}
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
	Adam{}.Step(&Moments{}, make([]float64, 3), make([]float64, 2), 1)
}
