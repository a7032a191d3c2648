package arrays

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/testkit"
)

func decodeNPY(name string, raw []byte) (*Array, error) { return Decode(name, raw, NPY) }

func TestNPYTypes(t *testing.T) {
	for _, c := range []struct {
		kind string // without byte order
		big  []byte // two values, big-endian
		want any
	}{
		{"b1", []byte{1, 0}, []bool{true, false}},
		{"u1", []byte{0, 255}, []uint8{0, 255}},
		{"i1", []byte{0x80, 127}, []int8{-128, 127}},
		{"u2", []byte{0xff, 0xfe, 1, 2}, []uint16{65534, 258}},
		{"i2", []byte{0x80, 0, 1, 2}, []int16{-32768, 258}},
		{"u4", []byte{0xff, 0xff, 0xff, 0xfe, 0, 1, 0, 0}, []uint32{1<<32 - 2, 65536}},
		{"i4", []byte{0xff, 0xff, 0xff, 0xfe, 0, 1, 0, 0}, []int32{-2, 65536}},
		{"u8", []byte{255, 255, 255, 255, 255, 255, 255, 255, 0, 0x20, 0, 0, 0, 0, 0, 1}, []uint64{math.MaxUint64, 1<<53 + 1}},
		{"i8", []byte{0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 1}, []int64{math.MinInt64, 1<<53 + 1}},
		{"f2", []byte{0x3c, 0, 0xfc, 0}, []Float16{0x3c00, 0xfc00}},
		{"f4", []byte{0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0}, []float32{1, -2.5}},
		{"f8", []byte{0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, []float64{1.5, 5e-324}},
	} {
		size := len(c.big) / 2
		little := slices.Clone(c.big)
		reverse(little, size)
		files := map[string][]byte{">": testkit.NPYOf(">"+c.kind, "(2,)", c.big...), "<": testkit.NPYOf("<"+c.kind, "(2,)", little...)}
		if size == 1 {
			files["|"] = testkit.NPYOf("|"+c.kind, "(2,)", c.big...)
		}
		for order, raw := range files {
			for _, raw := range [][]byte{raw, testkit.Gzipped(t, raw)} {
				a, err := decodeNPY("x", raw)
				if err != nil {
					t.Errorf("%s%s: %v", order, c.kind, err)
					continue
				}
				if !reflect.DeepEqual(a.Values, c.want) || !slices.Equal(a.Shape, []int{2}) || a.DType() != npyTypes[c.kind] {
					t.Errorf("%s%s: %s %v %v, want %v", order, c.kind, a.DType(), a.Shape, a.Values, c.want)
				}
			}
		}
	}
}

// Every binary16 number is what the sum of its bits says, and rounds trip through float32.
func TestFloat16(t *testing.T) {
	for b := range 1 << 16 {
		h := Float16(b)
		sign, exponent, fraction := 1-2*float64(b>>15), b>>10&31, float64(b&1023)
		want := sign * math.Ldexp(1024+fraction, exponent-25)
		switch {
		case exponent == 0:
			want = sign * math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		got := float64(h.Float32())
		if !testkit.Same(got, want) || want == 0 && math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%04x is %v, want %v", b, got, want)
		}
	}
	if got := BFloat16(0xc020).Float32(); got != -2.5 {
		t.Errorf("bfloat16 c020 is %v, want -2.5", got)
	}
}

// What NumPy and others may write otherwise.
func TestNPYHeaders(t *testing.T) {
	dicts := map[string]string{
		"as NumPy":         "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }          \n",
		"no blanks":        "{'descr':'<f8','fortran_order':False,'shape':(1,2)}",
		"another order":    "{'shape': (1, 2), 'fortran_order': False, 'descr': '<f8'}\n",
		"double quotes":    `{"descr": "<f8", "fortran_order": False, "shape": (1, 2)}` + "\n",
		"comma in a tuple": "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2,), }\n",
		"lines":            " {\n'descr':\t'<f8',\r\n 'fortran_order' : False ,\n 'shape' : ( 1 , 2 ) } \n \n",
		"Fortran, one row": "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }\n",
		"zero is no octal": "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 1), }\n",
		"64 dimensions":    "{'descr': '<f8', 'fortran_order': False, 'shape': (2," + strings.Repeat("1,", 63) + "), }\n",
	}
	for name, dict := range dicts {
		for version := byte(1); version <= 3; version++ {
			head := append([]byte(NPYMagic), version, 0, byte(len(dict)), 0)
			if version > 1 {
				head = append(head, 0, 0)
			}
			raw := append(append(head, dict...), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40)
			a, err := decodeNPY("x", raw)
			if err != nil {
				t.Errorf("%s, version %d: %v", name, version, err)
				continue
			}
			if !slices.Equal(a.Float64s(), []float64{1.5, 2}) {
				t.Errorf("%s, version %d: %v %v", name, version, a.Shape, a.Values)
			}
		}
	}
	empty, err := decodeNPY("x", testkit.NPYOf("<i4", "(0,)"))
	if err != nil || len(empty.Values.([]int32)) != 0 || !slices.Equal(empty.Shape, []int{0}) {
		t.Errorf("empty: %+v, %v", empty, err)
	}
}

// A Fortran-order file is, value for value, the transpose of the C-order file with its axes turned round.
func TestFortranOrder(t *testing.T) {
	const a, b, c = 3, 4, 5
	var values []byte
	for i := range a * b * c {
		values = append(values, byte(i), 0)
	}
	turned, err := decodeNPY("c", testkit.NPYOf("<u2", "(5, 4, 3)", values...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeNPY("f", testkit.NPYBytes("{'descr': '<u2', 'fortran_order': True, 'shape': (3, 4, 5), }\n", values...))
	if err != nil {
		t.Fatal(err)
	}
	x, y := got.Values.([]uint16), turned.Values.([]uint16)
	for i := range a {
		for j := range b {
			for k := range c {
				if x[(i*b+j)*c+k] != y[(k*b+j)*a+i] {
					t.Fatalf("value %d, %d, %d is %d, want %d", i, j, k, x[(i*b+j)*c+k], y[(k*b+j)*a+i])
				}
			}
		}
	}
}

func TestWriteNPY(t *testing.T) {
	for _, shape := range [][]int{{}, {3}, {2, 3}, {0, 3}, {1, 2, 3, 4}, {100000}} {
		n, err := count(shape, 8)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Sqrt(float64(i)) - 1
		}
		if n > 2 {
			values[0], values[1], values[2] = math.NaN(), math.Inf(-1), math.Copysign(0, -1)
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, shape, values); err != nil {
			t.Fatal(err)
		}
		if head := b.Len() - 8*n; head%64 != 0 || b.Bytes()[head-1] != '\n' {
			t.Errorf("shape %v: a header of %d bytes", shape, head)
		}
		a, err := decodeNPY("x", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Shape, shape) || !slices.EqualFunc(a.Values.([]float64), values, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y)
		}) {
			t.Errorf("shape %v comes back as %v", shape, a.Shape)
		}
	}
	if err := WriteNPY(full{}, []int{9000}, make([]float64, 9000)); err == nil {
		t.Error("a full disk is no error")
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrInvalid }

// The bytes of a header are those that NumPy 2 writes.
func TestNPYHeaderBytes(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "formats", "testdata", "files", "npy_le_f8.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if got := NPYHeader([]int{2, 3}); !bytes.HasPrefix(raw, got) {
		t.Errorf("%q\nNumPy: %q", got, raw[:128])
	}
}

func FuzzNPY(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../formats/testdata/files/npy_*") {
		f.Add(raw, uint8(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, rows uint8) {
		a := sameArray(t, raw, int(rows)+1)
		if a == nil {
			return
		}
		v := a.Float64s()
		if n, err := count(a.Shape, 1); err != nil || n != len(v) {
			t.Fatalf("%d values of shape %v", len(v), a.Shape)
		}
		if limit := max(packed.Ratio*len(raw), packed.Floor); len(v) > limit {
			t.Fatalf("%d values from %d bytes", len(v), len(raw))
		}
		if _, err := count(a.Shape, 8); err != nil || len(v) > 1<<12 { // bytes may be addressed where float64 numbers may not
			return
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, a.Shape, v); err != nil {
			t.Fatal(err)
		}
		again, err := decodeNPY("again", b.Bytes())
		if err != nil || !slices.Equal(again.Shape, a.Shape) || !slices.EqualFunc(again.Values.([]float64), v, testkit.Same) {
			t.Fatalf("%v; %v comes back as %v", err, a, again)
		}
	})
}
