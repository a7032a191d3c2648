package scans

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/ssm"
)

func numbered(m, width int) *Record {
	r := &Record{Scan: ssm.Scan{Width: width, Values: make([]float64, m*width)}}
	for i := range r.Values {
		r.Values[i] = float64(i)
	}
	return r
}

// TestHold: an exact share is held, rows stay whole and in order, the same key draws the same rows, and all rows are equally
// often held.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		m, width int
		share    float64
		want     int
	}{{0, 2, 0.5, 0}, {1, 1, 0.4, 0}, {1, 1, 0.5, 1}, {10, 3, 0.1, 1}, {1001, 2, 0.25, 250}, {7, 1, 0.99, 7}} {
		r, again, other := numbered(c.m, c.width), numbered(c.m, c.width), numbered(c.m, c.width)
		r.Hold(c.share, 5, 3)
		again.Hold(c.share, 5, 3)
		other.Hold(c.share, 5, 4)
		if len(r.Held) != c.want*c.width || r.Len() != c.m-c.want {
			t.Errorf("%+v: %d held, %d left", c, len(r.Held), r.Len())
		}
		if !slices.Equal(r.Held, again.Held) || c.m > 100 && slices.Equal(r.Held, other.Held) {
			t.Errorf("%+v: the key does not decide", c)
		}
		for _, part := range [][]float64{r.Values, r.Held} {
			for i := c.width; i < len(part); i += c.width {
				if !(part[i] > part[i-1]) {
					t.Errorf("%+v: row %v after %v", c, part[i], part[i-1])
				}
			}
			for i, v := range part {
				if int(v)%c.width != i%c.width {
					t.Errorf("%+v: a row is cut", c)
				}
			}
		}
		both := slices.Concat(r.Values, r.Held)
		slices.Sort(both)
		if !slices.Equal(both, numbered(c.m, c.width).Values) {
			t.Errorf("%+v: rows are lost", c)
		}
	}
	// 20,000 scans of 10 rows with 3 held: each row is held 6,000 ± 65 times. 10 rows beyond 5.9 sd: 4e-8.
	var times [10]int
	for k := range 20_000 {
		r := numbered(10, 1)
		r.Hold(0.3, 1, k)
		for _, v := range r.Held {
			times[int(v)]++
		}
	}
	for i, n := range times {
		if math.Abs(float64(n)-6000) > 5.9*math.Sqrt(20_000*0.3*0.7) {
			t.Errorf("row %d is held %d of 20,000 times", i, n)
		}
	}
}

// TestSum: the sum depends on all that a scan has, and on the scans before.
func TestSum(t *testing.T) {
	make := func(change func(r *Record)) *Record {
		r := numbered(4, 2)
		r.Time, r.Text, r.Missing, r.Held = 1, "1", 1, []float64{9, 9}
		r.Truth = []Truth{{"a", []float64{1, 2}}, {"b", []float64{3}}}
		change(r)
		return r
	}
	seen := map[[32]byte]int{}
	for i, change := range []func(r *Record){
		func(r *Record) {},
		func(r *Record) { r.Time = 2 },
		func(r *Record) { r.Text = "1.0" },
		func(r *Record) { r.Width = 4 },
		func(r *Record) { r.Missing = 0 },
		func(r *Record) { r.Values[7] = math.Nextafter(r.Values[7], 0) },
		func(r *Record) { r.Values[0], r.Values[2] = r.Values[2], r.Values[0] },
		func(r *Record) { r.Values, r.Held = r.Values[:6], append([]float64{6, 7}, r.Held...) },
		func(r *Record) { r.Truth[0].ID = "c" },
		func(r *Record) { r.Truth[0].State = []float64{1}; r.Truth[1].State = []float64{2, 3} },
		func(r *Record) { r.Truth = nil },
	} {
		sum := make(change).Sum([32]byte{})
		if j, ok := seen[sum]; ok {
			t.Errorf("changes %d and %d have one sum", i, j)
		}
		seen[sum] = i
		if next := make(change).Sum(sum); next == sum || next == make(change).Sum([32]byte{1}) {
			t.Errorf("change %d: the sum does not depend on the scans before", i)
		}
	}
	a, b := numbered(5000, 2), numbered(5000, 2)
	b.Line = 7
	if a.Sum([32]byte{}) != b.Sum([32]byte{}) {
		t.Error("the sum depends on the line")
	}
	b.Values[9999]++
	if a.Sum([32]byte{}) == b.Sum([32]byte{}) {
		t.Error("the sum does not depend on the last of many values")
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want string // empty: no fault
	}{
		{Settings{}, ""},
		{Settings{Simulate: 20, Hold: 0.1}, ""},
		{Settings{File: "scans.csv", Truth: "truth.csv", Columns: &Columns{Time: "t", Measurement: []string{"x", "y"}}}, ""},
		{Settings{Columns: &Columns{}}, ""},
		{Settings{Simulate: -1}, "simulate: want at least 0, have -1"},
		{Settings{Simulate: 1 << 32}, "simulate: want below 4294967296"},
		{Settings{Simulate: 1, File: "x"}, "simulate and file: simulated scans are not read from a file, so want one of the two"},
		{Settings{Simulate: 1, TimeUnit: Milliseconds}, "simulate and time_unit: simulated scans are not read from a file, so want one of the two"},
		{Settings{Simulate: 1, Truth: "x"}, "simulate and truth"},
		{Settings{Simulate: 1, Columns: &Columns{}}, "simulate and columns"},
		{Settings{Set: "flights", Hold: 0.1}, ""},
		{Settings{Set: "flight"}, `set: unknown name "flight": did you mean "flights"?`},
		{Settings{Set: "flights", Simulate: 1}, "simulate and set: simulated scans are not read from a file, so want one of the two"},
		{Settings{Set: "flights", File: "x"}, "set and file: the scans of a built-in set are not read from a file of yours, so want one of the two"},
		{Settings{Set: "flights", Columns: &Columns{}}, "set and columns"},
		{Settings{Set: "flights", Truth: "x"}, "set and truth"},
		{Settings{Hold: 1}, "hold: want a number above 0 and below 1, have 1"},
		{Settings{Hold: math.NaN()}, "hold: want a number above 0 and below 1"},
		{Settings{Columns: &Columns{Time: "t", Measurement: []string{"x", "t"}}}, `columns.measurement.1: "t" is also the column of the time`},
		{Settings{Columns: &Columns{Measurement: []string{"x", "x"}}}, `columns.measurement.1: "x" comes twice`},
		{Settings{Columns: &Columns{Measurement: []string{""}}}, "columns.measurement.0: is empty"},
	} {
		err := config.Check(c.s)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.s, err, c.want)
		}
	}
}
