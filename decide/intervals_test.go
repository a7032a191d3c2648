package decide

import (
	"errors"
	"math"
	"testing"
)

// TestIntervalCoverage: laws that are twice too wide or too narrow, over 200 divisions; bounds as in TestCoverage.
func TestIntervalCoverage(t *testing.T) {
	const divisions, m, n = 200, 200, 20
	for k, wrong := range []float64{0.5, 2} {
		mean := 0.0
		for d := range divisions {
			s := random(9000 + 1000*k + d)
			var low, high, y []float64
			for range n + m {
				mu, sd := s.Normal(), 0.5+s.Float64()
				low, high = append(low, mu-1.96*wrong*sd), append(high, mu+1.96*wrong*sd)
				y = append(y, mu+sd*s.Normal())
			}
			rule, err := Sets{Rate: 0.95}.Intervals(low[:n], high[:n], y[:n])
			if err != nil {
				t.Fatal(err)
			}
			for i := n; i < n+m; i++ {
				if a, b := rule.Interval(low[i], high[i]); a <= y[i] && y[i] <= b {
					mean += 1. / (divisions * m)
				}
			}
		}
		want := 20. / 21
		within(t, "coverage", mean, want, 5*math.Sqrt(want*(1-want)*(1./22+1./m)/divisions))
	}
}

func TestIntervals(t *testing.T) {
	low, high := []float64{0, 0, 0}, []float64{10, 10, 10}
	rule, err := Sets{Rate: 0.75}.Intervals(low, high, []float64{5, 12, -1}) // scores −5, 2, 1; rank 3
	if err != nil || rule.Widen != 2 || rule.Examples != 3 {
		t.Fatalf("%+v, %v", rule, err)
	}
	if a, b := rule.Interval(1, 3); a != -1 || b != 5 {
		t.Errorf("[%v, %v]", a, b)
	}
	if a, b := rule.Interval(math.NaN(), 3); !math.IsInf(a, -1) || !math.IsInf(b, 1) {
		t.Errorf("of NaN: [%v, %v]", a, b)
	}
	narrow := Intervals{Widen: -4}
	if a, b := narrow.Interval(1, 3); a != 2 || b != 2 {
		t.Errorf("drawn in past each other: [%v, %v]", a, b)
	}
	var need *NeedError
	if _, err := (Sets{Rate: 0.9}).Intervals(low, high, []float64{5, 12, -1}); !errors.As(err, &need) || need.Need != 9 {
		t.Errorf("3 examples: %v", err)
	}
	if _, err := (Sets{Rate: 0.5}).Intervals(low, high, []float64{5, math.NaN(), -1}); err == nil {
		t.Error("a target that is NaN is taken")
	}
	low[0] = math.NaN()
	if rule, err := (Sets{Rate: 0.5}).Intervals(low, high, []float64{5, 12, -1}); err != nil || rule.Examples != 2 {
		t.Errorf("with a quantile that is NaN: %+v, %v", rule, err)
	}
	inf := math.Inf(1)
	if rule, err := (Sets{Rate: 0.5}).Intervals([]float64{-inf, -inf, 0}, []float64{inf, inf, 10}, []float64{5, 12, -1}); err == nil {
		t.Errorf("laws without ends are widened by %v, which no decision.json can hold", rule.Widen)
	}
	within(t, "interval score", IntervalScore([]float64{0, 0}, []float64{2, 2}, []float64{1, 3}, 0.9), 2+20./2, 1e-12)
	if a, b := Levels(0.9); math.Abs(a-0.05) > 1e-15 || math.Abs(b-0.95) > 1e-15 {
		t.Errorf("levels %v, %v", a, b)
	}
}
