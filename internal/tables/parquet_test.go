package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	internal "github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/testkit"
)

const parquetFolder = "testdata/parquet/"

// parquetFiles are files that pyarrow wrote, of several codecs, encodings and row groups, which all hold the table of table.csv:
// make.py there writes them.
var parquetFiles = []string{"plain", "snappy_v2", "zstd", "gzip_v2", "lz4", "delta"}

// TestParquetAsCSV: pyarrow's files are read as the CSV of the same table that pyarrow's values make, whole and in blocks: every kind
// of integer and float, nulls, names with quotes, commas and blanks.
func TestParquetAsCSV(t *testing.T) {
	o := CSV{Target: "word"}
	want, err := read(parquetFolder+"table.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, v := range want.Values {
		if v != v {
			missing++
		}
	}
	if want.Rows() != 57 || want.Cols != 11 || missing < 57+8+6 {
		t.Fatalf("a table [%d, %d] with %d missing values", want.Rows(), want.Cols, missing)
	}
	for _, name := range parquetFiles {
		path := parquetFolder + name + ".parquet"
		got, err := read(path, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !sameTable(got, want) {
			t.Errorf("%s: another table: %v\n%v", name, got.Values[:22], want.Values[:22])
		}
		var values []float64
		err = scan(path, o, 7, func(b *Table) error {
			values = append(values, b.Values...)
			return nil
		})
		if err != nil || !slices.EqualFunc(values, want.Values, testkit.Same) {
			t.Errorf("%s: in blocks: %d values, %v", name, len(values), err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sameText(t, raw, o, 5, 3, 1000)
	}
}

// TestParquetTypes: a column that a table cannot hold is refused by name, with what to do, unless it is left out.
func TestParquetTypes(t *testing.T) {
	const file = parquetFolder + "types.parquet"
	bad := map[string]string{
		"nested": "column 4 (nested): holds nested values, not numbers, booleans or strings: save each of its fields as a column of its own, or leave it out",
		"list":   "column 5 (list): holds nested values,",
		"date":   "column 7 (date): holds dates,", "time": "column 8 (time): holds times,", "bytes": "column 9 (bytes): holds bytes,",
	}
	var all []string
	for name := range bad {
		all = append(all, name)
	}
	for name, want := range bad {
		drop := slices.DeleteFunc(slices.Clone(all), func(other string) bool { return other == name })
		if _, err := read(file, CSV{Target: "y", Drop: append(drop, "flag")}); err == nil || !strings.HasPrefix(err.Error(), file+": "+want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		var column *ColumnTypeError
		if _, err := read(file, CSV{Target: "y", Drop: append(drop, "flag")}); !errors.As(err, &column) || column.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	all = append(all, "decimal", "half")
	got, err := read(file, CSV{Target: "y", Drop: append(all, "flag")})
	if err != nil || !slices.Equal(got.Words(slices.Index(got.Header, "y")), []string{"a", "b"}) || got.Values[0] != 1 || got.Values[10] != 2 || got.Values[20] != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := read(file, CSV{Target: "flag", Drop: append(all, "y")}); err != nil || !slices.Equal(got.Words(slices.Index(got.Header, "flag")), []string{"false", "true"}) || !math.IsNaN(got.Values[11]) {
		t.Errorf("a boolean is a name: %+v, %v", got, err)
	}
	if _, err := read(parquetFolder+"brotli.parquet", CSV{Target: "word"}); err == nil || !strings.Contains(err.Error(), "column i8 is packed with BROTLI: write the file with snappy, zstd or gzip") {
		t.Error(err)
	}
	if _, err := read(file, CSV{Target: "y", Delimiter: ";", Drop: all}); err == nil || !strings.Contains(err.Error(), file+": delimiter and header are of CSV files") {
		t.Error(err)
	}
}

// TestParquetNumbers: decimals and half-precision numbers are numbers, an index of dates is left out by its name, and large whole numbers are
// told with their digits.
func TestParquetNumbers(t *testing.T) {
	open := func(name string) *Table {
		t.Helper()
		got, err := read("testdata/written/pq-"+name+".parquet", CSV{Target: "y", Words: true})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	decimal, half := open("decimal"), open("f16")
	for i := range decimal.Rows() {
		if want := float64(1+25*(i%50)) / 100; decimal.Values[4*i+3] != want {
			t.Fatalf("row %d: a decimal is %v, want %v", i, decimal.Values[4*i+3], want)
		}
		if x, h := half.Values[4*i], half.Values[4*i+3]; !(math.Abs(x-h) <= math.Abs(x)/2048) || x == h {
			t.Fatalf("row %d: %v is %v in half precision", i, x, h)
		}
	}
	index := open("dateindex")
	if j, _ := index.Column("__index_level_0__"); !index.DateIndex(j) || !index.Left(j) || index.Left(0) {
		t.Errorf("left out %v", index.LeftOut)
	}
	big := open("bigint")
	if big.Large(3) == "" || len(big.Large(3)) != 19 {
		t.Errorf("the first large number is %q", big.Large(3))
	}
	if big.LeaveOutCounters("y", nil); !big.Inexact(3) || big.CountsRows(3) {
		t.Errorf("left out %v", big.LeftOut)
	}
}

// TestParquetDamaged: a file that is cut, or has a byte changed, is an error with its name or a table, and never a panic.
func TestParquetDamaged(t *testing.T) {
	testkit.NoThreads(t)
	for _, name := range append(slices.Clone(parquetFiles), "types") {
		raw, err := os.ReadFile(parquetFolder + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		step := 29
		if testing.Short() {
			step = 211
		}
		try := func(what string, damaged []byte, at int) (err error) {
			bytes := testkit.Allocated(func() { _, err = decode("some.parquet", damaged, CSV{Target: "word"}) })
			if bytes > 256<<20 {
				t.Errorf("%s, %s at %d: takes %d MB", name, what, at, bytes>>20)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "some.parquet") {
				t.Errorf("%s, %s at %d: %v", name, what, at, err)
			}
			return err
		}
		for at := 4; at < len(raw); at += step {
			if try("cut", raw[:at], at) == nil {
				t.Errorf("%s, cut at %d, is read", name, at)
			}
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := slices.Clone(raw)
				damaged[at] ^= flip
				try("changed", damaged, at)
			}
		}
	}
}

// writeParquet writes rows of one float and one name, in row groups.
func writeParquet(t testing.TB, w io.Writer, groups, rows int) {
	t.Helper()
	type row struct {
		X float64 `parquet:"x"`
		Y string  `parquet:"y,dict,zstd"`
	}
	out := parquet.NewGenericWriter[row](w)
	for g := range groups {
		block := make([]row, rows)
		for i := range block {
			block[i] = row{float64(g*rows+i) / 8, fmt.Sprint("class ", i%3)}
		}
		if _, err := out.Write(block); err != nil {
			t.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestParquetStreams: every row of every row group is read, in the memory of a few pages: the file is several times larger than what
// is in memory at any time.
func TestParquetStreams(t *testing.T) {
	testkit.NoThreads(t)
	const groups, rows = 40, 25_000
	path := filepath.Join(t.TempDir(), "large.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writeParquet(t, file, groups, rows)
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, next := live(), uint64(0), 0
	err = scan(path, CSV{Target: "y"}, 1000, func(b *Table) error {
		for i := range b.Rows() {
			if b.Values[2*i] != float64(next)/8 || int(b.Values[2*i+1]) != next%rows%3 {
				return fmt.Errorf("row %d is %v", next, b.Values[2*i:2*i+2])
			}
			next++
		}
		if next%50_000 == 0 {
			most = max(most, live())
		}
		return nil
	})
	if err != nil || next != groups*rows {
		t.Fatalf("%d rows, %v", next, err)
	}
	if grown := int64(most) - int64(before); grown > size/3 {
		t.Errorf("%d MB in memory for a file of %d MB", grown>>20, size>>20)
	}
}

// A file with a footer that claims what it does not hold is refused before anything of that size is allocated.
func TestParquetClaims(t *testing.T) {
	testkit.NoThreads(t)
	footer := func(text string) []byte {
		raw := append([]byte("PAR1"), text...)
		return append(append(raw, byte(len(text)), 0, 0, 0), "PAR1"...)
	}
	for name, raw := range map[string][]byte{
		"a long schema":      footer("\x15\x02\x29\xfc\xff\xff\xff\x7f\x00"),
		"many row groups":    footer("\x15\x02\x29\x1c\x48\x01s\x15\x00\x00\x16\x02\x19\xfc\xff\xff\xff\x07\x00"),
		"a long footer":      []byte("PAR1\xff\xff\xff\x7fPAR1"),
		"an endless list":    footer(strings.Repeat("\x19\x19", 100)),
		"nothing":            []byte("PAR1"),
		"no footer":          []byte("PAR1PAR1"),
		"an empty footer":    footer(""),
		"the end of another": []byte("PAR1\x00\x00\x00\x00\x00\x00\x00\x00PARE"),
	} {
		var err error
		if bytes := testkit.Allocated(func() { _, err = decode("f", raw, CSV{}) }); bytes > 1<<20 || err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: %v, with %d bytes", name, err, bytes)
		}
	}
}

func FuzzParquet(f *testing.F) {
	for _, raw := range testkit.Seeds(f, parquetFolder+"*.parquet") {
		f.Add(raw, "word")
	}
	var small bytes.Buffer
	writeParquet(f, &small, 2, 3)
	f.Add(small.Bytes(), "y")
	f.Fuzz(func(t *testing.T, raw []byte, target string) {
		if !internal.Is(raw) {
			raw = append([]byte("PAR1"), raw...)
		}
		o := CSV{Target: target}
		var table *Table
		var err error
		if bytes := testkit.Allocated(func() { table, err = decode("f", raw, o) }); bytes > uint64(1<<30) {
			t.Fatalf("takes %d bytes for %d", bytes, len(raw))
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f") {
				t.Fatal(err)
			}
			return
		}
		again, err := decode("g", write(table), CSV{Target: target, Header: &yes})
		if err != nil || !slices.EqualFunc(again.Values, table.Values, testkit.Same) {
			t.Fatalf("read and written again: %v", err)
		}
	})
}
