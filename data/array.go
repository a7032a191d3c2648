package data

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

// Array is an array as a file holds it, in C order.
type Array struct {
	Name   string // of the file, for errors
	Shape  []int  // empty: a scalar
	Values any    // a slice of bool, uint8 … uint64, int8 … int64, Float16, BFloat16, float32 or float64
}

// DType is the name of the element type as NumPy has it: bool, uint8, int64, float16, bfloat16, float64 and so on.
func (a *Array) DType() string {
	switch a.Values.(type) {
	case []bool:
		return "bool"
	case []uint8:
		return "uint8"
	case []uint16:
		return "uint16"
	case []uint32:
		return "uint32"
	case []uint64:
		return "uint64"
	case []int8:
		return "int8"
	case []int16:
		return "int16"
	case []int32:
		return "int32"
	case []int64:
		return "int64"
	case []Float16:
		return "float16"
	case []BFloat16:
		return "bfloat16"
	case []float32:
		return "float32"
	case []float64:
		return "float64"
	}
	panic(fmt.Sprintf("data: array of %T", a.Values))
}

// NewSet makes a set for classification of inputs [n, …] and labels [n]. Images of shape [n, h, w] get one channel.
// uint8 inputs are kept (a network sees v/255), floats become float32. classes 0 means the largest label plus one.
// Errors name the array and the example.
func NewSet(name string, inputs, labels *Array, classes int) (*Set, error) {
	s := &Set{Name: name}
	if len(inputs.Shape) < 2 {
		return nil, fmt.Errorf("%s: inputs of shape %v, want [examples, …]", inputs.Name, inputs.Shape)
	}
	s.Shape = append([]int(nil), inputs.Shape[1:]...)
	if len(s.Shape) == 2 {
		s.Shape = append([]int{1}, s.Shape...)
	}
	switch v := inputs.Values.(type) {
	case []uint8:
		s.U8 = v
	case []float32:
		s.F32 = v
	case []float64:
		s.F32 = make([]float32, len(v))
		for i, x := range v {
			s.F32[i] = float32(x)
		}
	default:
		return nil, fmt.Errorf("%s: inputs of type %s, want uint8 pixels or floats", inputs.Name, inputs.DType())
	}
	p := s.Features()
	for i, x := range s.F32 {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("%s: example %d, feature %d is %v: a network needs finite numbers", inputs.Name, i/p, i%p, x)
		}
	}
	if n := inputs.Shape[0]; len(labels.Shape) != 1 || labels.Shape[0] != n {
		return nil, fmt.Errorf("%s: labels of shape %v for %d examples of %s, want [%d]", labels.Name, labels.Shape, n, inputs.Name, n)
	}
	var err error
	if s.Labels, err = labels.ints(); err != nil {
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

// NewValues makes a set for regression of inputs [n, …] and targets [n] or [n, outputs], floats or integers.
// Errors name the array and the example.
func NewValues(name string, inputs, targets *Array) (*Set, error) {
	return nil, fmt.Errorf("%s: not yet", name)
}

// ints returns the values of an integer array.
func (a *Array) ints() ([]int32, error) {
	switch v := a.Values.(type) {
	case []uint8:
		return widen(v), nil
	case []int8:
		return widen(v), nil
	case []int16:
		return widen(v), nil
	case []int32:
		return v, nil
	}
	return nil, fmt.Errorf("%s: labels of type %s, want integers", a.Name, a.DType())
}

func widen[T uint8 | int8 | int16](v []T) []int32 {
	w := make([]int32, len(v))
	for i, x := range v {
		w[i] = int32(x)
	}
	return w
}

// readFile reads a regular file whole: a pipe or device could block or never end.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", path)
	}
	return os.ReadFile(path)
}

// thousands writes 60000 as 60,000.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
