// Package arrays reads and writes files of one array of numbers: NPY, IDX, and CIFAR's images with their labels.
//
// A reader turns bytes into an Array, whole or in blocks of rows. It never panics on any input, and allocates in proportion to the file
// that it is given.
package arrays

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/starling-smc/starling/internal/stated"
)

// Array is an array of a file, in C order.
type Array struct {
	Name   string  // of the file, for errors
	Shape  []int   // empty: a scalar
	First  int     // rows of the file before this block of rows
	Values any     // a slice of bool, uint8 … uint64, int8 … int64, Float16, BFloat16, float32 or float64
	Stored *Stored // what has the Values, where they are numbers that stay in their file; nil: they are in memory
}

// DType returns NumPy's name of the element type: bool, uint8, int64, float16, bfloat16, float64 and so on.
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
	panic(fmt.Sprintf("arrays: array of %T", a.Values))
}

// maxClasses bounds labels, so that one large label cannot take much memory.
const maxClasses = 1 << 16

// Ints returns the values of an integer array as labels of classes, numbered from 0.
func (a *Array) Ints() ([]int32, error) {
	switch v := a.Values.(type) {
	case []bool:
		return labels(a, zeroOrOne(v))
	case []uint8:
		return labels(a, v)
	case []uint16:
		return labels(a, v)
	case []uint32:
		return labels(a, v)
	case []uint64:
		return labels(a, v)
	case []int8:
		return labels(a, v)
	case []int16:
		return labels(a, v)
	case []int32:
		return labels(a, v)
	case []int64:
		return labels(a, v)
	}
	for i, v := range a.Float64s() {
		if v != math.Trunc(v) || math.IsInf(v, 0) { // also NaN
			return nil, fmt.Errorf("%s: label %d, from 0, is %v: classes are integers (are these targets of a regression?)", a.Name, i, v)
		}
	}
	return nil, fmt.Errorf("%s: labels of type %s, want integers (y.astype('int64'))", a.Name, a.DType())
}

func labels[T integer](a *Array, v []T) ([]int32, error) {
	w := make([]int32, len(v))
	for i, x := range v {
		if x < 0 || uint64(x) >= maxClasses {
			return nil, fmt.Errorf("%s: example %d has label %d: classes are numbered from 0, %d at most", a.Name, i, x, maxClasses)
		}
		w[i] = int32(x)
	}
	return w, nil
}

type integer interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64
}

type number interface{ integer | float32 | float64 }

func zeroOrOne(v []bool) []uint8 {
	w := make([]uint8, len(v))
	for i, x := range v {
		if x {
			w[i] = 1
		}
	}
	return w
}

// Float32s returns the values rounded to float32. The values of a float32 array are shared, not copied.
func (a *Array) Float32s() []float32 {
	if v, ok := a.Values.([]float32); ok {
		return v
	}
	return expand[float32](a)
}

// Float64s returns the values as float64; integers beyond 2⁵³ are rounded. The values of a float64 array are shared, not
// copied.
func (a *Array) Float64s() []float64 {
	if v, ok := a.Values.([]float64); ok {
		return v
	}
	return expand[float64](a)
}

func expand[F float32 | float64](a *Array) []F {
	switch v := a.Values.(type) {
	case []bool:
		return convert[F](zeroOrOne(v))
	case []uint8:
		return convert[F](v)
	case []uint16:
		return convert[F](v)
	case []uint32:
		return convert[F](v)
	case []uint64:
		return convert[F](v)
	case []int8:
		return convert[F](v)
	case []int16:
		return convert[F](v)
	case []int32:
		return convert[F](v)
	case []int64:
		return convert[F](v)
	case []Float16:
		return widen[F](v)
	case []BFloat16:
		return widen[F](v)
	case []float32:
		return convert[F](v)
	}
	return convert[F](a.Values.([]float64))
}

func convert[F float32 | float64, T number](v []T) []F {
	w := make([]F, len(v))
	for i, x := range v {
		w[i] = F(x)
	}
	return w
}

func widen[F float32 | float64, T interface{ Float32() float32 }](v []T) []F {
	w := make([]F, len(v))
	for i, x := range v {
		w[i] = F(x.Float32())
	}
	return w
}

// Row copies row i, which has len(dst) values.
func (a *Array) Row(i int, dst []float64) {
	if a.Stored != nil {
		RowOf(a.Stored, i, dst)
		return
	}
	part := Array{Values: reflect.ValueOf(a.Values).Slice(i*len(dst), (i+1)*len(dst)).Interface()}
	copy(dst, part.Float64s())
}

// Floats reports whether the values are floating-point numbers.
func (a *Array) Floats() bool {
	switch a.Values.(type) {
	case []Float16, []BFloat16, []float32, []float64:
		return true
	}
	return false
}

// Check checks an array that did not come from a reader.
func (a *Array) Check() error {
	switch a.Values.(type) {
	case []bool, []uint8, []uint16, []uint32, []uint64, []int8, []int16, []int32, []int64, []Float16, []BFloat16, []float32, []float64:
	default:
		return fmt.Errorf("%s: values of type %T, want a slice of bools, integers or floats", a.Name, a.Values)
	}
	if slices.ContainsFunc(a.Shape, func(d int) bool { return d < 0 }) {
		return fmt.Errorf("%s: shape %v", a.Name, a.Shape)
	}
	want, err := count(a.Shape, 1)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if n := reflect.ValueOf(a.Values).Len(); n != want {
		return fmt.Errorf("%s: %d values for shape %v, want %d", a.Name, n, a.Shape, want)
	}
	return nil
}

// Plain returns the values as a slice of numbers that Go computes with, without rounding.
func (a *Array) Plain() any {
	switch v := a.Values.(type) {
	case []bool:
		return zeroOrOne(v)
	case []Float16, []BFloat16:
		return a.Float32s()
	default:
		return v
	}
}

// ChannelsLast reports whether an example's inputs [channels, height, width] look like an image whose channels come last.
func ChannelsLast(shape []int) bool {
	return len(shape) == 3 && shape[0] == shape[1] && shape[0] != 1 && shape[0] != shape[2] && slices.Contains([]int{1, 3, 4}, shape[2])
}

// count returns the number of values, or an error if the machine cannot address them. The other dimensions of an empty array
// are checked, too, since readers of a part of it multiply them.
func count(shape []int, size int) (int, error) {
	n, empty := size, false
	for _, d := range shape {
		if d == 0 {
			empty = true
			continue
		}
		var ok bool
		if n, ok = stated.Product(n, d, math.MaxInt); !ok {
			return 0, fmt.Errorf("shape %v: more values than a machine can address", shape)
		}
	}
	if empty {
		return 0, nil
	}
	return n / size, nil
}
