package uq

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// tails are the exact probabilities that at least k, and at most k, of independent events happen, by the recursion over the events.
func tails(p []float64, k int) (atLeast, atMost float64) {
	number := make([]float64, len(p)+1) // P(number = j)
	number[0] = 1
	for i, x := range p {
		for j := i + 1; j > 0; j-- {
			number[j] = number[j]*(1-x) + number[j-1]*x
		}
		number[0] *= 1 - x
	}
	for j, q := range number {
		if j >= k {
			atLeast += q
		}
		if j <= k {
			atMost += q
		}
	}
	return atLeast, atMost
}

// TestLogChanceBounds: the bound is never below the exact probability of the tail, and not far above it: by a factor that grows with
// the distance from the mean.
func TestLogChanceBounds(t *testing.T) {
	draw := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream()
	for range 40 {
		p := make([]float64, 1+draw.IntN(60))
		mean, variance := 0.0, 0.0
		for i := range p {
			u := draw.Float64()
			p[i] = 1 - u*u*u // many are near 1, as confidences are
			mean, variance = mean+p[i], variance+p[i]*(1-p[i])
		}
		for k := range len(p) + 1 {
			exact, atMost := tails(p, k)
			if float64(k) < mean {
				exact = atMost
			}
			got := math.Exp(LogChance(p, k))
			z := math.Abs(float64(k)-mean) / math.Sqrt(variance)
			if !(got >= exact*(1-1e-9)) {
				t.Errorf("%d of %v: the bound %v is below the probability %v", k, p, got, exact)
			}
			if !(got <= exact*(4+4*z*math.Sqrt(variance))) {
				t.Errorf("%d of %v: the bound %v is far above the probability %v", k, p, got, exact)
			}
		}
	}
}

// TestLogChance compares with the closed form for equal probabilities, −n times the divergence of k/n from p, and with the ends.
func TestLogChance(t *testing.T) {
	for _, c := range []struct {
		n, k int
		p    float64
	}{{100, 95, .9}, {100, 80, .9}, {7000, 6643, .893}, {20, 20, .5}, {20, 0, .5}, {1000, 501, .5}} {
		share, want := float64(c.k)/float64(c.n), 0.0
		for _, part := range [][2]float64{{share, c.p}, {1 - share, 1 - c.p}} {
			if part[0] > 0 {
				want -= float64(c.n) * part[0] * math.Log(part[0]/part[1])
			}
		}
		if got := LogChance(slices.Repeat([]float64{c.p}, c.n), c.k); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%d of %d at %v: %v, want %v", c.k, c.n, c.p, got, want)
		}
	}
	for _, c := range []struct {
		p    []float64
		k    int
		want float64
	}{
		{[]float64{1, 1, .5}, 1, math.Inf(-1)}, {[]float64{0, 0, .5}, 2, math.Inf(-1)}, {[]float64{1, 1, .5}, 3, math.Log(.5)},
		{[]float64{1, 1, .5}, 2, math.Log(.5)}, {nil, 0, 0}, {[]float64{1}, 1, 0}, {[]float64{.5, .5}, 1, 0},
	} {
		if got := LogChance(c.p, c.k); !(got == c.want || math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%d of %v: %v, want %v", c.k, c.p, got, c.want)
		}
	}
	if got := LogChance([]float64{.5, math.NaN()}, 1); !math.IsNaN(got) {
		t.Errorf("%v for an undefined probability", got)
	}
}

// TestFalseAlarms: among calibrated networks the test at 1 in 20 on either side alarms in at most a tenth. Of 4000 networks at most 495
// alarm with a probability of 1 − 1e-6, where the rate is a tenth. A network whose confidence is 4 points too low is found in most
// cases with 1,000 examples.
func TestFalseAlarms(t *testing.T) {
	const networks, n, once = 4000, 60, 20
	draw := rng.Key{Seed: 4, Purpose: rng.Synthetic}.Stream()
	alarms := func(networks, n int, shift float64) (count int) {
		for range networks {
			p, right := make([]float64, n), 0
			for i := range p {
				p[i] = .5 + .46*draw.Float64()
				if draw.Float64() < p[i]+shift {
					right++
				}
			}
			if LogChance(p, right) < -math.Log(once) {
				count++
			}
		}
		return count
	}
	if got := alarms(networks, n, 0); got > 495 {
		t.Errorf("%d false alarms of %d", got, networks)
	}
	if got := alarms(200, 1000, .04); got < 120 {
		t.Errorf("%d of 200 networks that are 4 points under-confident are found", got)
	}
}

// TestECEByChance: the mean of the simulated errors is that of the definition. With one confidence c for all n examples, ECE is
// |k/n − c| for a binomial k. Over 2,000 draws the mean has a standard error of sd/√2000; 4.9 of them have a false-failure rate of
// 1e-6, and find an error of 3 %.
func TestECEByChance(t *testing.T) {
	for _, c := range []struct {
		n int
		p float64
	}{{40, .9}, {200, .72}} {
		number := make([]float64, c.n+1)
		number[0] = 1
		for i := range c.n {
			for j := i + 1; j > 0; j-- {
				number[j] = number[j]*(1-c.p) + number[j-1]*c.p
			}
			number[0] *= 1 - c.p
		}
		mean, square := 0.0, 0.0
		for k, q := range number {
			e := math.Abs(float64(k)/float64(c.n) - c.p)
			mean, square = mean+q*e, square+q*e*e
		}
		const draws = 2000
		got := ECEByChance(slices.Repeat([]float64{c.p}, c.n), Bins, draws)
		if !slices.IsSorted(got) || len(got) != draws || !(math.Abs(Mean(got)-mean) <= 4.9*math.Sqrt((square-mean*mean)/draws)) {
			t.Errorf("%+v: mean %v, want %v", c, Mean(got), mean)
		}
		if again := ECEByChance(slices.Repeat([]float64{c.p}, c.n), Bins, draws); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Error("the draws differ from call to call")
		}
	}
	// Bins add up: two of them, of confidences .3 and .9, have the mean of both, by their shares of the examples.
	both := ECEByChance(append(slices.Repeat([]float64{.3}, 100), slices.Repeat([]float64{.9}, 300)...), Bins, 2000)
	apart := .25*Mean(ECEByChance(slices.Repeat([]float64{.3}, 100), Bins, 2000)) + .75*Mean(ECEByChance(slices.Repeat([]float64{.9}, 300), Bins, 2000))
	if !(math.Abs(Mean(both)-apart) <= .1*apart) {
		t.Errorf("mean %v of two bins, want %v", Mean(both), apart)
	}
}
