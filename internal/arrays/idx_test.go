package arrays

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/testkit"
)

func decodeIDX(name string, raw []byte) (*Array, error) { return Decode(name, raw, IDX) }

func TestIDXTypes(t *testing.T) {
	for _, c := range []struct {
		kind  byte
		body  []byte
		dtype string
		want  []float64
	}{
		{0x08, []byte{0, 255}, "uint8", []float64{0, 255}},
		{0x09, []byte{0x80, 127}, "int8", []float64{-128, 127}},
		{0x0B, []byte{0x80, 0, 1, 2}, "int16", []float64{-32768, 258}},
		{0x0C, []byte{0xff, 0xff, 0xff, 0xfe, 0, 1, 0, 0}, "int32", []float64{-2, 65536}},
		{0x0D, []byte{0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0}, "float32", []float64{1, -2.5}},
		{0x0E, []byte{0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, "float64", []float64{1.5, 5e-324}},
	} {
		raw := append([]byte{0, 0, c.kind, 1, 0, 0, 0, 2}, c.body...)
		for _, raw := range [][]byte{raw, testkit.Gzipped(t, raw)} {
			a, err := decodeIDX("x", raw)
			if err != nil {
				t.Errorf("%s: %v", c.dtype, err)
				continue
			}
			if a.DType() != c.dtype || !slices.Equal(a.Float64s(), c.want) || !slices.Equal(a.Shape, []int{2}) {
				t.Errorf("%s %v %v, want %s %v", a.DType(), a.Shape, a.Float64s(), c.dtype, c.want)
			}
		}
	}
}

// Every damaged file is refused with its name and the place, for little memory.
func TestIDXRefuses(t *testing.T) {
	good := []byte{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6}
	badSum := testkit.Gzipped(t, good)
	badSum[len(badSum)-8] ^= 1
	flipped := testkit.Gzipped(t, good)
	flipped[12] ^= 0xff
	max := []byte{0xff, 0xff, 0xff, 0xff}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"empty":                 {nil, "ends early"},
		"gzip of nothing":       {testkit.Gzipped(t, nil), "ends early"},
		"gzip magic alone":      {[]byte{0x1f, 0x8b}, "gzip header"},
		"half a header":         {good[:3], "ends early"},
		"half a dimension":      {good[:10], "byte 10: dimension 2 of 2: the file ends early"},
		"one value short":       {good[:17], "byte 17: the file ends early"},
		"one value too many":    {append(slices.Clone(good), 0), "bytes follow"},
		"no dimensions":         {[]byte{0, 0, 8, 0, 7}, "byte 3"},
		"unknown type":          {[]byte{0, 0, 0x0f, 1, 0, 0, 0, 0}, "byte 2"},
		"wrong sum":             {badSum, "checksum"},
		"flipped bits":          {flipped, "x: "},
		"text":                  {[]byte("1,2,3\n4,5,6\n"), "byte 0"},
		"huge, nothing there":   {slices.Concat([]byte{0, 0, 8, 1}, max), "ends early: shape [4294967295] of uint8 needs 4,294,967,295 bytes"},
		"huge, packed":          {testkit.Gzipped(t, slices.Concat([]byte{0, 0, 8, 1}, max)), "unpack"},
		"product overflows":     {testkit.Gzipped(t, slices.Concat([]byte{0, 0, 8, 3}, max, max, max)), "more values than"},
		"product overflows, 0":  {slices.Concat([]byte{0, 0, 8, 4}, max, max, max, []byte{0, 0, 0, 0}), "more values than"},
		"product is 2^63":       {slices.Concat([]byte{0, 0, 0x0e, 2, 0x40, 0, 0, 0}, []byte{0x40, 0, 0, 0}), "more values than"},
		"255 dimensions of one": {slices.Concat([]byte{0, 0, 8, 255}, bytes.Repeat([]byte{0, 0, 0, 1}, 255)), "byte 1024"},
		"claims 7 MB, has 2 B":  {testkit.Gzipped(t, []byte{0, 0, 8, 1, 0, 0x70, 0, 0, 1, 2}), "needs 7,340,032 bytes"},
		"bomb":                  {testkit.Gzipped(t, append([]byte{0, 0, 8, 1, 1, 0, 0, 0}, make([]byte, 16<<20)...)), "claims 16,777,216 bytes"},
		"bomb after the values": {testkit.Gzipped(t, append([]byte{0, 0, 8, 1, 0, 0, 0, 1}, make([]byte, 8<<20)...)), "bytes follow"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if n := testkit.Allocated(func() { _, err = decodeIDX("x", c.raw) }); n > 1<<20 {
				t.Errorf("allocates %d bytes for a file of %d", n, len(c.raw))
			}
			if err == nil || !strings.HasPrefix(err.Error(), "x: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// What is allowed costs at most a small multiple of the values.
func TestIDXMemory(t *testing.T) {
	const n = 6 << 20
	packed := testkit.Gzipped(t, append([]byte{0, 0, 8, 1, 0, 0x60, 0, 0}, make([]byte, n)...))
	if got := testkit.Allocated(func() {
		if _, err := decodeIDX("x", packed); err != nil {
			t.Error(err)
		}
	}); got > 3*n {
		t.Errorf("allocates %d bytes for %d values", got, n)
	}
}

func FuzzIDX(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../formats/testdata/files/idx_*") {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := sameArray(t, raw, 1+len(raw)%5)
		if a == nil {
			return
		}
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		if got := reflect.ValueOf(a.Values).Len(); got != n {
			t.Fatalf("%d values of shape %v", got, a.Shape)
		}
		if limit := max(packed.Ratio*len(raw), packed.Floor); n > limit {
			t.Fatalf("%d values from %d bytes", n, len(raw))
		}
	})
}
