package uq

// ClassScore scores the answers for one class against all others. The answer for an example is its most probable class.
type ClassScore struct {
	N         int    `json:"n"`         // examples of the class
	Answered  int    `json:"answered"`  // examples that are answered with it
	Precision Number `json:"precision"` // share of the class among the examples that are answered with it; NaN if none is
	Recall    Number `json:"recall"`    // share of the examples of the class that are answered with it; NaN without examples
	F1        Number `json:"f1"`        // harmonic mean of both, 2·right/(2·right + wrong answers + missed examples); NaN if all are 0
	AUROC     Number `json:"auroc"`     // of the probability of the class, for its examples against all others; NaN without either
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
		s.Answered, s.AUROC = answered[c], Number(rocOf(probs, classes, labels, c))
		s.F1 = 2 * Number(right[c]) / Number(answered[c]+s.N)
	}
	return scores
}

// rocOf is the AUROC of the probability of class c.
func rocOf(probs []float64, classes int, labels []int32, c int) float64 {
	var others, own []float64
	for i, y := range labels {
		if p := probs[i*classes+c]; int(y) == c {
			own = append(own, p)
		} else {
			others = append(others, p)
		}
	}
	return AUROC(others, own)
}

// AtThreshold scores a decision between one class and all others: an example is declared of the class where its probability is at least
// a threshold.
type AtThreshold struct {
	N         int    `json:"n"`         // examples
	Positive  int    `json:"positive"`  // examples of the class
	Declared  int    `json:"declared"`  // examples that are declared of it
	Accuracy  Number `json:"accuracy"`  // share of all examples that is right
	Precision Number `json:"precision"` // share of the class among the declared; NaN if none is
	Recall    Number `json:"recall"`    // share of the examples of the class that is declared; NaN without examples
	F1        Number `json:"f1"`        // as of ClassScore
}

// Decide scores the decision for class c by a threshold, for class probabilities [n, classes].
func Decide(probs []float64, classes int, labels []int32, c int, threshold float64) AtThreshold {
	mustRows(len(probs), classes, classes*len(labels))
	s, right, found := AtThreshold{N: len(labels)}, 0, 0
	for i, y := range labels {
		p := probs[i*classes+c]
		own, declared := int(y) == c, p >= threshold
		if own {
			s.Positive++
		}
		if declared {
			s.Declared++
		}
		if own == declared && p == p { // an undefined probability is no answer
			right++
		}
		if own && declared {
			found++
		}
	}
	share := func(k, n int) Number { return Number(float64(k) / float64(n)) }
	s.Accuracy, s.Precision, s.Recall, s.F1 = share(right, s.N), share(found, s.Declared), share(found, s.Positive), share(2*found, s.Declared+s.Positive)
	return s
}
