package chart

import (
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/numeral"
)

// extent is the range of an axis that is in use.
type extent struct {
	low, high float64
	any       bool // there is a value to show
	fixed     bool
	log       bool
}

func newExtent(a Axis) extent {
	e := extent{low: a.Min, high: a.Max, log: a.Log}
	e.fixed = a.Min != a.Max
	return e
}

// add extends the extent to a value, if the value can be shown.
func (e *extent) add(v float64) {
	if !e.shows(v) {
		return
	}
	if !e.fixed && !e.any {
		e.low, e.high = v, v
	}
	e.any = true
	if !e.fixed {
		e.low, e.high = min(e.low, v), max(e.high, v)
	}
}

// Values beyond these sizes are not shown: their differences would overflow or vanish.
const least, most = 1e-100, 1e100

// shows reports whether a value can be shown on the axis.
func (e *extent) shows(v float64) bool { return math.Abs(v) <= most && (!e.log || v >= least) }

// pair adds a point, if both of its coordinates can be shown.
func (e *extent) pair(other *extent, v, w float64) {
	if e.shows(v) && other.shows(w) {
		e.add(v)
		other.add(w)
	}
}

// scale maps values low … high to coordinates from … to. A value that cannot be shown becomes NaN.
type scale struct {
	low, high, from, to float64
	log                 bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if !(math.Abs(v) <= most) || s.log && v < least {
		return math.NaN()
	}
	if s.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	return s.from + float64((v-low)/(high-low)*(s.to-s.from))
}

// tick is a labelled place on an axis.
type tick struct {
	value float64
	text  string
}

// ticks chooses about n ticks. If outward, the ends move outward to the next tick, unless they are fixed.
func (a Axis) ticks(e *extent, n int, outward bool) []tick {
	if a.Log {
		return a.decades(e, n)
	}
	if a.Zero && !e.fixed {
		e.low, e.high = min(e.low, 0), max(e.high, 0)
	}
	if !(e.high-e.low > 1e-12*max(math.Abs(e.low), math.Abs(e.high), 1e-80)) { // a single value is placed in the middle
		room := max(math.Abs(e.low)/10, 1e-9)
		if a.Whole || e.low == 0 {
			room = 1
		}
		if e.low -= room; a.Zero || a.Whole && e.low < 0 {
			e.low = max(e.low, 0)
		}
		e.high += room
	}
	step := stepOf((e.high-e.low)/float64(n), a.Whole)
	first, last := math.Ceil(e.low/step-1e-9), math.Floor(e.high/step+1e-9)
	if outward && !e.fixed {
		first, last = math.Floor(e.low/step+1e-9), math.Ceil(e.high/step-1e-9)
		e.low, e.high = min(e.low, first*step), max(e.high, last*step)
	}
	var ticks []tick
	for k := first; k <= last; k++ {
		ticks = append(ticks, tick{k * step, a.format(k*step, step)})
	}
	return ticks
}

// stepOf is the smallest number of the form 1, 2, 2.5 or 5 times a power of ten that is not below v.
func stepOf(v float64, whole bool) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if whole && m == 2.5 && unit < 10 {
			continue
		}
		if m*unit >= v*(1-1e-9) {
			return atLeastOne(m*unit, whole)
		}
	}
	return atLeastOne(10*unit, whole)
}

func atLeastOne(v float64, whole bool) float64 {
	if whole {
		return max(v, 1)
	}
	return v
}

// decades returns ticks at powers of ten or, where these are too few, at 1, 2 and 5 times powers of ten.
func (a Axis) decades(e *extent, n int) []tick {
	if !(e.high > e.low*(1+1e-12)) {
		e.low, e.high = e.low/2, e.high*2
	}
	low, high := math.Floor(log10(e.low)+1e-9), math.Ceil(log10(e.high)-1e-9)
	every := max(1, math.Ceil((high-low)/float64(n)))
	high = float64(math.Ceil(high/every) * every)
	multiples := []float64{1}
	if high-low < 2.5 {
		multiples = []float64{1, 2, 5}
	}
	var all []tick
	for k := math.Floor(low/every) * every; k <= high; k += every {
		for _, m := range multiples {
			v := m * math.Pow(10, k)
			all = append(all, tick{v, a.format(v, v)})
		}
	}
	if e.fixed {
		return within(all, e.low, e.high)
	}
	// The ends move outward to the next tick.
	first, last := all[0].value, all[len(all)-1].value
	for _, t := range all {
		if t.value <= e.low*(1+1e-9) {
			first = t.value
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].value >= e.high*(1-1e-9) {
			last = all[i].value
		}
	}
	e.low, e.high = first, last
	return within(all, first, last)
}

func within(ticks []tick, low, high float64) (in []tick) {
	for _, t := range ticks {
		if t.value >= low*(1-1e-9) && t.value <= high*(1+1e-9) {
			in = append(in, t)
		}
	}
	return in
}

// format writes a tick with enough digits to distinguish it from the next tick.
func (a Axis) format(v, step float64) string {
	if math.Abs(v) < step*1e-6 {
		v = 0
	}
	if a.Percent {
		return number(100*v, 100*step) + "\u00a0%"
	}
	return number(v, step)
}

// log10 is math.Log10, rounded: it ends in a product, which a compiler would fuse with a sum.
func log10(v float64) float64 { return float64(math.Log10(v)) }

// number writes v with as many digits as values that differ by step need: 1,200 and 0.05 and 3·10⁻⁶, with a true minus
// sign.
func number(v, step float64) string {
	decimals := 0
	if step > 0 && step < 10 {
		decimals = max(int(math.Ceil(-log10(step)-1e-9)), 0)
		if scaled := float64(step * math.Pow(10, float64(decimals))); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
			decimals++ // 2.5, 0.25
		}
	}
	if v != 0 && finite(v) && (decimals > 4 || math.Abs(v) >= 1e6) {
		exponent := int(math.Floor(log10(math.Abs(v)) + 1e-12))
		digits := strconv.FormatFloat(v/math.Pow(10, float64(exponent)), 'g', 3, 64)
		mantissa := digits + "·"
		if digits == "1" || digits == "-1" {
			mantissa = strings.TrimSuffix(digits, "1")
		}
		return strings.Replace(mantissa, "-", "−", 1) + "10" + superscript(exponent)
	}
	return numeral.Fixed(v, decimals)
}

func superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵",
		"6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}
