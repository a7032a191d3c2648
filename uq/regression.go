package uq

import "math"

// The scores of this file compare predictions with the truth, [n] each. An error is prediction − truth. Without examples a
// score is NaN. The functions panic if the sizes differ.

// RMSE is the root of the mean squared error.
func RMSE(predicted, truth []float64) float64 {
	return math.Sqrt(squares(predicted, truth) / float64(len(truth)))
}

// MAE is the mean absolute error.
func MAE(predicted, truth []float64) float64 {
	mustRows(len(predicted), 1, len(truth))
	sum := 0.0
	for i, y := range truth {
		sum += math.Abs(predicted[i] - y)
	}
	return sum / float64(len(truth))
}

// Bias is the mean error.
func Bias(predicted, truth []float64) float64 {
	mustRows(len(predicted), 1, len(truth))
	sum := 0.0
	for i, y := range truth {
		sum += predicted[i] - y
	}
	return sum / float64(len(truth))
}

// R2 is the share of the truth's variance that the prediction explains, 1 − Σ(p − y)² / Σ(y − ȳ)²; NaN where the truth
// does not vary.
func R2(predicted, truth []float64) float64 {
	m, total, varies := Mean(truth), 0.0, false
	for _, y := range truth {
		total += float64((y - m) * (y - m))
		varies = varies || y != truth[0] // the mean of equal values need not equal them in floating point
	}
	if total == 0 || !varies {
		return math.NaN()
	}
	return 1 - squares(predicted, truth)/total
}

func squares(predicted, truth []float64) float64 {
	mustRows(len(predicted), 1, len(truth))
	sum := 0.0
	for i, y := range truth {
		d := predicted[i] - y
		sum += float64(d * d)
	}
	return sum
}

// Coverage is the share of targets within the central interval of probability p of their predictions. pit holds the
// predictive CDFs at the targets. Calibrated predictions have a coverage of p.
func Coverage(pit []float64, p float64) float64 {
	in := 0
	for _, u := range pit {
		if math.IsNaN(u) {
			return u
		}
		if math.Abs(u-0.5) <= p/2 {
			in++
		}
	}
	return float64(in) / float64(len(pit))
}
