package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/arrays"
)

// NewSet makes a set for classification of inputs [n, …] and labels [n] or [n, 1]. Images of shape [n, h, w] get one channel.
// uint8 inputs are kept (a network sees v/255), and so are numbers of 16 bits and those that stay in their file; other floats become float32. If classes is 0, the number of classes is the largest
// label plus one. Errors name the array and the example.
func NewSet(name string, inputs, labels *Array, classes int) (*Set, error) {
	s, err := NewInputs(name, inputs)
	if err != nil {
		return nil, err
	}
	if s.Labels, err = labelsOf(inputs, labels); err != nil {
		return nil, err
	}
	if s.Classes = classes; classes == 0 {
		for _, y := range s.Labels {
			s.Classes = max(s.Classes, int(y)+1)
		}
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", labels.Name, err)
	}
	return s, nil
}

// labelsOf returns the labels [n] or [n, 1] of inputs [n, …].
func labelsOf(inputs, labels *Array) ([]int32, error) {
	n, k := inputs.Shape[0], labels.Shape
	if len(k) != 1 && !(len(k) == 2 && k[1] == 1) || k[0] != n {
		return nil, fmt.Errorf("%s: labels of shape %v for %d examples of %s, want [%d]", labels.Name, labels.Shape, n, inputs.Name, n)
	}
	return labels.Ints()
}

// NewValues makes a set for regression. The inputs [n, …] are as in NewSet. The targets [n] or [n, outputs] are floats or integers.
// Errors name the array and the example.
func NewValues(name string, inputs, targets *Array) (*Set, error) {
	s, err := NewInputs(name, inputs)
	if err != nil {
		return nil, err
	}
	if s.Outputs, err = outputsOf(inputs, targets); err != nil {
		return nil, err
	}
	if s.Values, err = finite(targets, "target", s.Outputs); err != nil {
		return nil, err
	}
	return s, s.Check()
}

// outputsOf is the number of target values of each of the inputs [n, …].
func outputsOf(inputs, targets *Array) (int, error) {
	outputs := 1
	if len(targets.Shape) == 2 {
		outputs = targets.Shape[1]
	}
	if n := inputs.Shape[0]; len(targets.Shape) < 1 || len(targets.Shape) > 2 || targets.Shape[0] != n || outputs < 1 {
		return 0, fmt.Errorf("%s: targets of shape %v for %d examples of %s, want [%d] or [%d, outputs]", targets.Name, targets.Shape, n, inputs.Name, n, n)
	}
	return outputs, nil
}

// NewInputs makes a set of inputs, as NewSet, without targets.
func NewInputs(name string, inputs *Array) (*Set, error) {
	shape, err := exampleOf(inputs)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: name, Shape: shape, Source: inputs.Name, Stored: inputs.Stored}
	if inputs.First > 0 { // a block of a file
		s.Rows = between(inputs.First, inputs.First+inputs.Shape[0])
	}
	if s.Stored != nil {
		return s, s.Stored.CheckFinite()
	}
	switch v := inputs.Values.(type) {
	case []uint8:
		s.U8 = v
	case []arrays.Float16:
		s.F16 = v
		_, err = finite(inputs, "feature", s.Features())
	case []arrays.BFloat16, []float32, []float64:
		s.F32, err = finite(inputs, "feature", s.Features())
	default:
		err = fmt.Errorf("%s: inputs of type %s, want uint8 pixels or floats (x.astype('float32')), or standardise: inputs", inputs.Name, inputs.DType())
	}
	return s, err
}

// exampleOf returns the shape of one example of inputs [n, …] as a network takes it: images [n, h, w] get one channel.
func exampleOf(a *Array) ([]int, error) {
	if len(a.Shape) < 2 {
		return nil, fmt.Errorf("%s: inputs want an axis behind the examples, [examples, …]: save x.reshape(len(x), -1)", a.Name)
	}
	shape := slices.Clone(a.Shape[1:])
	if slices.Contains(shape, 0) {
		return nil, fmt.Errorf("%s: inputs of shape %v: an example has no values", a.Name, a.Shape)
	}
	if len(shape) == 2 {
		shape = append([]int{1}, shape...)
	}
	return shape, nil
}

// finite returns the values as float32 numbers. what names one of the width values of an example in errors.
func finite(a *Array, what string, width int) ([]float32, error) {
	v := a.Float32s()
	for i, x := range v {
		if !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return nil, fmt.Errorf("%s: example %d, %s %d is %v as a float32: a network needs finite numbers", a.Name, a.First+i/width, what, i%width, x)
		}
	}
	return v, nil
}
