package decide

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

// Examples are what a threshold is chosen by: the doubts of labelled examples, which of their answers are wrong, and the doubts of
// foreign inputs. A Network's own training examples must not be among them (HoldOut).
type Examples struct {
	Doubts  []float64 // as Doubts returns them
	Wrong   []bool
	Foreign []float64
}

// joined are the doubts of all examples, and which of them should abstain: wrong answers and foreign inputs.
func (x *Examples) joined() (doubts []float64, z []bool) {
	z = slices.Clone(x.Wrong)
	for range x.Foreign {
		z = append(z, true)
	}
	return slices.Concat(x.Doubts, x.Foreign), z
}

// abstains reports a row whose doubt is above the threshold, or whose score is NaN.
func abstains(doubt, threshold float64) bool { return !(doubt <= threshold) || math.IsInf(doubt, 1) }

// Wrongs reports which class answers are wrong: the most probable class is not the label. An answer that is NaN is wrong. Errors: labels that are
// no classes.
func Wrongs(probs []float64, classes int, labels []int32) ([]bool, error) {
	if err := checkLabels(probs, classes, labels); err != nil {
		return nil, err
	}
	wrong := make([]bool, len(labels))
	for i, y := range labels {
		wrong[i] = uq.Argmax(probs[i*classes:(i+1)*classes]) != int(y)
	}
	return wrong, nil
}

// WrongNumbers reports which numbers are wrong: the mean is further from the target than the tolerance, or is NaN.
func WrongNumbers(mean, y []float64, tolerance float64) []bool {
	wrong := make([]bool, len(y))
	for i, v := range y {
		wrong[i] = !(math.Abs(v-mean[i]) <= tolerance)
	}
	return wrong
}
