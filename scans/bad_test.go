package scans

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// TestBadJSON: each fault is found at its line and column; the scan before it and the scan after it are read.
func TestBadJSON(t *testing.T) {
	const first, after = `{"time": 12.5, "measurements": [[1, 2], [3, 4]]}`, `{"time": 14, "measurements": [[5, 6]]}`
	for line, want := range map[string]string{
		`{"time": 13, "measurements": [[NaN, 1]]}`:                               `column 32: NaN is not a number of JSON: want a number`,
		`{"time": 13, "measurements": [[1, -Infinity]]}`:                         `column 35: -Infinity is not a number of JSON`,
		`{"time": 13, "measurements": [[1, 1e999]]}`:                             `column 35: 1e999 is too large for a float64`,
		`{"time": 13, "measurements": [["a", 1]]}`:                               `column 32: '"' where a number should follow`,
		`{"time": 13, "measurements": [[01, 1]]}`:                                `column 32: 01 is not a number of JSON`,
		`{"time": 13, "measurements": [[+1, 1]]}`:                                `column 32: +1 is not a number of JSON`,
		`{"time": 13, "measurements": [[1., 1]]}`:                                `column 32: 1. is not a number of JSON`,
		`{"time": 13, "measurements": [[0x1p, 1]]}`:                              `column 32: 0x1p is not a number of JSON`,
		`{"time": 13, "measurements": [[1e, 1]]}`:                                `column 32: 1e is not a number of JSON`,
		`{"time": 13, "measurements": [[1_0, 1]]}`:                               `column 32: 1_0 is not a number of JSON`,
		`{"time": 13, "measurements": [[` + strings.Repeat("1", 1001) + `, 1]]}`: `column 32: a number of more than 1000 characters`,
		`{"time": 13, "measurements": [[1, 2], [3]]}`:                            `column 39: measurement 2 has the length 1, those before it have the length 2`,
		`{"time": 13, "measurements": [[1, 2], null, [1, 2, 3]]}`:                `column 45: measurement 3 has the length 3, those before it have the length 2`,
		`{"time": 13, "measurements": [[]]}`:                                     `column 31: measurement 1 has no numbers: leave it out, or write null if it is missing`,
		`{"time": 13, "measurements": [1, 2]}`:                                   `column 31: '1' where a measurement in brackets should follow`,
		`{"time": 13, "measurements": [none]}`:                                   `column 31: none is not a number of JSON: want a measurement, or null`,
		`{"time": 13, "measurements": null}`:                                     `column 30: 'n' where a list of measurements should follow`,
		`{"time": 13, "measurements": [[1, 2], ]}`:                               `column 39: ']' where a measurement in brackets should follow`,
		`{"time": 13, "measurements": [[1 2]]}`:                                  `column 34: '2' where ',' or ']' should follow`,
		`{"time": 13, "measurements": [[1, 2]`:                                   `column 37: the line ends where ',' or ']' should follow: a scan is one line`,
		`{"time": 13,`:                                                           `column 13: the line ends where a key in quotes should follow: a scan is one line`,
		`{"time": 13, "measurements": [[1, 2]]} x`:                               `column 40: something follows the scan: a scan is one line`,
		`{"time": 13, "measurements": [[1, 2]]}` + after:                         `column 39: something follows the scan: a scan is one line`,
		`{"time": 13}`:                                  `column 1: the scan has no measurements`,
		`  {"measurements": []}`:                        `column 3: the scan has no time`,
		`{"time": 13, "measurement": []}`:               `column 14: unknown key "measurement": did you mean "measurements"? (known: time, measurements, truth)`,
		`{"time": 13, "time": 14}`:                      `column 14: the key "time" comes twice`,
		`{"time": 13, "t\u0069me": 14}`:                 `column 14: the key "time" comes twice`,
		`{"time" 13}`:                                   `column 9: '1' where a colon should follow`,
		`{time: 13}`:                                    `column 2: 't' where a key in quotes should follow`,
		`{"time`:                                        `column 3: the quote is never closed`,
		`{"` + strings.Repeat("t", 2000) + `": 1}`:      `column 3: a text of more than 1000 bytes`,
		"{\"\xff\": 1}":                                 `column 3: the text is not UTF-8`,
		`{"\x": 1}`:                                     `column 3: "\\x" is not a text of JSON`,
		`[[1, 2]]`:                                      `column 1: '[' where a scan, as {"time": 0, "measurements": []}, should follow`,
		`time,x`:                                        `column 1: 't' where a scan`,
		`{"time": true, "measurements": []}`:            `column 10: the time is true: want seconds or a text of ISO 8601`,
		`{"time": "13", "measurements": []}`:            `column 10: the time 13 is a number in quotes: write it without them`,
		`{"time": "noon", "measurements": []}`:          `column 10: "noon" is not a time: want seconds, as in 12.5, or ISO 8601`,
		`{"time": "01/02/2024 10", "measurements": []}`: `column 10: "01/02/2024 10" is not a time`,
		`{"time": 1e999, "measurements": []}`:           `column 10: the time "1e999" is too large for a float64`,
		`{"time": 12.50, "measurements": []}`:           `column 10: the time 12.50 is also that of the last scan: merge the two into one scan`,
		`{"measurements": [[7, 7]], "time": 12}`:        `column 36: the time 12 is before 12.5, the time of the last scan: sort the scans by time`,
		`{"time": "2013-01-31", "measurements": []}`:    `column 10: the time is a date, but times before it are a number of seconds: write all times in one way`,
		`{"time": 13, "measurements": [], "truth": {"a": [1], "a": [2]}}`:          `column 54: the key "a" comes twice`,
		`{"time": 13, "measurements": [], "truth": {"a": [1, null]}}`:              `column 49: the true state of "a" lacks numbers: leave the target out`,
		`{"time": 13, "measurements": [], "truth": {"a": []}}`:                     `column 49: the true state of "a" lacks numbers`,
		`{"time": 13, "measurements": [], "truth": {"a": 1}}`:                      `column 49: '1' where a state in brackets should follow`,
		`{"time": 13, "measurements": [], "truth": [1]}`:                           `column 43: '[' where true states`,
		`{"time": 13, "measurements": [[` + strings.Repeat("1,", 1<<16) + `1]]}`:   `: a list of more than 65536 numbers`,
		`{"time": 13, "measurements": [], "truth": {` + strings.Repeat(" ", 70000): `column 70044: the line ends where a key in quotes should follow`,
	} {
		text := first + "\n" + line + "\n\n" + after + "\n"
		records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(faults) != 1 || !strings.HasPrefix(faults[0], "line 2, column ") || !strings.Contains(faults[0], want) {
			t.Errorf("%.100s: %q, want %q", line, faults, want)
		}
		if len(records) != 2 || records[0].Time != 12.5 || records[1].Time != 14 || records[1].Values[0] != 5 {
			t.Errorf("%.100s: the scans %+v are left", line, records)
		}
	}
}

// TestBadCSV: the same for CSV. All rows of a bad scan are left out with it.
func TestBadCSV(t *testing.T) {
	for rows, c := range map[string]struct {
		want   string
		before bool // the fault is of the scan before, since the time of the row cannot be read
	}{
		"13,NaN,1\n":              {`line 4, column 2: x is NaN: want a finite number, or an empty cell if the value is missing`, false},
		"13,1,-inf\n13,1,2\n":     {`line 4, column 3: y is -inf`, false},
		"13,1,2\n\n13,1e999,2\n":  {`line 6, column 2: x: "1e999" is too large for a float64`, false},
		"13,1,2\n13,1,NA\n13,a,2": {`line 5, column 3: y: "NA" is not a number: leave the cell empty if the value is missing`, false},
		"13,1,\"2,5\"\n":          {`line 4, column 3: y: "2,5" is not a plain number (with a decimal comma it is 2.5): say how numbers are written with scans.columns: {decimal: …, thousands: …, units: strip}`, false},
		"13,,2\n13,1\n":           {`line 5: the row has 2 cells, the header 3`, false},
		"13,1,2,3\n":              {`line 4: the row has 4 cells, the header 3`, false},
		"13,1,\"2\" 3\n":          {`line 4, column 3: text follows after the closing quote`, true},
		"13,1,2\"\n":              {`line 4, column 3: a quote within a cell that does not begin with one`, true},
		",1,2\n":                  {`line 4, column 1: the time is missing`, true},
		"nan,1,2\n":               {`line 4, column 1: the time is nan: want a finite number of seconds`, true},
		"noon,1,2\n":              {`line 4, column 1: "noon" is not a time: want seconds, as in 12.5, or ISO 8601, as in 2013-01-31`, true},
		"12,1,2\n12,3,4\n":        {`line 4, column 1: the time 12 is before 12.5, the time of the last scan: sort the scans by time`, false},
		"2013-01-31,1,2\n":        {`line 4, column 1: the time is a date, but times before it are a number of seconds`, false},
		"2013-02-30,1,2\n":        {`line 4, column 1: "2013-02-30" is not a time`, true},
		"13," + strings.Repeat("1", 5<<20) + ",2\n": {`line 4: more than 4,194,304 bytes without an end of the record`, true},
		strings.Repeat(",", 70000):                  {`line 4: more than 65536 columns`, true},
	} {
		text := "time,x,y\n12.5,1,2\n12.50,3,4\n" + strings.TrimSuffix(rows, "\n") + "\n14,5,6\n"
		records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(faults) != 1 || !strings.HasPrefix(faults[0], c.want) {
			t.Errorf("%.100q: %q, want %q", rows, faults, c.want)
		}
		times := ""
		for _, r := range records {
			times += fmt.Sprint(r.Time, " ")
		}
		want := "12.5 14 "
		if c.before {
			want = "14 "
		}
		if times != want {
			t.Errorf("%.100q: the scans at %s are left", rows, times)
		}
	}
}

// TestBadAtTheBeginning: a bad scan does not decide the width, the kind of times or the origin of those after it.
func TestBadAtTheBeginning(t *testing.T) {
	text := `{"time": 5, "measurements": [[1, 2, 3], [4]]}
{"time": "2013-01-31T00:00:00Z", "measurements": [[1, 2]]}
{"time": "2013-01-31T00:00:01Z", "measurements": [[1, 2]]}
`
	records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
	if len(records) != 2 || len(faults) != 1 || records[0].Time != 0 || records[1].Time != 1 {
		t.Errorf("%+v, %q", records, faults)
	}
	records, faults = all(t, NewReader(strings.NewReader("time,x\nlater,1\n2,1\n2,2\n"), Options{}))
	if len(records) != 1 || records[0].Len() != 2 || len(faults) != 1 {
		t.Errorf("%+v, %q", records, faults)
	}
}

// TestNoReturns: a scan without measurements, and one whose measurements are all missing.
func TestNoReturns(t *testing.T) {
	for _, text := range []string{
		`{"time": 1, "measurements": []}` + "\n" + `{"time": 2, "measurements": [null, [null]]}`,
		"time,x\n1,\n2,\n2,\n",
	} {
		records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(records) != 2 || len(faults) > 0 || records[0].Len()+records[1].Len() > 0 || records[1].Missing != 2 {
			t.Errorf("%q: %+v, %q", text, records, faults)
		}
	}
}

// TestLongLine: a line that is too long is left out, in little memory.
func TestLongLine(t *testing.T) {
	if longestLine != 256e6 {
		t.Errorf("the limit is %d", longestLine)
	}
	const good = `{"time":1,"measurements":[[1]]}` + "\n"
	for _, long := range []string{
		`{"time":2,"measurements":[` + strings.Repeat("[1],", 1<<20) + "[1]]}\n",
		strings.Repeat(" ", 3<<20) + "\n",
		`{"time":` + strings.Repeat(" ", 3<<20) + "x\n",
		`{"a` + strings.Repeat(" ", 3<<20) + "\n",
	} {
		s := NewReader(strings.NewReader(good+long+`{"time":3,"measurements":[[1]]}`), Options{})
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		s.scans.(*jsonLines).limit = 2_000_000
		_, err := s.Next()
		if long[1] == '"' && long[2] == 'a' {
			if err == nil || !strings.HasPrefix(err.Error(), "line 2, column 3: a text of more than") {
				t.Errorf("error %v", err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), "line 2, column 2000001: the line has more than 2 MB: split the scan") {
			t.Errorf("error %v", err)
		}
		if r, err := s.Next(); err != nil || r.Time != 3 || r.Line != 3 {
			t.Errorf("the scan after it: %+v, %v", r, err)
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after the last scan: %v", err)
		}
		last := NewReader(strings.NewReader(good+strings.TrimSuffix(long, "\n")), Options{}) // the text ends in the long line
		last.Next()
		last.scans.(*jsonLines).limit = 2_000_000
		if _, err := last.Next(); err == nil || err == io.EOF {
			t.Errorf("a long line at the end: %v", err)
		}
		if _, err := last.Next(); err != io.EOF {
			t.Errorf("after a long line at the end: %v", err)
		}
	}
}

// TestBadHeaders: what is wrong with a whole source is final.
func TestBadHeaders(t *testing.T) {
	columns := func(time string, measurement ...string) *Columns {
		return &Columns{Time: time, Measurement: measurement}
	}
	for text, c := range map[string]struct {
		o    Options
		want string
	}{
		"1,a\n3,4\n":             {Options{}, `line 1: "1" is not the name of a column: want a header, as in time,x,y`},
		"time\n1\n":              {Options{}, "no columns of measurements"},
		"time,x,time\n":          {Options{}, `two columns are named "time"`},
		"t,px,py\n1,2,3":         {Options{Columns: columns("", "py", "pz")}, `no column "pz": did you mean "px"? (the first columns: "t", "px", "py")`},
		"t,px,py\n":              {Options{Columns: columns("tt", "py")}, `no column "tt": did you mean "t"?`},
		"px,py\n1,2\n":           {Options{Columns: columns("", "px", "py")}, "no column is left for the time beside those of the measurement"},
		"time,x\n1,2\n":          {Options{Columns: columns("", "time", "x")}, "the column of the time, time, is also one of the measurement: choose another with scans.time"},
		"t,\"x\n1,2\n":           {Options{}, "the header: line 1, column 2: the quote is never closed"},
		"[\n{\"time\":1}]":       {Options{}, "line 1: the text begins with [: want JSON lines"},
		"{}":                     {Options{Columns: columns("", "px")}, "the scans are JSON lines: columns are for CSV"},
		"time,x\n2,3":            {Options{Origin: "noon"}, `origin: "noon" is not a time`},
		"t,\xff\n1,2":            {Options{}, `line 1: "\xff" is not the name of a column`},
		strings.Repeat(" ", 1e5): {Options{}, "the text begins with too many blanks"},
	} {
		s := NewReader(strings.NewReader(text), c.o)
		_, err := s.Next()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: error %v, want %q", text, err, c.want)
		}
		if _, again := s.Next(); again != err {
			t.Errorf("%.60q: the error %v is not final", text, again)
		}
	}
}

// TestTimes: dates become seconds after the first; results keep the text.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  []float64
	}{
		{[]string{"-1.5", "0", "1e1"}, []float64{-1.5, 0, 10}},
		{[]string{"2013-01-31", "2013-02-01", "2014-02-01"}, []float64{0, 86400, 366 * 86400}},
		{[]string{"1850-01-01T00:00", "2250-01-01T00:00"}, []float64{0, 146097 * 86400}}, // 400 years, more than a time.Duration
		{[]string{"2013-01-31T23:59:59.25", "2013-02-01 00:00:00", "2013-02-01T00:01"}, []float64{0, 0.75, 60.75}},
		{[]string{"2013-01-31T23:00:00Z", "2013-02-01T01:00:00.000001+01:00", "2013-01-31T19:00:01-0500", "2013-02-01 00:30+00"}, []float64{0, 3600.000001, 3601, 5400}},
	} {
		csv, lines := "time,x\n", ""
		for _, text := range c.texts {
			csv += text + ",1\n"
			if strings.Contains(text[1:], "-") {
				text = `"` + text + `"`
			}
			lines += `{"time": ` + text + `, "measurements": [[1]]}` + "\n"
		}
		for _, text := range []string{csv, lines} {
			s := NewReader(strings.NewReader(text), Options{})
			records, faults := all(t, s)
			if len(faults) > 0 || len(records) != len(c.want) {
				t.Fatalf("%q: %v", text, faults)
			}
			for i, r := range records {
				if r.Text != c.texts[i] || !(math.Abs(r.Time-c.want[i]) <= 1e-12) {
					t.Errorf("%s is %v, %q, want %v", c.texts[i], r.Time, r.Text, c.want[i])
				}
			}
			origin := ""
			if strings.Contains(c.texts[0], ":") {
				origin = c.texts[0]
			}
			if s.Origin() != origin && !strings.HasSuffix(s.Origin(), "-31") {
				t.Errorf("%q: the origin is %q", text, s.Origin())
			}
		}
	}
	s := NewReader(strings.NewReader("time,x\n2013-02-02,1\n"), Options{Origin: "2013-01-31"})
	if r, err := s.Next(); err != nil || r.Time != 2*86400 || s.Origin() != "2013-01-31" {
		t.Errorf("%+v, %v: two days after the origin", r, err)
	}
	for _, pair := range [][2]string{{"2013-01-31", "2013-02-01T00:00"}, {"2013-01-31T00:00", "2013-02-01T00:00Z"}, {"2013-01-31T00:00Z", "5"}} {
		if _, faults := all(t, NewReader(strings.NewReader("time,x\n"+pair[0]+",1\n"+pair[1]+",1\n"), Options{})); len(faults) != 1 || !strings.Contains(faults[0], "write all times in one way") {
			t.Errorf("%v: %q", pair, faults)
		}
	}
}
