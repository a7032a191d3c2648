package eval

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/internal/tables"
)

// readLabels reads the labels of n examples: an array of integers, or a CSV of one column. If all cells of the CSV are names
// of classes they are read as names, else as integers.
func readLabels(file string, n int, names []string) ([]int32, error) {
	array, err := formats.IsArray(file)
	if err != nil {
		return nil, err
	}
	if array {
		a, err := data.ReadArray(file)
		if err != nil {
			return nil, err
		}
		if len(a.Shape) != 1 && !(len(a.Shape) == 2 && a.Shape[1] == 1) {
			return nil, fmt.Errorf("%s: labels of shape %v, want [examples]", file, a.Shape)
		}
		return a.Ints()
	}
	y, err := readIntegers(file)
	var word *tables.CellError
	words := errors.As(err, &word)
	switch {
	case names != nil:
		if named, nameErr := readNames(file, n, names); nameErr == nil || words {
			return named, nameErr
		}
	case words:
		err = fmt.Errorf("%w: classes are integers from 0, or also names if their run is given: starling evaluate RUN --probs FILE --labels FILE", err)
	}
	return y, err
}

func readIntegers(file string) ([]int32, error) {
	t, err := data.ReadCSV(file, data.CSV{Delimiter: ","})
	if err != nil {
		return nil, err
	}
	if t.Cols != 1 {
		return nil, fmt.Errorf("%s has %d columns, want one of labels", file, t.Cols)
	}
	y := make([]int32, t.Rows())
	for i, v := range t.Values {
		if !(v >= 0 && v <= math.MaxInt32 && v == math.Floor(v)) {
			return nil, fmt.Errorf("%s: %s: label %v: classes are integers from 0", file, t.Where(i), v)
		}
		y[i] = int32(v)
	}
	return y, nil
}

// readNames reads n labels that are names of classes. If there is one more line, the first is the header.
func readNames(file string, n int, names []string) ([]int32, error) {
	t, err := data.ReadCSV(file, data.CSV{Delimiter: ",", Header: new(bool), Target: "1"})
	if text := new(tables.CellError); errors.As(err, &text) { // text in another column than the first
		return nil, fmt.Errorf("%s has more than one column, want one of labels", file)
	}
	if err != nil {
		return nil, err
	}
	if t.Cols != 1 {
		return nil, fmt.Errorf("%s has %d columns, want one of labels", file, t.Cols)
	}
	first := 0
	if t.Rows() == n+1 {
		first = 1
	}
	var y []int32
	for i := first; i < t.Rows(); i++ {
		name := ""
		switch v := t.Values[i]; {
		case v != v: // an empty cell
		case t.Names != nil:
			name = t.Names[0][int(v)]
		default: // names may be numbers, too
			name = strconv.FormatFloat(v, 'f', -1, 64)
		}
		class := slices.Index(names, name)
		if class < 0 {
			return nil, fmt.Errorf("%s: %s: %q is not a class of the run%s (classes: %s)", file, t.Where(i), name, spelling.Suggest(name, names), list(names))
		}
		y = append(y, int32(class))
	}
	return y, nil
}

// list writes names for an error.
func list(names []string) string {
	const most = 20
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(name))
	}
	if len(names) > most {
		b.WriteString(", …")
	}
	return b.String()
}

// checkProbabilities returns an error for the first row that is not a distribution. A row may be off by the rounding of half
// precision. A probability that a rounding took below 0 or above 1 becomes 0 or 1, in place.
func checkProbabilities(name string, values []float64, shape []int) error {
	n, classes := shape[len(shape)-2], shape[len(shape)-1]
	place := func(row int) string {
		if len(shape) == 3 {
			return fmt.Sprintf("%s: particle %d, row %d", name, row/n, row%n)
		}
		return fmt.Sprintf("%s: row %d", name, row)
	}
	if classes == 1 {
		return fmt.Errorf("%s: shape %v has one column: want one for each class; of the probability p of the second of two classes, save [1-p, p]", name, shape)
	}
	const (
		remedy   = "want probabilities; are these logits?"
		rounding = 1e-6 // of a probability in single precision, such as one minus the others
	)
	for row := range len(values) / classes {
		sum := 0.0
		for c, v := range values[row*classes : (row+1)*classes] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s, class %d is %v: want a probability", place(row), c, v)
			}
			if v < -rounding {
				return fmt.Errorf("%s, class %d is %.6g: %s", place(row), c, v, remedy)
			}
			values[row*classes+c] = max(0, v)
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-3) {
			return fmt.Errorf("%s sums to %.6g, not 1: %s", place(row), sum, offSum(values, shape, row, sum, remedy))
		}
		for c := row * classes; c < (row+1)*classes; c++ {
			values[c] = min(values[c], 1)
		}
	}
	return nil
}

// offSum says what may be wrong with probabilities of which a row does not sum to 1, and how to mend it.
func offSum(values []float64, shape []int, row int, sum float64, otherwise string) string {
	classes := shape[len(shape)-1]
	decimals := .005 * float64(classes) // the most that two decimal places of each leave
	switch most := slices.Max(values[row*classes : (row+1)*classes]); {
	case len(shape) == 2 && shape[0] < classes && columnsSum(values, classes):
		return "its columns do: is it transposed? Save p.T, of shape [examples, classes]"
	case math.Abs(sum-1) <= max(.005, decimals) && most <= 1:
		return "are they rounded? Save all decimal places, or divide each row by its sum"
	case math.Abs(sum-100) <= max(.5, 100*decimals) && most <= 101:
		return "are they per cent? Divide them by 100"
	}
	return otherwise
}

// columnsSum reports whether every column of an array sums to 1.
func columnsSum(values []float64, columns int) bool {
	for c := range columns {
		sum := 0.0
		for i := c; i < len(values); i += columns {
			sum += values[i]
		}
		if !(math.Abs(sum-1) <= 1e-3) {
			return false
		}
	}
	return true
}

// readWeights reads the weights of particles, which are equal if there is no file.
func readWeights(file string, particles int) ([]float64, error) {
	if file == "" {
		equal := make([]float64, particles)
		for j := range equal {
			equal[j] = 1
		}
		return equal, nil
	}
	a, err := data.ReadArray(file)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 1 || a.Shape[0] != particles {
		return nil, fmt.Errorf("%s: weights of shape %v for %d particles, want [%d]", file, a.Shape, particles, particles)
	}
	w, sum := a.Float64s(), 0.0
	for j, v := range w {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, fmt.Errorf("%s: weight %d is %v: want a number from 0 (weights, not their logarithms)", file, j, v)
		}
		sum += v
	}
	if !(sum > 0 && sum <= math.MaxFloat64) {
		return nil, fmt.Errorf("%s: the weights sum to %v", file, sum)
	}
	return w, nil
}
