package data

import (
	"fmt"
	"strconv"

	"github.com/starling-smc/starling/internal/numeral"
)

// Array is an array of a file, in C order.
type Array struct {
	Name   string // of the file, for errors
	Shape  []int  // empty: a scalar
	First  int    // rows of the file before this block of rows
	Values any    // a slice of bool, uint8 … uint64, int8 … int64, Float16, BFloat16, float32 or float64
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
	panic(fmt.Sprintf("data: array of %T", a.Values))
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

// thousands writes 60000 as 60,000.
func thousands(n uint64) string {
	return numeral.Grouped(strconv.FormatUint(n, 10))
}
