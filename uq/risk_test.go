package uq

import (
	"math"
	"slices"
	"testing"
)

// Without ties the curve is the running share of wrong answers.
func TestRiskCoverage(t *testing.T) {
	risk := RiskCoverage([]float64{0.3, 0.1, 0.4, 0.2}, []bool{true, false, false, true})
	if want := []float64{0, 0.5, 2. / 3, 0.5}; !slices.Equal(risk, want) {
		t.Errorf("risk %v, want %v", risk, want)
	}
	if got := RiskCoverage([]float64{0.1, math.NaN()}, []bool{true, true}); got != nil || !math.IsNaN(AURC(got)) {
		t.Errorf("curve with NaN %v", got)
	}
}

// With ties the curve is the mean over all orders of tied examples, so it does not depend on the order of examples.
func TestRiskCoverageOfTiesIsTheMeanOverOrders(t *testing.T) {
	uncertainty := []float64{2, 1, 2, 1, 1, 3}
	wrong := []bool{true, true, false, false, true, true}
	order := []int{0, 1, 2, 3, 4, 5}
	sum, orders := 0.0, 0
	var visit func(k int)
	visit = func(k int) {
		if k == len(order) {
			if slices.IsSortedFunc(order, func(a, b int) int { return int(uncertainty[a] - uncertainty[b]) }) {
				errors := 0.0
				for i, o := range order {
					if wrong[o] {
						errors++
					}
					sum += errors / float64(i+1) / float64(len(order))
				}
				orders++
			}
			return
		}
		for i := k; i < len(order); i++ {
			order[k], order[i] = order[i], order[k]
			visit(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	visit(0)
	if want := 3 * 2 * 2; orders != want {
		t.Fatalf("%d orders, want %d", orders, want)
	}
	if got := AURC(RiskCoverage(uncertainty, wrong)); !(math.Abs(got-sum/float64(orders)) <= 1e-15) {
		t.Errorf("AURC %v, mean over orders %v", got, sum/float64(orders))
	}
}

// The AURC of a constant uncertainty is the share of wrong answers; a perfect one ranks the wrong answers last; without wrong
// answers it is 0.
func TestAURCBounds(t *testing.T) {
	wrong := []bool{false, true, false, true, false}
	if got := AURC(RiskCoverage(make([]float64, 5), wrong)); !(math.Abs(got-0.4) <= 1e-15) {
		t.Errorf("constant uncertainty: %v", got)
	}
	if got, want := AURC(RiskCoverage([]float64{0, 1, 0, 1, 0}, wrong)), (1./4+2./5)/5; !(math.Abs(got-want) <= 1e-15) {
		t.Errorf("perfect uncertainty: %v, want %v", got, want)
	}
	if got := AURC(RiskCoverage([]float64{3, 1, 2}, make([]bool, 3))); got != 0 {
		t.Errorf("nothing wrong: %v", got)
	}
}
