package uq

// ClassScore scores the answers for one class against all others. The answer for an example is its most probable class.
type ClassScore struct {
	N         int    `json:"n"`         // examples of the class
	Precision Number `json:"precision"` // share of the class among the examples that are answered with it; NaN if none is
	Recall    Number `json:"recall"`    // share of the examples of the class that are answered with it; NaN without examples
	F1        Number `json:"f1"`        // harmonic mean of both, 2·right/(2·right + wrong answers + missed examples); NaN if all are 0
}

// ByClass scores class probabilities [n, classes] for each class.
func ByClass(probs []float64, classes int, labels []int32) []ClassScore {
	mustRows(len(probs), classes, classes*len(labels))
	right, answered, scores := make([]int, classes), make([]int, classes), make([]ClassScore, classes)
	for i, y := range labels {
		scores[y].N++
		answer := Argmax(probs[i*classes : (i+1)*classes])
		if answer < 0 {
			continue
		}
		answered[answer]++
		if answer == int(y) {
			right[answer]++
		}
	}
	for c := range scores {
		s, share := &scores[c], func(of int) Number { return Number(float64(right[c]) / float64(of)) }
		s.Precision, s.Recall = share(answered[c]), share(s.N)
		s.F1 = 2 * Number(right[c]) / Number(answered[c]+s.N)
	}
	return scores
}
