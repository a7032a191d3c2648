package mcmc

import (
	"context"
	"math"
	"slices"
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
	tuning, err := PCN{}.Tuning(target, 1)
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

// Each fold learns its scale from the weighted particles of the other folds, shrunk by five of them towards the last scale times a
// common factor. Half of the particles are far out and have no weight. Every particle has a copy, which is in its fold: together
// they count once.
func TestScaleOfTheOtherFolds(t *testing.T) {
	target, _, _ := conjugate(2)
	for _, n := range []int{5, 400} { // particles that have a weight
		p := NewPopulation(4*n, 2, Needs{Gradient: true})
		weights, far := make([]float64, p.J), 50.0
		for j := range 2 * n {
			x, y := math.Sin(float64(7*j)), 0.1*math.Cos(float64(11*j))
			w := 0.5 / float64(n)
			if j >= n {
				w, x, y = 0, far+x, far+y
			}
			for _, k := range []int{j, 2*n + j} {
				weights[k], p.Theta[2*k], p.Theta[2*k+1] = w, x, y
			}
		}
		if err := target.Evaluate(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		move := HMC{Steps: 2, Scale: Diagonal}
		tuning, err := move.Tuning(target, p.J)
		if err != nil {
			t.Fatal(err)
		}
		var w Work
		trials, err := move.Begin(context.Background(), &w, target, &p, weights, tuning, at(4, 0))
		if err != nil || trials.Kept {
			t.Fatalf("%+v, %v", trials, err)
		}
		folds := move.reads(target, tuning).scales
		if len(folds) != 8 || p.Fold[3] == p.Fold[2] || p.Fold[2*n+3] != p.Fold[3] {
			t.Errorf("%d folds, %v", len(folds), p.Fold)
		}
		last := []float64{1.5, 0.6} // of the prior
		for f, got := range folds {
			var u [2]float64
			var m float64 // distinct particles of other folds
			for j := range n {
				if int(p.Fold[j]) != f {
					m++
				}
			}
			if n > 5 && m == float64(n) {
				t.Errorf("fold %d is empty", f)
			}
			for i := range u {
				mean, square := 0.0, 0.0
				for j := range n {
					if int(p.Fold[j]) != f {
						mean += p.Theta[2*j+i] / m
					}
				}
				for j := range n {
					if int(p.Fold[j]) != f {
						square += (p.Theta[2*j+i] - mean) * (p.Theta[2*j+i] - mean)
					}
				}
				u[i] = square / (m - 0.5) / (last[i] * last[i]) // 2m weights of 1/2m
			}
			for i, got := range got.sd {
				want := last[i] * math.Exp((m*math.Log(u[i])+5*(math.Log(u[0])+math.Log(u[1]))/2)/(m+5)/2)
				if !(math.Abs(got-want) <= 1e-9*want) {
					t.Errorf("%d particles, fold %d, coordinate %d: scale %v, want %v", n, f, i, got, want)
				}
			}
		}
	}
}

// A particle moves by the scale of its fold, and a copy has the fold of its parent.
func TestParticlesMoveByTheirFold(t *testing.T) {
	target, _, _ := conjugate(2)
	p := NewPopulation(6, 2, Needs{Gradient: true})
	for j := range p.J {
		p.Theta[2*j], p.Theta[2*j+1] = float64(j), -float64(j)
	}
	if err := target.Evaluate(context.Background(), &p); err != nil {
		t.Fatal(err)
	}
	move := HMC{Steps: 1, Step: 1, Scale: Diagonal}
	tuning, err := move.Tuning(target, p.J)
	if err != nil {
		t.Fatal(err)
	}
	frozen := move.reads(target, tuning).scales[4] // the others move
	clear(frozen.sd)
	for j := range p.Fold {
		p.Fold[j] = int32(j)
	}
	children := p.Blank()
	children.Gather(nil, &p, []int32{4, 0, 1, 4, 4, 5})
	start := slices.Clone(children.Theta)
	var w Work
	if _, err := move.Mutate(context.Background(), &w, target, &children, tuning, at(4, 0)); err != nil {
		t.Fatal(err)
	}
	for j, parent := range []int{4, 0, 1, 4, 4, 5} {
		if still := w.Proposal.Theta[2*j] == start[2*j]; still != (parent == 4) {
			t.Errorf("child %d of %d, in fold %d: its proposal is from %v to %v", j, parent, children.Fold[j], start[2*j], w.Proposal.Theta[2*j])
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
		tuning, err := move.Tuning(target, p.J)
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
	tuning, err := move.Tuning(target, p.J)
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
