package data

import (
	"fmt"
	"math"
	"slices"
)

// Range describes the numbers of one input, or of several inputs together, in the training rows: as the file has them, or of bytes that are
// pixels as shares of 255. Missing values do not count.
type Range struct {
	Column    string    `json:"column,omitempty"` // of a table
	Count     int       `json:"count"`            // numbers
	Min       float64   `json:"min"`
	Max       float64   `json:"max"`
	Mean      float64   `json:"mean"`
	SD        float64   `json:"sd"`        // population standard deviation
	Quantiles []float64 `json:"quantiles"` // at RangeLevels, by the nearest rank, of at most sampled values from evenly spaced rows
	// Magnitude is the geometric mean of the numbers' magnitudes, to within 9 %; 0 if all numbers are 0. Numbers that are less than 1/100,000
	// of the largest one count as 0, and zeros do not count: zeros are the same in all units.
	Magnitude float64 `json:"magnitude"`
}

// RangeLevels are the levels of Range.Quantiles.
var RangeLevels = []float64{.01, .05, .25, .5, .75, .95, .99}

const (
	mostRanges = 512     // arrays of more features have one range for all of them
	sampled    = 1 << 14 // values that quantiles are taken of
	negligible = 1e-5    // of the largest magnitude
)

// Bounds are the numbers between which the numbers of a row to predict are taken for known ones. They are half the width of the range
// below the least number of the training rows, and as much above the largest. If all numbers of the training rows are positive, and clearly
// so, the lower bound is at least Min·√(Min/Max), half of the range below the least on a logarithmic scale: else 0 would often be within the
// bounds. They are clearly so if the least is at least half of the quantile at 5 %, with 100 numbers or more, or at least a third of the
// largest: else the least may be near 0 by chance. The same holds for negative numbers with the signs changed.
func (r *Range) Bounds() (low, high float64) {
	more := r.half()
	low, high = r.Min-more, r.Max+more
	last := len(r.Quantiles) - 1
	switch {
	case r.Min > 0 && r.clearly(r.Min, r.Quantiles[1], r.Max):
		low = max(low, r.Min*math.Sqrt(r.Min/r.Max))
	case r.Max < 0 && r.clearly(-r.Max, -r.Quantiles[last-1], -r.Min):
		high = min(high, r.Max*math.Sqrt(r.Max/r.Min))
	}
	return low, high
}

// clearly reports whether numbers are clearly positive, from their least, their quantile at 5 % and their largest.
func (r *Range) clearly(least, fifth, largest float64) bool {
	return r.Count >= 100 && least >= fifth/2 || least >= largest/3
}

// half is half of the distance between the extremes.
func (r *Range) half() float64 { return float64(r.Max/2) - float64(r.Min/2) }

// top is the largest magnitude.
func (r *Range) top() float64 { return max(math.Abs(r.Min), math.Abs(r.Max)) }

// octave is the unit of octaves for a factor of 2.
const octave = 1 << 10

// octaves is a logarithm of a magnitude, linear between powers of two: a whole number, so that sums do not depend on their order.
func octaves(x float64) int64 { return int64(math.Float64bits(math.Abs(x)) >> 42) }

// ofOctaves is the magnitude with a logarithm.
func ofOctaves(o int64) float64 { return math.Float64frombits(uint64(o) << 42) }

// check returns the first inconsistency of a range that came from a file.
func (r *Range) check() error {
	numbers := append([]float64{r.Min, r.Max, r.Mean, r.SD, r.Magnitude}, r.Quantiles...)
	if !slices.IsSorted(r.Quantiles) || len(r.Quantiles) != len(RangeLevels) || r.Count < 0 || !(r.Min <= r.Max) || !(r.SD >= 0) || !(r.Magnitude >= 0) ||
		slices.ContainsFunc(numbers, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) }) {
		return fmt.Errorf("a range of numbers from %v to %v, standard deviation %v, quantiles %v", r.Min, r.Max, r.SD, r.Quantiles)
	}
	return nil
}

// ranged says to which range each input of an example belongs, −1 for none, and how many ranges there are. Of a table, each column of
// numbers has a range. Of arrays, each feature has one, up to mostRanges of them; more features have one together. Each channel of images
// has one. A feature that the network sees as 0 everywhere belongs to none, and neither do inputs of 0 and 1 that are made of words and
// missing values.
func (s *Schema) ranged() (of []int, ranges int) {
	if s.Columns == nil {
		p, width := size(s.Shape), 1
		switch {
		case len(s.Shape) == 3:
			width = p / s.Shape[0]
		case p > mostRanges:
			width = p
		}
		of = make([]int, p)
		for j := range of {
			of[j] = j / width
			if s.Inputs != nil && s.Inputs.SD[j] == 0 || s.Channels != nil && s.Channels.SD[j/width] == 0 {
				of[j] = -1
			}
		}
		return of, p / width
	}
	if s.Intercept {
		of = append(of, -1)
	}
	for _, c := range s.Features() {
		e, width := s.expansion(c), 1
		if e != nil {
			width = e.width()
		}
		first := len(of)
		of = append(of, slices.Repeat([]int{-1}, width)...)
		if e == nil || e.Categories == nil {
			of[first] = ranges
			ranges++
		}
	}
	return of, ranges
}

// checkRanges returns the first inconsistency of the ranges, which runs of older versions do not have.
func (s *Schema) checkRanges() error {
	if s.Ranges == nil {
		return nil
	}
	if _, n := s.ranged(); len(s.Ranges) != n {
		return fmt.Errorf("%d ranges of inputs: want %d", len(s.Ranges), n)
	}
	for i := range s.Ranges {
		if err := s.Ranges[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// measure measures n examples of arrays, whose numbers row returns as a network sees them before they are standardised.
func (s *Schema) measure(n int, row func(i int, dst []float64)) {
	of, ranges := s.ranged()
	s.Ranges = measure(n, of, ranges, row)
}

// measureTable measures the training rows of a table, whose features are given.
func (s *Schema) measureTable(t *Table, train []int32, features []int) {
	var of, numbers []int
	for _, j := range features {
		if t.Words(j) == nil {
			of, numbers = append(of, len(of)), append(numbers, j)
		}
	}
	s.Ranges = measure(len(train), of, len(of), func(i int, dst []float64) {
		for k, j := range numbers {
			dst[k] = t.Values[int(train[i])*t.Cols+j]
		}
	})
	for k, j := range numbers {
		s.Ranges[k].Column = s.Columns[j]
	}
}

// measure measures the ranges of n rows, of whose numbers each belongs to the range that of says. Numbers that are not finite do not count.
func measure(n int, of []int, ranges int, row func(i int, dst []float64)) []Range {
	all, width := make([]Range, ranges), make([]int, ranges)
	for i := range all {
		all[i].Min, all[i].Max = math.Inf(1), math.Inf(-1)
	}
	for _, r := range of {
		if r >= 0 {
			width[r]++
		}
	}
	sample, x := make([][]float64, ranges), make([]float64, len(of))
	each := func(do func(i int, r *Range, k int, v float64)) {
		for i := range n {
			row(i, x)
			for j, v := range x {
				if k := of[j]; k >= 0 && math.Abs(v) <= math.MaxFloat64 {
					do(i, &all[k], k, v)
				}
			}
		}
	}
	// The rows of a sample are those that are the first of their share of the rows, so that they are evenly spaced.
	rows := min(n, max(1, sampled/max(1, slices.Max(append(width, 1)))))
	each(func(i int, r *Range, k int, v float64) {
		r.Min, r.Max = min(r.Min, v), max(r.Max, v)
		r.Count++
		if i*rows%n < rows {
			sample[k] = append(sample[k], v)
		}
	})
	sums, squares, logs, sized := make([]float64, ranges), make([]float64, ranges), make([]int64, ranges), make([]int64, ranges)
	each(func(_ int, r *Range, k int, v float64) {
		if half := r.half(); half > 0 {
			u := (float64(v/2) - float64(r.Min/2)) / half // from 0 to 1: no square overflows
			sums[k] += u
			squares[k] += float64(u * u)
		}
		if math.Abs(v) > negligible*r.top() {
			logs[k] += octaves(v)
			sized[k]++
		}
	})
	for k := range all {
		r, half := &all[k], all[k].half()
		if r.Count == 0 { // all features of the range are 0 for the network, or all values are missing
			*r = Range{Quantiles: make([]float64, len(RangeLevels))}
			continue
		}
		n := float64(r.Count)
		mean := sums[k] / n
		r.Mean = min(r.Min+float64(2*mean*half), r.Max)
		r.SD = 2 * half * math.Sqrt(max(0, squares[k]/n-float64(mean*mean)))
		if sized[k] > 0 {
			r.Magnitude = ofOctaves(logs[k] / sized[k])
		}
		slices.Sort(sample[k])
		for _, level := range RangeLevels {
			q := r.Min // of no value in the sample, where many are missing
			if m := len(sample[k]); m > 0 {
				q = sample[k][max(0, int(math.Ceil(float64(level*float64(m))))-1)]
			}
			r.Quantiles = append(r.Quantiles, q)
		}
	}
	return all
}
