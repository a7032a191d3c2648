package scans

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// TestWrittenTimes: times have the decimal mark of measurements, and an error says how to read a comma.
func TestWrittenTimes(t *testing.T) {
	comma := &Columns{Decimal: ","}
	if got := described(t, "time;x\n0,5;1,5\n0,75;2\n1;3\n1713883988,25;4\n2013-01-31;5\n", Options{Columns: comma}); got !=
		"0.5:[1.5]|0.75:[2]|1:[3]|1.71388398825e+09:[4]|line 6, column 1: the time is a date, but times before it are a number of seconds: write all times in one way" {
		t.Error(got)
	}
	r, err := NewReader(strings.NewReader("x;time\n1,5;0,5\n"), Options{Columns: comma}).Next()
	if err != nil || r.Text != "0.5" { // a number of JSON
		t.Errorf("%+v, %v", r, err)
	}
	for text, want := range map[string]string{
		"0,5":   `line 2, column 1: the time "0,5" is not a plain number (with a decimal comma it is 0.5): say so with scans.columns: {decimal: ","}`,
		"1,2,3": `line 2, column 1: "1,2,3" is not a time`,
	} {
		if got := described(t, "time;x\n"+text+";1\n", Options{}); !strings.HasPrefix(got, want) {
			t.Error(got)
		}
	}
}

// TestWrittenMeasurements: measurements are read as the columns say that they are written; without it, an error says how to read them.
func TestWrittenMeasurements(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns *Columns
		want    []float64
		err     string
	}{
		{"time;x;y\n1;1.234,5;2\n2;-0,5;7,25\n", &Columns{Decimal: ",", Thousands: "."}, []float64{1234.5, 2, -0.5, 7.25}, ""},
		{"time,x,y\n1,5 cm,12%\n2,7.5 cm,-3 %\n", &Columns{Units: "strip"}, []float64{5, 12, 7.5, -3}, ""},
		{"time,x\n1,\"$1,200\"\n2,\"$(7)\"\n", &Columns{Units: "strip", Thousands: ","}, []float64{1200, -7}, ""},
		{"sep=;\ntime;x\n1;2.5\n", nil, []float64{2.5}, ""},
		{"time;x\n1;\u22122.5\u00a0\n2;1.5D+03\n", nil, []float64{-2.5, 1500}, ""},
		{"time;x\n1;2,5\n", nil, nil, `line 2, column 2: x: "2,5" is not a plain number (with a decimal comma it is 2.5): say how numbers are written with scans.columns: {decimal: `},
		{"time;x\n1;1,005\n", nil, nil, `(with a decimal comma it is 1.005, with commas between thousands 1005)`},
		{"time,x\n1,5 cm\n2,7 in\n", &Columns{Units: "strip"}, nil, `line 3, column 2: x: "7 in" is not a number with cm behind them`},
		{"time;x\n1;2.5\n", &Columns{Decimal: ","}, nil, `"2.5" is not a number with a decimal comma`},
		{"# exported 2024\ntime,x\n1,2\n", nil, nil, `the first line is a comment ("# exported 2024"), not a header as in time,x,y: remove it`},
	} {
		r := NewReader(strings.NewReader(c.text), Options{Columns: c.columns})
		var got []float64
		var err error
		for err == nil {
			var rec *Record
			if rec, err = r.Next(); err == nil {
				got = append(got, rec.Values...)
			}
		}
		if c.err == "" && (err != io.EOF || !slices.Equal(got, c.want)) || c.err != "" && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, %v, want %v, %s", c.text, got, err, c.want, c.err)
		}
	}
}
