package formats

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/tables"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestFirstRows: the first rows of a table are those of the whole, for any number of passes over the text; what follows them is not looked
// at, and what there is to tell is told.
func TestFirstRows(t *testing.T) {
	const rows = 10_000
	var text strings.Builder
	text.WriteString("a,y\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,%s\n", i, map[bool]string{false: "early", true: "late"}[i >= 6000])
	}
	text.WriteString("fault,late\n")
	for _, raw := range [][]byte{[]byte(text.String()), testkit.Gzipped(t, []byte(text.String()))} {
		path := testkit.WriteFile(t, "f.csv", raw)
		for _, look := range []Look{
			{CSV: tables.CSV{Target: "y"}, Rows: 5000}, {CSV: tables.CSV{Words: true}, Rows: 5000}, {CSV: tables.CSV{Drop: []string{"y"}}, Rows: 9999},
		} {
			var shares []float64
			last := 0
			look.Watch = func(rows int, share float64) { shares, last = append(shares, share), rows }
			d, err := Show(path, look)
			if err != nil || d.Looked != look.Rows || d.Of != 0 || d.Table.Count != look.Rows || d.Table.All() {
				t.Fatalf("%+v: %+v, %v", look, d, err)
			}
			if c := d.Table.Columns[0]; string(c.Max) != fmt.Sprint(look.Rows-1) || c.Count != look.Rows {
				t.Errorf("%+v: %+v", look, c)
			}
			if names := d.Table.Columns[1].Names; look.Rows == 5000 && !slices.Equal(names, []string{"early"}) {
				t.Errorf("%+v: names %q", look, names)
			}
			if len(shares) < 1 || !slices.IsSorted(shares) || shares[0] <= 0 || shares[len(shares)-1] < .7 || shares[len(shares)-1] > 1 || last == 0 {
				t.Errorf("%+v: told the shares %v, %d rows", look, shares, last)
			}
		}
		if _, err := Show(path, Look{CSV: tables.CSV{Target: "y"}}); err == nil || !strings.Contains(err.Error(), "line 10002, column 1 (a)") {
			t.Errorf("all rows: %v", err)
		}
	}
	few := testkit.WriteFile(t, "few.csv", []byte("a\n1\n2\n"))
	for n, looked := range map[int]int{1: 1, 2: 0, 3: 0} {
		if d, err := Show(few, Look{Rows: n}); err != nil || d.Looked != looked {
			t.Errorf("%d of two rows: %+v, %v", n, d, err)
		}
	}
}

// TestFirstRowsOfArrays: likewise of arrays in both orders.
func TestFirstRowsOfArrays(t *testing.T) {
	const rows, width = 5000, 2
	c, f := make([]byte, rows*width), make([]byte, rows*width)
	for i := range rows {
		for j := range width {
			c[i*width+j], f[j*rows+i] = byte(i%100+j), byte(i%100+j)
		}
	}
	for name, raw := range map[string][]byte{
		"C":       testkit.NPYOf("|u1", fmt.Sprintf("(%d, %d)", rows, width), c...),
		"Fortran": testkit.NPYBytes(fmt.Sprintf("{'descr': '|u1', 'fortran_order': True, 'shape': (%d, %d)}", rows, width), f...),
	} {
		d, err := Show(testkit.WriteFile(t, "x.npy", raw), Look{Rows: 50})
		if err != nil || d.Looked != 50 || d.Of != rows {
			t.Fatalf("%s: %+v, %v", name, d, err)
		}
		a := d.Arrays[0]
		if a.Count != 100 || a.Max != "50" || a.Mean != "25" || !slices.Equal(a.First[:4], []Number{"0", "1", "1", "2"}) || !slices.Equal(a.Shape, []int{rows, width}) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if _, err := Show(testkit.WriteFile(t, "x.bin", make([]byte, 3073)), Look{Rows: 1}); err == nil || !strings.Contains(err.Error(), "rows are of tables and arrays, this one is cifar10") {
		t.Error(err)
	}
}

// TestEndsLikeParquet: what ends like Parquet is Parquet, damaged, whatever its name and its beginning; a text that ends with the same
// letters is a text.
func TestEndsLikeParquet(t *testing.T) {
	tail := "\x05\x00\x00\x00PAR1"
	for name, raw := range map[string]string{
		"f.csv": "a,b\n1,2\n" + tail, "f.npy": strings.Repeat("\x07", 40) + tail, "f": "a,b\n1,2\n" + tail, "f.parquet": "a,b\n1,2\n3,4\n", "F.PQ": "\x00\x00\x08\x01",
	} {
		path := testkit.WriteFile(t, name, []byte(raw))
		for verb, try := range map[string]func() error{
			"shown": func() error { _, err := Show(path, Look{}); return err },
			"read":  func() error { _, err := ReadCSV(path, tables.CSV{}); return err },
		} {
			if err := try(); err == nil || !strings.Contains(err.Error(), "as Parquet does, with PAR1") || strings.Contains(err.Error(), "as a CSV") {
				t.Errorf("%s, %s: %v", name, verb, err)
			}
		}
	}
	if got, err := DecodeCSV("f.csv", []byte("a,y\n1,PAR1"), tables.CSV{Target: "y"}); err != nil || got.Rows() != 1 {
		t.Errorf("a text: %+v, %v", got, err)
	}
	if _, err := DecodeCSV("f", bytes.Repeat([]byte("PAR1"), 3), tables.CSV{}); err == nil || !strings.Contains(err.Error(), "f: the file ends early") {
		t.Error(err)
	}
}
