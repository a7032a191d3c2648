package data

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
)

// written pads a file and reads the result back.
func written(t *testing.T, p Padding, name string) *Array {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	shape, err := p.Write(w, name, "")
	if err != nil {
		t.Fatal(err)
	}
	w.Flush()
	a, err := DecodeNPY("padded.npy", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Shape, shape) {
		t.Fatalf("wrote shape %v, told %v", a.Shape, shape)
	}
	return a
}

// TestPad: by hand, the odd row and column go below and to the right, and every channel of the result is the image.
func TestPad(t *testing.T) {
	images := &Set{Name: "grey", Shape: []int{1, 2, 2}, U8: []byte{1, 2, 3, 4, 5, 6, 7, 8}, Labels: []int32{1, 0}, Classes: 2}
	padded, err := Padding{Height: 3, Width: 5, Channels: 2}.Pad(images)
	if err != nil {
		t.Fatal(err)
	}
	first := []byte{0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0}
	second := []byte{0, 5, 6, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0}
	if want := slices.Concat(first, first, second, second); !slices.Equal(padded.U8, want) || !slices.Equal(padded.Shape, []int{2, 3, 5}) {
		t.Errorf("%v %v, want %v", padded.Shape, padded.U8, want)
	}
	if !slices.Equal(padded.Labels, images.Labels) || padded.F32 != nil || padded.Check() != nil {
		t.Errorf("%+v", padded)
	}

	// Several channels stay in their order, and numbers are padded as bytes are.
	rgb := &Set{Name: "rgb", Shape: []int{3, 1, 1}, F32: []float32{.1, .2, .3}}
	if padded, err = (Padding{Height: 1, Width: 3}).Pad(rgb); err != nil || !slices.Equal(padded.F32, []float32{0, .1, 0, 0, .2, 0, 0, .3, 0}) {
		t.Errorf("%v, %v", padded, err)
	}

	for want, c := range map[string]struct {
		Padding
		shape []int
	}{
		"set: images of 4×2, which padding to 3×5 would cut":               {Padding{3, 5, 0}, []int{1, 4, 2}},
		"set: images of 2×6, which padding to 3×5 would cut":               {Padding{3, 5, 0}, []int{1, 2, 6}},
		"set: images of 3 channels for 2: only one channel is repeated":    {Padding{3, 5, 2}, []int{3, 2, 2}},
		"set: examples of shape [4], want images [examples, height, width": {Padding{3, 5, 0}, []int{4}},
		"set: images of shape [3 9999 999]: want at most 4,194,304 values": {Padding{9999, 999, 3}, []int{1, 2, 2}},
	} {
		if _, err := c.Pad(&Set{Name: "set", Shape: c.shape}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestPadWrite: a file of more images than are padded at a time, or a known set, has the images of Pad in their order, with bytes as bytes
// and other numbers as float32.
func TestPadWrite(t *testing.T) {
	p, dir := Padding{Height: 3, Width: 2, Channels: 3}, t.TempDir()
	n := padBlock + 7
	values, pixels := make([]float64, 2*n), make([]byte, 2*n)
	for i := range values {
		pixels[i] = byte(i)
		values[i] = float64(pixels[i]) / 4
	}
	header := strings.Replace(string(arrays.NPYHeader([]int{n, 1, 2})), "<f8", "|u1", 1)
	of := func(i, c, y, x int) byte {
		if y != 1 {
			return 0
		}
		return byte(2*i + x)
	}
	raw := written(t, p, put(t, dir, "u1.npy", header+string(pixels)))
	floats := written(t, p, putNPY(t, dir, "f8.npy", []int{n, 1, 2}, values))
	if want := []int{n, 3, 3, 2}; !slices.Equal(raw.Shape, want) || !slices.Equal(floats.Shape, want) {
		t.Fatalf("shapes %v and %v, want %v", raw.Shape, floats.Shape, want)
	}
	for i := range n {
		for at := range 18 {
			want := of(i, at/6, at/2%3, at%2)
			if got := raw.Values.([]byte)[18*i+at]; got != want {
				t.Fatalf("image %d: %d has %d, want %d", i, at, got, want)
			}
			if got := floats.Values.([]float32)[18*i+at]; got != float32(want)/4 {
				t.Fatalf("image %d: %d has %v, want %v", i, at, got, float32(want)/4)
			}
		}
	}

	set, err := Load("mnist7", "")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Padding{Height: 32, Width: 32}.Pad(withoutTargets("mnist7", set.Test))
	if err != nil {
		t.Fatal(err)
	}
	if a := written(t, Padding{Height: 32, Width: 32}, "mnist7"); a.Shape[0] != set.Test.Len() || !slices.Equal(a.Values.([]byte), whole.U8) {
		t.Errorf("mnist7: %v is not its test images", a.Shape)
	}

	for name, want := range map[string]string{
		put(t, dir, "cut.npy", header+string(pixels[:9])):                    "cut.npy: ",
		putNPY(t, dir, "none.npy", []int{0, 2, 2}, nil):                      "none.npy: the array has no rows",
		putNPY(t, dir, "features.npy", []int{1, 2}, []float64{1, 2}):         "features.npy: examples of shape [2], want images",
		putNPY(t, dir, "nan.npy", []int{1, 1, 2}, []float64{1, math.Inf(1)}): "nan.npy: example 0, feature 1 is +Inf",
	} {
		if _, err := p.Write(bufio.NewWriter(io.Discard), name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	var field *FieldError
	if _, err := p.Write(nil, "nowhere.npy", ""); !errors.As(err, &field) {
		t.Errorf("%v", err)
	}
}

// TestOtherSize: images that do not fit a network are told what makes them fit, and that command does.
func TestOtherSize(t *testing.T) {
	for want, c := range map[string]struct{ have, want []int }{
		": starling data pad x.npy --size 32x32 --channels 3 --out FILE makes them fit": {[]int{1, 28, 28}, []int{3, 32, 32}},
		": starling data pad x.npy --size 32x30 --out FILE makes them fit":              {[]int{3, 28, 28}, []int{3, 32, 30}},
		": cut or resize the images to 32×32 first":                                     {[]int{1, 64, 64}, []int{3, 32, 32}},
		": cut or resize the images to 32×30 first":                                     {[]int{3, 28, 31}, []int{3, 32, 30}},
		": the axes of the images are height, width, channels, and the run takes channels, height, width: move the channels before you save the array: np.moveaxis(x, -1, 1)":                                {[]int{8, 8, 1}, []int{1, 8, 8}},
		": the axes of the images are height, width, channels, and the run takes channels, height, width: move the channels before you save the array: np.moveaxis(x, -1, 1), and bring the images to 32×32": {[]int{28, 28, 3}, []int{3, 32, 32}},
		": make the images grey, 3 channels to 1, first":                                       {[]int{3, 28, 28}, []int{1, 28, 28}},
		": bring the images from 4 channels to 3 first":                                        {[]int{4, 32, 32}, []int{3, 32, 32}},
		": cut or resize the images to 28×28 and make the images grey, 3 channels to 1, first": {[]int{3, 32, 32}, []int{1, 28, 28}},
	} {
		if got := otherSize("x.npy", c.have, c.want); got != want {
			t.Errorf("%v for %v: %q, want %q", c.have, c.want, got, want)
		}
	}
	if got := otherSize("x.npy", []int{784}, []int{3, 32, 32}) + otherSize("x.npy", []int{1, 2, 2}, []int{7}); got != "" {
		t.Errorf("rows: %q", got)
	}
}
