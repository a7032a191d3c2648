package scans

import (
	"strings"
	"testing"
)

// TestTruth: true states join scans of equal time; times without a scan are left out.
func TestTruth(t *testing.T) {
	for truth, want := range map[string]string{
		"time,id,x\n0,a,1\n1.0,a,2\n1,b,3\n1.5,a,4\n3,b,5\n": "a2 b3|b5",
		"id,time,x\na,1,2\nb,3,5":                            "a2|b5",
		"x,name,when,id,time\n":                              "|",
		"when,who,x\n1,a,2\n":                                "a2|",
	} {
		records, faults := all(t, NewReader(strings.NewReader("time,x\n1,1\n2,a\n3,1\n"), Options{Truth: strings.NewReader(truth)}))
		var got []string
		for _, r := range records {
			var states []string
			for _, s := range r.Truth {
				states = append(states, s.ID+string('0'+rune(s.State[0])))
			}
			got = append(got, strings.Join(states, " "))
		}
		if len(faults) != 1 || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %q, want %q", truth, got, faults, want)
		}
	}
}

// TestBadTruth: a fault of the true states ends the source.
func TestBadTruth(t *testing.T) {
	for truth, want := range map[string]string{
		"time,id,x\n1,a,\n":               "line 2, column 3: x is empty: a true state has no missing numbers",
		"time,id,x\n1,a,b\n":              `line 2, column 3: x: "b" is not a number`,
		"time,id,x\n1,a,nan\n":            "line 2, column 3: x is nan",
		"time,id,x\n1,,2\n":               `line 2, column 2: the id is "": want a text`,
		"time,id,x\n0,a,2\n1,a,2\n1,a,3":  `line 4, column 2: "a" comes twice at the time 1`,
		"time,id,x\n0.5,a,2\n0,a,2\n":     "line 3, column 1: the time 0 is before 0.5 in the row before: sort the rows by time",
		"time,id,x\n1,a\n":                "line 2: the row has 2 cells, the header 3",
		"time,id,x\nsoon,a,1\n":           `line 2, column 1: "soon" is not a time`,
		"time,id,x\n2013-01-31,a,1\n":     "line 2: the time is a date, but the time of the scan is a number of seconds",
		"time,id\n1,a\n":                  "want columns of time, id and state, as in time,id,x,y",
		"time,id,x\n1,a,\"1":              "line 2, column 3: the quote is never closed",
		packed("time,id,x\n1,a,1\n")[:20]: "gzip: the compressed text ends early",
		"":                                "the CSV is empty: want a header",
	} {
		s := NewReader(strings.NewReader(`{"time":1,"measurements":[]}`+"\n"+`{"time":2,"measurements":[]}`), Options{Truth: strings.NewReader(truth)})
		_, err := s.Next()
		if err == nil || !strings.HasPrefix(err.Error(), "true states: "+want) {
			t.Errorf("%q: error %v, want %q", truth, err, want)
		}
		if _, again := s.Next(); again != err {
			t.Errorf("%q: the error %v is not final", truth, again)
		}
	}
	s := NewReader(strings.NewReader(`{"time":1,"measurements":[],"truth":{"a":[1]}}`), Options{Truth: strings.NewReader("time,id,x\n")})
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "line 1: the scan has true states of its own") {
		t.Errorf("error %v", err)
	}
}

// TestColumns: columns are chosen by name; others are listed.
func TestColumns(t *testing.T) {
	const text = "date,delay,note,origin\n1,5,a b,x\n1,,?,y\n2,6,,z\n"
	s := NewReader(strings.NewReader(text), Options{Columns: &Columns{Time: "date", Measurement: []string{"delay"}}})
	if s.Ignored() != nil {
		t.Error("columns are ignored before any is read")
	}
	records, faults := all(t, s)
	if len(faults) > 0 || len(records) != 2 || records[0].Values[0] != 5 || records[0].Missing != 1 || records[1].Values[0] != 6 {
		t.Errorf("%+v, %q", records, faults)
	}
	if got := strings.Join(s.Ignored(), " "); got != "note origin" {
		t.Errorf("%s are ignored", got)
	}
	s = NewReader(strings.NewReader("b,a,time,c\n1,2,3,4\n"), Options{Columns: &Columns{Measurement: []string{"a", "b"}}})
	r, err := s.Next()
	if err != nil || r.Time != 3 || r.Values[0] != 2 || r.Values[1] != 1 || strings.Join(s.Ignored(), " ") != "c" {
		t.Errorf("%+v, %v", r, err)
	}
}
