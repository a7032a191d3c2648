package formats

import (
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/arrays"
)

// MaxShown is the number of values up to which a Description lists them all.
const MaxShown = 4096

// Number is a number as text: the shortest that reads back as the same float64, an integer with all its digits, or NaN,
// Infinity, -Infinity.
type Number string

// MarshalJSON writes NaN and infinities as strings, since JSON has no such numbers.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "NaN" || n == "Infinity" || n == "-Infinity" {
		return []byte(strconv.Quote(string(n))), nil
	}
	return []byte(n), nil
}

// numberOf is the text of a float64, int64 or uint64.
func numberOf(x any) Number {
	switch x := x.(type) {
	case int64:
		return Number(strconv.FormatInt(x, 10))
	case uint64:
		return Number(strconv.FormatUint(x, 10))
	}
	x64 := x.(float64)
	switch a := math.Abs(x64); {
	case math.IsNaN(x64):
		return "NaN"
	case math.IsInf(x64, 0):
		if x64 > 0 {
			return "Infinity"
		}
		return "-Infinity"
	case a != 0 && (a < 1e-6 || a >= 1e21): // as encoding/json writes them
		return Number(strconv.FormatFloat(x64, 'e', -1, 64))
	}
	return Number(strconv.FormatFloat(x64, 'f', -1, 64))
}

// Summary summarises a list of numbers. NaNs are counted in Count and NaN and otherwise left out; Min, Max and Mean are NaN
// if there is no other number.
type Summary struct {
	Count int    `json:"count"`
	Min   Number `json:"min"`
	Max   Number `json:"max"`
	Mean  Number `json:"mean"`
	NaN   int    `json:"nan"`
}

// tally gathers a Summary.
type tally struct {
	count, nan int
	sum        float64
	low, high  any // float64, int64 or uint64; nil: no number so far
}

func (t *tally) summary() Summary {
	s := Summary{Count: t.count, NaN: t.nan, Min: "NaN", Max: "NaN", Mean: "NaN"}
	if t.low != nil {
		s.Min, s.Max, s.Mean = numberOf(t.low), numberOf(t.high), numberOf(t.sum/float64(t.count-t.nan))
	}
	return s
}

// add counts the values of an array.
func (t *tally) add(a *arrays.Array) {
	switch v := a.Plain().(type) {
	case []uint8:
		tallyOf(t, v)
	case []uint16:
		tallyOf(t, v)
	case []uint32:
		tallyOf(t, v)
	case []uint64:
		tallyOf(t, v)
	case []int8:
		tallyOf(t, v)
	case []int16:
		tallyOf(t, v)
	case []int32:
		tallyOf(t, v)
	case []int64:
		tallyOf(t, v)
	case []float32:
		tallyOf(t, v)
	case []float64:
		tallyOf(t, v)
	}
}

type number interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

func tallyOf[T number](t *tally, v []T) {
	t.count += len(v)
	var low, high T
	some := false
	for _, x := range v {
		if x != x {
			t.nan++
			continue
		}
		if !some || x < low {
			low = x
		}
		if !some || x > high {
			high = x
		}
		some = true
		t.sum += float64(x)
	}
	if !some {
		return
	}
	if l := wide(low); t.low == nil || less(l, t.low) {
		t.low = l
	}
	if h := wide(high); t.high == nil || less(t.high, h) {
		t.high = h
	}
}

// wide is a number as the widest of its kind: float64, int64 or uint64.
func wide[T number](x T) any {
	switch {
	case T(1)/2 != 0:
		return float64(x)
	case T(0)-1 < 0:
		return int64(x)
	}
	return uint64(x)
}

// less compares two of the same type.
func less(a, b any) bool {
	switch a := a.(type) {
	case int64:
		return a < b.(int64)
	case uint64:
		return a < b.(uint64)
	}
	return a.(float64) < b.(float64)
}

// texts returns the values as text.
func texts(a *arrays.Array) []Number {
	switch v := a.Plain().(type) {
	case []uint8:
		return textsOf(v)
	case []uint16:
		return textsOf(v)
	case []uint32:
		return textsOf(v)
	case []uint64:
		return textsOf(v)
	case []int8:
		return textsOf(v)
	case []int16:
		return textsOf(v)
	case []int32:
		return textsOf(v)
	case []int64:
		return textsOf(v)
	case []float32:
		return textsOf(v)
	default:
		return textsOf(v.([]float64))
	}
}

func textsOf[T number](v []T) []Number {
	t := make([]Number, len(v))
	for i, x := range v {
		t[i] = numberOf(wide(x))
	}
	return t
}
