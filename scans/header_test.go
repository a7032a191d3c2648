package scans

import (
	"fmt"
	"strings"
	"testing"
)

// described is a text as it is read: the times and the values of each scan, the notes and the faults, with bars between them.
func described(t *testing.T, text string, o Options) string {
	t.Helper()
	s := NewReader(strings.NewReader(text), o)
	records, faults := all(t, s)
	var parts []string
	for _, r := range records {
		parts = append(parts, fmt.Sprintf("%v:%v", r.Time, r.Values))
	}
	return strings.Join(append(append(parts, s.Notes()...), faults...), "|")
}

// TestWhichColumnIsTheTime: the name tells it, wherever the column stands and however it is written. What is guessed is said, and what may
// be two is refused.
func TestWhichColumnIsTheTime(t *testing.T) {
	const unread = "columns that are not read, since they look like names of rows or targets: "
	for text, want := range map[string]string{
		"time,x,y\n1,2,3\n":               "1:[2 3]",
		"x,y,time\n2,3,1\n":               "1:[2 3]",
		"x,y,Time\n2,3,1\n":               "1:[2 3]|the column Time is the time",
		"x,TIMESTAMP,y\n2,1,3\n":          "1:[2 3]|the column TIMESTAMP is the time",
		"x, T ,y\n2,1,3\n":                "1:[2 3]|the column T is the time",
		"x;Date\n2;2013-01-31\n":          "0:[2]|the column Date is the time",
		"# time,x\n1,2\n":                 `1:[2]`,
		"x,time (s)\n2,1\n":               `1:[2]|the column "time (s)" is the time`,
		"x,unix_time,y\n2,1,3\n":          "1:[2 3]|the column unix_time is the time",
		"x,time,time_ms\n2,1,30\n":        "1:[2 30]", // the plainest name
		"x,ts,y\n2,1,3\n":                 "1:[2 3]|the column ts is the time",
		"x,Epoch (ms)\n2,1713883988987\n": `0:[2]|the column "Epoch (ms)" is the time|times are read as milliseconds, as the name of their column says: 1713883988987 is 2024-04-23 14:53:08.987 if they count from 1970; scans.time_unit says otherwise`,
		"epoch,x,time\n7,2,1\n":           "1:[7 2]", // the plainest name
		"frame,x\n1,2\n":                  "1:[2]|no column is named time, timestamp, t or date: frame is taken as the time; say which it is with scans.time",
		"runtime,x\n1,2\n":                "1:[2]|no column is named time, timestamp, t or date: runtime is taken as the time; say which it is with scans.time",
		"1,2.5\n2,3.5\n":                  "1:[2.5]|2:[3.5]|the CSV has no header: its columns are called 1 to 2, and column 1 is the time (scans.time: 1); scans.columns says which are the measurement",
		"1\t\t7\n1\t3\t4\n":               "1:[3 4]|the CSV has no header: its columns are called 1 to 3, and column 1 is the time (scans.time: 1); scans.columns says which are the measurement",
		"2013-01-31,2\n":                  "0:[2]|the CSV has no header: its columns are called 1 to 2, and column 1 is the time (scans.time: 1); scans.columns says which are the measurement",
		"time,0,1\n1,2,3\n":               "1:[2 3]",
		"id,timestamp,x\n7,1,2\n":         "1:[2]|the column timestamp is the time|" + unread + "id; scans.columns lists those to read",
		"time,x,ID,track_id\n1,2,a,b\n":   "1:[2]|" + unread + "ID, track_id; scans.columns lists those to read",
		",time,x\n0,1,2\n":                "1:[2]|" + unread + `""; scans.columns lists those to read`,
		"Unnamed: 0,time,x\n0,1,2\n":      "1:[2]|" + unread + `"Unnamed: 0"; scans.columns lists those to read`,
		"time,id\n1,2\n":                  "1:[2]", // else there is no measurement
		"time,sensor_id,r\n1,2,3\n":       "1:[2 3]",
	} {
		if got := described(t, text, Options{}); got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"date,time,x\n1,2,3\n":    "each of the columns date and time may be the time: say which with scans.time: date. A date and a time of day must be in one column",
		"track_id,frame,x\n1,0,2": "no column is named time, timestamp, t or date, and track_id looks like names of rows or targets: say which is the time with scans.time",
		"time x y\n0 1 2\n":       `the header, "time x y", is one column: separate columns by commas, semicolons or tabs`,
		"time|x\n0|1\n":           "the header, time|x, is one column",
		"t,T,x\n1,2,3\n":          "each of the columns t and T may be the time",
		"t_ms,t_us,x\n1,2,3\n":    "each of the columns t_ms and t_us may be the time",
		"time,x,time\n1,2,3\n":    `two columns are named "time"`,
		"1,x\n1,2\n":              `line 1: "1" is not the name of a column`,
		"# exported\ntime,x\n1,2": "the first line is a comment",
	} {
		if _, err := NewReader(strings.NewReader(text), Options{}).Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"a,b,time\n1,2,3\n", Options{Time: "a"}, "1:[2 3]"},
		{"x,y,Time\n1,2,3\n", Options{Columns: &Columns{Measurement: []string{"y", "x"}}}, "3:[2 1]|the column Time is the time"},
		{"x,y,when\n1,2,3\n", Options{Columns: &Columns{Measurement: []string{"x", "y"}}}, "3:[1 2]|no column is named time, timestamp, t or date: when is taken as the time; say which it is with scans.time"},
		{"id,time,x\n1,2,3\n", Options{Columns: &Columns{Measurement: []string{"id", "x"}}}, "2:[1 3]"},
		{"5,6,7\n", Options{Time: "3", Columns: &Columns{Measurement: []string{"1"}}}, "7:[5]|columns that are not read: 2"},
	} {
		if got := described(t, c.text, c.o); got != c.want {
			t.Errorf("%q: %s\nwant %s", c.text, got, c.want)
		}
	}
	if _, err := NewReader(strings.NewReader(`{"time":1,"measurements":[]}`), Options{Time: "t"}).Next(); err == nil || !strings.Contains(err.Error(), "scans.time names a column of CSV") {
		t.Errorf("a column of JSON lines: %v", err)
	}
}

// TestTruthColumns: true states choose their columns as scans do, and say what they guess.
func TestTruthColumns(t *testing.T) {
	for truth, want := range map[string]string{
		"ID,x,Timestamp\na,5,1\n":  "a5|true states: the column Timestamp is the time",
		"Track_ID,time,x\na,1,5\n": "a5",
		"when,who,x\n1,a,5\n":      "a5|true states: no column is named time, timestamp, t or date: when is taken as the time; say which it is with scans.time|true states: no column is named id: who is taken as the name of the target",
	} {
		s := NewReader(strings.NewReader("time,x\n1,1\n"), Options{Truth: strings.NewReader(truth)})
		r, err := s.Next()
		if err != nil || len(r.Truth) != 1 {
			t.Errorf("%q: %+v, %v", truth, r, err)
			continue
		}
		if got := strings.Join(append([]string{fmt.Sprint(r.Truth[0].ID, r.Truth[0].State[0])}, s.Notes()...), "|"); got != want {
			t.Errorf("%q: %s\nwant %s", truth, got, want)
		}
	}
}

// TestUnits: numbers of seconds, milli-, micro- and nanoseconds since 1970 are told apart by their size and are exact; the name of the
// column says the unit of others, and the settings say it of all.
func TestUnits(t *testing.T) {
	const first = " is 2024-04-23 14:53:08.987 if they count from 1970; scans.time_unit says otherwise"
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"time,x\n1713883988.5,1\n1713883989.5,1\n", Options{}, "0:[1]|1:[1]"},
		{"time,x\n1713883988.1,1\n1713883988.2,1\n1713883988.35,1\n", Options{}, "0:[1]|0.1:[1]|0.25:[1]"}, // no digit is lost
		{"time,x\n1713883988.1,1\n", Options{Origin: "0"}, "1.7138839881e+09:[1]"},
		{"time,x\n1713883988.3,1\n", Options{Origin: "1713883988.1"}, "0.2:[1]"},
		{"time,x\n-1713883988.3,1\n-1713883988.1,1\n", Options{}, "0:[1]|0.2:[1]"},
		{"time,x\n-0.5,1\n0.25,1\n1e9,1\n", Options{}, "-0.5:[1]|0.25:[1]|1e+09:[1]"},
		{"time,x\n1713883988987,1\n1713883990987,1\n", Options{}, "0:[1]|2:[1]|times are read as milliseconds, by their size: 1713883988987" + first},
		{"time,x\n1713883988987000,1\n1713883988987001,1\n", Options{}, "0:[1]|1e-06:[1]|times are read as microseconds, by their size: 1713883988987000" + first},
		{"time,x\n1713883988987000000,1\n1713883988987000001,1\n", Options{}, "0:[1]|1e-09:[1]|times are read as nanoseconds, by their size: 1713883988987000000" + first},
		{"time,x\n1713883988987.0,1\n1713883988987.5,1\n", Options{}, "0:[1]|0.0005:[1]|times are read as milliseconds, by their size: 1713883988987.0" + first},
		{"time,x\n1.713883988987e12,1\n1.713883989987e12,1\n", Options{}, "0:[1]|1:[1]|times are read as milliseconds, by their size: 1.713883988987e12" + first},
		{"time,x\n0,1\n250,1\n", Options{Unit: Milliseconds}, "0:[1]|0.25:[1]"},
		{"time,x\n-500,1\n250,1\n", Options{Unit: Microseconds}, "0:[1]|0.00075:[1]"},
		{"time_ms,x\n0,1\n250,1\n", Options{}, "0:[1]|0.25:[1]|times are read as milliseconds, as the name of their column says: 0 is 1970-01-01 00:00:00 if they count from 1970; scans.time_unit says otherwise"},
		{"x,t [µs]\n1,0\n1,250\n", Options{Unit: Seconds}, `0:[1]|250:[1]|the column "t [µs]" is the time`},
		{"time,x\n5,1\n1713883988987,1\n6,1\n", Options{}, "5:[1]|6:[1]|line 3, column 1: the time is a number of milliseconds, but times before it are a number of seconds: write all times in one way, or say their unit with scans.time_unit"},
	} {
		if got := described(t, c.text, c.o); got != c.want {
			t.Errorf("%q, %+v: %s\nwant %s", c.text, c.o, got, c.want)
		}
	}
	s := NewReader(strings.NewReader(`{"time":1713883988987,"measurements":[]}`+"\n"+`{"time":1713883989987,"measurements":[]}`), Options{})
	if records, faults := all(t, s); len(faults) > 0 || records[1].Time != 1 || len(s.Notes()) != 1 || s.Origin() != "1713883988987" {
		t.Errorf("JSON: %+v, %v, %v", records, faults, s.Notes())
	}
	s = NewReader(strings.NewReader(`{"time":1713883989987,"measurements":[]}`), Options{Origin: "1713883988987"}) // replayed
	if r, err := s.Next(); err != nil || r.Time != 1 {
		t.Errorf("replayed: %+v, %v", r, err)
	}
	s = NewReader(strings.NewReader("time,x\n1713883988987,1\n"), Options{Truth: strings.NewReader("time,id,x\n1713883988987,a,2\n")})
	if r, err := s.Next(); err != nil || len(r.Truth) != 1 {
		t.Errorf("truth in milliseconds: %+v, %v", r, err)
	}
	s = NewReader(strings.NewReader("time,x\n1713883988987,1\n"), Options{Truth: strings.NewReader("time,id,x\n1713883988.987,a,2\n")})
	if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "write all times in one way, or say their unit") {
		t.Errorf("truth in other units: %v", err)
	}
}

// TestTimesThatCannotBe: a time of thousands of years is a bad scan, in each unit, and the scans beside it are read.
func TestTimesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		time string
		o    Options
		want string
	}{
		{"1e300", Options{}, "the time 1e300 cannot be: as seconds it is more than 3,000 years from 0, and as milli-, micro- or nanoseconds no date from 1979 to 2286"},
		{"2e11", Options{}, "the time 2e11 cannot be"},
		{"1e20", Options{}, "the time 1e20 cannot be"},
		{"-1e300", Options{}, "the time -1e300 cannot be"},
		{"1e300", Options{Unit: Seconds}, "the time 1e300 cannot be: a number of seconds of that size is more than 3,000 years"},
		{"1e300", Options{Unit: Nanoseconds}, "the time 1e300 cannot be: a number of nanoseconds of that size"},
	} {
		for _, text := range []string{
			"time,x\n1,1\n" + c.time + ",2\n" + c.time + ",2\n3,3\n", `{"time":1,"measurements":[[1]]}` + "\n" + `{"time":` + c.time + `,"measurements":[[2]]}` + "\n" + `{"time":3,"measurements":[[3]]}`,
		} {
			records, faults := all(t, NewReader(strings.NewReader(text), c.o))
			if len(records) != 2 || len(faults) != 1 || !strings.Contains(faults[0], c.want) {
				t.Errorf("%q, %+v: %d scans, %q, want %q", text, c.o, len(records), faults, c.want)
			}
		}
	}
}

// TestImpossibleTimesAreCounted: rows of one such time are one bad scan, also where the time comes again after others.
func TestImpossibleTimesAreCounted(t *testing.T) {
	records, faults := all(t, NewReader(strings.NewReader("time,x\n1e300,1\n1e300,2\n1,3\n1,4\n1e300,5\n2e300,6\n2,7\n1e300,8\n"), Options{}))
	if len(records) != 2 || records[0].Len() != 2 || records[1].Values[0] != 7 || len(faults) != 4 {
		t.Errorf("%d scans, %q", len(records), faults)
	}
}
