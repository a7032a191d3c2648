package scans

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// texts writes scans at some times, as CSV and as JSON lines.
func textsAt(times ...any) []string {
	csv, lines := "time,x\n", ""
	for _, at := range times {
		csv += fmt.Sprint(at, ",1\n")
		if s, ok := at.(string); ok {
			at = `"` + s + `"`
		}
		lines += fmt.Sprintf(`{"time":%v,"measurements":[[1]]}`+"\n", at)
	}
	return []string{csv, lines}
}

// TestOneTimeFarAhead: one time far ahead is the bad one, and not all after it. A gap, a late scan, and a text that ends far ahead are taken
// as they come.
func TestOneTimeFarAhead(t *testing.T) {
	const day = "2013-01-0"
	for name, c := range map[string]struct {
		times []any
		o     Options
		want  string // times of the scans that are left, and the start of each fault
	}{
		"file":               {[]any{1, 2, 3, 1000, 4, 5, 6}, Options{Whole: true, Step: 1}, "1 2 3 4 5 6|the time 1000 is far ahead of 3, the time of the scan before, and the scan after it is back at 4"},
		"file, a little":     {[]any{1, 2, 3, 30, 4, 5, 6}, Options{Whole: true, Step: 1}, "1 2 3 4 5 6|the time 30 is far ahead"},
		"second":             {[]any{1, 1e9, 2, 3}, Options{Whole: true, Step: 1}, "1 2 3|the time 1e+09 is far ahead of 1"},
		"first":              {[]any{1e9, 1, 2, 3}, Options{Whole: true, Step: 1}, "1 2 3|the time 1e+09 of the first scan is far ahead of 1, the time of the scan after it"},
		"first, of two":      {[]any{1e9, 1}, Options{Whole: true, Step: 1}, "1|the time 1e+09 of the first scan"},
		"newest first":       {[]any{5000, 4000, 3000}, Options{Whole: true, Step: 1}, "5000|the time 4000 is before 5000, the time of the last scan: sort the scans by time|the time 3000 is before 5000"},
		"second far back":    {[]any{1000, 1, 1001, 1002}, Options{Whole: true, Step: 1}, "1000 1001 1002|the time 1 is before 1000"},
		"two, one after one": {[]any{1, 2, 500, 3, 900, 4}, Options{Whole: true, Step: 1}, "1 2 3 4|the time 500 is far ahead|the time 900 is far ahead"},
		"two together":       {[]any{1, 2, 500, 501, 502, 3}, Options{Whole: true, Step: 1}, "1 2 500 501 502|the time 3 is before 502"},
		"a gap":              {[]any{1, 2, 1e6, 1e6 + 1}, Options{Whole: true, Step: 1}, "1 2 1e+06 1.000001e+06"},
		"at the end":         {[]any{1, 2, 1e6}, Options{Whole: true, Step: 1}, "1 2 1e+06"},
		"late after a gap":   {[]any{1, 2, 100, 99.5, 101}, Options{Whole: true, Step: 1}, "1 2 100 101|the time 99.5 is before 100"},
		"late":               {[]any{1, 2, 4, 3, 5}, Options{Whole: true, Step: 1}, "1 2 4 5|the time 3 is before 4"},
		"behind a bad one":   {[]any{1, 2, 1000, "noon", 3, 4}, Options{Whole: true, Step: 1}, "1 2 3 4|the time 1000 is far ahead|\"noon\" is not a time"},
		"pipe":               {[]any{1, 2, 3, 1e6, 4, 5, 6}, Options{Step: 1}, "1 2 3 4 5 6|the time 1e+06 is far ahead"},
		"pipe, a little":     {[]any{1, 2, 3, 500, 4, 501}, Options{Step: 1}, "1 2 3 500 501|the time 4 is before 500"},
		"pipe, unknown step": {[]any{1, 2, 3, 1e6, 4, 5}, Options{}, "1 2 3 4 5|the time 1e+06 is far ahead"},
		"slow scans":         {[]any{0, 60, 120, 620, 180, 240}, Options{Whole: true, Step: 1}, "0 60 120 620|the time 180 is before 620|the time 240 is before 620"}, // not ten steps
		"dates":              {[]any{day + "1", day + "2", "2113-01-01", day + "3", day + "4"}, Options{Whole: true, Step: 86400}, "0 86400 172800 259200|the time 2113-01-01 is far ahead of 2013-01-02"},
		"of another kind":    {[]any{1713883988000, 1, 2, 3}, Options{Whole: true}, "1 2 3|the time 1713883988000 of the first scan is a number of milliseconds, but those of the two scans after it are a number of seconds"},
		"second, other kind": {[]any{1, 1713883988000, 2, 3}, Options{Whole: true}, "1 2 3|the time is a number of milliseconds, but times before it are a number of seconds"},
		"milliseconds":       {[]any{1713883988000, 1713883989000, 1813883989000, 1713883990000}, Options{Whole: true, Step: 1}, "0 1 2|the time 1813883989000 is far ahead"},
	} {
		for i, text := range textsAt(c.times...) {
			if name == "behind a bad one" && i == 0 { // the row belongs to the scan at 1000
				continue
			}
			if name == "milliseconds" {
				text = strings.ReplaceAll(text, "e+12", "")
			}
			records, faults := all(t, NewReader(strings.NewReader(text), c.o))
			var got []string
			for _, r := range records {
				got = append(got, fmt.Sprint(r.Time))
			}
			parts := strings.Split(c.want, "|")
			ok := strings.Join(got, " ") == parts[0] && len(faults) == len(parts)-1
			for j := 0; ok && j < len(faults); j++ {
				ok = strings.Contains(faults[j], ": "+parts[j+1])
			}
			if !ok {
				t.Errorf("%s, %d: %v, %q, want %s", name, i, got, faults, c.want)
			}
		}
	}
}

// TestPipesDoNotWait: a sender that waits for the answer to each scan before it sends the next gets it, also after gaps.
func TestPipesDoNotWait(t *testing.T) {
	from, to := io.Pipe()
	s := NewReader(from, Options{Step: 0.1})
	for _, at := range []float64{5, 5.1, 5.2, 20, 900, 1e5} {
		written := make(chan error, 1)
		go func() {
			_, err := fmt.Fprintf(to, `{"time":%v,"measurements":[]}`+"\n", at)
			written <- err
		}()
		r, err := s.Next()
		if err != nil || r.Time != at {
			t.Fatalf("the scan at %v: %+v, %v", at, r, err)
		}
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
}
