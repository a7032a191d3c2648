package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Probabilities are any program's predicted class probabilities, one row of Classes for each example, of each particle in
// turn.
type Probabilities struct {
	Name      string // of the file, for errors
	Shape     []int  // [examples, classes] or [particles, examples, classes]
	Particles int    // 0: the file tells no particles apart, and has one row an example
	Examples  int
	Classes   int
	Values    []float64
}

// ReadProbabilities reads an array [examples, classes] or [particles, examples, classes] each of whose rows is a
// distribution.
func ReadProbabilities(file string) (*Probabilities, error) {
	a, err := ReadArray(file)
	if err != nil {
		return nil, err
	}
	p := &Probabilities{Name: file, Shape: a.Shape}
	switch len(a.Shape) {
	case 2:
		p.Examples, p.Classes = a.Shape[0], a.Shape[1]
	case 3:
		p.Particles, p.Examples, p.Classes = a.Shape[0], a.Shape[1], a.Shape[2]
	default:
		return nil, fmt.Errorf("%s: shape %v, want probabilities [examples, classes] or [particles, examples, classes]", file, a.Shape)
	}
	if slices.Contains(a.Shape, 0) {
		return nil, fmt.Errorf("%s: shape %v: there is nothing to score", file, a.Shape)
	}
	p.Values = a.Float64s()
	return p, p.check()
}

// check finds the first row that is not a distribution. The sum of a row may be off by what half precision rounds.
func (p *Probabilities) check() error {
	place := func(row int) string {
		if p.Particles > 0 {
			return fmt.Sprintf("%s: particle %d, row %d", p.Name, row/p.Examples, row%p.Examples)
		}
		return fmt.Sprintf("%s: row %d", p.Name, row)
	}
	const mend = "want probabilities; are these logits?"
	for row := range len(p.Values) / p.Classes {
		sum := 0.0
		for c, v := range p.Values[row*p.Classes : (row+1)*p.Classes] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s, class %d is %v: want a probability", place(row), c, v)
			}
			if v < 0 {
				return fmt.Errorf("%s, class %d is %.6g: %s", place(row), c, v, mend)
			}
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-3) {
			return fmt.Errorf("%s sums to %.6g, not 1: %s", place(row), sum, mend)
		}
	}
	return nil
}

// ReadLabels reads the labels of the examples: an array of integers from 0, or a CSV of one column. If the
// classes have names, a CSV may hold these in place of numbers, with a header or without.
func (p *Probabilities) ReadLabels(file string, names []string) ([]int32, error) {
	y, err := readLabels(file, names)
	if err != nil {
		return nil, err
	}
	if len(y) != p.Examples {
		return nil, fmt.Errorf("%s has %d labels, [%d], for %d examples in %s, %v", file, len(y), len(y), p.Examples, p.Name, p.Shape)
	}
	for i, c := range y {
		if int(c) >= p.Classes {
			return nil, fmt.Errorf("%s: label %d of example %d: %s has %d classes, 0 to %d", file, c, i, p.Name, p.Classes, p.Classes-1)
		}
	}
	return y, nil
}

func readLabels(file string, names []string) ([]int32, error) {
	array, err := IsArray(file)
	if err != nil {
		return nil, err
	}
	if array {
		a, err := ReadArray(file)
		if err != nil {
			return nil, err
		}
		if len(a.Shape) != 1 && !(len(a.Shape) == 2 && a.Shape[1] == 1) {
			return nil, fmt.Errorf("%s: labels of shape %v, want [examples]", file, a.Shape)
		}
		return a.Ints()
	}
	if names != nil {
		if y, err := readClassNames(file, names); y != nil || err != nil {
			return y, err
		}
	}
	t, err := readColumn(file, CSV{Delimiter: ","})
	if err != nil {
		return nil, err
	}
	y := make([]int32, t.Rows())
	for i, v := range t.Values {
		if !(v >= 0 && v <= math.MaxInt32 && v == math.Floor(v)) {
			return nil, fmt.Errorf("%s: line %d: label %v: classes are integers from 0", file, t.Line(i), v)
		}
		y[i] = int32(v)
	}
	return y, nil
}

// readColumn reads a CSV of one column.
func readColumn(file string, o CSV) (*Table, error) {
	t, err := ReadCSV(file, o)
	if err == nil && t.Cols != 1 {
		err = fmt.Errorf("%s has %d columns, want one of labels", file, t.Cols)
	}
	return t, err
}

// readClassNames reads names of classes as their numbers. The first record is a header if it is neither such a name nor a
// number. It returns nil where all cells are numbers and one of them is not a name: numbers of classes.
func readClassNames(file string, names []string) ([]int32, error) {
	t, err := readColumn(file, CSV{Delimiter: ",", Target: "1", Header: new(bool)})
	if err != nil {
		return nil, err
	}
	y, numbers, stranger := make([]int32, 0, t.Rows()), true, -1
	for i, v := range t.Values {
		k, number := -1, true
		if t.Text == 0 && !math.IsNaN(v) {
			text := t.Names[int(v)]
			k = slices.Index(names, text)
			v, err = parseNumber([]byte(text))
			number = err == nil
		}
		if k < 0 && number { // a class that is called 3 may stand there as 3.0
			k = slices.Index(names, strconv.FormatFloat(v, 'f', -1, 64))
		}
		switch {
		case k >= 0:
			y = append(y, int32(k))
		case i == 0 && !number:
			continue
		case stranger < 0 || numbers && !number:
			stranger = i
		}
		numbers = numbers && number
	}
	switch {
	case stranger < 0:
		return y, nil
	case numbers:
		return nil, nil
	}
	cell := ""
	if v := t.Values[stranger]; !math.IsNaN(v) {
		cell = t.Names[int(v)]
	}
	return nil, fmt.Errorf("%s: line %d: %s is no class of the run (%s)", file, t.Line(stranger), quote([]byte(cell)), quoteSome(names))
}

// ReadWeights reads the weights of particles, of any common scale, which are equal if file is empty.
func ReadWeights(file string, particles int) ([]float64, error) {
	if file == "" {
		equal := make([]float64, particles)
		for j := range equal {
			equal[j] = 1
		}
		return equal, nil
	}
	a, err := ReadArray(file)
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
