package decide

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/uq"
)

// TestCoverage: over 200 divisions of fresh examples, sets that may be empty cover the truth in a share of rank/(n+1) in the mean, exactly where no
// two scores are equal. A division's coverage has variance c(1−c)(1/(n+2) + 1/m); 5 standard errors fail with a chance of 6e-7 a case. With n = 20
// and a rate of .95 the rank ⌈(n+1)·rate⌉ = 20 has .952, the rank ⌈n·rate⌉ = 19 has .905, 10 standard errors away.
func TestCoverage(t *testing.T) {
	const divisions, m, classes = 200, 200, 6
	for k, c := range []struct {
		score Score
		rate  float64
		n     int
	}{{LAC{}, 0.95, 20}, {APS{}, 0.95, 20}, {RAPS{0.1, 2}, 0.95, 20}, {LAC{}, 0.9, 100}, {APS{}, 0.5, 101}, {RAPS{0.05, 1}, 0.99, 99}} {
		mean := 0.0
		for d := range divisions {
			s := random(1000*k + d + 1000)
			probs, labels := sample(s, c.n+m, classes)
			u := make([]float64, c.n+m)
			for i := range u {
				u[i] = s.Float64()
			}
			sets := Sets{Score: c.score, Rate: c.rate, Empty: true}
			rule, err := sets.Conformal(probs[:c.n*classes], classes, labels[:c.n], u[:c.n])
			if err != nil {
				t.Fatal(err)
			}
			covered, _ := rule.Coverage(probs[c.n*classes:], classes, labels[c.n:], u[c.n:])
			mean += covered / divisions
		}
		want := math.Ceil(c.rate*float64(c.n+1)-1e-9) / float64(c.n+1)
		if !(want >= c.rate-1e-12) {
			t.Fatalf("a promise of %v", want)
		}
		sd := math.Sqrt(want * (1 - want) * (1/float64(c.n+2) + 1./m) / divisions)
		within(t, c.score.String()+" coverage", mean, want, 5*sd)
	}
}

// definition is membership by sums over pairs of classes: no order is made.
func definition(p []float64, u float64, c int, penalty float64, after int) float64 {
	s, place := u*p[c], 1
	for k, v := range p {
		if v > p[c] || v == p[c] && k < c {
			s += v
			place++
		}
	}
	if place > after {
		s += penalty * float64(place-after)
	}
	return s
}

func TestScoresByDefinition(t *testing.T) {
	probs, _ := sample(random(60), 300, 7)
	probs = append(probs, 0.25, 0.25, 0.1, 0.1, 0.1, 0.1, 0.1, 0, 0, 0, 1, 0, 0, 0)
	s := make([]float64, 7)
	for i := range len(probs) / 7 {
		p, u := probs[7*i:7*i+7], Uniform(1, 0, i)
		for _, x := range []struct {
			score   Score
			penalty float64
			after   int
		}{{APS{}, 0, 0}, {RAPS{0.1, 2}, 0.1, 2}, {RAPS{0.02, 0}, 0.02, 0}} {
			x.score.Of(p, u, s)
			for c := range p {
				within(t, x.score.String(), s[c], definition(p, u, c, x.penalty, x.after), 1e-14)
			}
		}
		LAC{}.Of(p, u, s)
		for c := range p {
			within(t, "LAC", s[c], 1-p[c], 0)
		}
	}
}

// TestLACByThreshold: the sets are all classes of at least 1 − q, where q is NumPy's quantile of method "higher" at (n+1)·rate/n.
func TestLACByThreshold(t *testing.T) {
	for _, n := range []int{19, 20, 137, 1000} {
		probs, labels := sample(random(70+n), n, 4)
		rule, err := Sets{Score: LAC{}, Rate: 0.95, Empty: true}.Conformal(probs, 4, labels, make([]float64, n))
		if err != nil {
			t.Fatal(err)
		}
		var of []float64
		for i, y := range labels {
			of = append(of, probs[4*i+int(y)])
		}
		slices.Sort(of)
		level := 0.95 * float64(n+1) / float64(n)
		at := int(math.Ceil(level*float64(n-1) - 1e-9)) // of the ascending scores 1 − p
		want := of[n-1-min(at, n-1)]
		within(t, "least probability in a set", 1-rule.Thresholds[0], want, 1e-15)
	}
}

func TestTheMostProbableClassIsInItsSet(t *testing.T) {
	probs, labels := sample(random(80), 400, 5)
	for i := range labels { // answers that are nearly always right: a low threshold
		labels[i] = int32(uq.Argmax(probs[5*i : 5*i+5]))
	}
	u := uniforms(0, 400)
	for _, score := range []Score{LAC{}, APS{}, RAPS{0.1, 2}} {
		sets := Sets{Score: score, Rate: 0.5}
		full, err := sets.Conformal(probs, 5, labels, u)
		if err != nil {
			t.Fatal(err)
		}
		sets.Empty = true
		letter, err := sets.Conformal(probs, 5, labels, u)
		if err != nil {
			t.Fatal(err)
		}
		empty := 0
		for i := range labels {
			p := probs[5*i : 5*i+5]
			a, b := full.Set(p, u[i]), letter.Set(p, u[i])
			if !slices.Contains(a, uq.Argmax(p)) {
				t.Fatalf("%s: row %d, of %v, has the set %v", score, i, p, a)
			}
			for _, c := range b {
				if !slices.Contains(a, c) {
					t.Fatalf("%s: row %d has the set %v, by the letter %v", score, i, a, b)
				}
			}
			if len(b) == 0 {
				empty++
			}
		}
		if empty == 0 {
			t.Errorf("%s: by the letter no set is empty", score)
		}
	}
}

// TestByClass: each class has the threshold that its examples have alone.
func TestByClass(t *testing.T) {
	probs, labels := sample(random(81), 600, 3)
	u := uniforms(0, 600)
	rule, err := Sets{Score: APS{}, Rate: 0.9, ByClass: true}.Conformal(probs, 3, labels, u)
	if err != nil {
		t.Fatal(err)
	}
	for c := range int32(3) {
		var p, v []float64
		var y []int32
		for i, l := range labels {
			if l == c {
				p, y, v = append(p, probs[3*i:3*i+3]...), append(y, l), append(v, u[i])
			}
		}
		one, err := Sets{Score: APS{}, Rate: 0.9}.Conformal(p, 3, y, v)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "threshold", rule.Thresholds[c], one.Thresholds[0], 0)
	}
}

func TestSetsRefuse(t *testing.T) {
	probs, labels := sample(random(82), 200, 4)
	for _, rate := range []float64{0, 1, -1, 1.5, math.NaN()} {
		if _, err := (Sets{Score: LAC{}, Rate: rate}).Conformal(probs, 4, labels, uniforms(0, 200)); err == nil {
			t.Errorf("a rate of %v is taken", rate)
		}
		if _, err := (Sets{Rate: rate}).Intervals(make([]float64, 100), make([]float64, 100), make([]float64, 100)); err == nil {
			t.Errorf("a rate of %v is taken for intervals", rate)
		}
	}
	for _, c := range []struct {
		rate float64
		need int
	}{{0.5, 1}, {0.9, 9}, {0.95, 19}, {0.99, 99}, {0.999, 999}, {0.8, 4}, {0.75, 3}} {
		if got := needed(c.rate); got != c.need {
			t.Errorf("a rate of %v needs %d examples, want %d", c.rate, got, c.need)
		}
	}
	sets := Sets{Score: LAC{}, Rate: 0.95}
	var need *NeedError
	if _, err := sets.Conformal(probs[:18*4], 4, labels[:18], uniforms(0, 18)); !errors.As(err, &need) || need.Have != 18 || need.Need != 19 {
		t.Errorf("18 examples: %v", err)
	}
	if _, err := sets.Conformal(probs[:19*4], 4, labels[:19], uniforms(0, 19)); err != nil {
		t.Errorf("19 examples: %v", err)
	}
	sets.ByClass = true
	rare := slices.Clone(labels)
	for i := range rare {
		rare[i] %= 3
	}
	if _, err := sets.Conformal(probs, 4, rare, uniforms(0, 200)); !errors.As(err, &need) || need.Have != 0 || need.What != "a rate of 0.95 for class 3 (counted from 0) alone" {
		t.Errorf("a class without examples: %v", err)
	}
	sets.ByClass = false
	bad := slices.Clone(labels)
	bad[7] = 4
	if _, err := sets.Conformal(probs, 4, bad, uniforms(0, 200)); err == nil {
		t.Error("a label out of range is taken")
	}
	if _, err := sets.Conformal(probs, 4, make([]int32, 200), uniforms(0, 200)); err != nil {
		t.Errorf("examples of one class: %v", err)
	}
}

func TestSetsOfNaN(t *testing.T) {
	probs, labels := sample(random(83), 100, 3)
	sets := Sets{Score: APS{}, Rate: 0.9}
	want, err := sets.Conformal(probs, 3, labels, uniforms(0, 100))
	if err != nil {
		t.Fatal(err)
	}
	got, err := sets.Conformal(append(probs, math.NaN(), 0.5, 0.5), 3, append(labels, 1), uniforms(0, 101))
	if err != nil || got.Thresholds[0] != want.Thresholds[0] || got.Examples != 100 {
		t.Errorf("with a row that is NaN: %v, %v; want %v", got, err, want)
	}
	if set := got.Set([]float64{0.9, math.NaN(), 0.1}, 0.5); !slices.Equal(set, []int{0, 1, 2}) {
		t.Errorf("the set of a row that is NaN is %v", set)
	}
}

// TestUniform: rows, parts and seeds have numbers of their own, and the mean of 10,000 is ½ within 5 standard errors.
func TestUniform(t *testing.T) {
	seen, mean := map[float64]bool{}, 0.0
	for i := range 10000 {
		u := Uniform(uint64(i%2), i/2%2, i/4)
		seen[u] = true
		mean += u / 10000
	}
	if len(seen) != 10000 {
		t.Errorf("%d numbers of 10000 differ", len(seen))
	}
	within(t, "mean", mean, 0.5, 5/math.Sqrt(12*10000))
	for _, k := range rng.Opened(func() { Uniform(3, 2, 9) }) {
		if k != (rng.Key{Seed: 3, Purpose: rng.Decide, Island: 2, Iteration: 9}) {
			t.Errorf("the key is %v", k)
		}
	}
}

func TestJoin(t *testing.T) {
	names := []string{"cat", "dog", "a|b"}
	name := func(c int) string { return names[c] }
	if s, err := Join([]int{0, 1}, name); s != "cat|dog" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if s, err := Join([]int{2}, name); err == nil {
		t.Errorf("a name with | gives %q", s)
	}
}
