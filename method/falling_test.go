package method

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// descended is a restart that made epochs with these validation NLLs, of at most so many.
type descended struct {
	Search
	Course
}

func newDescended(most int, schedule nn.Schedule, val []float64) (d descended) {
	d.Search, d.From = Search{Epochs: most, Rate: 0.03, Schedule: schedule}, 1
	for _, nll := range val {
		d.Val = append(d.Val, uq.Number(nll))
	}
	return d
}

func (d descended) falling() (finding.StillFalling, bool) { return d.Search.falling(d.Course) }

// TestFalling: NLLs c + a r^t fall by gains that a further doubling squares; the extrapolation is that of the definition, from sums of geometric
// series, between the last NLL and that of a straight line.
func TestFalling(t *testing.T) {
	course := func(n int, nll func(t float64) float64) (val []float64) {
		for k := range n {
			val = append(val, nll(float64(k+1)))
		}
		return val
	}
	const e, few = 320, 16
	rate := math.Exp(-1. / 100) // g₂/g₁ is .65
	geometric := course(e, func(t float64) float64 { return 0.4 + 0.3*math.Pow(rate, t) })
	f, is := newDescended(e, nn.Constant{}, geometric).falling()
	mean := func(end float64) float64 { // of the last few, in closed form
		return 0.4 + 0.3*math.Pow(rate, end-few+1)*(1-math.Pow(rate, few))/(1-rate)/few
	}
	g1, g2 := mean(80)-mean(160), mean(160)-mean(320)
	gain := g2 * min(1, g2/g1)
	if !is || f.Epochs != e || f.Best != e || f.NLL != geometric[e-1] || !golden.Near(f.Twice, f.NLL-gain, 1e-9, 0) {
		t.Errorf("%+v, %v, want twice %v", f, is, f.NLL-gain)
	}
	linear, is := newDescended(e, nn.Constant{}, course(e, func(t float64) float64 { return 1 - t/1000 })).falling()
	if !is || !golden.Near(linear.NLL-linear.Twice, 0.16, 1e-9, 0) {
		t.Errorf("a straight line: %+v, %v", linear, is)
	}
	r := rand.New(rand.NewPCG(1, 2))
	noisy := func(t float64) float64 { return 0.5 + 0.02*r.NormFloat64() }
	fired := 0
	for range 2000 { // the mean of 16 has standard error .005, and g₂ that of √2 · .005
		if _, is := newDescended(e, nn.Constant{}, course(e, noisy)).falling(); is {
			fired++
		}
	}
	if fired > 60 { // the best of 320 among the last 16, and a gain of 1.4 standard errors or more: below .4 % and 1 %
		t.Errorf("noise around a constant fell %d times in 2,000", fired)
	}
	given := append([]float64{0.7}, geometric...)
	start := newDescended(e, nn.Constant{}, given)
	start.From = 0
	if f, is := start.falling(); !is || f.Best != e || f.NLL != geometric[e-1] {
		t.Errorf("from a given network: %+v, %v", f, is)
	}
	for name, silent := range map[string]descended{
		"patience":    newDescended(e, nn.Constant{}, geometric[:e-1]),
		"converged":   newDescended(e, nn.Constant{}, course(e, func(t float64) float64 { return 0.4 + math.Exp(-t/20) })),
		"little":      newDescended(e, nn.Constant{}, course(e, func(t float64) float64 { return 0.4 - t/50000 })),
		"overfitted":  newDescended(e, nn.Constant{}, course(e, func(t float64) float64 { return 0.4 + math.Abs(t-200)/1000 })),
		"rate at 0":   newDescended(e, nn.Cosine{}, geometric),
		"few epochs":  newDescended(7, nn.Constant{}, geometric[:7]),
		"no examples": newDescended(e, nn.Constant{}, nil),
	} {
		if f, is := silent.falling(); is {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestFallingBest: a descent that gained much by its doublings, but not in its last twentieth, has had its best epoch.
func TestFallingBest(t *testing.T) {
	const e = 200
	var val []float64
	for k := range e {
		val = append(val, 1-float64(min(k, 185))/400+float64(max(0, k-185))/1e6)
	}
	if f, is := newDescended(e, nn.Constant{}, val).falling(); is {
		t.Errorf("the best epoch is 186 of 200: %+v", f)
	}
	if _, is := newDescended(e, nn.Constant{}, append([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, val[:190]...)).falling(); !is { // 196
		t.Error("the best epoch is 196 of 200, and nothing is said")
	}
}

// TestFallingAboveZero: a straight line of an NLL is extrapolated to 0 at most where the targets are classes.
func TestFallingAboveZero(t *testing.T) {
	j := newJob(t, 1)
	var line []float64
	for k := range 40 {
		line = append(line, 0.81-0.02*float64(k))
	}
	d := newDescended(40, nn.Constant{}, line)
	j.Search = &d.Search
	found := j.stillFalling(MAP{}, d.Course)
	if len(found) != 1 || found[0].Numbers["twice"] != 0 {
		t.Errorf("%v", found)
	}
}
