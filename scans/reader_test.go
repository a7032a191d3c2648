package scans

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// all reads a source to its end. Bad scans are listed as their errors.
func all(t testing.TB, s Source) (records []*Record, faults []string) {
	t.Helper()
	for {
		r, err := s.Next()
		var fault *BadError
		switch {
		case err == io.EOF:
			return records, faults
		case errors.As(err, &fault):
			faults = append(faults, err.Error())
		case err != nil:
			t.Fatal(err)
		default:
			records = append(records, r)
		}
	}
}

func packed(texts ...string) string {
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
	}
	return b.String()
}

// random returns scans, and the same scans as JSON lines, as CSV and as CSV of true states.
func random(r *rand.Rand) (records []*Record, lines, csv, truth string) {
	width := 1 + r.IntN(3)
	csv, truth = "time,a,b,c"[:len("time")+2*width]+"\n", "time,id,x,y\n"
	clock := -1.5
	for range 1 + r.IntN(6) {
		clock += float64(r.IntN(1000)+1) / 64
		rec := &Record{Scan: ssm.Scan{Time: clock, Width: width}, Text: fmt.Sprint(clock)}
		var rows []string
		for i := range 1 + r.IntN(8) {
			if i > 0 && r.IntN(4) == 0 {
				cells := make([]string, width)
				json := "null"
				switch r.IntN(3) {
				case 0:
					rec.Missing++
				case 1:
					json = "[null" + strings.Repeat(",null", width-1) + "]"
					rec.Missing++
				default: // the last number alone is there
					cells[width-1], json = "3", "["+strings.Repeat("null,", width-1)+"3]"
					switch {
					case width == 1:
						rec.Values = append(rec.Values, 3)
					case rec.Parts == nil:
						rec.Parts = []ssm.Part{{Columns: []int{width - 1}, Values: []float64{3}}}
					default:
						rec.Parts[0].Values = append(rec.Parts[0].Values, 3)
					}
				}
				rows = append(rows, json)
				csv += rec.Text + "," + strings.Join(cells, ",") + "\n"
				continue
			}
			var cells []string
			for range width {
				v := (r.Float64() - 0.5) * []float64{1, 1e-300, 1e6, 1e300}[r.IntN(4)]
				rec.Values = append(rec.Values, v)
				cells = append(cells, fmt.Sprint(v))
			}
			rows = append(rows, "["+strings.Join(cells, ",")+"]")
			csv += rec.Text + "," + strings.Join(cells, ",") + "\n"
		}
		var states []string
		for i := range r.IntN(3) {
			id := fmt.Sprintf("%q", []string{"a", "é b"}[i])
			rec.Truth = append(rec.Truth, Truth{ID: []string{"a", "é b"}[i], State: []float64{float64(i), clock}})
			states = append(states, fmt.Sprintf("%s: [%d, %v]", id, i, clock))
			truth += fmt.Sprintf("%s,%s,%d,%v\n", rec.Text, id, i, clock)
		}
		truth += fmt.Sprintf("%v,unseen,0,0\n", clock+1.0/128)
		lines += fmt.Sprintf(`{"measurements":[%s],"truth":{%s}, "time" : %s}`+"\n", strings.Join(rows, ","), strings.Join(states, ", "), rec.Text)
		records = append(records, rec)
	}
	return records, lines, csv, truth
}

// TestFormatsAgree: JSON lines and CSV give the same scans, compressed or not, in pieces of any size, with any ends of lines.
func TestFormatsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		want, lines, csv, truth := random(r)
		for name, c := range map[string]struct {
			text  string
			truth string
		}{
			"JSON":          {lines, ""},
			"JSON, CR LF":   {"\ufeff\r\n" + strings.ReplaceAll(lines, "\n", " \r\n\r\n"), ""},
			"JSON, no end":  {strings.TrimSuffix(lines, "\n"), ""},
			"JSON, gzip":    {packed(lines[:len(lines)/2], lines[len(lines)/2:], ""), ""},
			"CSV":           {csv, truth},
			"CSV, CR LF":    {"\ufeff\r\n" + strings.ReplaceAll(csv, "\n", " \r\n"), truth},
			"CSV, CR":       {strings.ReplaceAll(csv, "\n", "\r"), truth},
			"CSV, no end":   {strings.TrimSuffix(csv, "\n"), packed(truth)},
			"CSV, quoted":   {`"` + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(csv, "\n"), ",", `" , "`), "\n", "\"\n\"") + `"`, truth},
			"CSV, gzip":     {packed(csv), strings.ReplaceAll(truth, ",", ";")},
			"CSV, tabs":     {strings.ReplaceAll(csv, ",", "\t"), truth},
			"CSV, semi":     {strings.ReplaceAll(csv, ",", ";"), truth},
			"CSV, gzip, CR": {packed("\r\n"+strings.ReplaceAll(csv, "\n", "\r\n"), ""), truth},
		} {
			for pieces, reader := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "end": iotest.DataErrReader,
			} {
				o := Options{}
				if c.truth != "" {
					o.Truth = reader(strings.NewReader(c.truth))
				}
				got, faults := all(t, NewReader(reader(strings.NewReader(c.text)), o))
				for _, g := range got {
					g.Line = 0
				}
				if len(faults) > 0 || !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, %s: %v, %+v, want %+v\n%s", name, pieces, faults, got, want, c.text)
				}
			}
		}
	}
}

// TestManyReturns: a large scan has all its values, and the small one after it only its own.
func TestManyReturns(t *testing.T) {
	var lines, csv strings.Builder
	csv.WriteString("time,x,y\n")
	want := []*Record{numbered(30_000, 2), numbered(3, 2), numbered(10_000, 2)}
	for k, r := range want {
		writeScan(&lines, &csv, k, r)
	}
	for _, text := range []string{lines.String(), csv.String()} {
		got, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(got) != 3 || len(faults) > 0 {
			t.Fatalf("%d scans, %q", len(got), faults)
		}
		for k, r := range got {
			if !slices.Equal(r.Values, want[k].Values) {
				t.Errorf("%.10s…: scan %d has other values", text, k)
			}
		}
	}
}

// TestLines: a record has the line on which it begins.
func TestLines(t *testing.T) {
	for text, want := range map[string][]int{
		"\n{\"time\":1,\"measurements\":[]}\n\n{\"time\":2,\"measurements\":[]}": {2, 4},
		"\ntime,x\n1,1\n1,2\n\n2,1\n3,1\n":                                       {3, 6, 7},
	} {
		var got []int
		records, _ := all(t, NewReader(strings.NewReader(text), Options{}))
		for _, r := range records {
			got = append(got, r.Line)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: lines %v, want %v", text, got, want)
		}
	}
}

// TestNoReadAhead: a scan from a pipe is there as soon as its line, or the first row of the next scan, is whole.
func TestNoReadAhead(t *testing.T) {
	for name, steps := range map[string][]string{ // what is written before each scan is there
		"JSON":            {"{\"time\":1,\"measurements\":[[1]]}\n", "\n{\"time\":2,\"measurements\":[[1]]}\r\n", "{\"time\":3,\"measurements\":[]}\n"},
		"CSV":             {"time,x\n1,1\n2,1\n", "3,1\n", "4,2\n"},
		"gzip by members": {packed("{\"time\":1,\"measurements\":[[1]]}\n"), packed("{\"time\":2,\"measurements\":[[1]]}\n"), packed("{\"time\":3,\"measurements\":[[1]]}\n")},
	} {
		from, to := io.Pipe()
		s := NewReader(from, Options{})
		got := make(chan float64)
		go func() {
			defer close(got)
			for range steps {
				if r, err := s.Next(); err == nil {
					got <- r.Time
				} else {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		}()
		for i, text := range steps {
			if _, err := to.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			select {
			case v := <-got:
				if v != float64(i+1) {
					t.Errorf("%s: scan %d has the time %v", name, i, v)
				}
			case <-time.After(testkit.Patience):
				t.Fatalf("%s: scan %d is waited for", name, i)
			}
		}
		to.Close()
	}
}

// TestErrorsOfTheStream: an error of reading, and damage to gzip, end the source; they are no bad scans.
func TestErrorsOfTheStream(t *testing.T) {
	const good = "{\"time\":1,\"measurements\":[[1,2]]}\n"
	own := errors.New("own")
	whole := packed(good + strings.Repeat(" ", 300_000) + good)
	damage := []byte(whole)
	damage[len(damage)-6] ^= 1
	for name, c := range map[string]struct {
		text io.Reader
		want string
	}{
		"read, JSON":   {io.MultiReader(strings.NewReader(good+`{"time": 2`), iotest.ErrReader(own)), "own"},
		"read, CSV":    {io.MultiReader(strings.NewReader("t,x\n1,2\n2,3\n2,"), iotest.ErrReader(own)), "own"},
		"checksum":     {bytes.NewReader(damage), "the compressed text is damaged: gzip: invalid checksum"},
		"cut off":      {strings.NewReader(whole[:len(whole)/2]), "gzip: the compressed text ends early: it was cut off"},
		"cut off, CSV": {strings.NewReader(packed("t,x\n1,2\n2,3\n" + strings.Repeat("\n", 200_000))[:200]), "gzip: the compressed text ends early: it was cut off"},
		"garbage":      {strings.NewReader(packed(good) + "and so on and on"), `after the end of the compressed text comes plain text, "and so on and on": remove it, or compress it, too`},
	} {
		s := NewReader(c.text, Options{})
		var err error
		for err == nil {
			_, err = s.Next()
		}
		fault := (*BadError)(nil)
		_, again := s.Next()
		if err.Error() != c.want || errors.As(err, &fault) || again != err {
			t.Errorf("%s: error %v, then %v, want %q", name, err, again, c.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n \r\n", packed(""), "\ufeff", "time,x\n"} {
		if records, faults := all(t, NewReader(strings.NewReader(text), Options{})); len(records)+len(faults) > 0 {
			t.Errorf("%q: %v, %v", text, records, faults)
		}
	}
}
