package filtering

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/numeral"
)

// spreading collects numbers for a Spread. The first exactly are kept. Of more, least, greatest and mean are exact, and the median is found
// among counts of numbers that agree in their first digits: within 1 part in 2048. The memory is bounded, whatever the order of the numbers.
type spreading struct {
	list           []float64      // while there are few
	bins           map[uint64]int // of many: how many numbers have these first bits, by order
	n              int            // numbers
	sum, low, high float64        // of many
}

const (
	exactly   = 1 << 14 // numbers of which the median is exact
	droppedOf = 52 - 10 // bits of a number that the bins drop
	signBit   = uint64(1) << 63
)

func (s *spreading) addSome(v *Number) {
	if v != nil {
		s.add(float64(*v))
	}
}

func (s *spreading) add(v float64) {
	if s.n++; s.n <= exactly {
		s.list = append(s.list, v)
		return
	}
	if s.bins == nil {
		s.bins, s.low, s.high = map[uint64]int{}, math.Inf(1), math.Inf(-1)
		for _, v := range s.list {
			s.count(v)
		}
		s.list = nil
	}
	s.count(v)
}

func (s *spreading) count(v float64) {
	s.sum += v
	s.low, s.high = min(s.low, v), max(s.high, v)
	if v-v == 0 { // the median is that of the finite numbers
		s.bins[ordered(v)>>droppedOf]++
	}
}

// ordered are the bits of a number in an order that is that of the numbers.
func ordered(v float64) uint64 {
	if b := math.Float64bits(v); b&signBit != 0 {
		return ^b
	} else {
		return b | signBit
	}
}

// unordered is the inverse of ordered.
func unordered(b uint64) float64 {
	if b&signBit != 0 {
		return math.Float64frombits(b &^ signBit)
	}
	return math.Float64frombits(^b)
}

func (s *spreading) spread() *Spread {
	switch {
	case s.n == 0:
		return nil
	case s.bins != nil:
		return &Spread{Number(s.low), Number(s.median()), Number(s.sum / float64(s.n)), Number(s.high)}
	}
	mean := 0.0
	for _, v := range s.list {
		mean += v / float64(len(s.list))
	}
	return &Spread{Number(slices.Min(s.list)), Number(numeral.Median(s.list)), Number(mean), Number(slices.Max(s.list))}
}

// median is the middle of the bin with the median, within the range of the numbers; NaN without a finite one.
func (s *spreading) median() float64 {
	var bins []uint64
	finite := 0
	for b, n := range s.bins {
		bins, finite = append(bins, b), finite+n
	}
	slices.Sort(bins)
	below := 0
	for _, b := range bins {
		if below += s.bins[b]; 2*below >= finite {
			middle := unordered(b<<droppedOf | 1<<(droppedOf-1))
			return max(s.low, min(s.high, middle))
		}
	}
	return math.NaN()
}

// kinds are spreadings of shares of each kind of decision.
type kinds struct{ joint, index, refine spreading }

func (k *kinds) add(a *Accept) {
	if a != nil {
		k.joint.addSome(a.Joint)
		k.index.addSome(a.Index)
		k.refine.addSome(a.Refine)
	}
}

// spreads are those of the kinds that there were; nil: there were none.
func (k *kinds) spreads() *Spreads {
	if s := (Spreads{k.joint.spread(), k.index.spread(), k.refine.spread()}); s != (Spreads{}) {
		return &s
	}
	return nil
}
