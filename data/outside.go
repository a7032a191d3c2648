package data

import (
	"fmt"
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/finding"
)

// Outside finds the inputs of rows that lie outside the bounds of the training rows' numbers (Range.Bounds), as the rows of a file pass,
// block after block. In the end it says which columns they are in, and which slip of units would explain them. What it finds does not
// depend on how the rows are divided into blocks.
type Outside struct {
	schema    *Schema
	inputs    []seenInput
	tallies   []tally // of each range
	rows, out int     // rows, and those of which an input lies outside
	counts    []int32
}

// seenInput is an input of the network.
type seenInput struct {
	of          int     // its range; −1: none
	low, high   float32 // its bounds, as the network sees it
	mean, scale float64 // mean + scale·x is its number in the file
}

// tally counts the numbers of one range.
type tally struct {
	slack        float64 // numbers of at most this size are 0. It is more than what single precision rounds
	low, high    int64   // logarithms of a quarter of the training rows' magnitude, and of four times
	rows         int     // of which a number lies outside
	last         int     // of these rows, from 1
	least, most  float64 // of the numbers outside
	all, outside amount
	small, large int             // of the numbers that are not 0, those with a logarithm below low, and those above high
	back         [len(slips)]int // of the numbers outside, those that a slip of units would explain: the training rows have such numbers
}

// amount counts numbers, and sums the logarithms of those that are not 0.
type amount struct {
	count, sized int
	octaves      int64
}

// slips are the factors of units that are mistaken for each other: tens, inches and millimetres, percent, pixels of bytes, thousands.
var slips = [...]float64{10, 25.4, 100, 255, 1000, 1. / 10, 1 / 25.4, 1. / 100, 1. / 255, 1. / 1000}

// Outside begins to look at the rows of a file. It is nil for a schema without ranges, of a run that an older version made; a nil Outside
// finds nothing.
func (s *Schema) Outside() *Outside {
	if s.Ranges == nil {
		return nil
	}
	of, ranges := s.ranged()
	o := &Outside{schema: s, inputs: make([]seenInput, len(of)), tallies: make([]tally, ranges)}
	for i := range o.tallies {
		r, typical := &s.Ranges[i], octaves(s.Ranges[i].Magnitude)
		o.tallies[i] = tally{slack: negligible * r.top(), low: typical - 2*octave, high: typical + 2*octave, least: math.Inf(1), most: math.Inf(-1)}
	}
	first := 0
	if s.Intercept {
		first = 1
	}
	for j, r := range of {
		in := &o.inputs[j]
		if in.of = r; r < 0 {
			continue
		}
		in.scale = 1
		if s.Inputs != nil {
			in.mean, in.scale = s.Inputs.Mean[j-first], s.Inputs.SD[j-first]/s.Inputs.To
		}
		if in.scale == 0 { // the network sees 0 whatever the number is: nothing is known of it
			in.of = -1
			continue
		}
		low, high := s.Ranges[r].Bounds()
		half := float64(in.mean / 2) // the difference of large numbers overflows
		in.low, in.high = float32((float64(low/2)-half)/(in.scale/2)), float32((float64(high/2)-half)/(in.scale/2))
	}
	return o
}

// Add counts the next rows, and returns how many inputs of each lie outside. The counts are overwritten by the next call. They are nil if
// o is nil.
func (o *Outside) Add(set *Set) []int32 {
	if o == nil {
		return nil
	}
	o.counts = append(o.counts[:0], make([]int32, set.Len())...)
	next := set.pass()
	for i := range o.counts {
		row := next(i)
		o.rows++
		for j, v := range row {
			in := &o.inputs[j]
			if in.of < 0 {
				continue
			}
			t := &o.tallies[in.of]
			x := in.mean + float64(in.scale*float64(v))
			t.all.count++
			if logarithm := octaves(x); math.Abs(x) > t.slack {
				t.all.sized++
				t.all.octaves += logarithm
				switch {
				case logarithm < t.low:
					t.small++
				case logarithm > t.high:
					t.large++
				}
			}
			if v < in.low || v > in.high {
				o.counts[i]++
				t.add(&o.schema.Ranges[in.of], x, o.rows)
			}
		}
		if o.counts[i] > 0 {
			o.out++
		}
	}
	return o.counts
}

// add counts a number outside.
func (t *tally) add(r *Range, x float64, row int) {
	if t.last != row {
		t.rows, t.last = t.rows+1, row
	}
	if t.outside.count++; math.Abs(x) > t.slack {
		t.outside.sized++
		t.outside.octaves += octaves(x)
	} else {
		x = 0
	}
	t.least, t.most = min(t.least, x), max(t.most, x)
	for k, factor := range slips {
		if v := x / factor; v >= r.Min-t.slack && v <= r.Max+t.slack {
			t.back[k]++
		}
	}
}

// Thresholds of a slip of units.
const (
	nearly   = .9         // of the numbers outside, or of all numbers, are explained by it
	apart    = octave / 2 // a ratio of magnitudes within a factor of 1.4 is near it, and of many numbers one within 1.2
	enough   = 20         // are many numbers: they tell a slip although none of them lies outside
	usual    = .5         // of the span from the quantile at 5 % to that at 95 % is what the numbers outside span, divided by the factor, if they are many
	majority = .5         // of a column's numbers lie outside: then all its numbers are taken to have the slip
	plain    = 100        // the least factor that tells a slip of few numbers among others: 10 times a usual number may be rare
)

// broken reports whether most numbers of a column lie outside.
func (t *tally) broken() bool {
	return t.all.count > 0 && float64(t.outside.count) >= majority*float64(t.all.count)
}

// slip is the slip of units that explains a column's numbers; −1 if there is none.
func (t *tally) slip(r *Range) int {
	many := t.all.sized >= enough
	back := func(k int) bool { return float64(t.back[k]) >= nearly*float64(t.outside.count) }
	of, explains := t.outside, func(k int) bool { return back(k) && (slips[k] >= plain || slips[k] <= 1./plain) }
	switch {
	case r.Magnitude == 0:
		return -1
	case t.broken():
		of, explains = t.all, func(k int) bool {
			span := (t.most - t.least) / slips[k]
			return back(k) && (!many || span >= usual*(r.Quantiles[len(RangeLevels)-2]-r.Quantiles[1]))
		}
	case many && float64(max(t.small, t.large)) >= nearly*float64(t.all.sized):
		of, explains = t.all, func(k int) bool { return slips[k] > 1 == (t.large > t.small) }
	}
	if of.sized == 0 {
		return -1
	}
	best, nearest := -1, int64(apart)
	if many {
		nearest = apart / 2
	}
	for k, factor := range slips {
		off := of.octaves/int64(of.sized) - octaves(r.Magnitude) - octaves(factor) + octaves(1)
		if off = max(off, -off); explains(k) && off <= nearest {
			best, nearest = k, off
		}
	}
	return best
}

// Findings say what was found in a file: that the run has no ranges, or which columns have rows outside, and slips of units.
func (o *Outside) Findings(file string) (found []finding.Finding) {
	if o == nil {
		return []finding.Finding{finding.Of(finding.NoRanges{})}
	}
	var columns []string
	slipped := make([][]string, len(slips))
	cells, all, broken, explained := 0, 0, 0, 0
	for k := range o.tallies {
		t, r := &o.tallies[k], &o.schema.Ranges[k]
		cells, all = cells+t.outside.count, all+t.all.count
		if t.rows > 0 {
			columns = append(columns, finding.OutsideColumn(o.schema.rangeTitle(k), t.rows, t.least, t.most, r.Min, r.Max))
		}
		if slip := t.slip(r); slip >= 0 {
			slipped[slip] = append(slipped[slip], o.schema.rangeTitle(k))
			explained++
		}
		if t.broken() {
			broken++
		}
	}
	if o.out > 0 {
		f := finding.OutsideRows{Columns: finding.FewOf(columns), Rows: o.out, Of: o.rows, File: file}
		if o.schema.Columns == nil {
			f.Share = float64(cells) / float64(all)
		}
		found = append(found, finding.Of(f))
	}
	for k, names := range slipped {
		if names != nil && 2*explained >= broken { // else the columns have another fault, such as their order
			larger, factor := slips[k] > 1, max(slips[k], 1/slips[k])
			found = append(found, finding.Of(finding.OtherUnits{Columns: finding.FirstOf(names), File: file, Factor: math.Round(factor*10) / 10, Larger: larger}))
		}
	}
	return found
}

// rangeTitle names the inputs of a range in a sentence.
func (s *Schema) rangeTitle(k int) string {
	switch {
	case s.Columns != nil && s.Named:
		return strconv.Quote(s.Ranges[k].Column)
	case s.Columns != nil:
		return "number " + s.Ranges[k].Column
	case len(s.Ranges) == 1:
		return ""
	case len(s.Shape) == 3:
		return fmt.Sprint("channel ", k)
	}
	return fmt.Sprint("feature ", k)
}

// LookOutside notes which inputs lie outside (Outside) of the examples that are evaluated: Test, or Train without them. They are others
// than the run's own.
func (p *Problem) LookOutside() {
	o, set := p.Schema.Outside(), p.Test
	if set == nil {
		set = p.Train
	}
	o.Add(set)
	p.Noted = append(p.Noted, o.Findings(p.Name)...)
}

// So many rows of a part, and such a share of them, lie outside by no chance.
const (
	manyRows  = 5
	manyShare = .2
)

// partsOutside finds parts beside the training rows that seem to be in another unit than the training rows, or of which many rows lie outside.
func (p *Problem) partsOutside() (found []finding.Finding) {
	for _, part := range []struct {
		name string
		set  *Set
	}{{"the validation part", p.Validate}, {"the test part", p.Test}, {"the calibration part", p.Calibrate}} {
		o := p.Schema.Outside()
		if o == nil || part.set == nil || part.set.Features() != len(o.inputs) {
			continue
		}
		if o.Add(part.set); o.out >= manyRows && float64(o.out) > manyShare*float64(o.rows) {
			found = append(found, o.Findings(part.name)...)
		}
	}
	return found
}
