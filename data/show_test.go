package data

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/safetensors"
)

// shown is the JSON of a file's description, without its name and size.
func shown(t *testing.T, path string, o CSV) string {
	t.Helper()
	d, err := Show(path, o)
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
			b = little.AppendUint64(b, x)
		}
		return b
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"bool":    {npyOf("|b1", "(2, 1)", 1, 0), `"format":"npy","dtype":"bool","shape":[2,1],"values":[1,0]}`},
		"int64":   {npyOf("<i8", "(2,)", le(1<<53+1, 1<<63)...), `"dtype":"int64","shape":[2],"values":[9007199254740993,-9223372036854775808]}`},
		"uint64":  {npyOf("<u8", "(1,)", le(math.MaxUint64)...), `"dtype":"uint64","shape":[1],"values":[18446744073709551615]}`},
		"scalar":  {npyOf("<f4", "()", 0, 0, 0x80, 0x3e), `"dtype":"float32","shape":[],"values":[0.25]}`},
		"empty":   {npyOf("<f4", "(0, 3)"), `"dtype":"float32","shape":[0,3],"values":[]}`},
		"float32": {npyOf("<f4", "(1,)", 0xcd, 0xcc, 0xcc, 0x3d), `"values":[0.10000000149011612]}`},
		"float16": {npyOf("<f2", "(4,)", 0, 0x7c, 0, 0xfc, 1, 0x7e, 0, 0x80), `"dtype":"float16","shape":[4],"values":["Infinity","-Infinity","NaN",-0]}`},
		"extreme": {npyOf("<f8", "(3,)", le(1, 0x7fefffffffffffff, math.Float64bits(1e21))...), `"values":[5e-324,1.7976931348623157e+308,1e+21]}`},
		"packed":  {gzipped(t, npyOf("|i1", "(1,)", 0xff)), `"format":"npy","gzip":true,"dtype":"int8","shape":[1],"values":[-1]}`},
		"IDX":     {[]byte{0, 0, 0x0b, 1, 0, 0, 0, 1, 0xff, 0xfe}, `"format":"idx","dtype":"int16","shape":[1],"values":[-2]}`},
		"Fortran": {npyBytes("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}", 1, 2, 3, 4), `"values":[1,3,2,4]}`},
		"text":    {[]byte("a\tb\n1\t\n-inf\t2.50\n"), `"format":"csv","dtype":"float64","shape":[2,2],"delimiter":"\t","header":["a","b"],"rows":[[1,"NaN"],["-Infinity",2.5]]}`},
		"no rows": {[]byte("a,b\n"), `"shape":[0,2],"delimiter":",","header":["a","b"],"rows":[]}`},
		"no head": {[]byte("1;2\n"), `"delimiter":";","header":null,"rows":[[1,2]]}`},
	} {
		if got := shown(t, writeFile(t, "x", c.raw), CSV{}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// What is too much to list is summed up: the summary of the first MaxShown + 1 integers, or what is said of them.
func TestShowSummaries(t *testing.T) {
	const n = MaxShown + 1
	var i8, f8, f8f []byte
	for i := range n {
		i8 = little.AppendUint64(i8, uint64(math.MinInt64+i))
		x := float64(i)
		if i%2 == 1 {
			x = math.NaN()
		}
		f8 = little.AppendUint64(f8, math.Float64bits(x))
		f8f = little.AppendUint64(f8f, math.Float64bits(float64(i)))
	}
	shape := fmt.Sprintf("(%d,)", n)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"int64":   {npyOf("<i8", shape, i8...), `"dtype":"int64","shape":[4097],"count":4097,"min":-9223372036854775808,"max":-9223372036854771712,"mean":-9223372036854776000,"nan":0}`},
		"NaN":     {npyOf("<f8", shape, f8...), `"count":4097,"min":0,"max":4096,"mean":2048,"nan":2048}`},
		"Fortran": {npyBytes("{'descr': '<f8', 'fortran_order': True, 'shape': (17, 241)}", f8f...), `"shape":[17,241],"count":4097,"min":0,"max":4096,"mean":2048,"nan":0}`},
	} {
		if got := shown(t, writeFile(t, "x", c.raw), CSV{}); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	all := shown(t, writeFile(t, "x", npyOf("<i8", "(4096,)", i8[:8*MaxShown]...)), CSV{})
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
	path := writeFile(t, "x.csv", []byte(b.String()))
	got := shown(t, path, CSV{Target: "species"})
	if !strings.Contains(got, `"rows":[[0,"dog"],[1,"cat"],[2,"NaN"],`) || strings.Contains(got, "columns") {
		t.Errorf("%.200s", got)
	}
	path = writeFile(t, "x.csv", []byte(b.String()+"2048,cat\n"))
	want := `"shape":[2049,2],"delimiter":",","header":["x","species"],"columns":[{"name":"x","count":2049,"min":0,"max":2048,"mean":1024,"nan":0},` +
		`{"name":"species","count":2049,"names":{"cat":684,"dog":683},"nan":682}]}`
	if got := shown(t, path, CSV{Target: "species"}); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	d, err := Show(path, CSV{Target: "species"})
	if err != nil || len(d.Table.Rows) != MaxShown/2 || d.Table.All() {
		t.Errorf("%d rows are kept, error %v", len(d.Table.Rows), err)
	}
	table, err := ReadCSV(path, CSV{Target: "species"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(d.Table)
	if b, _ := json.Marshal(table.Show()); !bytes.Equal(a, b) {
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
		size := elements[name].size
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
	got := shown(t, path, CSV{})
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
	got := shown(t, writeFile(t, "data_batch_1.bin", cifarRow(3), cifarRow(9)), CSV{})
	if want := `"format":"cifar10","dtype":"uint8","shape":[2,3,32,32],"count":6144,"min":0,"max":3,"mean":0.001953125,"nan":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = shown(t, writeFile(t, "test.bin", cifarRow(19, 99)), CSV{})
	if !strings.HasPrefix(got, `"format":"cifar100","dtype":"uint8","shape":[1,3,32,32],"values":[1,2,3,0,`) {
		t.Errorf("%.100s", got)
	}
}
