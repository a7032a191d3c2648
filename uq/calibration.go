package uq

import "math"

// Bins is the number of bins of the reported calibration error.
const Bins = 15

// Bin is one bar of a reliability diagram: the examples whose confidence, the probability of the class that is
// predicted, lies in (b/bins, (b+1)/bins].
type Bin struct {
	Count      int
	Accuracy   float64 // share of right predictions; 0 in an empty bin
	Confidence float64 // their mean confidence; 0 in an empty bin
}

// Reliability sorts the predictions [n, classes] into bins of equal width by confidence. Predictions that are NaN
// count in the last bin and make its confidence NaN.
func Reliability(probs []float64, classes int, labels []int32, bins int) []Bin {
	mustRows(len(probs), classes, classes*len(labels))
	b := make([]Bin, bins)
	wrong := mistakes(probs, classes, labels)
	for i, confidence := range Confidence(probs, classes) {
		k := bin(confidence, bins)
		b[k].Count++
		b[k].Confidence += confidence
		if !wrong[i] {
			b[k].Accuracy++
		}
	}
	for k := range b {
		if n := float64(b[k].Count); n > 0 {
			b[k].Accuracy /= n
			b[k].Confidence /= n
		}
	}
	return b
}

// bin finds b with b/bins < confidence ≤ (b+1)/bins. The product may round across an edge, so it is only a first guess.
func bin(confidence float64, bins int) int {
	if !(confidence < 1) {
		return bins - 1
	}
	edge := func(b int) float64 { return float64(b) / float64(bins) }
	b := max(int(confidence*float64(bins)), 0)
	for b > 0 && confidence <= edge(b) {
		b--
	}
	for confidence > edge(b+1) {
		b++
	}
	return b
}

// ECE is the expected calibration error Σ_b (n_b/n) |accuracy_b − confidence_b| (Guo et al. 2017, eq. (3)), NaN
// without examples.
func ECE(bins []Bin) float64 {
	n, sum := 0, 0.0
	for _, b := range bins {
		n += b.Count
		sum += float64(float64(b.Count) * math.Abs(b.Accuracy-b.Confidence))
	}
	return sum / float64(n)
}
