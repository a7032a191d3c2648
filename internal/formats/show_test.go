package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

// cifarRow is a row whose first pixels are 1, 2, 3.
func cifarRow(labels ...byte) []byte {
	return append(append(labels, 1, 2, 3), make([]byte, 3*32*32-3)...)
}

// shown is the JSON of a file's description, without its name and size.
func shown(t *testing.T, path string, o tables.CSV) string {
	t.Helper()
	d, err := Show(path, Look{CSV: o})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	head, _ := json.Marshal(path)
	text := strings.TrimPrefix(string(raw), `{"file":`+string(head)+`,`)
	return strings.Replace(text, fmt.Sprintf(`"bytes":%d,`, d.Bytes), "", 1)
}

func TestShowValues(t *testing.T) {
	le := func(bits ...uint64) (b []byte) {
		for _, x := range bits {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"bool":    {testkit.NPYOf("|b1", "(2, 1)", 1, 0), `"format":"npy","dtype":"bool","shape":[2,1],"values":[1,0]}`},
		"int64":   {testkit.NPYOf("<i8", "(2,)", le(1<<53+1, 1<<63)...), `"dtype":"int64","shape":[2],"values":[9007199254740993,-9223372036854775808]}`},
		"uint64":  {testkit.NPYOf("<u8", "(1,)", le(math.MaxUint64)...), `"dtype":"uint64","shape":[1],"values":[18446744073709551615]}`},
		"scalar":  {testkit.NPYOf("<f4", "()", 0, 0, 0x80, 0x3e), `"dtype":"float32","shape":[],"values":[0.25]}`},
		"empty":   {testkit.NPYOf("<f4", "(0, 3)"), `"dtype":"float32","shape":[0,3],"values":[]}`},
		"float32": {testkit.NPYOf("<f4", "(1,)", 0xcd, 0xcc, 0xcc, 0x3d), `"values":[0.10000000149011612]}`},
		"float16": {testkit.NPYOf("<f2", "(4,)", 0, 0x7c, 0, 0xfc, 1, 0x7e, 0, 0x80), `"dtype":"float16","shape":[4],"values":["Infinity","-Infinity","NaN",-0]}`},
		"extreme": {testkit.NPYOf("<f8", "(3,)", le(1, 0x7fefffffffffffff, math.Float64bits(1e21))...), `"values":[5e-324,1.7976931348623157e+308,1e+21]}`},
		"packed":  {testkit.Gzipped(t, testkit.NPYOf("|i1", "(1,)", 0xff)), `"format":"npy","gzip":true,"dtype":"int8","shape":[1],"values":[-1]}`},
		"IDX":     {[]byte{0, 0, 0x0b, 1, 0, 0, 0, 1, 0xff, 0xfe}, `"format":"idx","dtype":"int16","shape":[1],"values":[-2]}`},
		"Fortran": {testkit.NPYBytes("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}", 1, 2, 3, 4), `"values":[1,3,2,4]}`},
		"text":    {[]byte("a\tb\n1\t\n-inf\t2.50\n"), `"format":"csv","dtype":"float64","shape":[2,2],"delimiter":"\t","header":["a","b"],"rows":[[1,"NaN"],["-Infinity",2.5]]}`},
		"no rows": {[]byte("a,b\n"), `"shape":[0,2],"delimiter":",","header":["a","b"],"rows":[]}`},
		"no head": {[]byte("1;2\n"), `"delimiter":";","header":null,"rows":[[1,2]]}`},
	} {
		if got := shown(t, testkit.WriteFile(t, "x", c.raw), tables.CSV{}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What is too much to list is summed up: the summary of the first MaxShown + 1 integers, or what is said of them.
func TestShowSummaries(t *testing.T) {
	const n = MaxShown + 1
	var i8, f8, f8f []byte
	for i := range n {
		i8 = binary.LittleEndian.AppendUint64(i8, uint64(math.MinInt64+i))
		x := float64(i)
		if i%2 == 1 {
			x = math.NaN()
		}
		f8 = binary.LittleEndian.AppendUint64(f8, math.Float64bits(x))
		f8f = binary.LittleEndian.AppendUint64(f8f, math.Float64bits(float64(i)))
	}
	shape := fmt.Sprintf("(%d,)", n)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"int64":   {testkit.NPYOf("<i8", shape, i8...), `"dtype":"int64","shape":[4097],"count":4097,"min":-9223372036854775808,"max":-9223372036854771712,"mean":-9223372036854776000,"nan":0}`},
		"NaN":     {testkit.NPYOf("<f8", shape, f8...), `"count":4097,"min":0,"max":4096,"mean":2048,"nan":2048}`},
		"Fortran": {testkit.NPYBytes("{'descr': '<f8', 'fortran_order': True, 'shape': (17, 241)}", f8f...), `"shape":[17,241],"count":4097,"min":0,"max":4096,"mean":2048,"nan":0}`},
	} {
		if got := shown(t, testkit.WriteFile(t, "x", c.raw), tables.CSV{}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	all := shown(t, testkit.WriteFile(t, "x", testkit.NPYOf("<i8", "(4096,)", i8[:8*MaxShown]...)), tables.CSV{})
	if !strings.Contains(all, `"values":[-9223372036854775808,`) || strings.Contains(all, "count") {
		t.Errorf("4,096 values: %.100s", all)
	}
}

func TestShowTables(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,species\n")
	for i := range MaxShown / 2 {
		fmt.Fprintf(&b, "%d,%s\n", i, []string{"dog", "cat", ""}[i%3])
	}
	path := testkit.WriteFile(t, "x.csv", []byte(b.String()))
	got := shown(t, path, tables.CSV{Target: "species"})
	if !strings.Contains(got, `"rows":[[0,"dog"],[1,"cat"],[2,"NaN"],`) || strings.Contains(got, "columns") {
		t.Errorf("%.200s", got)
	}
	path = testkit.WriteFile(t, "x.csv", []byte(b.String()+"2048,cat\n"))
	want := `"shape":[2049,2],"delimiter":",","header":["x","species"],"columns":[{"name":"x","count":2049,"min":0,"max":2048,"mean":1024,"nan":0},` +
		`{"name":"species","count":2049,"names":{"cat":684,"dog":683},"nan":682}]}`
	if got := shown(t, path, tables.CSV{Target: "species"}); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	d, err := Show(path, Look{CSV: tables.CSV{Target: "species"}})
	if err != nil || len(d.Table.Rows) != MaxShown/2 || d.Table.All() {
		t.Errorf("%d rows are kept, error %v", len(d.Table.Rows), err)
	}
	table, err := ReadCSV(path, tables.CSV{Target: "species"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(d.Table)
	if b, _ := json.Marshal(ShowTable(table)); !bytes.Equal(a, b) {
		t.Errorf("in blocks %s, whole %s", a, b)
	}
}

func TestShowTensors(t *testing.T) {
	big := make([]byte, 2*(MaxShown+1))
	big[0], big[1] = 0xc0, 0x7f // NaN
	tensors := []safetensors.Tensor{
		{Name: "w", DType: "BF16", Shape: []int{2}, Data: []byte{0x20, 0xc0, 0x80, 0x7f}},
		{Name: "mask", DType: "BOOL", Shape: []int{2}, Data: []byte{1, 0}},
		{Name: "big", DType: "BF16", Shape: []int{MaxShown + 1}, Data: big},
	}
	for dtype, name := range dtypes {
		size := (&arrays.Layout{DType: name}).Size()
		tensors = append(tensors, safetensors.Tensor{Name: "of " + dtype, DType: dtype, Shape: []int{1, 1}, Data: make([]byte, size)})
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x") // told by the content
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	got := shown(t, path, tables.CSV{})
	for _, want := range []string{
		`"w":{"dtype":"bfloat16","shape":[2],"values":[-2.5,"Infinity"]}`,
		`"mask":{"dtype":"bool","shape":[2],"values":[1,0]}`,
		`"big":{"dtype":"bfloat16","shape":[4097],"count":4097,"min":0,"max":0,"mean":0,"nan":1}`,
		`"of U64":{"dtype":"uint64","shape":[1,1],"values":[0]}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if strings.Contains(got, "metadata") {
		t.Error("metadata of a file that has none")
	}
}

func TestShowCIFAR(t *testing.T) {
	got := shown(t, testkit.WriteFile(t, "data_batch_1.bin", cifarRow(3), cifarRow(9)), tables.CSV{})
	if want := `"format":"cifar10","dtype":"uint8","shape":[2,3,32,32],"count":6144,"min":0,"max":3,"mean":0.001953125,"nan":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = shown(t, testkit.WriteFile(t, "test.bin", cifarRow(19, 99)), tables.CSV{})
	if !strings.HasPrefix(got, `"format":"cifar100","dtype":"uint8","shape":[1,3,32,32],"values":[1,2,3,0,`) {
		t.Errorf("%.100s", got)
	}
}

// TestShowRefuses holds files that no reader takes: each is refused with its name and why.
func TestShowRefuses(t *testing.T) {
	st := func(header string) string { return string(byte(len(header))) + "\x00\x00\x00\x00\x00\x00\x00" + header }
	for name, c := range map[string]struct{ raw, want string }{
		"empty":              {"", "the file is empty"},
		"empty.npy":          {"", "byte 0: header: the file ends early"},
		"empty.idx":          {"", "byte 0: header: the file ends early"},
		"empty.gz":           {"", "byte 0: header: the file ends early"},
		"empty.csv":          {"", "line 1: the file is empty"},
		"empty.safetensors":  {"", "too short"},
		"empty.bin":          {"", "row 0"},
		"x.npz":              {"PK\x03\x04\x14\x00", "zip archive"},
		"x.pt":               {"PK\x03\x04\x00\x00", "zip archive"},
		"x.png":              {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is a picture"},
		"x":                  {"\x01\x02\x03", "is not in a format"},
		"x.txt":              {"hello\nworld\n", "line 2, column 1 (hello)"},
		"x.dat":              {"1 2\n3 x\n", "line 2, column 2"},
		"gzip.npy":           {"\x1f\x8b", "damaged gzip header"},
		"gzip":               {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00", "the file ends early"},
		"wide.csv":           {"a,b\n1,2\n\xff\xfe,3\n", "line 3, column 1 (a)"},
		"utf16.csv":          {"\xff\xfea\x00,\x00b\x00\n\x00", "UTF-16"},
		"utf16":              {"\xfe\xff\x00a\x00,\x00b\x00\n", "UTF-16"},
		"x.bin":              {"\x01\x02\x03", "row 0: the file ends after 3 of its 3,073 bytes"},
		"bad.safetensors":    {st(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`), "data_offsets"},
		"named otherwise":    {st(`{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}}`), `"X9"`},
		"cut.safetensors":    {"\x08\x00\x00", "too short"},
		"idx3-ubyte":         {"\x01\x00\x08\x03", "neither an IDX header"},
		"zeros":              {strings.Repeat("\x00", 100), "byte 2: unknown IDX type 0x00"},
		"an IDX by its type": {"\x00\x00\x09\x01\x00\x00\x00\x05", "the file ends early"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.raw), 0o666); err != nil {
			t.Fatal(err)
		}
		d, err := Show(path, Look{})
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v, want %q", name, d, err, c.want)
		}
	}
	if _, err := Show(t.TempDir(), Look{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: error %v", err)
	}
	path := testkit.WriteFile(t, "x.npy", testkit.NPYOf("<i2", "()", 1, 0))
	for want, o := range map[string]tables.CSV{
		"target is of CSV files, this one is": {Target: "a"},
		"target, drop, missing_target, categories, decimal and units are of CSV files, this one is": {
			Target: "a", Drop: []string{"b"}, MissingTarget: "skip", Categories: []string{"c"}, Decimal: ",", Units: "strip",
		},
	} {
		if _, err := Show(path, Look{CSV: o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Show(path, Look{CSV: tables.CSV{Target: "a"}}); !errors.As(err, new(*NotCSVError)) {
		t.Errorf("a target of an array: error %v", err)
	}
}
