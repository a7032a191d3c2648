package mcmc

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Where pCN begins, trials find b: the first move of 400 draws of a narrow posterior is accepted about as often as aimed at, as
// well as 16 copies can tell. Every trial costs a value for each of them.
func TestPCNFindsItsStep(t *testing.T) {
	const d, sd = 3, 0.02
	precision := make([][]float64, d)
	for i := range precision {
		precision[i] = make([]float64, d)
		precision[i][i] = 1 / (sd * sd)
	}
	m := &model{d: d, log: gaussian(precision, make([]float64, d)), factor: 1}
	target := &Target{Model: m, Prior: normal{make([]float64, d), []float64{1, 1, 1}}, Lambda: 1}
	p := NewPopulation(400, d, Needs{})
	exact(t, target, &p, make([]float64, d), []float64{sd * sd, sd * sd, sd * sd})
	weights := make([]float64, p.J)
	for j := range weights {
		weights[j] = 1 / float64(p.J)
	}
	tuning, err := PCN{}.Tuning(target)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	calls := m.calls
	trials, err := PCN{}.Begin(context.Background(), &w, target, &p, weights, tuning, at(4, 0))
	if err != nil || trials.Values != m.calls-calls || trials.Values%16 != 0 || trials.Values == 0 {
		t.Fatalf("trials %+v, %d evaluations, %v", trials, m.calls-calls, err)
	}
	out, err := PCN{}.Mutate(context.Background(), &w, target, &p, tuning, at(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	if a := averageOf(out.Probability); a < 0.08 || a > 0.5 {
		t.Errorf("the first move has acceptance %v, b %v", a, out.Step)
	}
}

// The scale of a population is that of its weighted particles, shrunk by five of them towards the last scale times a common
// factor. Half of the particles are far out and have no weight.
func TestScaleOfWeightedParticles(t *testing.T) {
	target, _, _ := conjugate(2)
	for _, n := range []int{4, 400} { // particles that have a weight
		p := NewPopulation(2*n, 2, Needs{Gradient: true})
		weights, far := make([]float64, p.J), 50.0
		for j := range p.J {
			x, y := math.Sin(float64(7*j)), 0.1*math.Cos(float64(11*j))
			if weights[j] = 1 / float64(n); j >= n {
				weights[j], x, y = 0, far+x, far+y
			}
			p.Theta[2*j], p.Theta[2*j+1] = x, y
		}
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		move := HMC{Steps: 2, Scale: Diagonal}
		tuning, err := move.Tuning(target)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		trials, err := move.Begin(context.Background(), &w, target, &p, weights, tuning, at(4, 0))
		if err != nil || trials.Kept {
			t.Fatalf("%+v, %v", trials, err)
		}
		last := []float64{1.5, 0.6} // of the prior
		var u [2]float64
		for i := range u {
			mean, square := 0.0, 0.0
			for j := range n {
				mean += p.Theta[2*j+i] / float64(n)
			}
			for j := range n {
				square += (p.Theta[2*j+i] - mean) * (p.Theta[2*j+i] - mean) / float64(n-1)
			}
			u[i] = square / (last[i] * last[i])
		}
		// Copies of a particle count once, and the dead are distinct too: n points.
		for i, got := range tuning[header : header+2] {
			want := last[i] * math.Exp((float64(n)*math.Log(u[i])+5*(math.Log(u[0])+math.Log(u[1]))/2)/float64(n+5)/2)
			if !(math.Abs(got-want) <= 1e-9*want) {
				t.Errorf("%d particles, coordinate %d: scale %v, want %v", n, i, got, want)
			}
		}
	}
}

// A chain refuses a length that its budget has too few leapfrogs for, and one of more leapfrogs than any trajectory may have.
func TestLengthsBeyondTheBudget(t *testing.T) {
	target, _, _ := conjugate(2)
	for _, c := range []struct {
		length float64
		left   int
		want   string
	}{
		{AutoLength, 700, ""},
		{10, 700, ""},
		{1e4, 0, ""}, // a population has no budget
		{1e4, 700, "a trajectory of length 1e+04 takes "},
		{1e4, 5000, "and may have 1000 in this budget: take length: "},
	} {
		p := NewPopulation(1, 2, Needs{Gradient: true})
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		move := HMC{Length: c.length, Scale: None}
		tuning, err := move.Tuning(target)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		now := at(4, 0)
		now.Left = c.left
		_, err = move.Begin(context.Background(), &w, target, &p, []float64{1}, tuning, now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("length %v of %d leapfrogs: %v, want %q", c.length, c.left, err, c.want)
		}
	}
}

// A chain of pCN adapts b in its warm-up, and then takes the average of it.
func TestPCNChainsTakeTheAverage(t *testing.T) {
	target, mean, variance := conjugate(3)
	p := NewPopulation(1, 3, Needs{})
	exact(t, target, &p, mean, variance)
	move := PCN{}.ForChains()
	tuning, err := move.Tuning(target)
	if err != nil {
		t.Fatal(err)
	}
	var w Work
	const moves = 400
	early := map[float64]bool{}
	for k := range moves {
		now := at(7, k)
		now.Progress, now.Left = float64(k)/moves, moves-k
		average := 1 / (1 + math.Exp(-tuning[logStepMean]))
		out, err := move.Mutate(context.Background(), &w, target, &p, tuning, now)
		if err != nil {
			t.Fatal(err)
		}
		if now.Progress < WarmUp {
			early[out.Step] = true
		} else if math.Abs(out.Step-average) > 1e-12 {
			t.Fatalf("move %d has b %v, the average is %v", k, out.Step, average)
		}
	}
	if len(early) < moves/4 {
		t.Errorf("the warm-up tries %d steps", len(early))
	}
}
