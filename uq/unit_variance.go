package uq

import "math"

// The scores of this file are those of one publication, so that its tables can be compared with (Millard, Murphy, Zhao and Maskell,
// "Utilising gradient-based proposals within sequential Monte Carlo samplers for training of partial Bayesian neural networks").
// They take N(mean, 1) for the prediction, whatever the ensemble says of its uncertainty. So they are functions of the errors alone,
// and no metrics of a run.

// UnitNLL is the mean negative log density of the truth under normals of variance 1 around the predicted means, in nats:
//
//	½ ln 2π + ½ mean (y − μ)²
//
// It is at least 0.9189.
func UnitNLL(predicted, truth []float64) float64 {
	return unitMean(predicted, truth, func(n *Normals, y float64) float64 { return -n.LogDensity(y) })
}

// UnitCRPS is the mean CRPS of normals of variance 1 around the predicted means. With z = y − μ that of an example is
//
//	z (2Φ(z) − 1) + 2φ(z) − 1/√π
//
// It is at least √(2/π) − 1/√π = 0.2337.
func UnitCRPS(predicted, truth []float64) float64 { return unitMean(predicted, truth, (*Normals).CRPS) }

// unitMean is the mean of a score of N(predicted, 1) over the examples.
func unitMean(predicted, truth []float64, score func(n *Normals, y float64) float64) float64 {
	mustRows(len(predicted), 1, len(truth))
	scores := make([]float64, len(truth))
	for i, y := range truth {
		scores[i] = score(&Normals{Weights: []float64{1}, Mean: predicted[i : i+1], SD: []float64{1}}, y)
	}
	return Mean(scores)
}

// BiasReadings returns the three readings of the publication's column "bias", which it does not define and none of which suits
// all of its rows: |mean (y − μ)|, that over the standard deviation of y, and its square over the variance of y.
func BiasReadings(predicted, truth []float64) (absolute, overSD, overVariance float64) {
	absolute = math.Abs(Bias(predicted, truth))
	mean, variance := Mean(truth), 0.0
	for _, y := range truth {
		variance += float64((y-mean)*(y-mean)) / float64(len(truth))
	}
	return absolute, absolute / math.Sqrt(variance), float64(absolute*absolute) / variance
}
