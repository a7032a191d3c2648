package data

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/tables"
)

// leave reads a training table without some columns and makes its schema, which goes through its file.
func leave(t *testing.T, text string, o CSV, c Columns) *Schema {
	t.Helper()
	tab, err := DecodeCSV("f", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Schema(tab, tab.All())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = DecodeSchema(raw); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDrop: a column that is left out may hold any text, be there or not, and its values play no part.
func TestDrop(t *testing.T) {
	const text = "id,a,note,b,y\nx1,1,,2,no\n\"x,2\",3,NA,5,yes\n"
	o := CSV{Target: "y", Drop: []string{"note", "id"}}
	tab, err := DecodeCSV("f", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tab.LeftOut, []bool{true, false, true, false, false}) || !math.IsNaN(tab.Values[0]) || tab.Values[6] != 3 {
		t.Fatalf("%+v", tab)
	}
	s := leave(t, text, o, Columns{Target: "y", Classes: true})
	if !slices.Equal(s.LeftOut, []string{"id", "note"}) || !slices.Equal(s.Features(), []string{"a", "b"}) || s.Dropped != nil {
		t.Fatalf("%+v", s)
	}
	for name, text := range map[string]string{
		"whole": text, "without": "a,b,y\n1,2,no\n3,5,yes\n", "one, elsewhere": "b,y,id,a\n2,no,?,1\n5,yes,,3\n",
		"twice": "id,id,a,b,y\n1,x,1,2,no\n2,y,3,5,yes\n", "no target": "a,id,b\n1,7,2\n3,inf,5\n",
	} {
		err := scanCSV("g", strings.NewReader(text), len(text), s.CSV(), 1, func(block *Table) error {
			set, err := s.Set("g", block, nil, name != "no target")
			if err == nil && !(slices.Equal(set.F32, []float32{1, 2}) || slices.Equal(set.F32, []float32{3, 5})) {
				t.Errorf("%s: %v", name, set.F32)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{
		"a,note\n1,me\n":     `g: lacks "b" of the run's columns`,
		"a,b\n1,me\n":        `g: line 2, column 2 (b): "me" is not a number`,
		"a,b,id\n1,2,5,me\n": `g: line 2: 4 cells where the first record has 3 (delimiter ",")`,
		"a;b;id\n1;2,5;me\n": `g: line 2, column 2 (b): "2,5" is not a number (with a decimal comma it is 2.5)`,
	} {
		if _, err := DecodeCSV("g", []byte(text), s.CSV()); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestDropByNumber: without names, the number of columns tells which are there.
func TestDropByNumber(t *testing.T) {
	s := leave(t, "x,1,3,5,q\ny,2,3,6,r\nz,3,3,9,r\n", CSV{Header: &no, Target: "4", Drop: []string{"1", "5"}}, Columns{Target: "4"})
	if !slices.Equal(s.LeftOut, []string{"1", "5"}) || !slices.Equal(s.Dropped, []string{"3"}) || !slices.Equal(s.Features(), []string{"2"}) {
		t.Fatalf("%+v", s)
	}
	for _, text := range []string{"u,2,3,4,v\n", "u,2,3,v\n", "2,3,4\n", "2\n"} {
		tab, err := DecodeCSV("g", []byte("\n"+text), s.CSV())
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if set, err := s.Set("g", tab, nil, tab.Cols == 5 || tab.Cols == 3); err != nil || !slices.Equal(set.F32, []float32{2}) {
			t.Errorf("%q: %+v, %v", text, set, err)
		}
	}
	if _, err := DecodeCSV("g", []byte("1,2,3,4,5,6\n"), s.CSV()); err == nil || !strings.Contains(err.Error(),
		"rows of 6 values, the run was trained on rows of 1 inputs (2 with the constant columns), or 5 columns with the target and those that are left out") {
		t.Error(err)
	}
	one := leave(t, "x,1,5\ny,2,6\n", CSV{Target: "3", Drop: []string{"1"}}, Columns{Target: "3"})
	if _, err := DecodeCSV("g", []byte("1,2\n"), one.CSV()); err == nil || !strings.Contains(err.Error(),
		"rows of 2 values may lack the target, column 3, or column 1, which the run leaves out: write all 3 columns of the run's table, or its 1 input alone") {
		t.Error(err)
	}
	// The input and the target are as many values as the constant column and the input.
	constant := leave(t, "7,1,5\n7,2,6\n", CSV{Target: "3"}, Columns{Target: "3"})
	for _, c := range []struct {
		s    *Schema
		want string
	}{
		{s, "rows of 2 values may lack the target, column 4, or column 3, which was constant: write all 5 columns of the run's table, or its 1 input alone"},
		{constant, "rows of 2 values may lack the target, column 3, or column 1, which was constant: write all 3 columns of the run's table, or its 1 input alone"},
	} {
		if _, err := DecodeCSV("g", []byte("0.5,102.5\n"), c.s.CSV()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	two := leave(t, "7,8,1,5\n7,8,2,6\n", CSV{Target: "4"}, Columns{Target: "4"})
	tab, err := DecodeCSV("g", []byte("0.5,102.5\n"), two.CSV())
	if err != nil {
		t.Fatal(err)
	}
	if set, err := two.Set("g", tab, nil, true); err != nil || !slices.Equal(set.F32, []float32{0.5}) || !slices.Equal(set.Values, []float32{102.5}) {
		t.Errorf("the input and the target of a run with two constants: %+v, %v", set, err)
	}
}

func TestDropRefuses(t *testing.T) {
	var column *tables.ColumnError
	for name, want := range map[string]string{"c": `no column "c" among "a", "y"`, "y": "column 2 (y) is the target: it cannot be left out"} {
		_, err := DecodeCSV("f", []byte("a,y\n1,2\n"), CSV{Target: "y", Drop: []string{name}})
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &column) != (name == "c") {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	tab, err := DecodeCSV("f", []byte("a,y\nx,2\nz,3\n"), CSV{Drop: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Columns{Target: "y"}).Schema(tab, tab.All()); err == nil || !strings.Contains(err.Error(), "left out") {
		t.Error(err)
	}
	if _, err := DecodeSchema([]byte(`{"columns":["a","y"],"target":"y","left_out":["y"],"shape":[1]}`)); err == nil {
		t.Error("a target that is left out passes")
	}
}

func TestCellError(t *testing.T) {
	for cell, missing := range map[string]bool{"None": true, "2024-01-05": false, "me": false, "1e": false} {
		_, err := DecodeCSV("f", []byte("a,b\n1,"+cell+"\n"), CSV{})
		var e *tables.CellError
		if !errors.As(err, &e) || e.Line != 2 || e.Name != "b" || e.Missing != missing || strings.Contains(err.Error(), "nan") != missing {
			t.Errorf("%s: %v, %+v", cell, err, e)
		}
	}
}

// TestChannelsLast: images are suspected only where their shape is unlikely with channels first.
func TestChannelsLast(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  bool
	}{
		{[]int{8, 8, 3}, true}, {[]int{28, 28, 1}, true},
		{[]int{3, 8, 8}, false}, {[]int{3, 3, 3}, false}, {[]int{1, 1, 3}, false}, {[]int{8, 9, 3}, false}, {[]int{8, 8, 2}, false}, {[]int{8, 8}, false}, {nil, false},
	} {
		if got := arrays.ChannelsLast(c.shape); got != c.want {
			t.Errorf("%v: %v", c.shape, got)
		}
	}
}

// TestLabelColumn: labels [n, 1] are labels [n].
func TestLabelColumn(t *testing.T) {
	inputs := &Array{Name: "x", Shape: []int{2, 1}, Values: []float32{1, 2}}
	for _, shape := range [][]int{{2}, {2, 1}} {
		s, err := NewSet("s", inputs, &Array{Name: "y", Shape: shape, Values: []int8{0, 1}}, 0)
		if err != nil || !slices.Equal(s.Labels, []int32{0, 1}) {
			t.Errorf("%v: %+v, %v", shape, s, err)
		}
	}
	for _, shape := range [][]int{{1, 2}, {2, 1, 1}, {}} {
		if _, err := NewSet("s", inputs, &Array{Name: "y", Shape: shape, Values: []int8{0, 1}}, 0); err == nil {
			t.Errorf("%v passes", shape)
		}
	}
}

// TestShowDrop: a large table is shown by its columns, and one that is left out as that.
func TestShowDrop(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(file, []byte("id,a\n"+strings.Repeat("x,1\n", formats.MaxShown)), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := formats.Show(file, formats.Look{CSV: CSV{Drop: []string{"id"}}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(d)
	if err != nil || !strings.Contains(string(raw), `"columns":[{"name":"id","left_out":true},{"name":"a","count":4096,`) {
		t.Errorf("%s, %v", raw, err)
	}
	file += ".npy"
	if err := os.WriteFile(file, arrays.NPYHeader([]int{0}), 0o666); err != nil {
		t.Fatal(err)
	}
	var noCSV *formats.NotCSVError
	if _, err := formats.Show(file, formats.Look{CSV: CSV{Drop: []string{"1"}}}); !errors.As(err, &noCSV) {
		t.Error(err)
	}
}

// scanCSV reads a text in blocks.
func scanCSV(name string, raw io.ReaderAt, size int, o CSV, rows int, fn func(*Table) error) error {
	f, err := tables.Open(name, raw, size, o)
	if err != nil {
		return err
	}
	return f.Scan(rows, fn)
}
