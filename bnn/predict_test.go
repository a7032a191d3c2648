package bnn

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// indicators is a set of n examples, the unit vectors: a dense layer without bias on them outputs its own columns.
func indicators(n int) *data.Set {
	set := &data.Set{Name: "indicators", Shape: []int{n}, F32: make([]float32, n*n)}
	for i := range n {
		set.F32[i*n+i] = 1
	}
	return set
}

// columns is the weight [outputs, n] of the layer that gives example i outputs[i].
func columns(outputs [][]float64) []float64 {
	var w []float64
	for c := range outputs[0] {
		for i := range outputs {
			w = append(w, outputs[i][c])
		}
	}
	return w
}

func denseNet(t *testing.T, inputs, outputs int, lik nn.Likelihood) *nn.Net {
	t.Helper()
	net, err := nn.New([]int{inputs}, []nn.Layer{nn.Dense{Units: outputs, NoBias: true}}, lik)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func predict(t *testing.T, e *Ensemble, set *data.Set, threads int) *uq.Predictive {
	t.Helper()
	p, err := e.Predict(context.Background(), set, pool.New(threads))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGoldenEnsemble: weighted mean probabilities from logits. They are weights of a network here, rounded to float32:
// a logit below 8 is off by at most 2.4e-7, and a probability moves by at most half as much for each of the 2
// logits that matter.
func TestGoldenEnsemble(t *testing.T) {
	ran := 0
	for _, c := range golden.Read(t, "weights.json") {
		if c.Kind != "ensemble" {
			continue // TestGoldenIslands
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			var in struct {
				LogW   []float64
				Logits [][][]float64
			}
			var want struct {
				Probs  [][]float64
				Argmax []int
			}
			decode(t, c.Inputs, &in)
			decode(t, c.Expected, &want)
			n, classes := len(want.Probs), len(want.Probs[0])
			island := Island{LogWeights: in.LogW}
			for _, logits := range in.Logits {
				island.Theta = append(island.Theta, columns(logits)...)
			}
			e := combine(t, denseNet(t, n, classes, nn.Categorical{}), []Island{island}, Equal{})
			p := predict(t, e, indicators(n), 1)
			wantNear(t, "probabilities", p.Probs, slices.Concat(want.Probs...), 0, 5e-7)
			for i, c := range want.Argmax {
				if got := uq.Argmax(p.Probs[i*classes : (i+1)*classes]); got != c {
					t.Errorf("example %d is class %d, want %d", i, got, c)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("weights.json has no case of kind ensemble")
	}
}

// Check 5 of scalable-bayesian-monte-carlo, through a network: one particle has no epistemic entropy; two that are
// certain of opposite classes have all of it, ln 2; weights count.
func TestPredictEntropies(t *testing.T) {
	net := denseNet(t, 1, 2, nn.Categorical{})
	sure := []float64{-400, 400, 400, -400}
	one := predict(t, combine(t, net, []Island{{Theta: []float64{0, math.Log(3)}}}, Equal{}), indicators(1), 1)
	wantNear(t, "one particle", []float64{one.Probs[0], one.Epistemic[0]}, []float64{0.25, 0}, 0, 1e-7)
	two := predict(t, combine(t, net, []Island{{Theta: sure}}, Equal{}), indicators(1), 1)
	wantNear(t, "opposite particles", []float64{two.Total[0], two.Aleatoric[0], two.Epistemic[0]}, []float64{math.Ln2, 0, math.Ln2}, 1e-12, 1e-12)
	dead := predict(t, combine(t, net, []Island{{Theta: sure, LogWeights: []float64{0, math.Inf(-1)}}}, Equal{}), indicators(1), 1)
	wantNear(t, "one dead", []float64{dead.Probs[1], dead.Total[0]}, []float64{1, 0}, 0, 1e-12)
}

func TestPredictBernoulli(t *testing.T) {
	net := denseNet(t, 2, 1, nn.Bernoulli{})
	p := predict(t, combine(t, net, []Island{{Theta: []float64{0, 1, 0, -2}}}, Equal{}), indicators(2), 1)
	one := (1/(1+math.Exp(-1)) + 1/(1+math.Exp(2))) / 2
	wantNear(t, "probabilities", p.Probs, []float64{0.5, 0.5, 1 - one, one}, 0, 1e-7)
}

// A mixture of N(1, 3²), N(2, 3²) and N(5, 3²) with weights ½, ¼, ¼ has mean 2.25 and variance 9 + 2.6875.
func TestPredictRegression(t *testing.T) {
	weights := []float64{math.Log(2), 0, 0}
	for name, c := range map[string]struct {
		lik       nn.Likelihood
		theta     []float64
		aleatoric float64
	}{
		"fixed":   {nn.Gaussian{SD: 3}, []float64{1, 2, 5}, 3},
		"learned": {nn.Gaussian{SD: nn.Learned}, []float64{1, 0, 2, math.Log(2), 5, math.Log(4)}, math.Sqrt(0.5 + 1 + 4)},
	} {
		e := combine(t, denseNet(t, 1, 1, c.lik), []Island{{Theta: c.theta, LogWeights: weights}}, Equal{})
		v, err := e.PredictRegression(context.Background(), indicators(1), nil, pool.New(1))
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, name, []float64{v.Mean[0], v.Aleatoric[0], v.Epistemic[0]}, []float64{2.25, c.aleatoric, math.Sqrt(2.6875)}, 1e-6, 0)
	}
}

// random is an ensemble of a small convolutional network and a set of n examples with labels.
func random(t *testing.T, particles, n int) (*Ensemble, *data.Set) {
	t.Helper()
	net := convNet(t)
	s := rng.Key{Seed: 3, Purpose: rng.Synthetic}.Stream()
	islands := make([]Island, 2)
	for p := range islands {
		islands[p] = Island{Theta: make([]float64, particles/2*net.Dim()), LogEvidence: float64(p)}
		s.Normals(islands[p].Theta)
	}
	set := &data.Set{Name: "random", Shape: []int{1, 6, 6}, U8: make([]uint8, n*36), Labels: make([]int32, n), Classes: 3}
	for i := range set.U8 {
		set.U8[i] = uint8(s.IntN(256))
	}
	for i := range set.Labels {
		set.Labels[i] = int32(s.IntN(3))
	}
	return combine(t, net, islands, Evidence{}), set
}

// The same bits for any number of threads, and from the file as from memory; 40 particles and 1,100 examples are
// more than one pass and more than one stretch.
func TestPredictSameBits(t *testing.T) {
	e, set := random(t, 40, 1100)
	var b bytes.Buffer
	if err := WritePosterior(&b, e); err != nil {
		t.Fatal(err)
	}
	read, err := ReadPosterior(b.Bytes(), e.Net)
	if err != nil {
		t.Fatal(err)
	}
	all := predict(t, e, set, 1)
	if tail := predict(t, e, set.Slice("tail", 1000, 1100), 1); !slices.Equal(tail.Probs, all.Probs[1000*3:]) {
		t.Error("the last 100 examples are predicted otherwise when they are alone")
	}
	want := fmt.Sprint(*all)
	for _, threads := range []int{1, 2, 7} {
		if got := fmt.Sprint(*predict(t, read, set, threads)); got != want {
			t.Errorf("%d threads: another prediction than in memory with 1", threads)
		}
	}
	for _, h := range predict(t, e, set, 2).Epistemic {
		if !(h >= 0 && h <= math.Log(3)) {
			t.Fatalf("epistemic entropy %v", h)
		}
	}
}

// A prediction is the weighted sum over the particles, each predicted on its own.
func TestPredictBruteForce(t *testing.T) {
	e, set := random(t, 20, 50)
	sum := make([]float64, 50*3)
	for j := range e.Size() {
		theta := make([]float64, e.Net.Dim())
		for i := range theta {
			theta[i] = float64(e.Theta[j*len(theta)+i])
		}
		one := predict(t, combine(t, e.Net, []Island{{Theta: theta}}, Equal{}), set, 1)
		for i, p := range one.Probs {
			sum[i] += math.Exp(e.LogWeights[j]) * p
		}
	}
	wantNear(t, "probabilities", predict(t, e, set, 1).Probs, sum, 0, 1e-12)
}

func TestEvaluate(t *testing.T) {
	e, set := random(t, 4, 300)
	_, ood := random(t, 2, 70)
	ood.Labels = nil
	got, err := e.Evaluate(context.Background(), set, []data.Group{{Name: "other", Set: ood}}, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	p := predict(t, e, set, 1)
	if want := uq.Accuracy(p.Probs, 3, set.Labels); float64(got.Accuracy) != want || len(got.Groups) != 3 {
		t.Errorf("accuracy %v and %d groups, want %v and 3", got.Accuracy, len(got.Groups), want)
	}
	if g := got.Groups[2]; g.Name != "other" || g.N != 70 || g.AUROC == nil {
		t.Errorf("group %+v", g)
	}
	if n := got.Groups[0].N + got.Groups[1].N; n != 300 {
		t.Errorf("%d examples are right or wrong, want 300", n)
	}
}

// Under several weightings at once each has the bits that it has alone: all particles, their islands weighted otherwise,
// and one of them.
func TestEvaluateUnderSeveralWeightings(t *testing.T) {
	e, set := random(t, 20, 1100)
	equal, err := e.Weigh(Equal{})
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Repeat([]float64{math.Inf(-1)}, e.Size())
	last[e.Size()-1] = 0
	weightings := [][]float64{e.LogWeights, equal, last}
	groups := []data.Group{{Name: "same", Set: set}}
	together, err := e.EvaluateClasses(t.Context(), set, groups, weightings, nil, false, pool.New(2))
	if err != nil {
		t.Fatal(err)
	}
	for w, logWeights := range weightings {
		alone := *e
		alone.LogWeights = logWeights
		if w == 2 {
			d := e.Net.Dim()
			alone = Ensemble{Net: e.Net, Theta: e.Theta[len(e.Theta)-d:], LogWeights: []float64{0}, Island: []int32{0}, LogEvidence: []float64{0}}
		}
		want := predict(t, &alone, set, 1)
		got := together[w]
		if fmt.Sprint(*got.Test) != fmt.Sprint(*want) || fmt.Sprint(*got.Groups[0]) != fmt.Sprint(*want) {
			t.Errorf("weighting %d: other predictions than alone", w)
		}
		scores, err := alone.Evaluate(t.Context(), set, groups, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.NLL != scores.NLL || *got.Evaluation.Groups[2].AUROC != *scores.Groups[2].AUROC {
			t.Errorf("weighting %d: other scores than alone", w)
		}
	}
	if together[0].NLL == together[1].NLL {
		t.Error("weights do not count")
	}
}

// A particle that is dead under the first weighting counts under the others: whichever comes first, each weighting has the
// predictions that it has alone, for classes and for regression.
func TestPredictWhereTheFirstWeightingIsDead(t *testing.T) {
	e, set := random(t, 6, 40)
	first := slices.Repeat([]float64{math.Inf(-1)}, e.Size())
	first[2] = 0
	got, err := e.EvaluateClasses(t.Context(), set, nil, [][]float64{first, e.LogWeights}, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := predict(t, e, set, 1); fmt.Sprint(*got[1].Test) != fmt.Sprint(*want) {
		t.Error("classes: the second weighting predicts otherwise than alone")
	}
	r, targets := regression(t, nn.Learned, 6, 40)
	values, err := r.EvaluateRegression(t.Context(), targets, nil, nil, [][]float64{first, r.LogWeights}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.PredictRegression(t.Context(), targets, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(values[1].Regression) != fmt.Sprint(*want) {
		t.Error("regression: the second weighting predicts otherwise than alone")
	}
}

// A particle whose network overflows spoils no prediction under a weighting that leaves it dead.
func TestPredictIgnoresDeadParticles(t *testing.T) {
	e, set := random(t, 4, 20)
	r, targets := regression(t, nn.Learned, 4, 20)
	for _, e := range []*Ensemble{e, r} {
		for i := range e.Net.Dim() {
			e.Theta[i] = 3e38
		}
	}
	dead := []float64{math.Inf(-1), math.Inf(-1), 0, math.Inf(-1)}
	alive := []float64{0, math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	classes, err := e.EvaluateClasses(t.Context(), set, nil, [][]float64{alive, dead}, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	values, err := r.EvaluateRegression(t.Context(), targets, nil, nil, [][]float64{alive, dead}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for w, nan := range []bool{true, false} {
		if p, mean := classes[w].Test.Probs[0], values[w].Mean[0]; (p != p) != nan || (mean-mean != 0) != nan {
			t.Errorf("weighting %d: probability %v, mean %v", w, p, mean)
		}
	}
}

// Energies are weighted means of the particles', −ln(e^a + e^b) of logits a and b.
func TestPredictEnergy(t *testing.T) {
	e := combine(t, denseNet(t, 1, 2, nn.Categorical{}), []Island{{Theta: []float64{0, 0, 3, 5}, LogWeights: []float64{math.Log(3), 0}}}, Equal{})
	want := -0.75*math.Ln2 - 0.25*math.Log(math.Exp(3)+math.Exp(5))
	wantNear(t, "energy", predict(t, e, indicators(1), 1).Energy, []float64{want}, 0, 1e-12)
	one := combine(t, denseNet(t, 1, 1, nn.Bernoulli{}), []Island{{Theta: []float64{2}}}, Equal{})
	wantNear(t, "energy of a logit", predict(t, one, indicators(1), 1).Energy, []float64{-math.Log(1 + math.Exp(2))}, 0, 1e-12)
}

func TestPredictErrors(t *testing.T) {
	ctx, p := context.Background(), pool.New(1)
	e, set := random(t, 2, 5)
	value := combine(t, oneWeight(t), []Island{{Theta: []float64{1}}}, Equal{})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	unlabelled, many := *set, *set
	unlabelled.Labels = nil
	many.Classes = 4
	for name, c := range map[string]struct {
		try    func() error
		reason string
	}{
		"shape":        {func() error { _, err := e.Predict(ctx, indicators(3), p); return err }, "shape"},
		"regression":   {func() error { _, err := value.Predict(ctx, indicators(1), p); return err }, "numbers"},
		"classes":      {func() error { _, err := e.PredictRegression(ctx, set, nil, p); return err }, "probabilities"},
		"cancelled":    {func() error { _, err := e.Predict(cancelled, set, p); return err }, "canceled"},
		"unlabelled":   {func() error { _, err := e.Evaluate(ctx, &unlabelled, nil, p); return err }, "no class labels"},
		"more classes": {func() error { _, err := e.Evaluate(ctx, &many, nil, p); return err }, "4 classes"},
		"group": {func() error {
			_, err := e.Evaluate(ctx, set, []data.Group{{Name: "odd", Set: indicators(3)}}, p)
			return err
		}, "group odd"},
	} {
		if err := c.try(); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want one about %q", name, err, c.reason)
		}
	}
}
