package filtering

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/internal/runs"
	"github.com/starling-smc/starling/ssm"
)

// traced is the trace of scans at some times, which are those that the source has written where written is nil, and of one track whose
// positions have some variances.
func traced(t *testing.T, at, written []string, variances ...float64) (trace []runs.TraceLine) {
	t.Helper()
	for k, seconds := range at {
		text := seconds
		if written != nil {
			text = written[k]
		}
		v := variances[min(k, len(variances)-1)]
		line := fmt.Sprintf(`{"time":%s,"at":%s,"tracks":[{"id":"1","mean":[0,0,1,1],"cov":[[0.1,0,0,0],[0,%g,0,0],[0,0,1e9,0],[0,0,0,1e9]]}]}`, text, seconds, v)
		trace = append(trace, runs.TraceLine{K: k + 1, Fields: json.RawMessage(line)})
	}
	return trace
}

// TestTimings: steps of 10³, 10⁶ or 10⁹ of the model's intervals, in most scans, are named, unless the unit is told or the times were not
// seconds; a position that is wider than the region is named; healthy runs are not.
func TestTimings(t *testing.T) {
	m := ssm.Clutter{Interval: 0.5, Acceleration: 1, Initial: make([]ssm.Initial, 1), Background: ssm.Background{Rate: 1, Region: [4]float64{-10, 10, 0, 5}}}
	for name, c := range map[string]struct {
		at, written []string
		told        bool
		variances   []float64
		want        string
	}{
		"healthy":          {[]string{"0", "0.5", "1", "1.5"}, nil, false, []float64{399}, ""},
		"slow":             {[]string{"0", "100", "200", "300"}, nil, false, []float64{1}, ""},
		"a quarter hour":   {[]string{"0", "900", "1800", "2700"}, nil, false, []float64{1}, ""},
		"milliseconds":     {[]string{"0", "480", "1000", "1510", "90000"}, nil, false, []float64{1}, "wrong-unit 500 0.5 ms"},
		"told":             {[]string{"0", "480", "1000", "1510", "90000"}, nil, true, []float64{1}, ""},
		"half of the gaps": {[]string{"0", "500", "501", "1001", "1002"}, nil, false, []float64{1}, ""},
		"two scans":        {[]string{"0", "500"}, nil, false, []float64{1}, ""},
		"microseconds":     {[]string{"0", "5e5", "1e6", "1.4e6"}, nil, false, []float64{1}, "wrong-unit 500000 0.5 us"},
		"nanoseconds":      {[]string{"0", "5e8", "1e9"}, nil, false, []float64{1}, "wrong-unit 5e+08 0.5 ns"},
		"dates":            {[]string{"0", "500", "1000"}, []string{`"2013-01-01"`, `"2013-01-02"`, `"2013-01-03"`}, false, []float64{1}, ""},
		"read as ms":       {[]string{"0", "500", "1000"}, []string{"0", "500000", "1000000"}, false, []float64{1}, ""},
		"wide":             {[]string{"0", "0.5", "1"}, nil, false, []float64{1, 401, 1e9}, "wider-than-region 2 of 3 1 0.5"},
	} {
		sums, err := Summarise(m, filter.Kalman{}, Steps(all(traced(t, c.at, c.written, c.variances...))), 0, "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range sums.Timings(c.told) {
			if f.Kind == "wrong-unit" {
				got = append(got, fmt.Sprintf("%s %v %v %s", f.Kind, float64(f.Numbers["step"]), float64(f.Numbers["interval"]), f.Names["unit"]))
			} else {
				got = append(got, fmt.Sprintf("%s %v of %v %s %s", f.Kind, float64(f.Numbers["some"]), float64(f.Numbers["scans"]), f.Names["target"], f.Names["first"]))
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
