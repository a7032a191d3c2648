package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/golden"
)

func decode(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

var goldenDtype = map[string]string{
	"F32": "float32", "F64": "float64", "F16": "float16", "I64": "int64", "U8": "uint8",
}

func TestGoldenFiles(t *testing.T) {
	for _, c := range golden.Read(t, "files.json") {
		t.Run(c.Name, func(t *testing.T) {
			if c.Kind != "safetensors" {
				t.Fatalf("unknown kind %q", c.Kind)
			}
			var in struct{ File string }
			decode(t, c.Inputs, &in)
			var want struct {
				OK      bool
				Tensors map[string]struct {
					Dtype  string
					Shape  []int
					Values []float64
				}
				Metadata map[string]string
			}
			decode(t, c.Expected, &want)
			file, err := os.ReadFile(filepath.Join("testdata", in.File))
			if err != nil {
				t.Fatal(err)
			}
			tensors, metadata, err := Parse(file)
			if (err == nil) != want.OK {
				t.Fatalf("error %v, want ok %v", err, want.OK)
			}
			t.Log(err)
			if len(tensors) != len(want.Tensors) || !maps.Equal(metadata, want.Metadata) {
				t.Fatalf("%d tensors and metadata %v, want %d and %v", len(tensors), metadata, len(want.Tensors), want.Metadata)
			}
			for _, a := range tensors {
				w, ok := want.Tensors[a.Name]
				if !ok || goldenDtype[a.DType] != w.Dtype || !slices.Equal(a.Shape, w.Shape) || !slices.Equal(a.Float64s(), w.Values) {
					t.Errorf("tensor %s: %s %v %v, want %v", a.Name, a.DType, a.Shape, a.Float64s(), w)
				}
			}
		})
	}
}

// file puts a header and data together.
func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

// TestMalformed holds files of our own invention beyond the reference ones; each must be refused for its own reason.
func TestMalformed(t *testing.T) {
	entry := func(dtype, shape, offsets string) string {
		return `{"a":{"dtype":` + dtype + `,"shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	for name, c := range map[string]struct {
		file   []byte
		reason string
	}{
		"empty":               {nil, "too short"},
		"seven bytes":         {make([]byte, 7), "too short"},
		"no header":           {file(""), "does not begin with {"},
		"leading blank":       {file(" {}"), "does not begin with {"},
		"an Tensor":           {file("[]"), "does not begin with {"},
		"unclosed":            {file(`{"a":{"dtype":"U8"`), "EOF"},
		"garbage after":       {file(`{}x`), "closing brace"},
		"second object":       {file(`{}{}`), "closing brace"},
		"not UTF-8":           {file("{\"\xff\":{}}"), "UTF-8"},
		"trailing data":       {file(`{}`, 1), "ends at byte 0 of 1"},
		"no fields":           {file(`{"a":{}}`), "dtype"},
		"no shape":            {file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), "no shape"},
		"no offsets":          {file(`{"a":{"dtype":"U8","shape":[1]}}`, 1), "data_offsets"},
		"null shape":          {file(entry(`"U8"`, `null`, `[0,1]`), 1), "found"},
		"null in shape":       {file(entry(`"U8"`, `[null]`, `[0,0]`)), "another kind"},
		"fraction":            {file(entry(`"U8"`, `[1.0]`, `[0,1]`), 1), "not a size"},
		"exponent":            {file(entry(`"U8"`, `[1e0]`, `[0,1]`), 1), "not a size"},
		"minus zero":          {file(entry(`"U8"`, `[-0]`, `[0,0]`)), "not a size"},
		"text in shape":       {file(entry(`"U8"`, `["1"]`, `[0,1]`), 1), "another kind"},
		"nested shape":        {file(entry(`"U8"`, `[[1]]`, `[0,1]`), 1), "another kind"},
		"number as dtype":     {file(entry(`8`, `[1]`, `[0,1]`), 1), "another kind"},
		"lower case dtype":    {file(entry(`"u8"`, `[1]`, `[0,1]`), 1), "not supported"},
		"one offset":          {file(entry(`"U8"`, `[1]`, `[0]`), 1), "data_offsets"},
		"three offsets":       {file(entry(`"U8"`, `[1]`, `[0,1,1]`), 1), "data_offsets"},
		"offsets turned":      {file(entry(`"U8"`, `[1]`, `[1,0]`), 1), "data_offsets"},
		"offsets beyond data": {file(entry(`"U8"`, `[2]`, `[0,2]`), 1), "cut short"},
		"product overflows":   {file(entry(`"U8"`, `[4294967296,4294967296]`, `[0,0]`)), "too large"},
		"size beyond int64":   {file(entry(`"U8"`, `[18446744073709551615]`, `[0,1]`), 1), "not a size"},
		"hole":                {file(entry(`"U8"`, `[1]`, `[1,2]`), 1, 2), "begins at byte 1"},
		"unknown key":         {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1), "unknown key"},
		"key twice in tensor": {file(`{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), "comes twice"},
		"escaped twin":        {file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{}}`), "comes twice"},
		"metadata twice":      {file(`{"__metadata__":{"k":"1","k":"2"}}`), "comes twice"},
		"metadata number":     {file(`{"__metadata__":{"k":1}}`), "another kind"},
		"tensor is a list":    {file(`{"a":[]}`), "want {"},
		"deep":                {file(`{"a":` + strings.Repeat("[", 20000)), "want {"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse(c.file)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one about %q", err, c.reason)
			}
		})
	}
}

func TestEveryDtype(t *testing.T) {
	for dtype, c := range map[string]struct {
		data []byte
		want []float64
	}{
		"BOOL": {[]byte{0, 1}, []float64{0, 1}},
		"U8":   {[]byte{255}, []float64{255}},
		"I8":   {[]byte{255}, []float64{-1}},
		"U16":  {[]byte{1, 255}, []float64{65281}},
		"I16":  {[]byte{1, 255}, []float64{-255}},
		"F16":  {[]byte{0, 0x3c, 1, 0, 0xff, 3, 0, 0x80, 0, 0xfc}, []float64{1, 0x1p-24, 1023 * 0x1p-24, 0, math.Inf(-1)}},
		"BF16": {[]byte{0x80, 0x3f, 0, 0xc0}, []float64{1, -2}},
		"U32":  {[]byte{0, 0, 0, 128}, []float64{1 << 31}},
		"I32":  {[]byte{0, 0, 0, 128}, []float64{-1 << 31}},
		"F32":  {[]byte{0, 0, 128, 63}, []float64{1}},
		"U64":  {[]byte{0, 0, 0, 0, 0, 0, 0, 128}, []float64{1 << 63}},
		"I64":  {[]byte{0, 0, 0, 0, 0, 0, 0, 128}, []float64{-1 << 63}},
		"F64":  {[]byte{0, 0, 0, 0, 0, 0, 240, 63}, []float64{1}},
	} {
		a := Tensor{DType: dtype, Data: c.data}
		if got := a.Float64s(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", dtype, got, c.want)
		}
	}
	nan := Tensor{DType: "F16", Data: []byte{1, 0x7c}}
	if got := nan.Float64s()[0]; got == got {
		t.Errorf("F16 NaN read as %v", got)
	}
}

// What can be read can be written, and reads back as the same tensors.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/files/*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tensors, _, err := Parse(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, tensors); err != nil {
			t.Fatal(err)
		}
		again, _, err := Parse(b.Bytes())
		if err != nil {
			t.Fatalf("%v in what was written: %q", err, b.Bytes())
		}
		if !slices.EqualFunc(tensors, again, func(x, y Tensor) bool {
			x.Float64s()
			return x.Name == y.Name && x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && bytes.Equal(x.Data, y.Data)
		}) {
			t.Fatalf("%v became %v", tensors, again)
		}
	})
}

func TestWriteLayout(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, []Tensor{
		{"0.weight", "F32", []int{1, 2}, make([]byte, 8)},
		{`quote"d`, "I32", nil, []byte{7, 0, 0, 0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	header := `{"0.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"quote\"d":{"dtype":"I32","shape":[],"data_offsets":[8,12]}}`
	header += strings.Repeat(" ", 7-(len(header)+7)%8)
	if want := file(header, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("wrote %q, want %q", b.Bytes(), want)
	}
	if len(header)%8 != 0 {
		t.Errorf("header of %d bytes leaves the data unaligned", len(header))
	}
	b.Reset()
	if err := Write(&b, nil); err != nil || !bytes.Equal(b.Bytes(), file("{}      ")) {
		t.Errorf("no tensors: %q, %v", b.Bytes(), err)
	}
}
