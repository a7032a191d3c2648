package data

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestStandardAtAnyScale: a column's unit does not matter. In a unit that is a power of two every step of the standardisation
// is the same, and so are the results to the last bit.
func TestStandardAtAnyScale(t *testing.T) {
	const n = 200
	r := stream(1)
	plain := make([]float64, 3*n)
	for i := range plain {
		plain[i] = float64(i%3) + r.Normal()
	}
	for i := range n {
		plain[3*i+2] = 7 // constant
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	standardised := func(values []float64) (*Schema, *Set) {
		t.Helper()
		a := &Array{Name: "x", Shape: []int{n, 3}, Values: values}
		y := &Array{Name: "y", Shape: []int{n, 3}, Values: slices.Clone(values)}
		for i := range n {
			y.Values.([]float64)[3*i+2] = values[3*i]
		}
		s, err := ArraySchema(a, y, all, 0, true, true)
		if err != nil {
			t.Fatal(err)
		}
		set, err := s.Labelled("x", a, y, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, set
	}
	_, want := standardised(plain)
	for _, e := range []int{-960, -700, -500, -402, -401, -400, -399, -100, 0, 100, 396, 397, 398, 399, 400, 401, 600, 1000, 1020} {
		values := slices.Clone(plain)
		for i := range n { // one column stays as it is
			values[3*i] = math.Ldexp(values[3*i], e)
		}
		s, got := standardised(values)
		if !slices.Equal(got.F32, want.F32) || !slices.Equal(got.Values, want.Values) {
			t.Errorf("in units of 2^%d the inputs or targets become others", -e)
		}
		row := []float64{float64(got.F32[0]), float64(got.F32[1]), 0}
		if s.Inputs.Restore(row); !(math.Abs(row[0]/values[0]-1) <= 1e-5) || row[2] != 7 {
			t.Errorf("in units of 2^%d the first row is restored as %v", -e, row)
		}
	}
	// At the end of float64 a difference overflows.
	top := math.MaxFloat64
	_, set := standardised(append([]float64{top, 1, 2, -top, 1, 2, -top, 2, 2}, plain[9:]...))
	if x := set.F32; !(x[0] > 5 && x[3] < -5 && x[3] == x[6]) || math.IsInf(float64(x[0]), 0) {
		t.Errorf("the largest numbers become %v and %v", x[0], x[3])
	}
}

// TestScaleOfArrays: arrays that are not standardised have a scale that float32 has, and integers always do.
func TestScaleOfArrays(t *testing.T) {
	all := []int32{0, 1}
	for name, c := range map[string]struct {
		inputs, targets any
		want            string
	}{
		"ordinary":      {[]float64{1, 2}, []float64{3, 4}, ""},
		"zeros":         {[]float64{0, 0}, []float64{3, 4}, ""},
		"one is tiny":   {[]float64{1e-60, 2}, []float64{0, 1e-300}, "y: no number is larger than 1e-300"},
		"tiny":          {[]float64{1e-60, -2e-60}, []float64{3, 4}, "x: no number is larger than 2e-60, too small for the float32 in which a network computes"},
		"tiny floats":   {[]float32{1e-39, 0}, []float64{3, 4}, "x: no number is larger than 1e-39"},
		"tiny bfloats":  {[]BFloat16{1, 0}, []float64{3, 4}, "x: no number is larger than 9.18e-41"},
		"large":         {[]float64{-1e38, 2}, []float64{3, 4}, "x: numbers as large as 1e+38, whose squares overflow"},
		"large targets": {[]float64{1, 2}, []float32{3, 1e38}, "y: numbers as large as 1e+38"},
		"beyond":        {[]float64{1e39, 2}, []float64{3, 4}, ""}, // refused with its place
		"pixels":        {[]uint8{0, 1}, []int64{0, math.MaxInt64}, ""},
	} {
		inputs, targets := &Array{Name: "x", Shape: []int{2, 1}, Values: c.inputs}, &Array{Name: "y", Shape: []int{2}, Values: c.targets}
		_, err := ArraySchema(inputs, targets, all, 0, false, false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, err := ArraySchema(&Array{Name: "x", Shape: []int{2, 1}, Values: []float64{1e-310, 2e-310}}, nil, all, 2, true, false)
	if err == nil || !strings.Contains(err.Error(), "x: feature 0: its numbers are too small") {
		t.Error(err)
	}
}
