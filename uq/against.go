package uq

import "math"

// Against compares the class probabilities of a prediction with those of a reference, such as a long Markov chain's (Izmailov et al. 2021,
// section 6.2).
type Against struct {
	Agreement      Number `json:"agreement"`       // share of the examples whose most probable class is the same
	TotalVariation Number `json:"total_variation"` // mean over the examples of ½ Σ_c |p_c − q_c|, from 0 to 1
	N              int    `json:"n"`               // examples
}

// Compare summarises Agreement and TotalVariation of probabilities p and q, both [n, classes].
func Compare(p, q []float64, classes int) *Against {
	agree := Agreement(p, q, classes)
	return &Against{Agreement: Number(Mean(agree)), TotalVariation: Number(Mean(TotalVariation(p, q, classes))), N: len(agree)}
}

// Agreement is 1 for each example whose most probable class is the same in p and q, both [n, classes], and else 0. Of several most probable
// classes the lowest counts, in both. A row with a NaN has no most probable class and agrees with none.
func Agreement(p, q []float64, classes int) []float64 {
	mustRows(len(p), classes, len(q))
	agree := make([]float64, len(p)/classes)
	for i := range agree {
		row := i * classes
		if c := Argmax(p[row : row+classes]); c >= 0 && c == Argmax(q[row:row+classes]) {
			agree[i] = 1
		}
	}
	return agree
}

// TotalVariation is ½ Σ_c |p_c − q_c| of each example, [n], for p and q [n, classes]: the largest difference between the probabilities
// that the two give to any set of classes.
func TotalVariation(p, q []float64, classes int) []float64 {
	mustRows(len(p), classes, len(q))
	distance := make([]float64, len(p)/classes)
	for i := range distance {
		sum := 0.0
		for c := i * classes; c < (i+1)*classes; c++ {
			sum += math.Abs(p[c] - q[c])
		}
		distance[i] = sum / 2
	}
	return distance
}
