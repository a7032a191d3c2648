package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
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

// TestMalformed holds malformed files beyond those of the reference; each must be refused for its own reason.
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
		"unclosed":            {file(`{"a":{"dtype":"U8"`), "found the end, want }"},
		"garbage after":       {file(`{}x`), "closing brace"},
		"second object":       {file(`{}{}`), "closing brace"},
		"not UTF-8":           {file("{\"\xff\":{}}"), "UTF-8"},
		"trailing data":       {file(`{}`, 1), "ends at byte 0 of 1"},
		"no fields":           {file(`{"a":{}}`), "dtype"},
		"no shape":            {file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), "no shape"},
		"no offsets":          {file(`{"a":{"dtype":"U8","shape":[1]}}`, 1), "data_offsets"},
		"null shape":          {file(entry(`"U8"`, `null`, `[0,1]`), 1), "found \"null"},
		"null in shape":       {file(entry(`"U8"`, `[null]`, `[0,0]`)), "want a number"},
		"fraction":            {file(entry(`"U8"`, `[1.0]`, `[0,1]`), 1), "not a size"},
		"exponent":            {file(entry(`"U8"`, `[1e0]`, `[0,1]`), 1), "not a size"},
		"minus zero":          {file(entry(`"U8"`, `[-0]`, `[0,0]`)), "not a size"},
		"text in shape":       {file(entry(`"U8"`, `["1"]`, `[0,1]`), 1), "want a number"},
		"nested shape":        {file(entry(`"U8"`, `[[1]]`, `[0,1]`), 1), "want a number"},
		"number as dtype":     {file(entry(`8`, `[1]`, `[0,1]`), 1), "want a text in quotes"},
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
		"escaped twin":        {file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`), "comes twice"},
		"metadata twice":      {file(`{"__metadata__":{"k":"1","k":"2"}}`), "comes twice"},
		"metadata number":     {file(`{"__metadata__":{"k":1}}`), "want a text in quotes"},
		"tensor is a list":    {file(`{"a":[]}`), "want {"},
		"deep":                {file(`{"a":` + strings.Repeat("[", 20000)), "want {"},
		"byte order mark":     {file("\ufeff{}"), "does not begin with {"},
		"zero bytes after":    {file("{}\x00\x00\x00"), "closing brace"},
		"null metadata":       {file(`{"__metadata__":null}`), "want {"},
		"metadata of maps":    {file(`{"__metadata__":{"k":{}}}`), "want a text in quotes"},
		"two metadata":        {file(`{"__metadata__":{},"__metadata__":{}}`), "comes twice"},
		"comma at the end":    {file(`{"a":{"dtype":"U8","shape":[0,],"data_offsets":[0,0]}}`), "want a number"},
		"brace for bracket":   {file(`{"a":{"dtype":"U8","shape":[0},"data_offsets":[0,0]}}`), "want ]"},
		"offset a fraction":   {file(entry(`"U8"`, `[1]`, `[0,1.0]`), 1), "not a size"},
		"negative offset":     {file(entry(`"U8"`, `[1]`, `[-1,0]`), 1), "not a size"},
		"huge offset":         {file(entry(`"U8"`, `[1]`, `[0,99999999999999999999]`), 1), "not a size"},
		"2⁶³ bytes":           {file(entry(`"F64"`, `[1152921504606846976]`, `[0,8]`), make([]byte, 8)...), "too large"},
		"half an F64":         {file(entry(`"F64"`, `[1]`, `[0,4]`), make([]byte, 4)...), "takes 8 bytes"},
		"8-bit floats":        {file(entry(`"F8_E4M3"`, `[1]`, `[0,1]`), 1), "not supported"},
		"65 axes":             {file(entry(`"U8"`, `[0`+strings.Repeat(",1", 64)+`]`, `[0,0]`)), "more than 64"},
		"a leading zero":      {file(entry(`"U8"`, `[01]`, `[0,1]`), 1), "not a size"},
		"comma before a key":  {file(`{,}`), "want a text in quotes"},
		"no comma":            {file(`{"__metadata__":{} "a":{}}`), "want }"},
		"no colon":            {file(`{"a"{}}`), "want :"},
		"no such escape":      {file(`{"\x":{}}`), "no such escape"},
		"short escape":        {file(`{"\u12":{}}`), "no such escape"},
		"sign in an escape":   {file(`{"\u+123":{}}`), "no such escape"},
		"half a surrogate":    {file(`{"\ud83d":{}}`), "no such escape"},
		"half and a letter":   {file(`{"\ud83d\u0041":{}}`), "no such escape"},
		"half and a line":     {file(`{"\ud83d\n":{}}`), "no such escape"},
		"line end in a name":  {file("{\"a\nb\":{}}"), "control character"},
		"open quote":          {file(`{"a`), "never closed"},
		"open escape":         {file(`{"\`), "never closed"},
		"17 MB of header":     {append(binary.LittleEndian.AppendUint64(nil, 17<<20), make([]byte, 17<<20)...), "at most 16777216 are read"},
		"many tensors":        {file(`{` + tensors(maxTensors+1) + `}`), "more than 16384 tensors"},
		"much metadata":       {file(`{"__metadata__":{` + entries(maxMetadata+1) + `}}`), "more than 4096 entries"},
		"a pickle":            {[]byte("PK\x03\x04\x00\x00\x08\x08\x00\x00archive/data.pkl"), "is it the right file?"},
		"a page":              {[]byte("<!DOCTYPE html><html><body>404"), "is it the right file?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Parse(c.file)
			if err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one about %q", err, c.reason)
			}
		})
	}
}

// The format allows these, although few files have them.
func TestUnusual(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want string // names, shapes and values, in the order of the header
	}{
		"nothing":           {file(`{}`), "[]"},
		"blanks and lines":  {file("{ \n\t\"a\" : {\"dtype\":\r\"U8\",\"shape\":[ 1 ],\"data_offsets\":[0, 1]}}    ", 7), "[a [1] [7]]"},
		"keys in any order": {file(`{"a":{"data_offsets":[0,1],"shape":[],"dtype":"I8"}}`, 255), "[a [] [-1]]"},
		"data in any order": {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1, 2), "[a [1] [2] b [1] [1]]"},
		"empty in between": {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[3,0],"data_offsets":[1,1]},"c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 1, 2),
			"[a [1] [1] b [3 0] [] c [1] [2]]"},
		"empty name":     {file(`{"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`), "[ [0] []]"},
		"escaped name":   {file(`{"\u00fc\ud83d\ude00":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`), "[ü😀 [0] []]"},
		"all escapes":    {file(`{"\"\\\/\b\f\n\r\t\u0041\uFFFD":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`), "[\"\\/\b\f\n\r\tA\ufffd [0] []]"},
		"empty and huge": {file(`{"a":{"dtype":"U8","shape":[0,9223372036854775807,9223372036854775807],"data_offsets":[0,0]}}`), "[a [0 9223372036854775807 9223372036854775807] []]"},
		"other truths":   {file(`{"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}`, 0, 1, 255), "[a [3] [0 1 1]]"},
	} {
		tensors, _, err := Parse(c.file)
		got := []any{}
		for _, a := range tensors {
			got = append(got, a.Name, a.Shape, a.Float64s())
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v; want %s", name, got, err, c.want)
		}
	}
}

// entries is metadata of n keys.
func tensors(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
	}
	return b.String()[1:]
}

func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%x":""`, i)
	}
	return b.String()[1:]
}

// TestAllocation: reading takes at most four times the header in memory, whatever it holds and claims. Garbage counts, too.
func TestAllocation(t *testing.T) {
	list := strings.Repeat("0,", 1<<19) + "0"
	var empty, axes, escaped []byte
	for i := range maxTensors - 1 {
		empty = fmt.Appendf(empty, `"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
		axes = fmt.Appendf(axes, `"%x":{"dtype":"U8","shape":[%s0],"data_offsets":[0,0]},`, i, list[:2*(maxAxes-1)])
		escaped = fmt.Appendf(escaped, `"\n%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},`, i)
	}
	last := `"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`
	for name, text := range map[string][]byte{
		"many axes":          file(`{"a":{"dtype":"U8","shape":[` + list + `],"data_offsets":[0,0]}}`),
		"many offsets":       file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[` + list + `]}}`),
		"many keys":          file(`{"__metadata__":{` + entries(1<<17) + `}}`),
		"many tensors":       file(`{` + string(empty) + last),
		"tensors of 64 axes": file(`{` + string(axes) + last),
		"escaped names":      file(`{` + string(escaped) + last),
		"long name":          file(`{"` + strings.Repeat("a", 1<<20) + `":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`),
		"long escaped name":  file(`{"\n` + strings.Repeat("a", 1<<20) + `":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`),
		"long value":         file(`{"__metadata__":{"a":"` + strings.Repeat("a", 1<<20) + `"}}`),
		"long number":        file(`{"a":{"dtype":"U8","shape":[` + strings.Repeat("1", 1<<20) + `],"data_offsets":[0,0]}}`),
		"braces":             file(`{"a":` + strings.Repeat(`{`, 1<<20)),
		"announces the most": append(binary.LittleEndian.AppendUint64(nil, maxHeader), make([]byte, 1<<20)...),
		"announces 2⁶² data": file(`{"a":{"dtype":"U8","shape":[4611686018427387904],"data_offsets":[0,4611686018427387904]}}` + strings.Repeat(" ", 1<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tensors, _, err := Parse(text)
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 4*uint64(len(text))+1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d (%.50v)", name, spent, len(text), err)
		}
		if many := len(tensors) == maxTensors; many != slices.Contains([]string{"many tensors", "tensors of 64 axes", "escaped names"}, name) {
			t.Errorf("%s: %d tensors, %.50v", name, len(tensors), err)
		}
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

// FuzzParse: no bytes make Parse panic or allocate more than their size justifies; Open refuses what Parse does; what can be read can be
// written, and reads back as the same tensors.
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
		tensors, metadata, err := Parse(text)
		if opened, also := Open(bytes.NewReader(text), int64(len(text))); (also == nil) != (err == nil) || also == nil && len(opened.Tensors) != len(tensors) {
			t.Fatalf("Parse: %v, Open: %v", err, also)
		}
		if err != nil {
			if tensors != nil || metadata != nil {
				t.Fatalf("%d tensors beside the error %v", len(tensors), err)
			}
			return
		}
		data, header := 0, 0
		for _, a := range tensors {
			data += len(a.Data)
			header += len(a.Name)/3 + len(a.Shape) // U+FFFD takes the place of one byte
			if values := a.Float64s(); len(values)*sizes[a.DType] != len(a.Data) {
				t.Fatalf("%d values of %s in %d bytes", len(values), a.DType, len(a.Data))
			}
		}
		for key, value := range metadata {
			header += (len(key) + len(value)) / 3
		}
		if n := int(binary.LittleEndian.Uint64(text)); header > n || data != len(text)-8-n {
			t.Fatalf("%d bytes of data and at least %d of header in a file of %d", data, header, len(text))
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
			return x.Name == y.Name && x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && bytes.Equal(x.Data, y.Data)
		}) {
			t.Fatalf("%v became %v", tensors, again)
		}
	})
}

func TestWriteLayout(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, []Tensor{
		{Name: "0.weight", DType: "F32", Shape: []int{1, 2}, Data: make([]byte, 8)},
		{Name: `quote"d`, DType: "I32", Data: []byte{7, 0, 0, 0}},
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

// Metadata come first, in the order of their keys, and come back.
func TestWriteMetadata(t *testing.T) {
	metadata := map[string]string{"roles": `{"a": "learned"}`, "other": "x"}
	var b bytes.Buffer
	if err := WriteWith(&b, metadata, []Tensor{{Name: "a", DType: "U8", Shape: []int{1}, Data: []byte{7}}}); err != nil {
		t.Fatal(err)
	}
	header := `{"__metadata__":{"other":"x","roles":"{\"a\": \"learned\"}"},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`
	header += strings.Repeat(" ", 7-(len(header)+7)%8)
	if want := file(header, 7); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("wrote %q, want %q", b.Bytes(), want)
	}
	if tensors, back, err := Parse(b.Bytes()); err != nil || !maps.Equal(back, metadata) || len(tensors) != 1 {
		t.Errorf("%d tensors and metadata %v came back, %v", len(tensors), back, err)
	}
	b.Reset()
	if err := WriteWith(&b, metadata, nil); err != nil {
		t.Fatal(err)
	}
	if _, back, err := Parse(b.Bytes()); err != nil || !maps.Equal(back, metadata) {
		t.Errorf("without tensors: metadata %v, %v", back, err)
	}
}
