package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestEveryFormat: a file of every format that can be read is recognised by its beginning or its name, plain and, where that can be, packed,
// and its reader has a fuzz target. Of a format that cannot be read, a row says what it is and what to do, and TestOtherFormats has a file.
func TestEveryFormat(t *testing.T) {
	var tensors bytes.Buffer
	if err := safetensors.Write(&tensors, []safetensors.Tensor{{Name: "w", DType: "F32", Shape: []int{1}, Data: make([]byte, 4)}}); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../tables/testdata/parquet/plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		file string
		raw  []byte
		fuzz string // the package and the target
	}{
		"safetensors": {"x", tensors.Bytes(), "safetensors FuzzParse"},
		"parquet":     {"x", table, "tables FuzzParquet"},
		"npy":         {"x", testkit.NPYOf("|u1", "(1,)", 7), "arrays FuzzNPY"},
		"idx":         {"x", []byte{0, 0, 8, 1, 0, 0, 0, 1, 7}, "arrays FuzzIDX"},
		"csv":         {"x", []byte("a,b\n1,2\n"), "tables FuzzCSV"},
		"cifar10":     {"x.bin", cifarRow(3), "arrays FuzzCIFAR"},
		"cifar100":    {"x.bin", cifarRow(3, 4), "arrays FuzzCIFAR"},
	}
	known, err := os.ReadFile("formats_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats {
		if f.name == "" {
			if f.begins == nil || f.inside == nil && (f.what == "" || f.remedy == "") || f.inside == nil && !bytes.Contains(known, []byte(strings.SplitN(f.what, ",", 2)[0])) {
				t.Errorf("%q: a format that cannot be read needs its first bytes, what it is, what to do with it, and a file in TestOtherFormats", f.what)
			}
			continue
		}
		c, ok := cases[f.name]
		if !ok {
			t.Errorf("%s: add a file of it and the fuzz target of its reader to this test", f.name)
			continue
		}
		if how := []bool{f.array != nil, f.table != nil, f.show != nil}; f.title == "" || slices.Index(how, true) < 0 {
			t.Errorf("%s: has no title, or is read neither as an array nor as a table nor by show", f.name)
		}
		o := tables.CSV{}
		if f.name == "parquet" {
			o.Target = "word"
		}
		d, err := Show(testkit.WriteFile(t, c.file, c.raw), Look{CSV: o})
		if err != nil || d.Format != f.name {
			t.Errorf("%s: is taken for %+v: %v", f.name, d, err)
		}
		if f.array != nil || f.table != nil && f.begins == nil {
			if d, err := Show(testkit.WriteFile(t, "packed", testkit.Gzipped(t, c.raw)), Look{}); err != nil || d.Format != f.name || !d.Packed {
				t.Errorf("%s, packed: is taken for %+v: %v", f.name, d, err)
			}
		}
		folder, target, _ := strings.Cut(c.fuzz, " ")
		tests, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Contains(text, []byte("func "+target+"(f *testing.F)"))
		}) {
			t.Errorf("%s: no fuzz target %s in internal/%s", f.name, target, folder)
		}
	}
}

// TestShowCounters: columns that count the rows are told where the table may hold words, except the target.
func TestShowCounters(t *testing.T) {
	for text, want := range map[string][]string{
		"a,b,y\n0,5,x\n1,6,x\n2,5,z\n": {"a"}, "a,b,y\n1,p,x\n2,q,x\n3,r,z\n": {"a", "≠b"}, "a,b,y\n1,5,x\n1,6,x\n1,7,z\n": nil, "Unnamed: 0,b,y\n17,5,x\n-4,6,x\n9,5,z\n": {"Unnamed: 0"},
	} {
		for _, words := range []bool{true, false} {
			d, err := Show(testkit.WriteFile(t, "f.csv", []byte(text)), Look{CSV: tables.CSV{Target: "y", Words: words, Drop: map[bool][]string{false: {"b"}}[words]}})
			if err != nil {
				t.Fatal(err)
			}
			var shown []string
			for _, c := range d.Table.Columns {
				if c.Counts {
					shown = append(shown, c.Name)
				}
				if c.Differs {
					shown = append(shown, "≠"+c.Name)
				}
			}
			if words && !slices.Equal(shown, want) || !words && shown != nil {
				t.Errorf("%q, words %v: %q, want %q", text, words, shown, want)
			}
		}
	}
}
