package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// sameText compares reading a text whole with reading it in blocks of rows records through a window that begins with
// window bytes: same values, lines, names and errors.
func sameText(t *testing.T, raw []byte, o CSV, rows, window, limit int) {
	t.Helper()
	f, err := open("f", bytes.NewReader(raw), len(raw), o)
	if err != nil {
		return
	}
	f.limit = limit
	want, wantErr := f.Table()
	f.window = window
	var got *Table
	err = f.Scan(rows, func(b *Table) error {
		switch {
		case b.Rows() > rows || b.Rows() == 0 && got != nil || len(b.Values) != b.Rows()*b.Cols:
			return fmt.Errorf("a block of %d rows, %d values, asked for %d rows", b.Rows(), len(b.Values), rows)
		case got == nil:
			c := *b
			c.lines = slices.Clone(b.lines)
			got = &c
			return nil
		case b.Delimiter != got.Delimiter || !sameTable(&Table{Header: got.Header, Names: got.Names, Cols: got.Cols, Values: b.Values}, b):
			return fmt.Errorf("blocks differ in form: %+v, %+v", b, got)
		}
		for i := range b.Rows() {
			got.startsOn(b.Line(i))
			got.Values = append(got.Values, b.Values[i*b.Cols:(i+1)*b.Cols]...)
		}
		return nil
	})
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("in blocks of %d, window %d: %v; whole: %v", rows, window, err, wantErr)
	}
	if err != nil {
		return
	}
	if got.Delimiter != want.Delimiter || !slices.Equal(got.lines, want.lines) || !sameTable(got, want) {
		t.Fatalf("in blocks of %d, window %d: %+v\nwhole: %+v", rows, window, got, want)
	}
}

func TestScanEqualsWhole(t *testing.T) {
	paths, err := filepath.Glob("../formats/testdata/files/csv_*")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	texts := [][]byte{
		[]byte("a,b\r\n\"1\",\"2\r\n\"\r3,\"4\"\n"), []byte("x\n\n\n1\n\n2\n\n"), []byte("1\r\n\r\n2\r"), []byte("\ufeff\n\n \na b\n\"1\"  2\n"),
		[]byte("x,y\n1,b\n2,a\n3,\n4,c\n5,10\n"), []byte("x,y\n1,10\n2,9\n"), []byte("x,\"y\"\"\"\n1,\"\"\"\"\n2,a\n"), []byte("\r\r\r1\r\r"),
		[]byte("a,b\n1,2\n3\n"), []byte("a,b\n1,\"2\"3\n"), []byte("1,2\n3,\"4"), []byte("   \n  1   2  \n  3   4   "), []byte("\"a\"\"b\",c\n1,2"),
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, raw)
	}
	for _, raw := range texts {
		for _, o := range []CSV{{}, {Target: "y"}, {Target: "2"}, {Target: "1", Drop: []string{"2"}}, {Drop: []string{"a", "b"}}, {Drop: []string{"1"}}, {Delimiter: "whitespace"}, {Delimiter: "\t", Header: &no}, {Target: "2", Words: true}} {
			for rows := 1; rows < 5; rows++ {
				for window := 1; window < 9; window++ {
					for _, limit := range []int{1, 2, 3, 5, 8, 13, 1000} {
						sameText(t, raw, o, rows, window, limit)
					}
				}
			}
		}
	}
}

// endless is a text of n bytes that is never in memory: the same records again and again.
type endless struct {
	part string
	n    int64
}

func (e endless) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) && at < e.n {
		from := int(at % int64(len(e.part)))
		k := copy(b[n:min(int64(len(b)), int64(n)+e.n-at)], e.part[from:])
		n, at = n+k, at+int64(k)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// A file far larger than what may be held is read in the memory of a block.
func TestScanMemory(t *testing.T) {
	testkit.NoThreads(t)
	n := int64(14 << 21)
	if testing.Short() {
		n = 14 << 19
	}
	const rows = 1000
	total, peak := int64(0), uint64(0)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := scanFrom("f", endless{strings.Repeat("1,2.5,3\n4,5,6\n", 1000), n}, int(n), CSV{Header: &no}, rows, func(b *Table) error {
		if total += int64(b.Rows()); total%(500*rows) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
		return nil
	})
	if err != nil || total != n/7 {
		t.Errorf("%d rows of %d, error %v", total, n/7, err)
	}
	if peak > before.HeapAlloc+2<<20 {
		t.Errorf("holds %d bytes more than before", peak-before.HeapAlloc)
	}
	for name, c := range map[string]struct{ part, want string }{
		"quotes":         {"\"\"", "line 1: more than 4,194,304 bytes"},
		"blank lines":    {"\n", "line 1: the file is empty"},
		"one record":     {"1 ", "line 1: more than 4,194,304 bytes"},
		"one cell":       {"1", "line 1: more than 4,194,304 bytes without an end of the record"},
		"one blank line": {" ", "line 1: more than 4,194,304 bytes"},
	} {
		e := endless{strings.Repeat(c.part, 1<<16), 1 << 32}
		if name == "blank lines" {
			e.n = n
		}
		var err error
		if got := testkit.Allocated(func() { err = scanFrom("f", e, int(e.n), CSV{Header: &no}, rows, nil) }); got > 32<<20 {
			t.Errorf("%s: allocates %d bytes", name, got)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestScanStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,2\n3,4\n5,6\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	enough, calls := errors.New("enough"), 0
	err := scan(path, CSV{}, 1, func(b *Table) error {
		if calls++; calls == 2 {
			if b.Values[0] != 3 || b.Line(0) != 3 {
				t.Errorf("the second block is %+v", b)
			}
			return enough
		}
		return nil
	})
	if err != enough || calls != 2 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	if err := scan(path+"x", CSV{}, 1, nil); err == nil {
		t.Error("a file that is not there is read")
	}
	only := 0
	if err := os.WriteFile(path, []byte("a,b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := scan(path, CSV{}, 1, func(b *Table) error { only++; return nil }); err != nil || only != 1 {
		t.Errorf("a header alone: %d blocks, error %v", only, err)
	}
}

func FuzzScanCSV(f *testing.F) {
	for _, raw := range testkit.Seeds(f, "../formats/testdata/files/csv_*") {
		f.Add(raw, "a", uint8(1), uint8(1), uint8(200))
	}
	f.Fuzz(func(t *testing.T, raw []byte, target string, rows, window, limit uint8) {
		for _, words := range []bool{false, true} {
			sameText(t, raw, CSV{Target: target, Words: words}, int(rows)+1, int(window)+1, int(limit)+1)
		}
	})
}
