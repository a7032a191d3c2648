package decide

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// TestTemperatureOfAFineGrid: T is that of the least of n·NLL + penalty, computed by other functions on a grid of 1,001 points, to its step, for
// laws that are too sure and too modest, and for few examples.
func TestTemperatureOfAFineGrid(t *testing.T) {
	for k, n := range []int{20, 200, 500} {
		for j, hot := range []float64{0.5, 1, 2.5} {
			probs, labels := sample(random(10*k+j), n, 5)
			probs = Temper(probs, 5, 1/hot)
			got, err := Temperature(probs, 5, labels)
			if err != nil {
				t.Fatal(err)
			}
			loss := func(u float64) float64 {
				return float64(n)*uq.NLL(Temper(probs, 5, math.Exp(u)), 5, labels) + u*u/(2*0.25*0.25)
			}
			const step = 0.002
			best, least := 0.0, math.Inf(1)
			for i := -500; i <= 500; i++ {
				if u := math.Log(hot) + step*float64(i); loss(u) < least {
					best, least = u, loss(u)
				}
			}
			within(t, "ln T", math.Log(got), best, step)
			if l := loss(math.Log(got)); !(l <= least+1e-9*least) {
				t.Errorf("the loss at T is %v, on the grid %v", l, least)
			}
		}
	}
}

// TestTemperatureFindsTheTruth: 20,000 labels drawn from probabilities, which are then made too sure by a factor of 2 in the logits. The
// standard error of ln T is about 0.008, so 5 of them fail with a chance of 6e-7.
func TestTemperatureFindsTheTruth(t *testing.T) {
	probs, labels := sample(random(40), 20000, 5)
	got, err := Temperature(Temper(probs, 5, 0.5), 5, labels)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "ln T", math.Log(got), math.Ln2, 0.04)
}

func TestTemperatureWithoutEvidence(t *testing.T) {
	probs, labels := slices.Repeat([]float64{0.25}, 4*50), make([]int32, 50)
	got, err := Temperature(probs, 4, labels)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "T of equal probabilities", got, 1, 1e-6)

	// Three right answers alone would have the smallest T there is.
	got, err = Temperature([]float64{0.6, 0.4, 0.7, 0.3, 0.8, 0.2}, 2, []int32{0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if !(got > 0.8 && got < 1) {
		t.Errorf("T of three right answers is %v", got)
	}
}

func TestTemperatureRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		probs  []float64
		labels []int32
	}{
		{[]float64{0.5, 0.5}, []int32{2}}, {[]float64{0.5, 0.5}, []int32{-1}}, {[]float64{0.5}, []int32{0}},
		{[]float64{nan, 0.5}, []int32{0}}, {nil, nil},
	} {
		if got, err := Temperature(c.probs, 2, c.labels); err == nil {
			t.Errorf("T of %v, %v is %v", c.probs, c.labels, got)
		}
	}
	probs, labels := sample(random(41), 100, 3)
	want, _ := Temperature(probs, 3, labels)
	got, err := Temperature(append(probs, nan, 0, 1), 3, append(labels, 0))
	if err != nil || got != want {
		t.Errorf("with a row that is NaN T is %v, %v; want %v", got, err, want)
	}
	got, err = Temperature(append(probs[:300:300], 0, 0.5, 0.5), 3, append(labels[:100:100], 0)) // a label that had no chance
	if err != nil || !(got > want && got < 64) {
		t.Errorf("with a label of probability 0 T is %v, %v; without it %v", got, err, want)
	}
}

func TestTemper(t *testing.T) {
	p := []float64{0.1, 0.2, 0.7, 0, 1, 0, math.NaN(), 0.5, 0.5}
	if got := Temper(p, 3, 1); !slices.Equal(got[:6], p[:6]) {
		t.Errorf("at T = 1: %v", got)
	}
	got := Temper(p, 3, 2)
	sum := math.Sqrt(.1) + math.Sqrt(.2) + math.Sqrt(.7)
	for c, v := range p[:3] {
		within(t, "tempered", got[c], math.Sqrt(v)/sum, 1e-15)
	}
	if !slices.Equal(got[3:6], p[3:6]) || uq.Argmax(got[6:]) >= 0 {
		t.Errorf("at T = 2: %v", got)
	}
	if p[0] != 0.1 {
		t.Error("the probabilities given have changed")
	}
}

// TestFactorOfNormals: for normal laws n·NLL(c) = n ln c + Σz²/2c² + …, whose least with the penalty solves n − Σz²/c² + ln c/0.0625 = 0.
func TestFactorOfNormals(t *testing.T) {
	for k, true_ := range []float64{0.3, 1, 3} {
		const n = 200
		s, sum := random(50+k), 0.0
		var laws []*uq.Normals
		var y []float64
		for i := range n {
			z := true_ * s.Normal()
			sum += z * z
			laws = append(laws, &uq.Normals{Weights: []float64{1}, Mean: []float64{float64(i)}, SD: []float64{2}})
			y = append(y, float64(i)+2*z)
		}
		got, err := Factor(n, Spread, func(c float64) float64 {
			nll := 0.0
			for i, l := range laws {
				nll -= stretched(l, c).LogDensity(y[i])
			}
			return nll / n
		})
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := 1./64, 64.
		for range 200 {
			if c := (lo + hi) / 2; n-sum/(c*c)+math.Log(c)/0.0625 < 0 {
				lo = c
			} else {
				hi = c
			}
		}
		within(t, "c", got, lo, 1e-6*lo)
	}
}

// stretched is a mixture c times as wide.
func stretched(n *uq.Normals, c float64) *uq.Normals {
	wide := &uq.Normals{Weights: n.Weights, Mean: slices.Clone(n.Mean), SD: slices.Clone(n.SD), DF: n.DF}
	wide.Stretch(c)
	return wide
}

func TestFactorRefusesALawWithoutDensity(t *testing.T) {
	if c, err := Factor(3, Spread, func(float64) float64 { return math.Inf(1) }); err == nil {
		t.Errorf("a factor of %v", c)
	}
	if c, err := Factor(3, Spread, func(float64) float64 { return math.Inf(-1) }); err == nil {
		t.Errorf("a factor of %v", c)
	}
	if c, err := Factor(3, Spread, func(float64) float64 { return math.NaN() }); err == nil {
		t.Errorf("a factor of %v", c)
	}
	// The deepest of two minima, at ln c = 1 and −1.2.
	c, err := Factor(1000, Spread, func(c float64) float64 {
		u := rng.Log(c)
		return min((u-1)*(u-1), (u+1.2)*(u+1.2)-0.5)
	})
	if err != nil || !(math.Log(c) < -1.1) {
		t.Errorf("ln c is %v, %v; want −1.2", math.Log(c), err)
	}
}
