package uq

import (
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

// Check 6 of smc-sghmc-ensembles: E(z + c) = E(z) − c; two logits of 0 give −ln 2; and no exponential overflows.
func TestCheck6Energy(t *testing.T) {
	if got := Energy([]float64{0, 0}); got != -math.Ln2 {
		t.Errorf("two zero logits have energy %v, want −ln 2", got)
	}
	s := stream(31)
	z := make([]float64, 7)
	for range 100 {
		s.Normals(z)
		shift := 50 * s.Normal()
		moved := slices.Clone(z)
		for i := range moved {
			moved[i] += shift
		}
		if got, want := Energy(moved), Energy(z)-shift; !golden.Near(got, want, 1e-13, 1e-13) {
			t.Fatalf("E(z + %v) is %v, E(z) − c is %v", shift, got, want)
		}
		m := NewMember(1, len(z))
		if Softmax(m, z); m.Energy[0] != Energy(z) {
			t.Fatalf("Softmax has energy %v, Energy %v", m.Energy[0], Energy(z))
		}
	}
	for _, big := range []float64{1e4, -1e4} {
		if got, want := Energy([]float64{big, big}), -big-math.Ln2; got != want {
			t.Errorf("logits of %v have energy %v, want %v", big, got, want)
		}
	}
}

// TestMeanLogits: the energy of the mean logits by its definition. It is not the mean of the energies, which is lower, but for
// members that agree. Without one logit for each class there is none.
func TestMeanLogits(t *testing.T) {
	const n, classes = 20, 4
	s := stream(32)
	weights, logits := []float64{0.5, 0.2, 0.3}, make([][]float64, 3)
	mix, mean := NewMixture(n, classes), make([]float64, n*classes)
	m := NewMember(n, classes) // used again, as an ensemble does
	for j, w := range weights {
		logits[j] = make([]float64, n*classes)
		s.Normals(logits[j])
		Softmax(m, logits[j])
		mix.Add(w, m)
		for i, z := range logits[j] {
			mean[i] += w * z
		}
	}
	p := mix.Predictive()
	for i := range n {
		if want := Energy(mean[i*classes : (i+1)*classes]); !golden.Near(p.MeanLogits[i], want, 1e-13, 0) {
			t.Fatalf("example %d: %v, want %v", i, p.MeanLogits[i], want)
		}
		if !(p.MeanLogits[i] > p.Energy[i]) {
			t.Fatalf("example %d: energy of mean logits %v, mean energy %v: E is concave", i, p.MeanLogits[i], p.Energy[i])
		}
	}
	if q := p.Rows([]int{3, 1}); !slices.Equal(q.MeanLogits, []float64{p.MeanLogits[3], p.MeanLogits[1]}) || !slices.Equal(q.Energy, []float64{p.Energy[3], p.Energy[1]}) {
		t.Error("Rows picks others")
	}
	one := NewMixture(n, 2)
	m = NewMember(n, 2)
	Sigmoid(m, mean[:n])
	one.Add(1, m)
	if q := one.Predictive(); q.MeanLogits != nil || q.Rows([]int{0}).MeanLogits != nil {
		t.Error("one logit for two classes has an energy of mean logits")
	}
}

// TestThreshold: the smallest of the energies that accepts the share, whatever the order, and for every number of examples.
func TestThreshold(t *testing.T) {
	for n := 1; n <= 400; n++ {
		energies := make([]float64, n)
		for i := range energies {
			energies[i] = float64((i*7+3)%n) - 50 // for n prime to 7 a permutation
		}
		tau := Threshold(energies, Pass)
		accepted := func(tau float64) (k int) {
			for _, e := range energies {
				if !IsOOD(e, tau) {
					k++
				}
			}
			return k
		}
		if k := accepted(tau); 20*k < 19*n {
			t.Fatalf("n = %d: %d are accepted, want 95 %%", n, k)
		}
		if k := accepted(math.Nextafter(tau, -1e9)); 20*k >= 19*n {
			t.Fatalf("n = %d: a lower threshold accepts %d", n, k)
		}
		// The same rank as FPR95's.
		if got := FPR95(energies, energies); got != float64(accepted(tau))/float64(n) {
			t.Fatalf("n = %d: FPR95 accepts a share of %v", n, got)
		}
	}
	if !math.IsNaN(Threshold(nil, Pass)) || !math.IsNaN(Threshold([]float64{1, math.NaN()}, Pass)) {
		t.Error("a threshold of nothing or of NaN is a number")
	}
}

// TestDetect: the published row for SVHN, whose figures follow from 10,000 inputs of each kind (spec, section 2.6), and the
// edges.
func TestDetect(t *testing.T) {
	test, ood := make([]float64, 10000), make([]float64, 10000)
	for i := range 741 {
		test[i] = 2
	}
	for i := range 9224 {
		ood[i] = 2
	}
	d := Detect(test, ood, 1)
	for name, c := range map[string][2]float64{
		"accuracy": {float64(d.Accuracy), .92415}, "precision": {float64(d.Precision), 9224. / (9224 + 741)}, "recall": {float64(d.Recall), .9224},
		"F1":          {float64(d.F1), 2 * .9224 * (9224. / 9965) / (.9224 + 9224./9965)},
		"specificity": {float64(d.Specificity), .9259}, "threshold": {float64(d.Threshold), 1},
		"AUROC": {float64(d.AUROC), .9224*.9259 + .5*(.9224*.0741+.0776*.9259)}, "FPR95": {float64(d.FPR95), 1},
	} {
		if !golden.Near(c[0], c[1], 1e-14, 0) {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
	if IsOOD(1, 1) || !IsOOD(math.Nextafter(1, 2), 1) || !IsOOD(math.NaN(), 1) {
		t.Error("an input is OOD if its energy is above the threshold, or NaN")
	}
	none := Detect(test, ood, 3)
	if none.Recall != 0 || none.F1 != 0 || none.Specificity != 1 || !math.IsNaN(float64(none.Precision)) {
		t.Errorf("nothing is declared OOD: %+v", none)
	}
	// Unlike in these sets, where both kinds are many, the figures are of the inputs that there are.
	few := Detect([]float64{0, 0, 0, 2}, []float64{2}, 1)
	if few.Accuracy != 0.8 || few.Precision != 0.5 || few.Recall != 1 || few.Specificity != 0.75 || !golden.Near(float64(few.F1), 2./3, 1e-15, 0) {
		t.Errorf("three accepted, one alarm, one found: %+v", few)
	}
}

// TestRefused: of the largest of n energies, new ones exceed a share p with chance (1 − p)ⁿ; for other ranks
// the binomial sum, here by the gamma function, is 0.05.
func TestRefused(t *testing.T) {
	for n := 1; n < 20; n++ {
		if got, want := Refused(n, .95), 1-math.Pow(.05, 1/float64(n)); !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
	for _, n := range []int{20, 59, 200, 5000} {
		p, sum := Refused(n, .95), 0.
		for k := 0; k <= n-int(math.Ceil(.95*float64(n)-1e-9)); k++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			sum += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
		if !(math.Abs(sum-.05) < 1e-9) || !(p > .05) {
			t.Errorf("%d: %v, whose chance is %v", n, p, sum)
		}
	}
}
