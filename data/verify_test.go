package data

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every known set is pinned, and what the program holds is as its pins say.
func TestPins(t *testing.T) {
	var names []string
	for _, k := range known() {
		names = append(names, k.Name)
		if k.BuiltIn != (k.Files == nil) || k.Target != "" != (k.load == nil) {
			t.Errorf("%+v", k)
		}
		for _, p := range pins[k.Name] {
			if len(p.sum) != 64 || p.size == 0 && (k.BuiltIn || !strings.HasSuffix(p.file, ".csv")) {
				t.Errorf("%s: pin %+v", k.Name, p)
			}
		}
		for _, d := range downloads[k.Name] {
			if d.Size == 0 || len(d.SHA256) != 64 || len(d.URLs) == 0 || d.folder == "" && !slices.Contains(k.Files, d.file) {
				t.Errorf("%s: download %+v", k.Name, d)
			}
		}
		if !k.BuiltIn {
			continue
		}
		list, err := Verify(k.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.State != OK {
				t.Errorf("%s: %+v", k.Name, v)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(pins)); !slices.Equal(got, names) {
		t.Errorf("pins of %q, known are %q", got, names)
	}
}

// The tables within the program are what they should be: rows, columns, target, and some facts known of them.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		name             string
		rows, cols       int
		target           string
		low, high, total float64 // of the target
	}{
		{"concrete", 1030, 9, "compressive_strength", 2.33, 82.60, 36892.50},
		{"wine-red", 1599, 12, "quality", 3, 8, 9012},
		{"wine-white", 4898, 12, "quality", 3, 9, 28790},
		{"yacht", 308, 7, "residuary_resistance", 0.01, 62.42, 3232.57},
	} {
		if !Tabular(c.name) {
			t.Errorf("%s is not a table", c.name)
		}
		table, target, err := LoadTable(c.name, "")
		if err != nil {
			t.Fatal(err)
		}
		j, err := table.Column(target)
		if err != nil {
			t.Fatal(err)
		}
		var y []float64
		sum := 0.0
		for i := range table.Rows() {
			y = append(y, table.Values[i*table.Cols+j])
			sum += y[i]
		}
		if table.Name != c.name || table.Rows() != c.rows || table.Cols != c.cols || target != c.target || slices.Min(y) != c.low || slices.Max(y) != c.high || sum-c.total > 0.01 || c.total-sum > 0.01 {
			t.Errorf("%s: %s, %d × %d, target %s from %v to %v, in all %v", c.name, table.Name, table.Rows(), table.Cols, target, slices.Min(y), slices.Max(y), sum)
		}
		p, err := Load(c.name, "")
		if err != nil {
			t.Fatal(err)
		}
		if p.Train.Len() != c.rows || p.Train.Features() != c.cols-1 || p.Train.Outputs != 1 || p.Whole {
			t.Errorf("%s: Load gives %d × %d", c.name, p.Train.Len(), p.Train.Features())
		}
	}
	if Tabular("mnist7") || Tabular("pima") || Tabular("nothing") {
		t.Error("no tables are said to be tables")
	}
	if _, _, err := LoadTable("mnist7", ""); err == nil || !strings.Contains(err.Error(), "not a table") {
		t.Error(err)
	}
}

// What counts is what a file holds, and everything else is said with its place.
func TestVerify(t *testing.T) {
	small(t, "mnist", []pin{text("mnist/x.gz", "hello")}, nil)
	dir := t.TempDir()
	put := func(file string, raw []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(set, dir string, state State, why string) {
		t.Helper()
		list, err := Verify(set, dir)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		if v := list[0]; v.State != state || !strings.Contains(v.Why, why) || why == "" && v.Why != "" || dir != "" && !strings.HasPrefix(v.File, dir) {
			t.Errorf("%+v, want %s %q", v, state, why)
		}
	}
	expect("mnist", "", Missing, "")
	expect("mnist", dir, Missing, "")
	put("mnist/x.gz", gzipped(t, []byte("hello")))
	expect("mnist", dir, OK, "")
	var poorly bytes.Buffer
	z, _ := gzip.NewWriterLevel(&poorly, gzip.NoCompression)
	z.Name = "hello.txt"
	io.WriteString(z, "hello")
	z.Close()
	put("mnist/x.gz", poorly.Bytes())
	expect("mnist", dir, OK, "")
	put("mnist/x.gz", gzipped(t, []byte("hallo")))
	expect("mnist", dir, Wrong, "SHA-256 d3751d33f9cd5049c4af2b462735457e4d3baf130bcbb87f389e349fbaeb20b9, want 2cf24dba")
	put("mnist/x.gz", gzipped(t, []byte("hello!")))
	expect("mnist", dir, Wrong, "more than 5 bytes")
	put("mnist/x.gz", gzipped(t, []byte("hell")))
	expect("mnist", dir, Wrong, "4 bytes, want 5")
	put("mnist/x.gz", []byte("hello"))
	expect("mnist", dir, Wrong, "damaged gzip")
	put("mnist/x.gz", nil)
	expect("mnist", dir, Wrong, "damaged gzip: the file ends early")
	put("mnist/x.gz", poorly.Bytes()[:poorly.Len()-3])
	expect("mnist", dir, Wrong, "the file ends early")
	if err := os.Remove(filepath.Join(dir, "mnist", "x.gz")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mnist", "x.gz"), 0o777); err != nil {
		t.Fatal(err)
	}
	expect("mnist", dir, Wrong, "is not a regular file")

	// A table may write its numbers as it likes.
	put("uci/pima.csv", []byte("a,b\n1,0.5\n2,1e10\n"))
	expect("pima", dir, Wrong, "SHA-256 ")
	sum := sumOf([]byte("a,b\n1,0.5\n2,1e+10\n"))
	small(t, "pima", []pin{{file: "uci/pima.csv", sum: sum}}, nil)
	for _, text := range []string{"\"a\";\"b\"\r\n1.0;.5\r\n2;10000000000\r\n", "a b\n  1.00   5e-1\n +2 1E+10"} {
		put("uci/pima.csv", []byte(text))
		expect("pima", dir, OK, "")
	}
	for _, text := range []string{"a,b\n1,0.5\n2,1e11\n", "a,c\n1,0.5\n2,1e10\n", "a,b\n2,1e10\n1,0.5\n", "a,b\n1,0.5\n"} {
		put("uci/pima.csv", []byte(text))
		expect("pima", dir, Wrong, "SHA-256 ")
	}
	put("uci/pima.csv", []byte("a,b\n1,x\n"))
	expect("pima", dir, Wrong, "line 2")
	if _, err := Verify("pimma", dir); err == nil {
		t.Error("an unknown set is verified")
	}
}

// The files in STARLING_DATA are what is pinned.
func TestVerifyData(t *testing.T) {
	dir := os.Getenv("STARLING_DATA")
	if dir == "" {
		t.Skip("STARLING_DATA is not set: skips the comparison of its files with what is known of them")
	}
	sets := []string{"california", "fashion-mnist", "mnist", "naval", "pima"}
	if testing.Short() {
		sets = []string{"california", "naval", "pima"}
	}
	for _, set := range sets {
		list, err := Verify(set, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.State != OK {
				t.Errorf("%+v", v)
			}
		}
	}
	table, target, err := LoadTable("naval", dir)
	if err != nil {
		t.Fatal(err)
	}
	if table.Rows() != 11934 || table.Cols != 17 || target != "turbine_decay" || slices.Contains(table.Header, "compressor_decay") {
		t.Errorf("naval: %d × %d, %q", table.Rows(), table.Cols, table.Header)
	}
	if table.Values[0] != 1.138 || table.Values[16] != 0.975 || table.Values[17*11933+16] != 1 {
		t.Errorf("naval: first row %v, last %v", table.Values[:17], table.Values[17*11933:])
	}
}
