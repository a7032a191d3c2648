package uq

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

func stream(k int) *rng.Stream {
	return rng.Key{Seed: 1, Purpose: rng.Synthetic, Iteration: k}.Stream()
}

// randomProbs are n rows of probabilities, from flat to nearly certain.
func randomProbs(s *rng.Stream, n, classes int) []float64 {
	z := make([]float64, n*classes)
	for i := range z {
		z[i] = 4 * s.Normal() * s.Float64()
	}
	m := NewMember(n, classes)
	Softmax(m, z)
	return m.Probs
}

func ensemble(n, classes int, members ...[]float64) *Predictive {
	m := NewMixture(n, classes)
	for _, p := range members {
		m.Add(1/float64(len(members)), Probabilities(p, classes))
	}
	return m.Predictive()
}

// Check 5 of scalable-bayesian-monte-carlo.
func TestCheck5Entropies(t *testing.T) {
	const n, classes = 200, 5
	s := stream(0)
	one := randomProbs(s, n, classes)
	for _, w := range []float64{1, 0.3, 1.0 / 3} {
		m := NewMixture(n, classes)
		m.Add(w, Probabilities(one, classes))
		for i, h := range m.Predictive().Epistemic {
			if h != 0 {
				t.Fatalf("one particle of weight %v: H_ep of example %d is %v", w, i, h)
			}
		}
	}
	for _, particles := range []int{2, 3, 10, 80, 1000} {
		same := make([][]float64, particles)
		for j := range same {
			same[j] = one
		}
		for i, h := range ensemble(n, classes, same...).Epistemic {
			if h != 0 {
				t.Fatalf("%d equal particles: H_ep of example %d is %v", particles, i, h)
			}
		}
	}
	p := ensemble(1, 2, []float64{1, 0}, []float64{0, 1})
	if p.Total[0] != math.Ln2 || p.Epistemic[0] != math.Ln2 || p.Aleatoric[0] != 0 {
		t.Errorf("two opposite particles: %v = %v + %v, want ln 2 = 0 + ln 2", p.Total[0], p.Aleatoric[0], p.Epistemic[0])
	}
	for _, particles := range []int{2, 3, 7} {
		m := NewMixture(n, classes)
		for range particles {
			m.Add(s.Float64(), Probabilities(randomProbs(s, n, classes), classes))
		}
		p := m.Predictive()
		for i := range n {
			ep, total := p.Epistemic[i], p.Total[i]
			if !(0 < ep && ep <= total && total <= math.Log(classes)*(1+1e-15) && ep <= math.Log(float64(particles))) {
				t.Fatalf("%d particles, example %d: H_ep %v, H_tot %v out of bounds", particles, i, ep, total)
			}
		}
	}
}

// Epistemic entropy by another road: the mean Kullback-Leibler divergence of the particles from their mixture.
func TestEpistemicIsMeanDivergence(t *testing.T) {
	const n, classes, particles = 50, 4, 6
	s := stream(1)
	var members [particles][]float64
	for j := range members {
		members[j] = randomProbs(s, n, classes)
	}
	p := ensemble(n, classes, members[:]...)
	for i := range n {
		want := 0.0
		for _, q := range members {
			for c := range classes {
				want += q[i*classes+c] * math.Log(q[i*classes+c]/p.Probs[i*classes+c]) / particles
			}
		}
		if !(math.Abs(p.Epistemic[i]-want) <= 1e-14) {
			t.Errorf("example %d: %v, want %v", i, p.Epistemic[i], want)
		}
	}
}

// A small disagreement, far above rounding, is kept: particles (½+δ, ½−δ) and (½−δ, ½+δ) have
// H_ep = ln 2 − H(½+δ) = 2δ² + O(δ⁴).
func TestSmallEpistemicEntropyStays(t *testing.T) {
	for _, want := range []float64{1e-13, 1e-11, 1e-8} {
		d := math.Sqrt(want / 2)
		p := ensemble(1, 2, []float64{0.5 + d, 0.5 - d}, []float64{0.5 - d, 0.5 + d})
		if !(math.Abs(p.Epistemic[0]-want) <= 3e-15) { // the rounding that is set to 0
			t.Errorf("H_ep is %v, want %v", p.Epistemic[0], want)
		}
	}
}

// TestRoundingOfEpistemicEntropy: of two sums a difference is 0 up to twice (particles + classes)(1 + ln C) units in the last place of 1,
// and is kept one unit further, on both sides.
func TestRoundingOfEpistemicEntropy(t *testing.T) {
	const ulp = 0x1p-52
	for _, c := range []struct{ particles, classes int }{{1, 2}, {9, 2}, {1, 4}, {80, 7}} {
		last := ulp * math.Floor(2*float64(c.particles+c.classes)*(1+math.Log(float64(c.classes))))
		m := NewMixture(1, c.classes)
		m.particles, m.weight = c.particles, 1
		for i := range m.probs {
			m.probs[i] = 1 / float64(c.classes)
		}
		total := Entropy(m.probs)
		for off, want := range map[float64]float64{last: 0, last + ulp: last + ulp, -last: 0, -last - ulp: -last - ulp} {
			m.aleatoric[0] = total - off
			if got := m.Predictive().Epistemic[0]; got != want {
				t.Errorf("%d particles, %d classes: a difference of %v units gives %v, want %v", c.particles, c.classes, off/ulp, got/ulp, want/ulp)
			}
		}
	}
}

// A particle of weight 0 changes nothing, even if its prediction is NaN.
func TestMixtureIgnoresDeadParticles(t *testing.T) {
	m := NewMixture(1, 2)
	m.Add(0, Probabilities([]float64{math.NaN(), math.NaN()}, 2))
	m.Add(2, Probabilities([]float64{0.25, 0.75}, 2))
	p := m.Predictive()
	if p.Probs[0] != 0.25 || p.Epistemic[0] != 0 {
		t.Errorf("mixture is %v, H_ep %v", p.Probs, p.Epistemic)
	}
}

// Predictions of another number of classes or examples, and invalid weights, are programmers' errors.
func TestMixtureRefuses(t *testing.T) {
	for name, add := range map[string]func(m *Mixture){
		"other classes":   func(m *Mixture) { m.Add(1, Probabilities(make([]float64, 6), 2)) },
		"fewer examples":  func(m *Mixture) { m.Add(1, Probabilities(make([]float64, 3), 3)) },
		"negative weight": func(m *Mixture) { m.Add(-1, NewMember(2, 3)) },
		"NaN weight":      func(m *Mixture) { m.Add(math.NaN(), NewMember(2, 3)) },
		"infinite weight": func(m *Mixture) { m.Add(math.Inf(1), NewMember(2, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			add(NewMixture(2, 3))
		}()
	}
}

// Check 6 of scalable-bayesian-monte-carlo, its part on AUROC: ranks against all pairs, with many ties.
func TestCheck6AUROCByPairs(t *testing.T) {
	s := stream(2)
	for range 200 {
		neg, pos := make([]float64, 1+s.IntN(40)), make([]float64, 1+s.IntN(40))
		values := 1 + s.IntN(12)
		for i := range neg {
			neg[i] = float64(s.IntN(values))
		}
		for i := range pos {
			pos[i] = float64(s.IntN(values) + s.IntN(2))
		}
		wins := 0.0
		for _, p := range pos {
			for _, n := range neg {
				switch {
				case p > n:
					wins++
				case p == n:
					wins += 0.5
				}
			}
		}
		want := wins / float64(len(pos)*len(neg))
		if got := AUROC(neg, pos); got != want {
			t.Fatalf("AUROC is %v, by pairs %v", got, want)
		}
		if got := AUROC(pos, neg); !(math.Abs(got-(1-want)) <= 1e-15) {
			t.Fatalf("AUROC with the roles exchanged is %v, want %v", got, 1-want)
		}
	}
}

// Of test scores 1 … n at least 95 % lie at or below τ, and fewer would with the next smaller.
func TestFPR95Threshold(t *testing.T) {
	for n := 1; n <= 60; n++ {
		test, ood := make([]float64, n), make([]float64, n)
		for i := range n {
			test[n-1-i], ood[i] = float64(i+1), float64(i+1)
		}
		tau := 1
		for 100*tau < 95*n {
			tau++
		}
		if got, want := FPR95(test, ood), float64(tau)/float64(n); got != want {
			t.Errorf("%d scores: %v pass, want %v", n, got, want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	z := []float32{1000, 1001, 999, -1e30, 0, 1e30, 2, 2, 2}
	m := NewMember(3, 3)
	Softmax(m, z)
	p := m.Probs
	sum := 1 + math.E + math.Exp(-1)
	want := []float64{1 / sum, math.E / sum, math.Exp(-1) / sum, 0, 0, 1, 1. / 3, 1. / 3, 1. / 3}
	for i, w := range want {
		if !(math.Abs(p[i]-w) <= 1e-15) {
			t.Errorf("probability %d is %v, want %v", i, p[i], w)
		}
	}
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for _, row := range [][]float32{{nan, 0}, {0, nan}, {inf, 0}, {-inf, -inf}} {
		m := NewMember(1, 2)
		if Softmax(m, row); m.Probs[0] == m.Probs[0] || m.Probs[1] == m.Probs[1] || m.Entropy[0] == m.Entropy[0] {
			t.Errorf("softmax of %v is %v, want NaN", row, m.Probs)
		}
	}
}

// One logit is equivalent to two logits of which the first is 0.
func TestSigmoidIsSoftmaxOfTwo(t *testing.T) {
	z := []float32{0, 1, -1, 30, -30, 800, -800}
	got, want := NewMember(len(z), 2), NewMember(len(z), 2)
	Sigmoid(got, z)
	two := make([]float32, 0, 2*len(z))
	for _, v := range z {
		two = append(two, 0, v)
	}
	Softmax(want, two)
	for i, w := range want.Probs {
		if !golden.Near(got.Probs[i], w, 1e-15, 0) {
			t.Errorf("probability %d is %v, want %v", i, got.Probs[i], w)
		}
	}
	for i, w := range want.Energy {
		if !golden.Near(got.Energy[i], w, 1e-15, 1e-15) {
			t.Errorf("energy %d is %v, want %v", i, got.Energy[i], w)
		}
	}
}

// Every edge b/bins belongs to the bin below it, and the next number above it to the bin above.
func TestBinEdges(t *testing.T) {
	for bins := 1; bins <= 50; bins++ {
		for b := range bins {
			lo, hi := float64(b)/float64(bins), float64(b+1)/float64(bins)
			if got := bin(hi, bins); got != b {
				t.Errorf("%v is in bin %d of %d, want %d", hi, got, bins, b)
			}
			if got := bin(math.Nextafter(lo, 2), bins); got != b {
				t.Errorf("just above %v is bin %d of %d, want %d", lo, got, bins, b)
			}
		}
		if bin(0, bins) != 0 || bin(math.Nextafter(1, 2), bins) != bins-1 {
			t.Errorf("%d bins: 0 or 1+ε falls outside", bins)
		}
	}
}

// A label of probability 0 makes the NLL infinite: nothing is clipped.
func TestNLLIsInfinite(t *testing.T) {
	if nll := NLL([]float64{0.5, 0.5, 0, 1}, 2, []int32{1, 0}); !math.IsInf(nll, 1) {
		t.Errorf("NLL %v", nll)
	}
}

// A NaN in the input is never hidden by a score.
func TestNaNIsSeen(t *testing.T) {
	nan := math.NaN()
	probs, labels := []float64{nan, nan, 0.5, 0.5}, []int32{0, 0}
	if a := Accuracy(probs, 2, labels); a != 0.5 {
		t.Errorf("accuracy %v: the row of NaN counts as right", a)
	}
	for name, v := range map[string]float64{
		"NLL": NLL(probs, 2, labels), "Brier": Brier(probs, 2, labels), "ECE": ECE(Reliability(probs, 2, labels, Bins)),
		"AUROC": AUROC([]float64{0, nan}, []float64{1}), "FPR95": FPR95([]float64{0}, []float64{nan}),
		"AUROC of nothing": AUROC(nil, []float64{1}), "FPR95 of nothing": FPR95([]float64{1}, nil),
		"accuracy of nothing": Accuracy(nil, 2, nil), "entropy": ensemble(2, 2, probs, probs).Epistemic[0],
	} {
		if v == v {
			t.Errorf("%s is %v, want NaN", name, v)
		}
	}
}

func TestEvaluate(t *testing.T) {
	// Examples 0 and 1 are right, 2 is wrong; two particles disagree on 1 and 2, most on 2.
	a := []float64{0.9, 0.1, 0.8, 0.2, 1, 0}
	b := []float64{0.9, 0.1, 0.6, 0.4, 0.25, 0.75}
	test := ensemble(3, 2, a, b)
	strange := ensemble(2, 2, []float64{1, 0, 0.5, 0.5}, []float64{0, 1, 0.5, 0.5})
	e := Evaluate(test, []int32{0, 0, 1}, []OOD{{"strange", strange}, {"none", &Predictive{Classes: 2}}})
	if e.Accuracy != 2.0/3 {
		t.Errorf("accuracy %v", e.Accuracy)
	}
	if want := -(math.Log(0.9) + math.Log(0.7) + math.Log(0.375)) / 3; !(math.Abs(float64(e.NLL)-want) <= 1e-15) {
		t.Errorf("NLL %v, want %v", e.NLL, want)
	}
	// Of strange, ln 2 wins against all three; 0 ties with example 0 and loses to the others.
	wantAUROC := map[string]float64{"incorrect": 1, "strange": 3.5 / 6}
	for _, g := range e.Groups {
		if w, ok := wantAUROC[g.Name]; ok && float64(*g.AUROC) != w {
			t.Errorf("AUROC of %s is %v, want %v", g.Name, *g.AUROC, w)
		}
	}
	if g := e.Groups[1]; g.N != 1 || float64(g.Epistemic) != test.Epistemic[2] || float64(g.Total) != test.Total[2] {
		t.Errorf("group incorrect is %+v", g)
	}
	test.Energy, strange.Energy = []float64{-3, -2, -1}, []float64{-2.5, 0}
	with := Evaluate(test, []int32{0, 0, 1}, []OOD{{"strange", strange}, {"none", &Predictive{Classes: 2}}}).Groups
	if auroc := with[2].AUROCEnergy; auroc == nil || *auroc != 4.0/6 || with[3].AUROCEnergy != nil {
		t.Errorf("AUROC of energies: %v; only the last group has none", with[2:])
	}
	test.Energy = nil
	if g := Evaluate(test, []int32{0, 0, 1}, []OOD{{"strange", strange}}).Groups[2]; g.AUROCEnergy != nil {
		t.Errorf("a test set without energies: AUROC %v", *g.AUROCEnergy)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{
		`{"accuracy":0.6666666666666666,"nll":`, `"brier":`, `"ece":`, `"aurc":`, `"aurc_epistemic":`,
		`"groups":{"correct":{"n":2,"entropy_total":`, `},"incorrect":{"n":1,`,
		`,"auroc":1,"fpr95":0,"auroc_max_probability":1,"fpr95_max_probability":0},"strange":{"n":2,`,
		`"none":{"n":0,"entropy_total":"NaN","entropy_aleatoric":"NaN","entropy_epistemic":"NaN","auroc":"NaN",`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("JSON %s lacks %s", text, want)
		}
	}
	if strings.Count(text, `"auroc":`) != 3 {
		t.Errorf("JSON %s: auroc belongs to all groups but correct", text)
	}
}

// Groups and spreads read back in their order, with their names.
func TestGroupsReadBack(t *testing.T) {
	auroc := Number(0.25)
	groups := Groups{{Name: "correct", N: 3, Total: 0.5}, {Name: "a", N: 2, Epistemic: Number(math.Inf(1)), AUROC: &auroc}}
	spreads := Spreads{{Name: "test", N: 4, Aleatoric: 0.5}, {Name: "b", N: 1, AUROC: &auroc}}
	for want, into := range map[any]any{&groups: new(Groups), &spreads: new(Spreads)} {
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, into); err != nil || !reflect.DeepEqual(into, want) {
			t.Errorf("%s is read as %+v, %v", raw, into, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"a": 1}`), &groups); err == nil {
		t.Error("a number was read as a group")
	}
}

// TestR2OfConstants: equal truths have no variance, however their mean rounds.
func TestR2OfConstants(t *testing.T) {
	if r := R2([]float64{1, 2, 3}, []float64{0.1, 0.1, 0.1}); !math.IsNaN(r) {
		t.Errorf("R² of a constant is %v, want NaN", r)
	}
	if r := R2([]float64{1, 2}, []float64{1, 2}); r != 1 {
		t.Errorf("R² of the truth itself is %v, want 1", r)
	}
}

func BenchmarkMixture(b *testing.B) {
	const n, classes = 1000, 8
	s := stream(3)
	logits := make([]float32, n*classes)
	for i := range logits {
		logits[i] = float32(3 * s.Normal())
	}
	m, member := NewMixture(n, classes), NewMember(n, classes)
	for b.Loop() {
		Softmax(member, logits)
		m.Add(1, member)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/example")
}

// An example with NaN probabilities has no class and NaN entropies; other examples are not affected.
func TestUndefinedProbabilities(t *testing.T) {
	m := NewMixture(2, 3)
	for _, broken := range []float64{math.NaN(), math.Inf(1), 2} {
		one := NewMember(2, 3)
		Softmax(one, []float64{1, broken, 0, 1, 2, 0})
		m.Add(0.5, one)
	}
	p := m.Predictive()
	if c := Argmax(p.Probs[:3]); c != -1 {
		t.Errorf("class %d of %v", c, p.Probs[:3])
	}
	for name, v := range map[string][]float64{"total": p.Total, "aleatoric": p.Aleatoric, "epistemic": p.Epistemic} {
		if !math.IsNaN(v[0]) || math.IsNaN(v[1]) {
			t.Errorf("%s entropies %v", name, v)
		}
	}
}
