package scans

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// drain reads a source to its end and tests what it gives. It returns the number of values in all records.
func drain(t testing.TB, s Source, length int) (values int) {
	last := math.Inf(-1)
	for calls := 0; ; calls++ {
		if calls > length+2 {
			t.Fatalf("more scans and faults than bytes, %d", length)
		}
		r, err := s.Next()
		var fault *BadError
		switch {
		case errors.As(err, &fault):
			if fault.Line < 1 || fault.Column < 0 {
				t.Fatalf("the place of %v", err)
			}
			continue
		case err != nil:
			return values
		}
		if !(r.Time > last) && last != math.Inf(-1) {
			t.Fatalf("the time %v after %v", r.Time, last)
		}
		last = r.Time
		if r.Text == "" || r.Width*r.Len() != len(r.Values) {
			t.Fatalf("%+v", r)
		}
		for _, v := range r.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("the value %v", v)
			}
		}
		if math.IsNaN(r.Time) || math.IsInf(r.Time, 0) {
			t.Fatalf("the time %v", r.Time)
		}
		values += len(r.Values)
		for _, p := range r.Parts {
			if n := len(p.Columns); n == 0 || n >= r.Width || len(p.Values)%n != 0 || p.Len() == 0 {
				t.Fatalf("the part %+v of %+v", p, r)
			}
			for i, c := range p.Columns {
				if c >= r.Width || i > 0 && c <= p.Columns[i-1] {
					t.Fatalf("the columns %v", p.Columns)
				}
			}
			for _, v := range p.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("the value %v", v)
				}
			}
			values += len(p.Values)
		}
	}
}

func fuzz(t *testing.T, text, truth string) {
	for _, o := range []Options{{}, {Whole: true, Step: 1}, {Unit: Milliseconds, Columns: &Columns{Decimal: ","}}, {Unit: Nanoseconds, Time: "t", Step: 0.1}} {
		if truth != "" {
			o.Truth = strings.NewReader(truth)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		drain(t, NewReader(strings.NewReader(text), o), len(text)+len(truth))
		runtime.ReadMemStats(&after)
		// Windows and a first piece of numbers take 1 MB at most; gzip unpacks a byte to a thousand.
		limit := 2<<20 + 200*(len(text)+len(truth))
		if text != "" && text[0] == 0x1f || truth != "" && truth[0] == 0x1f {
			limit *= 1000
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(limit) {
			t.Fatalf("allocates %d bytes for %d", n, len(text)+len(truth))
		}
	}
}

func FuzzJSONLines(f *testing.F) {
	for _, text := range []string{
		`{"time": 12.5, "measurements": [[1, 2], [3, 4]], "truth": {"a": [1, 2, 3, 4]}}` + "\n" + `{"time": 13, "measurements": []}`,
		"{\"measurements\": [null, [null, -1e-3]], \"time\": \"2013-01-31T06:30:00.5Z\"}\r\n{\"time\": \"2013-02-01T00:00+01:00\", \"measurements\": []}",
		packed(`{"time": 1, "measurements": [[1]]}`), "{\"t\\u0069me\": 1}\n{\"time\": 1e999}\n\n{", "[[1]]",
		"{\"time\":1713883988987,\"measurements\":[[1,null],[null,2],[null,null]]}\n{\"time\":1713883989987.5,\"measurements\":[[1,2]]}",
		"{\"time\":1,\"measurements\":[]}\n{\"time\":1e300,\"measurements\":[]}\n{\"time\":1e9,\"measurements\":[]}\n{\"time\":2,\"measurements\":[]}",
		packed("", `{"time": 1, "measurements": [[1]]}`, "") + "\x00\x00x", "\xfd7zXZ\x00", "\xff\xfe{\x00", "BZh91AY&SY",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzz(t, text, "") })
}

func FuzzCSV(f *testing.F) {
	for _, c := range [][2]string{
		{"time,x,y\n1,2,3\n1,,\n2,3,4\n", "time,id,x\n1,a,2\n2,a,3\n"}, {"\ufefft;x\r\n2013-01-31;1\r\n2013-02-01;-1e5\r\n", "t,i,x\n2013-01-31,a,1"},
		{"t\t\"x\"\"\"\n1\t\"2\"\n\"\n\"", ""}, {packed("t,x\n1,2\n"), packed("t,id,x\n1,a,2")}, {"t,x\n2,1\n1,1\n2,1\na,1\n3,1,1\n4,nan\n", ""},
		{"x,ID,Time (ms)\n,a,1e3\n2,b,1e3\n3,c,1e300\n", "Track_ID,timestamp,x\na,1,2\n"}, {"1713883988987,1,\n1713883988987,,2\n1713883989987000,1,2", ""},
		{"date,time,x\n1,2,3\n", ""}, {"time,0,1\n1e18,2,3\n1e18,,3\n", "x,y,z\n1,a,2"}, {"1;2,5\n1;3,5\n2e11;1\n2e11;1\n3;1", ""},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(fuzz)
}

// TestMemory: a scan of a million returns takes its values twice, and windows.
func TestMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("slow, and one goroutine alone")
	}
	const m = 1_000_000
	row, csv := []byte("[-12.345678,98.765432],"), []byte("1,-12.345678,98.765432\n")
	for name, text := range map[string]io.Reader{
		"JSON": io.MultiReader(strings.NewReader(`{"time": 1, "measurements": [`), &repeat{text: row, left: m - 1}, strings.NewReader("[1,2]]}\n")),
		"CSV":  io.MultiReader(strings.NewReader("time,x,y\n"), &repeat{text: csv, left: m}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := drain(t, NewReader(text, Options{}), m)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; n != 2*m || bytes > 33*m {
			t.Errorf("%s: %d values, %d bytes", name, n, bytes)
		}
	}
}

// TestHostileMemory: texts that are all brackets, short numbers, names or quotes take little more memory than the numbers in them,
// 16 bytes each.
func TestHostileMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("slow, and one goroutine alone")
	}
	const n = 2 << 20
	many := func(begin, text, end string) string { return begin + strings.Repeat(text, n/len(text)) + end }
	wide := "[" + strings.Repeat("1,", mostNumbers-1) + "1],"
	names := []byte(`{"truth":{`)
	for i := range n / 10 {
		names = fmt.Appendf(names, `"%d":[1],`, i)
	}
	for name, text := range map[string]string{
		"narrow":           many(`{"measurements":[`, "[1],", "[1]]}"),
		"wide":             many(`{"measurements":[`, wide, ""),
		"brackets":         many("{", "[", ""),
		"braces":           many("", "{", ""),
		"missing":          many(`{"time":1,"measurements":[null`, ",null", "]}"),
		"truth":            string(names),
		"a long state":     many(`{"truth":{"a":[1`, ",1", ""),
		"blank lines":      many("{}\n", "\n", ""),
		"an open quote":    many("t,x\n1,\"", "1", ""),
		"a wide header":    many("t", ",x", "\n1"),
		"a long header":    many("t,", "x", ""),
		"a wide CSV":       "t" + strings.Repeat(",x", 60_000) + "\n" + strings.Repeat("1"+strings.Repeat(",1", 60_000)+"\n", n/120_000),
		"parts":            many(`{"time":1,"measurements":[[1,null]`, ",[1,null],[null,1]", "]}"),
		"parts, all apart": apart(n),
		"empty members":    strings.Repeat(packed(""), n/23),
		"empty cells":      "t,x\n" + strings.Repeat("1,\n", n/3),
		"a long time":      many(`{"time":`, "1", "}"),
		"a long time CSV":  many("t,x\n", "1", ",2\n"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		drain(t, NewReader(strings.NewReader(text), Options{}), len(text))
		runtime.ReadMemStats(&after)
		limit := 9
		if name == "parts, all apart" { // each lists its columns, too
			limit = 40
		}
		if got := int(after.TotalAlloc - before.TotalAlloc); got > limit*len(text)+20<<20 {
			t.Errorf("%s: %d bytes for %d", name, got, len(text))
		}
	}
}

// apart is a scan of measurements of 40 numbers, no two of which lack the same.
func apart(n int) string {
	var b strings.Builder
	b.WriteString("t" + strings.Repeat(",x", 40) + "\n")
	for k := 1; b.Len() < n; k++ {
		b.WriteString("1")
		for bit := range 40 {
			b.WriteByte(',')
			if bit == 39 || k>>bit&1 == 1 {
				b.WriteByte('1')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// repeat reads a text many times.
type repeat struct {
	text []byte
	left int
	at   int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) && r.left > 0 {
		k := copy(p[n:], r.text[r.at:])
		n += k
		if r.at += k; r.at == len(r.text) {
			r.at = 0
			r.left--
		}
	}
	if r.left == 0 {
		err = io.EOF
	}
	return n, err
}

// BenchmarkRead reads scans of 8,500 returns; an operation is a scan.
func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var lines, csv strings.Builder
	csv.WriteString("time,x,y\n")
	const scans = 20
	for k := range scans {
		n := numbered(8500, 2)
		for i := range n.Values {
			n.Values[i] = 200 * (r.Float64() - 0.5)
		}
		writeScan(&lines, &csv, k, n)
	}
	for name, text := range map[string]string{"JSON": lines.String(), "CSV": csv.String()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text) / scans))
			for n := 0; n < b.N; n += scans {
				drain(b, NewReader(strings.NewReader(text), Options{}), len(text))
			}
		})
	}
}

func writeScan(lines, csv io.Writer, k int, r *Record) {
	fmt.Fprintf(lines, `{"time": %d, "measurements": [`, k)
	for i := range r.Len() {
		comma := ","
		if i == 0 {
			comma = ""
		}
		fmt.Fprintf(lines, "%s[%v, %v]", comma, r.Row(i)[0], r.Row(i)[1])
		fmt.Fprintf(csv, "%d,%v,%v\n", k, r.Row(i)[0], r.Row(i)[1])
	}
	fmt.Fprintln(lines, "]}")
}
