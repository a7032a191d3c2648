package decide

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
)

// doubtful draws n answers whose doubt u is uniform and whose chance to be wrong is most·u², and n foreign inputs of larger doubt.
func doubtful(s *rng.Stream, n int, most float64) (x Examples) {
	for range n {
		u := s.Float64()
		x.Doubts, x.Wrong = append(x.Doubts, u), append(x.Wrong, s.Float64() < most*u*u)
		x.Foreign = append(x.Foreign, math.Sqrt(s.Float64()))
	}
	return x
}

func (a Abstain) must(t *testing.T, x Examples) *Rule {
	t.Helper()
	r, err := a.Choose(x)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// upper is the upper 95 % bound of an error rate after so many errors among n answers (Clopper and Pearson 1934): the rate at which no
// more errors have a chance of 5 %. It is 1 if all are errors, or n is 0.
func upper(errors, n int) float64 {
	if errors >= n {
		return 1
	}
	low, high := float64(errors)/float64(n), 1.0
	for range 60 {
		p := float64((low + high) / 2)
		if p > 0 && p < 1 && atMost(errors, n, p) <= 1-Sure {
			high = p
		} else {
			low = p
		}
	}
	return high
}

// TestUpper: bounds of the beta distribution, from sums of 60 digits.
func TestUpper(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{
		{0, 299, 0.00996914679289927}, {0, 298, 0.01000243243767769}, {1, 10, 0.3941633024365048}, {5, 100, 0.1022533776432745},
		{0, 1, 0.95}, {13, 2000, 0.01031446812159672}, {50, 100, 0.5863782853690882}, {99, 100, 0.9994871985837377},
		{7, 7, 1}, {0, 0, 1},
	} {
		within(t, "upper bound", upper(c.k, c.n), c.want, 1e-12)
	}
	within(t, "P(X ≤ 13)", atMost(13, 2000, 0.01), 0.06517772366866291, 1e-12)
	within(t, "P(X ≤ 60)", atMost(60, 100, 0.5), 0.9823998998911476, 1e-12)
	within(t, "P(X ≤ 30)", atMost(30, 100, 0.5), 3.925069822796835e-05, 1e-16)
	for r, n := range map[float64]int{0.01: 299, 0.02: 149, 0.05: 59, 0.5: 5, 0.005: 598} {
		if got := faultless(r); got != n || !(upper(0, n) <= r) || upper(0, n-1) <= r {
			t.Errorf("a risk of %v needs %d answers without error, want %d", r, got, n)
		}
	}
}

// TestRiskIsKept: of 200 sets of 2,000 examples, the error rate among rows that answer, ∫₀^τ most·u²/τ = most·τ²/3, is above the risk in at most 5 %.
// More than 28 of 200 have a chance of 5e-7 at 5 %. It also answers: the largest share that keeps 2 % is .77.
func TestRiskIsKept(t *testing.T) {
	broken, answered := 0, 0.0
	for d := range 200 {
		x := doubtful(random(20000+d), 2000, 0.1)
		rule := Abstain{By: Entropy{}, At: Risk(0.02)}.must(t, x)
		tau := max(rule.Threshold, 0)
		if 0.1*tau*tau/3 > 0.02 {
			broken++
		}
		answered += tau / 200
	}
	if broken > 28 {
		t.Errorf("%d of 200 thresholds break the risk", broken)
	}
	if !(answered > 0.45 && answered < 0.78) {
		t.Errorf("a share of %v is answered", answered)
	}
	t.Logf("%d of 200 broken, %.3f answered", broken, answered)
}

// TestRiskGoesFromTheStrictest: errors in the middle end the sequence, although more lenient thresholds would pass.
func TestRiskGoesFromTheStrictest(t *testing.T) {
	var x Examples
	for i := range 1000 {
		x.Doubts, x.Wrong = append(x.Doubts, float64(i)), append(x.Wrong, i >= 150 && i < 162)
	}
	if !(upper(12, 1000) <= 0.02) || upper(12, 170) <= 0.02 {
		t.Fatal("the example shows nothing")
	}
	rule := Abstain{By: Entropy{}, At: Risk(0.02)}.must(t, x)
	if rule.Threshold != 149 || !rule.Kept {
		t.Errorf("the threshold is %v", rule.Threshold)
	}
	// Equal doubts answer together.
	for i := 100; i < 300; i++ {
		x.Doubts[i] = 100
	}
	if rule := (Abstain{By: Entropy{}, At: Risk(0.02)}).must(t, x); rule.Kept || !rule.Abstains(0) {
		t.Errorf("with ties the threshold is %v", rule.Threshold)
	}
	// Neither the order of the rows nor foreign inputs change anything.
	slices.Reverse(x.Doubts)
	slices.Reverse(x.Wrong)
	for i := range x.Doubts {
		x.Doubts[i] += 0.001 * float64(999-i)
	}
	x.Foreign = []float64{1, 2}
	if rule := (Abstain{By: Entropy{}, At: Risk(0.02)}).must(t, x); !(rule.Threshold > 100 && rule.Threshold < 101) {
		t.Errorf("in another order the threshold is %v", rule.Threshold)
	}
}

func TestRiskThatNothingKeeps(t *testing.T) {
	x := Examples{Doubts: make([]float64, 2000), Wrong: make([]bool, 2000)}
	for i := range x.Doubts {
		x.Doubts[i], x.Wrong[i] = float64(i), i%50 == 0
	}
	rule := Abstain{By: Entropy{}, At: Risk(0.005)}.must(t, x)
	if rule.Kept || !math.IsInf(rule.Threshold, -1) || !rule.Abstains(-1e300) {
		t.Errorf("%+v", rule)
	}
	var need *NeedError
	if _, err := (Abstain{By: Entropy{}, At: Risk(0.01)}).Choose(Examples{Doubts: x.Doubts[:298], Wrong: x.Wrong[:298]}); !errors.As(err, &need) || need.Need != 299 || need.Have != 298 {
		t.Errorf("298 examples: %v", err)
	}
	if _, err := (Abstain{By: Entropy{}, At: Risk(0.01)}).Choose(Examples{Doubts: x.Doubts[:299], Wrong: x.Wrong[:299]}); err != nil {
		t.Errorf("299 examples: %v", err)
	}
}

func TestNaNAbstains(t *testing.T) {
	nan := math.NaN()
	for _, row := range Signals {
		all := []float64{nan, 0.3, 0.6}
		d, err := Doubts(row.Part, &Rows{Wrong: all, Epistemic: all, Entropy: all, Confidence: all, Energy: all, SD: all})
		if err != nil || !math.IsInf(d[0], 1) {
			t.Fatalf("%s: doubts %v, %v", row.Name, d, err)
		}
		for _, at := range []Cutoff{Threshold(0.5), Coverage(0.5), Pass(0.99)} {
			rule := Abstain{By: row.Part, At: at}.must(t, Examples{Doubts: d, Wrong: make([]bool, 3)})
			if !rule.Abstains(d[0]) || !rule.Abstains(nan) {
				t.Errorf("%s at %v answers a row that is NaN", row.Name, at)
			}
		}
		// At .5 the row of .6 abstains, and the row of .3 answers; by confidence the other way.
		rule := Abstain{By: row.Part, At: Threshold(0.5)}.must(t, Examples{})
		if low := row.Name == "confidence"; rule.Abstains(d[1]) != low || rule.Abstains(d[2]) == low || rule.Score() != 0.5 {
			t.Errorf("%s has the wrong sign", row.Name)
		}
	}
	x := Examples{Doubts: make([]float64, 200), Wrong: make([]bool, 200)}
	for i := range x.Doubts {
		if x.Doubts[i] = float64(i); i >= 180 {
			x.Doubts[i] = math.Inf(1)
		}
	}
	if rule := (Abstain{By: Entropy{}, At: Risk(0.02)}).must(t, x); rule.Threshold != 179 {
		t.Errorf("the threshold is %v", rule.Threshold)
	}
	if _, err := Doubts(Energy{}, &Rows{}); err == nil {
		t.Error("a score that is missing is taken")
	}
}

func TestShares(t *testing.T) {
	x := Examples{Doubts: []float64{5, 1, 4, 2, 3}, Wrong: make([]bool, 5)}
	for _, c := range []struct {
		at   Cutoff
		want float64
	}{{Coverage(0.6), 3}, {Coverage(0.61), 4}, {Pass(0.95), 5}, {Pass(0.01), 1}} {
		if rule := (Abstain{By: Energy{}, At: c.at}).must(t, x); rule.Threshold != c.want {
			t.Errorf("at %v: %v, want %v", c.at, rule.Threshold, c.want)
		}
	}
	none := Examples{Doubts: []float64{1, math.Inf(1), math.Inf(1)}, Wrong: make([]bool, 3)}
	if rule := (Abstain{By: Energy{}, At: Coverage(0.5)}).must(t, none); !rule.Kept || rule.Abstains(9) || !rule.Abstains(math.NaN()) {
		t.Errorf("where half of the rows have no number: %+v", rule) // Kept false says that every row abstains
	}
	for _, at := range []Cutoff{Coverage(0), Coverage(1), Pass(-1), Risk(0), Risk(1), Risk(math.NaN())} {
		if rule, err := (Abstain{By: Energy{}, At: at}).Choose(x); err == nil {
			t.Errorf("%T %v gives %v", at, at, rule)
		}
	}
	for _, at := range []Cutoff{Coverage(0.5), Risk(0.5)} {
		var need *NeedError
		if _, err := (Abstain{By: Energy{}, At: at}).Choose(Examples{}); !errors.As(err, &need) {
			t.Errorf("without examples: %v", err)
		}
	}
}

// TestF1: the best of the grid is at least that of .5, and of the thresholds with the same F1 the smallest.
func TestF1(t *testing.T) {
	for k := range 20 {
		x := doubtful(random(500+k), 100, 0.5)
		rule := Abstain{By: Classifier{}, At: F1{}}.must(t, x)
		best := Judge(x, rule.Threshold).F1
		if !(best >= Judge(x, 0.5).F1) {
			t.Errorf("the best F1 is %v, that of .5 %v", best, Judge(x, 0.5).F1)
		}
		for i := range 101 {
			g := float64(i) / 100
			if f := Judge(x, g).F1; f > best || f == best && g < rule.Threshold {
				t.Errorf("at %v F1 is %v; chosen is %v with %v", g, f, rule.Threshold, best)
			}
		}
		// Another unit changes nothing for a score without bounds, and a confidence is 1 − a doubt.
		far, turned := x, x
		far.Doubts, far.Foreign = each(x.Doubts, func(d float64) float64 { return 1000*d - 7 }), each(x.Foreign, func(d float64) float64 { return 1000*d - 7 })
		turned.Doubts, turned.Foreign = each(x.Doubts, func(d float64) float64 { return d - 1 }), each(x.Foreign, func(d float64) float64 { return d - 1 })
		if f := Judge(far, (Abstain{By: Energy{}, At: F1{}}).must(t, far).Threshold).F1; !(math.Abs(float64(f-best)) < 0.03) {
			t.Errorf("by energy the best F1 is %v, by the classifier %v", f, best)
		}
		c := Abstain{By: Confidence{}, At: F1{}}.must(t, turned)
		within(t, "confidence", c.Score(), 1-rule.Threshold, 0.011)
	}
	if _, err := (Abstain{By: Entropy{}, At: F1{}}).Choose(Examples{Doubts: []float64{1, 2}, Wrong: []bool{true, false}}); err == nil {
		t.Error("f1 is chosen without foreign inputs")
	}
}

func each(x []float64, f func(float64) float64) (out []float64) {
	for _, v := range x {
		out = append(out, f(v))
	}
	return out
}

// TestCurve: its points are those of Judge, between the share of rows that should abstain and that of those that should not; the area under
// its ROC is the AUC by ranks, and so is the chance that pairs are in order.
func TestCurve(t *testing.T) {
	x := doubtful(random(600), 60, 0.9)
	for i := range x.Doubts {
		x.Doubts[i], x.Foreign[i] = math.Round(x.Doubts[i]*20), math.Round(x.Foreign[i]*20) // many ties
	}
	x.Doubts[3] = math.Inf(1)
	curve := Curve(x)
	_, z := x.joined()
	positives := 0.0
	for _, v := range z {
		if v {
			positives++
		}
	}
	within(t, "accuracy where all abstain", curve[0].Accuracy, positives/120, 1e-15)
	within(t, "abstained", curve[0].Abstained, 1, 0)
	area := 0.0
	for k, p := range curve {
		v := Judge(x, p.Threshold)
		within(t, "accuracy", p.Accuracy, float64(v.TwoLevel), 1e-15)
		within(t, "recall", p.Recall, float64(v.Recall), 1e-15)
		within(t, "abstained", p.Abstained, float64(v.Refused.Right+v.Refused.Wrong+v.Refused.Foreign)/120, 1e-15)
		if k > 0 {
			area += (curve[k-1].Alarms - p.Alarms) * (curve[k-1].Recall + p.Recall) / 2
		}
	}
	last := curve[len(curve)-1]
	area += last.Alarms * last.Recall / 2 // rows that never answer come last
	doubts, _ := x.joined()
	pairs, won := 0.0, 0.0
	for i, a := range doubts {
		for j, b := range doubts {
			if z[i] && !z[j] {
				pairs++
				if a > b {
					won++
				} else if a == b {
					won += 0.5
				}
			}
		}
	}
	within(t, "AUC", AUC(x), won/pairs, 1e-14)
	within(t, "area", area, won/pairs, 1e-13)

	x.Doubts[3] = 0
	curve = Curve(x)
	within(t, "accuracy where none abstains", curve[len(curve)-1].Accuracy, 1-float64(count(x.Wrong)+60)/120, 1e-15)
}

func count(x []bool) (n int) {
	for _, v := range x {
		if v {
			n++
		}
	}
	return n
}

func TestWrongs(t *testing.T) {
	nan := math.NaN()
	got, err := Wrongs([]float64{0.2, 0.8, 0.5, 0.5, nan, 1}, 2, []int32{1, 1, 1})
	if err != nil || !slices.Equal(got, []bool{false, true, true}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Wrongs([]float64{0.2, 0.8}, 2, []int32{2}); err == nil {
		t.Error("a label out of range is taken")
	}
	if got := WrongNumbers([]float64{1, 2, nan}, []float64{1.5, 3, 1}, 0.5); !slices.Equal(got, []bool{false, true, true}) {
		t.Errorf("%v", got)
	}
}

// TestRuleInWords: a rule says on which side of its threshold rows abstain, in the score's own unit.
func TestRuleInWords(t *testing.T) {
	for want, r := range map[string]*Rule{
		"where the total entropy is above 0.2500":     NewRule(Entropy{}, 0.25, true, 9),
		"where the confidence is below 0.9000":        NewRule(Confidence{}, 0.9, true, 9),
		"where the energy is above −1.250":            NewRule(Energy{}, -1.25, true, 9),
		"where the confidence is no number":           {By: Confidence{}, Threshold: math.Inf(1)},
		"everywhere":                                  {By: Confidence{}, Threshold: math.Inf(-1)},
		"where the standard deviation is above 12.00": NewRule(SD{}, 12, true, 9),
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
