package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/golden"
	"github.com/starling-smc/starling/internal/rng"
)

// TestMeasure: a range has the extremes, the mean, the deviation, quantiles by the nearest rank and the magnitude of its numbers, whatever
// their scale. Missing numbers and features without a range do not count, and a range may be of several features.
func TestMeasure(t *testing.T) {
	for _, scale := range []float64{1, 1e-300, 1e300} {
		n := 100
		ranges := measure(n, []int{0, -1, 1, 1}, 2, func(i int, dst []float64) {
			dst[0], dst[1], dst[2], dst[3] = scale*float64(i+1), 1e308, scale*8, scale*2
			if i == 50 {
				dst[0] = math.NaN()
			}
			if i%2 == 0 {
				dst[2] = 0
			}
		})
		r := ranges[0]
		mean, square := (5050.-51)/99, (338350.-51*51)/99
		for name, c := range map[string][2]float64{
			"min": {r.Min, 1}, "max": {r.Max, 100}, "mean": {r.Mean, mean}, "sd": {r.SD, math.Sqrt(square - mean*mean)},
			"1 %": {r.Quantiles[0], 1}, "5 %": {r.Quantiles[1], 5}, "50 %": {r.Quantiles[3], 50}, "99 %": {r.Quantiles[6], 100},
			"together: mean": {ranges[1].Mean, 3}, "together: min": {ranges[1].Min, 0},
		} {
			if !golden.Near(c[0]/scale, c[1], 1e-12, 1e-12) {
				t.Errorf("scale %g, %s: %v, want %v", scale, name, c[0]/scale, c[1])
			}
		}
		if want := math.Exp(lgamma(101)/100) * scale; !(math.Abs(math.Log(r.Magnitude/want)) < .09) {
			t.Errorf("scale %g: magnitude %v, want %v", scale, r.Magnitude, want)
		}
		if want := math.Pow(8*2*2, 1./3) * scale; !(math.Abs(math.Log(ranges[1].Magnitude/want)) < .09) { // 0 is no magnitude
			t.Errorf("scale %g: magnitude of both %v, want %v", scale, ranges[1].Magnitude, want)
		}
		if err := r.check(); err != nil {
			t.Error(err)
		}
	}
	many := measure(1_000_000, []int{0}, 1, func(i int, dst []float64) { dst[0] = float64(i) })[0] // of a sample
	for k, level := range RangeLevels {
		if got := many.Quantiles[k] / 1e6; !(math.Abs(got-level) < 1e-3) {
			t.Errorf("quantile at %v: %v", level, got)
		}
	}
}

func lgamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

// TestBounds: half of the range more on either side, and for numbers of one sign half of it on a logarithmic scale towards 0.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		min, max, low, high float64
		count               int
	}{
		{0, 10, -5, 15, 100}, {-2, 2, -4, 4, 100}, {1, 100, -48.5, 149.5, 99}, {1, 100, .1, 149.5, 100}, {90, 100, 90 * math.Sqrt(.9), 105, 10},
		{30, 100, -5, 135, 99}, {-100, -1, -149.5, 48.5, 99}, {-100, -1, -149.5, -.1, 100}, {7, 7, 7, 7, 5},
		{-1e308, 1.5e308, math.Inf(-1), math.Inf(1), 100}, {0, 0, 0, 0, 100},
	} {
		r := &Range{Min: c.min, Max: c.max, Quantiles: []float64{c.min, 2 * c.min, 0, 0, 0, 2 * c.max, c.max}, Count: c.count}
		low, high := r.Bounds()
		if !(low == c.low || golden.Near(low, c.low, 1e-14, 0)) || !(high == c.high || golden.Near(high, c.high, 1e-14, 0)) {
			t.Errorf("%v to %v: %v to %v, want %v to %v", c.min, c.max, low, high, c.low, c.high)
		}
	}
}

// seen is a run's schema, and a table of new rows that come from where its training rows come from: a normal and a skewed column, one of
// counts, one of lengths, one of coordinates around 0, and a word.
func seen(t testing.TB, train, rows int) (*Schema, [][]float64) {
	t.Helper()
	s := rng.Key{Seed: 36, Purpose: rng.Synthetic}.Stream()
	row := func() []float64 {
		n := make([]float64, 4)
		s.Normals(n)
		return []float64{70 + 10*n[0], rng.Exp(3 + .5*n[1]), math.Floor(6 * s.Float64()), 4.5 + .5*n[2], 2 * n[3]}
	}
	var text strings.Builder
	text.WriteString("normal,skewed,count,length,place,word,y\n")
	for i := range train {
		text.WriteString(line(row()) + fmt.Sprintf("%c,%d\n", 'a'+i%2, i%3))
	}
	tab, err := DecodeCSV("train.csv", []byte(text.String()), CSV{Target: "y", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := Columns{Target: "y", Classes: true, SD: 1, Intercept: true}.Schema(tab, tab.All())
	if err != nil {
		t.Fatal(err)
	}
	fresh := make([][]float64, rows)
	for i := range fresh {
		fresh[i] = row()
	}
	return schema, fresh
}

func line(row []float64) (text string) {
	for _, v := range row {
		text += fmt.Sprintf("%.6g,", v)
	}
	return text
}

// look passes rows through an Outside in blocks, and returns the counts and the words of what is found.
func look(t testing.TB, s *Schema, rows [][]float64, block int) (counts []int32, told string) {
	t.Helper()
	o := s.Outside()
	for from := 0; from < len(rows); from += block {
		set := setOf(t, s, rows[from:min(from+block, len(rows))])
		counts = append(counts, o.Add(set)...)
	}
	for _, f := range o.Findings("new.csv") {
		told += f.Words() + "\n"
	}
	return counts, told
}

// setOf makes a set of rows.
func setOf(t testing.TB, s *Schema, rows [][]float64) *Set {
	t.Helper()
	text := "normal,skewed,count,length,place,word\n"
	for _, row := range rows {
		text += line(row) + "a\n"
	}
	tab, err := DecodeCSV("new.csv", []byte(text), s.CSVToPredict(""))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.Set("new", tab, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestOutside: ten kinds of broken rows, what is told of them, and what cannot be seen. Blocks of any size say the same.
func TestOutside(t *testing.T) {
	s, fresh := seen(t, 300, 200)
	const units = "numbers of new.csv are some %s times %s than in training, as if in another unit: %s. If so"
	all := `"normal", "skewed", "count", "length" and "place"`
	for _, c := range []struct {
		name        string
		change      func(i int, row []float64)
		rows, cells [2]int // from, to
		told        []string
		not         string
	}{
		{"clean", func(int, []float64) {}, [2]int{0, 2}, [2]int{0, 2}, nil, "another unit"},
		{"times 10", func(_ int, r []float64) { times(r, 10) }, [2]int{200, 200}, [2]int{600, 1000}, []string{fmt.Sprintf(units, "10", "larger", all)}, "smaller"},
		{"by 25.4", func(_ int, r []float64) { times(r, 1/25.4) }, [2]int{200, 200}, [2]int{400, 900}, []string{fmt.Sprintf(units, "25.4", "smaller", all)}, "larger"},
		{"one column times 1,000", func(_ int, r []float64) { r[0] *= 1000 }, [2]int{200, 200}, [2]int{200, 202},
			[]string{"200 of 200 rows of new.csv lie outside", `"normal" in 200 (`, fmt.Sprintf(units, "1,000", "larger", `"normal"`)}, "smaller"},
		{"a column of shares as percent", func(_ int, r []float64) { r[4] *= 100 }, [2]int{170, 200}, [2]int{170, 200}, []string{fmt.Sprintf(units, "100", "larger", `"place"`)}, "smaller"},
		{"swapped columns", func(_ int, r []float64) { r[0], r[3] = r[3], r[0] }, [2]int{200, 200}, [2]int{400, 402}, []string{`"normal" in 200 (`, `"length" in 200 (`}, "another unit"},
		{"zeros for missing", func(i int, r []float64) {
			if i < 20 {
				r[1] = 0
			}
		}, [2]int{20, 22}, [2]int{20, 22}, []string{`"skewed" in 20 (0; in training`}, "another unit"},
		{"signs", func(_ int, r []float64) { times(r, -1) }, [2]int{200, 200}, [2]int{400, 900}, []string{`"normal" in 200 (−`}, "another unit"},
		{"an offset", func(_ int, r []float64) { r[0] += 200 }, [2]int{200, 200}, [2]int{200, 202}, []string{`"normal" in 200 (`}, "another unit"},
		{"a single value", func(i int, r []float64) {
			if i == 7 {
				r[3] = 4e12
			}
		}, [2]int{1, 3}, [2]int{1, 3}, []string{`"length" in 1 (4e+12; in training`}, "another unit"},
		{"ten times once", func(i int, r []float64) {
			if i == 7 {
				r[3] = 45
			}
		}, [2]int{1, 3}, [2]int{1, 3}, []string{`"length" in 1 (45; in training`}, "another unit"}, // a usual number of the column may be so
		{"other faults and a slip", func(_ int, r []float64) {
			r[0], r[1], r[3] = r[0]+1000, 10*r[1], r[3]+1000
		}, [2]int{200, 200}, [2]int{550, 602}, []string{`"skewed" in `}, "another unit"},
		{"a point left out", func(i int, r []float64) {
			if i == 7 {
				r[3] = 455
			}
		}, [2]int{1, 3}, [2]int{1, 3}, []string{fmt.Sprintf(units, "100", "larger", `"length"`)}, "smaller"},
		{"noise", func(_ int, r []float64) { r[0] += 30 * math.Sin(1e4*r[1]) }, [2]int{0, 30}, [2]int{0, 30}, nil, "another unit"}, // most lies within the bounds
		{"signs around 0", func(_ int, r []float64) { r[4] = -r[4] }, [2]int{0, 2}, [2]int{0, 2}, nil, "another unit"},             // cannot be seen
		{"a small offset", func(_ int, r []float64) { r[0] += 10 }, [2]int{0, 2}, [2]int{0, 2}, nil, "another unit"},               // cannot be seen
	} {
		var rows [][]float64
		for i, row := range fresh {
			row = slices.Clone(row)
			c.change(i, row)
			rows = append(rows, row)
		}
		counts, told := look(t, s, rows, len(rows))
		out, cells := 0, 0
		for _, n := range counts {
			cells += int(n)
			if n > 0 {
				out++
			}
		}
		if out < c.rows[0] || out > c.rows[1] || cells < c.cells[0] || cells > c.cells[1] {
			t.Errorf("%s: %d rows, %d numbers outside", c.name, out, cells)
		}
		for _, want := range c.told {
			if !strings.Contains(told, want) {
				t.Errorf("%s: told %q, not %q", c.name, told, want)
			}
		}
		if strings.Contains(told, c.not) {
			t.Errorf("%s: told %q", c.name, told)
		}
		for _, block := range []int{1, 7, 64} {
			if again, words := look(t, s, rows, block); !slices.Equal(again, counts) || words != told {
				t.Errorf("%s: in blocks of %d: %v, %q", c.name, block, again, words)
			}
		}
	}
}

func times(row []float64, factor float64) {
	for k := range row {
		row[k] *= factor
	}
}

// TestOutsideSeldom: few clean rows are outside, also of a run of few training rows. A row of these five columns exceeds an extreme of
// n training rows in about 10 of n rows; half of the range more than that, in far fewer: no more than 8 of 4,000 here (of 100 training rows).
func TestOutsideSeldom(t *testing.T) {
	for _, train := range []int{100, 1000} {
		s, fresh := seen(t, train, 4000)
		counts, told := look(t, s, fresh, 1000)
		n := len(slices.DeleteFunc(counts, func(c int32) bool { return c == 0 }))
		if n > 8 || strings.Contains(told, "another unit") {
			t.Errorf("%d training rows: %d of 4,000 rows are outside: %s", train, n, told)
		}
	}
}

// TestOutsideOfArrays: images have a range for each channel, features one each unless there are many. A pixel that is the same in all
// training rows is not looked at. Bytes are shares of 255, and a file of floats up to 255 is told.
func TestOutsideOfArrays(t *testing.T) {
	images := func(name string, channels int, value func(c int) float64, bytes bool) *Array {
		a := &Array{Name: name, Shape: []int{50, channels, 3, 3}}
		s := rng.Key{Seed: 36, Purpose: rng.Synthetic}.Stream()
		floats, pixels := []float64{}, []uint8{}
		for i := range 50 * channels * 9 {
			v := uint8(256 * s.Float64())
			if i%9 == 0 {
				v = 0
			}
			floats, pixels = append(floats, value(i/9%channels)*float64(v)), append(pixels, v)
		}
		if a.Values = floats; bytes {
			a.Values = pixels
		}
		return a
	}
	labels := &Array{Name: "y", Shape: []int{50}, Values: make([]uint8, 50)}
	var rows []int32
	for i := range int32(50) {
		rows = append(rows, i)
	}
	bytes := images("bytes.npy", 2, func(int) float64 { return 1 }, true)
	for _, standardise := range []bool{false, true} {
		s, err := ArraySchema(bytes, labels, rows, 2, standardise, false)
		if err != nil || len(s.Ranges) != 2 || s.Ranges[0].Max > 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		for _, c := range []struct {
			a           *Array
			least, most int32
			told        string
		}{
			{bytes, 0, 0, ""},
			{images("own.npy", 2, func(int) float64 { return 1. / 255 }, false), 0, 0, ""},
			{images("x.npy", 2, func(int) float64 { return 1 }, false), 14, 18, "50 of 50 rows of x.npy lie outside the training rows ("},
			{images("x.npy", 2, func(int) float64 { return 1 }, false), 14, 18, "numbers of x.npy are some 255 times larger than in training, as if in another unit: channel 0 and channel 1. If so, divide them by 255"},
			{images("x.npy", 2, func(c int) float64 { return []float64{1. / 255, 10. / 255}[c] }, false), 3, 9, "as if in another unit: channel 1. If so, divide them by 10"},
			{images("x.npy", 2, func(int) float64 { return 1. / 255 / 255 }, false), 0, 2, "some 255 times smaller than in training"}, // hardly a number is outside
		} {
			set, err := s.Examples("x", c.a)
			if err != nil {
				t.Fatal(err)
			}
			o := s.Outside()
			counts, told := o.Add(set), ""
			for _, f := range o.Findings(c.a.Name) {
				told += f.Words() + "\n"
			}
			if least, most := slices.Min(counts), slices.Max(counts); least < c.least || most > c.most || !strings.Contains(told, c.told) || c.told == "" && told != "" {
				t.Errorf("standardised %v: %d to %d, %q: want %q", standardise, least, most, told, c.told)
			}
		}
	}
	for _, c := range []struct {
		p, ranges int
		title     string
	}{{3, 3, "feature 2"}, {mostRanges, mostRanges, "feature 511"}, {mostRanges + 1, 1, ""}} {
		x := &Array{Name: "x", Shape: []int{50, c.p}, Values: make([]float64, 50*c.p)}
		for i := range x.Values.([]float64) {
			x.Values.([]float64)[i] = float64(i % 7)
		}
		s, err := ArraySchema(x, labels, rows, 2, true, false)
		if err != nil || len(s.Ranges) != c.ranges || s.rangeTitle(c.ranges-1) != c.title {
			t.Errorf("%d features: %d ranges, %v", c.p, len(s.Ranges), err)
		}
	}
}

// TestWithoutRanges: the schema of an older version finds nothing, and says so once. One whose ranges do not fit it is refused.
func TestWithoutRanges(t *testing.T) {
	s, fresh := seen(t, 60, 5)
	for _, damage := range []func(){
		func() { s.Ranges = s.Ranges[1:] },
		func() { s.Ranges[1].Max = math.Inf(1) },
		func() { s.Ranges[1].Min = s.Ranges[1].Max + 1 },
		func() { s.Ranges[0].Quantiles = s.Ranges[0].Quantiles[1:] },
		func() { s.Ranges[0].SD = -1 },
	} {
		ranges := slices.Clone(s.Ranges)
		if damage(); s.check() == nil {
			t.Errorf("%+v is taken", s.Ranges)
		}
		s.Ranges = ranges
	}
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	s.Ranges = nil
	o := s.Outside()
	if counts, _ := look(t, s, fresh, 2); counts != nil || o != nil || !finding.Has(o.Findings("x"), finding.NoRanges{}) || s.check() != nil {
		t.Errorf("%v, %v, %v", counts, o.Findings("x"), s.check())
	}
}

// TestPartsOutside: a run is told of a test part in another unit, and of nothing where its parts are like the training rows.
func TestPartsOutside(t *testing.T) {
	s, fresh := seen(t, 300, 40)
	p := &Problem{Schema: s, Train: setOf(t, s, fresh), Validate: setOf(t, s, fresh[:20])}
	for _, row := range fresh[20:] {
		times(row, 10)
	}
	p.Test = setOf(t, s, fresh[20:])
	var told []string
	for _, f := range p.partsOutside() {
		told = append(told, f.Words())
	}
	if len(told) != 2 || !strings.HasPrefix(told[0], "20 of 20 rows of the test part lie outside the training rows: ") || !strings.HasPrefix(told[1], "numbers of the test part are some 10 times larger") {
		t.Errorf("told %q", told)
	}
	if s.Ranges = nil; p.partsOutside() != nil {
		t.Error("without ranges something is told")
	}
}

// BenchmarkOutside is the time of a clean row of five numbers and a word.
func BenchmarkOutside(b *testing.B) {
	s, fresh := seen(b, 300, 1000)
	set := setOf(b, s, fresh)
	o := s.Outside()
	for b.Loop() {
		o.Add(set)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*set.Len()), "ns/row")
}
