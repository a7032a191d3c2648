package tables

import (
	"bytes"

	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// open opens a text or a Parquet file.
func open(name string, raw io.ReaderAt, size int, o CSV) (*File, error) {
	var head [4]byte
	if n, _ := raw.ReadAt(head[:], 0); parquet.Is(head[:n]) {
		return OpenParquet(name, raw, size, o)
	}
	return Open(name, raw, size, o)
}

func decode(name string, raw []byte, o CSV) (*Table, error) {
	f, err := open(name, bytes.NewReader(raw), len(raw), o)
	if err != nil {
		return nil, err
	}
	return f.Table()
}

func read(path string, o CSV) (*Table, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(path, raw, o)
}

func scan(path string, o CSV, rows int, fn func(*Table) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return scanFrom(path, file, int(info.Size()), o, rows, fn)
}

func scanFrom(name string, raw io.ReaderAt, size int, o CSV, rows int, fn func(*Table) error) error {
	f, err := open(name, raw, size, o)
	if err != nil {
		return err
	}
	return f.Scan(rows, fn)
}

func nan() float64 { return math.NaN() }

// What CSV.Header points at: whether a header is there.
var yes, no = true, false

func TestCSVReads(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		text   string
		o      CSV
		delim  string
		header []string
		cols   int
		want   []float64
		names  []string
	}{
		"tabs":                        {text: "a\tb\n1\t2\n", delim: "\t", header: []string{"a", "b"}, cols: 2, want: []float64{1, 2}},
		"empty cells between tabs":    {text: "a\tb\tc\n\t\t3\n\t\t\n", delim: "\t", header: []string{"a", "b", "c"}, cols: 3, want: []float64{nan(), nan(), 3, nan(), nan(), nan()}},
		"semicolons before commas":    {text: "\"a,b\";c\n1;2\n", delim: ";", header: []string{"a,b", "c"}, cols: 2, want: []float64{1, 2}},
		"commas and blanks":           {text: " a , b\n 1,  2 \n", delim: ",", header: []string{"a", "b"}, cols: 2, want: []float64{1, 2}},
		"runs of blanks and tabs":     {text: "  1 \t 2\n3  4  \n", delim: "whitespace", cols: 2, want: []float64{1, 2, 3, 4}},
		"one column":                  {text: "1\n2\n", delim: ",", cols: 1, want: []float64{1, 2}},
		"one column, missing":         {text: "x\n1\n\n \n2\n\n", delim: ",", header: []string{"x"}, cols: 1, want: []float64{1, nan(), nan(), 2}},
		"blank lines":                 {text: "\n\na,b\n\n1,2\n  \n3,4\n\n", delim: ",", header: []string{"a", "b"}, cols: 2, want: []float64{1, 2, 3, 4}},
		"lone carriage returns":       {text: "a,b\r1,2\r3,4", delim: ",", header: []string{"a", "b"}, cols: 2, want: []float64{1, 2, 3, 4}},
		"numbers of all kinds":        {text: "-1,+2,.5,5.,1e3,-2E-3,inf,-Infinity,NaN,-nan\n", delim: ",", cols: 10, want: []float64{-1, 2, .5, 5, 1000, -.002, inf, -inf, nan(), nan()}},
		"nearest float64":             {text: "0.1,9007199254740993,1e-400,2.5e-324\n", delim: ",", cols: 4, want: []float64{0.1, 9007199254740992, 0, 5e-324}},
		"quoted line end":             {text: "\"a\nb\",c\n\"1\",2\n", delim: ",", header: []string{"a\nb", "c"}, cols: 2, want: []float64{1, 2}},
		"blanks around quotes":        {text: "\"a\" , \"b\"\n\"1\" , 2\n", delim: ",", header: []string{"a", "b"}, cols: 2, want: []float64{1, 2}},
		"quotes among blanks":         {text: "\"a b\"  c\n1 2\n", delim: "whitespace", header: []string{"a b", "c"}, cols: 2, want: []float64{1, 2}},
		"last cell empty":             {text: "a,b\n1,", delim: ",", header: []string{"a", "b"}, cols: 2, want: []float64{1, nan()}},
		"header only":                 {text: "a,b\n", delim: ",", header: []string{"a", "b"}, cols: 2},
		"header told, of numbers":     {text: "1,2\n3,4\n", o: CSV{Header: &yes}, delim: ",", header: []string{"1", "2"}, cols: 2, want: []float64{3, 4}},
		"delimiter told":              {text: "1|2\n3|4\n", o: CSV{Delimiter: "|"}, delim: "|", cols: 2, want: []float64{1, 2, 3, 4}},
		"target of names":             {text: "x,y\n1,dog\n2,cat\n3,\n4,dog\n", o: CSV{Target: "y"}, delim: ",", header: []string{"x", "y"}, cols: 2, want: []float64{1, 1, 2, 0, 3, nan(), 4, 1}, names: []string{"cat", "dog"}},
		"target of names, no header":  {text: "5.1,setosa\n6,virginica\n", o: CSV{Target: "2"}, delim: ",", cols: 2, want: []float64{5.1, 0, 6, 1}, names: []string{"setosa", "virginica"}},
		"target of numbers and names": {text: "x,y\n1,10\n2,9\n3,a\n", o: CSV{Target: "y"}, delim: ",", header: []string{"x", "y"}, cols: 2, want: []float64{1, 0, 2, 1, 3, 2}, names: []string{"10", "9", "a"}},
		"target of numbers":           {text: "x,y\n1,10\n2,9\n", o: CSV{Target: "y"}, delim: ",", header: []string{"x", "y"}, cols: 2, want: []float64{1, 10, 2, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, bom := range []string{"", "\ufeff"} {
				got, err := decode("f", []byte(bom+c.text), c.o)
				if err != nil {
					t.Fatal(err)
				}
				if got.Delimiter != c.delim || got.Cols != c.cols || !slices.Equal(got.Header, c.header) || !slices.Equal(got.Words(min(1, got.Cols-1)), c.names) {
					t.Errorf("delimiter %q, %d columns, header %q, names %q", got.Delimiter, got.Cols, got.Header, got.Names)
				}
				if d := cmp.Diff(c.want, got.Values, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
					t.Error(d)
				}
				if (got.Names != nil) != (c.names != nil) || got.Rows()*got.Cols != len(got.Values) {
					t.Errorf("names %q, %d rows", got.Names, got.Rows())
				}
			}
		})
	}
}

func TestCSVRefuses(t *testing.T) {
	for text, c := range map[string]struct {
		o    CSV
		want string
	}{
		"a,b\n1,2\n3,x\n":                  {want: `f: line 3, column 2 (b): "x" is not a number`},
		"a;b\n1;2,5\n":                     {want: `line 2, column 2 (b): "2,5" is not a number (with a decimal comma it is 2.5)`},
		"a,b\n\n1,2\n\"3\n5\",4\n":         {want: `line 4, column 1 (a): "3\n5" is not a number`},
		"a,b\n1,2\n\n3\n":                  {want: "line 4: 1 cell where the first record has 2"},
		"a,b\n1,2,3\n":                     {want: "line 2: 3 cells where the first record has 2"},
		"1,2\n3,\"4\n":                     {want: "line 2, column 2: the quote is never closed"},
		"1,2\n3,\"4\"5\n":                  {want: "line 2, column 2: text follows after the closing quote"},
		"1,2\n3,4\"5\n":                    {want: "line 2, column 2: a quote within a cell"},
		"\"a\"b c\n1 2\n":                  {o: CSV{Delimiter: "whitespace"}, want: "line 1, column 1: text follows"},
		"1,0x10\n":                         {want: `column 2: "0x10"`},
		"1,1_000\n":                        {want: `column 2: "1_000"`},
		"1,1e400\n":                        {want: `column 2: "1e400" is too large`},
		"1,--2\n":                          {want: `column 2: "--2"`},
		"1,infinit\n":                      {want: `column 2: "infinit"`},
		"1,None\n":                         {want: `column 2: "None" is not a number (a missing value is an empty cell, nan or NA)`},
		"1,٣\n":                            {want: `column 2: "٣" is not a number: write its digits as 0 to 9`},
		"1,\x00\n":                         {want: "column 2: the cell has a NUL byte"},
		"1,2 3\n":                          {want: `column 2: "2 3"`},
		"":                                 {want: "line 1: the file is empty"},
		"\n \n   \n":                       {want: "line 1: the file is empty"},
		"\xff\xfea\x00,\x00":               {want: "UTF-16"},
		"\xff,b\n1,2\n":                    {want: "line 1, column 1: the column's name is not UTF-8"},
		"x,y\n1,\xff\n":                    {o: CSV{Target: "y"}, want: "line 2, column 2 (y): the name is not UTF-8"},
		"x,y\n1,2\n":                       {o: CSV{Target: "z"}, want: `no column "z" among "x", "y"`},
		"x,x\n1,2\n":                       {o: CSV{Target: "x"}, want: `columns 1 and 2 are both named "x"`},
		"1,2\n":                            {o: CSV{Target: "3"}, want: `no column "3": the table has no header, so columns are 1 to 2`},
		"1,2\n3,4\n":                       {o: CSV{Delimiter: "::"}, want: `delimiter "::"`},
		"1,2\n3,5\n":                       {o: CSV{Delimiter: "."}, want: `delimiter "."`},
		"1," + strings.Repeat("x", 100000): {want: `"` + strings.Repeat("x", 40) + `…" is not a number`},
	} {
		_, err := decode("f", []byte(text), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", text[:min(len(text), 60)], err, c.want)
		}
	}
}

// Files that are all delimiters, quotes or line ends cost little memory: what cells.MaxColumns cells and maxNames names may, and four
// times the file. Garbage counts, too.
func TestCSVMemory(t *testing.T) {
	testkit.NoThreads(t)
	n := 1 << 23
	if testing.Short() {
		n = 1 << 21
	}
	for name, text := range map[string]string{
		"commas":       strings.Repeat(",", n),
		"rows":         strings.Repeat(",\n", n/2),
		"wide, empty":  strings.Repeat(",", n/4) + strings.Repeat("\n", n/2),
		"line ends":    strings.Repeat("\n", n),
		"quotes":       strings.Repeat(`"`, n),
		"blanks":       strings.Repeat(" ", n),
		"numbers":      strings.Repeat("1\n", n/2),
		"many names":   names(n / 8),
		"one long row": strings.Repeat("1 ", n/2),
		"wide":         strings.Repeat(strings.Repeat(",", cells.MaxColumns-1)+"\n", n/cells.MaxColumns),
		"wide, sparse": strings.Repeat("1"+strings.Repeat(",", 99)+"\n", n/101),
		"digits":       strings.Repeat("1,2,3\r\n", n/7),
		"blank lines":  strings.Repeat("1,2\n\n", n/5),
		"with a head":  "a,b\n" + strings.Repeat("1,2\n", n/4),
		"names late":   strings.Repeat("1,2\n", n/4) + "x,2\n",
	} {
		for _, target := range []CSV{{Target: "1", Header: &no}, {Header: &no}} {
			raw, err := []byte(text), error(nil)
			if got := testkit.Allocated(func() { _, err = decode("f", raw, target) }); got > uint64(5*n+26<<20) {
				t.Errorf("%s: allocates %d bytes for a file of %d (%.100v)", name, got, len(raw), err)
			}
			if refused := err != nil && strings.Contains(err.Error(), "so many cells are empty"); refused != strings.HasPrefix(name, "wide, sparse") && !strings.Contains(" wide rows line ends commas ", " "+name+" ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.FormatInt(int64(i)+1e6, 36))
		b.WriteString(",1\n")
	}
	return b.String()
}

// write puts a table into the plainest form: names and numbers quoted, comma, LF.
func write(t *Table) []byte {
	var b bytes.Buffer
	line := func(n int, cell func(j int) string) {
		for j := range n {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + strings.ReplaceAll(cell(j), `"`, `""`) + `"`)
		}
		b.WriteByte('\n')
	}
	if t.Header != nil {
		line(t.Cols, func(j int) string { return t.Header[j] })
	}
	for i := range t.Rows() {
		line(t.Cols, func(j int) string {
			v := t.Values[i*t.Cols+j]
			if words := t.Words(j); words != nil && v == v {
				return words[int(v)]
			}
			return strconv.FormatFloat(v, 'g', -1, 64)
		})
	}
	return b.Bytes()
}

// sameTable compares all but the delimiter and the lines.
func sameTable(a, b *Table) bool {
	return slices.Equal(a.Header, b.Header) && slices.EqualFunc(a.Names, b.Names, slices.Equal) && a.Cols == b.Cols &&
		slices.EqualFunc(a.Values, b.Values, testkit.Same)
}

func FuzzCSV(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../formats/testdata/files/csv_*") {
		f.Add(raw, "a")
	}
	f.Fuzz(func(t *testing.T, raw []byte, target string) {
		for _, words := range []bool{false, true} {
			readAndWrite(t, raw, target, words)
		}
	})
}

// readAndWrite reads a table, writes it and reads it again.
func readAndWrite(t *testing.T, raw []byte, target string, words bool) {
	o := CSV{Target: target, Words: words}
	table, err := decode("f", raw, o)
	if err != nil {
		return
	}
	if len(table.Values) != table.Rows()*table.Cols || len(table.Values) > len(raw)+1 {
		t.Fatalf("%d values, %d rows, %d columns from %d bytes", len(table.Values), table.Rows(), table.Cols, len(raw))
	}
	for i := 1; i < table.Rows(); i++ {
		if table.Line(i) <= table.Line(i-1) {
			t.Fatal("lines of the rows do not ascend")
		}
	}
	again := CSV{Delimiter: ",", Header: &no, Target: target, Words: words}
	if table.Header != nil {
		again.Header = &yes
	}
	copied, err := decode("copy", write(table), again)
	if err != nil {
		t.Fatalf("%v\n%s", err, write(table))
	}
	if !sameTable(table, copied) {
		t.Fatalf("%+v comes back as %+v", table, copied)
	}
}

// TestLines: the line of each row is right, whatever lies between the rows.
func TestLines(t *testing.T) {
	r := rng.Key{Seed: 1, Purpose: rng.Synthetic, Iteration: 2}.Stream()
	for range 200 {
		var text strings.Builder
		var want []int
		line := 1
		for gap := r.IntN(3); len(want) < 30; {
			want = append(want, line)
			text.WriteString("1,2\n")
			line++
			if r.IntN(5) == 0 {
				gap = r.IntN(3)
			}
			text.WriteString(strings.Repeat("\n", gap))
			line += gap
		}
		table, err := decode("f", []byte(text.String()), CSV{})
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range want {
			if table.Line(i) != line {
				t.Fatalf("row %d is on line %d, not %d of\n%s", i, table.Line(i), line, text.String())
			}
		}
	}
}
