package report

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/data"
)

// TestRowsInTheirUnits undoes the standardisation of rows, names their columns, and leaves out the intercept.
func TestRowsInTheirUnits(t *testing.T) {
	f := shape{}.make(t)
	f.run.Schema.Inputs, f.run.Schema.Intercept = standard(2), true
	f.run.Schema.Columns, f.run.Schema.Target = []string{"a", "y", "gone", "b"}, "y"
	f.run.Schema.Dropped = []string{"gone"}
	set := &data.Set{Shape: []int{3}, F32: []float32{1, 0, -2.5, 1, .1, 1000}}
	v := &view{run: f.run}
	names, values := v.features(set, []int{1, 0})
	if !slices.Equal(names, []string{"a", "b"}) || !slices.Equal(values[0], []string{"5.2", "2,005"}) || !slices.Equal(values[1], []string{"5", "0"}) {
		t.Errorf("%q: %q", names, values)
	}
	f.run.Schema = &data.Schema{
		Columns: []string{"colour", "age", "y"}, Target: "y", Inputs: &data.Standard{Mean: []float64{0, 0, 30, 0}, SD: []float64{1, 1, 10, 1}, To: 1},
		Expand: []data.Expansion{{Column: "colour", Categories: []string{"blue", "red"}}, {Column: "age", Missing: true, Indicator: true, Mean: 30}},
	}
	of := &data.Set{Shape: []int{4}, F32: []float32{0, 1, 1.5, 0, 0, 0, 0, 1}}
	names, values = v.features(of, []int{0, 1})
	if !slices.Equal(names, []string{"colour", "age"}) || !slices.Equal(values[0], []string{"red", "45"}) || !slices.Equal(values[1], []string{"", ""}) {
		t.Errorf("words and missing values: %q: %q", names, values)
	}
	f.run.Schema = nil
	names, values = v.features(set, []int{0})
	if !slices.Equal(names, []string{"input 0", "input 1", "input 2"}) || !slices.Equal(values[0], []string{"1", "0", "−2.5"}) {
		t.Errorf("%q: %q", names, values)
	}
}

// TestPictures decodes pictures and finds the pixels: gray and colour, bytes and standardised values, and large ones made
// smaller.
func TestPictures(t *testing.T) {
	f := shape{}.make(t)
	pixel := func(set *data.Set, row, col int) [3]uint32 {
		t.Helper()
		v := &view{run: f.run, a: f.a}
		src, width, height := dataURI(v.shade(set), 0)
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(src), "data:image/png;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if b := m.Bounds(); b.Dx() != width || b.Dy() != height || max(width, height) > side {
			t.Errorf("a picture of %v said to be %d × %d", b, width, height)
		}
		r, g, b, _ := m.At(col, row).RGBA()
		return [3]uint32{r >> 8, g >> 8, b >> 8}
	}
	f.a.Problem.Train = &data.Set{Shape: []int{1, 2, 2}, F32: []float32{0, 1, 0, 1}}
	if got := pixel(&data.Set{Shape: []int{1, 2, 2}, U8: []uint8{0, 10, 200, 255}}, 1, 0); got != [3]uint32{200, 200, 200} {
		t.Errorf("gray: %v", got)
	}
	if got := pixel(&data.Set{Shape: []int{3, 1, 2}, U8: []uint8{1, 2, 3, 4, 5, 6}}, 0, 1); got != [3]uint32{2, 4, 6} {
		t.Errorf("colour: %v", got)
	}
	if got := pixel(&data.Set{Shape: []int{1, 2, 2}, F32: []float32{-3, .4, 7, 1}}, 0, 1); got != [3]uint32{102, 102, 102} {
		t.Errorf("values beyond black and white: %v", got)
	}
	large := make([]uint8, 130*100)
	for i := range large {
		large[i] = uint8(100 * (i % 100 % 2)) // columns of 0 and 100
	}
	if got := pixel(&data.Set{Shape: []int{1, 130, 100}, U8: large}, 20, 20); got[0] < 30 || got[0] > 70 {
		t.Errorf("a large picture: %v", got)
	}
	f.run.Schema.Inputs = standard(4)
	f.a.Problem.Train = &data.Set{Shape: []int{1, 2, 2}, F32: []float32{-2.5, -2, -2.5, -2}} // 0 and 1 before
	if got := pixel(&data.Set{Shape: []int{1, 2, 2}, F32: []float32{-2.5, -2.25, -2, 0}}, 0, 1); got != [3]uint32{128, 128, 128} {
		t.Errorf("standardised: %v", got)
	}
	f.run.Schema.Inputs = nil
	f.a.Problem.Train = &data.Set{Shape: []int{1, 2, 2}, F32: []float32{-10, 10, 0, 0}} // any other range is stretched
	if got := pixel(&data.Set{Shape: []int{1, 2, 2}, F32: []float32{0, 10, -10, 99}}, 0, 0); got != [3]uint32{128, 128, 128} {
		t.Errorf("stretched: %v", got)
	}
}
