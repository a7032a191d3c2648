package data

import (
	"fmt"
	"math"
	"slices"
)

// fitChannels measures each channel of n images of a shape [channels, height, width]: mean and population deviation over all pixels of all
// images. Every pixel is measured first, as by fitStandard; with m of them, of means μ_j and deviations σ_j, a channel has
//
//	mean = Σ_j μ_j / m,   deviation² = Σ_j (σ_j² + (μ_j − mean)²) / m
//
// A channel that is constant has deviation 0 and becomes 0 everywhere, as a constant feature does: nothing can be learnt about its effect.
func fitChannels(n int, shape []int, row func(i int, dst []float64)) *Standard {
	pixels := fitStandard(n, size(shape), 1, row)
	channels, m := shape[0], size(shape[1:])
	s := &Standard{Mean: make([]float64, channels), SD: make([]float64, channels), To: 1}
	for c := range channels {
		mean, sd := pixels.Mean[c*m:][:m], pixels.SD[c*m:][:m]
		if !slices.ContainsFunc(sd, func(v float64) bool { return v != 0 }) && slices.Min(mean) == slices.Max(mean) {
			s.Mean[c] = mean[0] // the mean of equal values need not equal them in floating point
			continue
		}
		for _, v := range mean {
			s.Mean[c] += v
		}
		s.Mean[c] /= float64(m)
		for j, v := range mean {
			d := v - s.Mean[c]
			s.SD[c] += float64(d*d) + float64(sd[j]*sd[j])
		}
		s.SD[c] = math.Sqrt(s.SD[c] / float64(m))
	}
	return s
}

// noChannels says why examples of a shape cannot be standardised by channels.
func noChannels(name string, shape []int) error {
	return fieldError("standardise", "the examples of %s have the shape %v, without channels: want inputs or none, or images [examples, channels, height, width]", name, shape)
}

// channelled returns a set whose channels are standardised where a network loads it: the numbers in memory stay those of the file. It fails
// if a number would be beyond float32.
func (s *Standard) channelled(set *Set) (*Set, error) {
	t := *set
	t.Channels = s
	channels := len(s.Mean)
	if set.U8 != nil { // no byte is beyond
		return &t, nil
	}
	per, next := set.Features()/channels, set.pass()
	for i := range set.Len() {
		for f, v := range next(i) {
			c := f / per
			if d := (float64(v) - s.Mean[c]) / s.SD[c]; s.SD[c] != 0 && !(math.Abs(d) <= math.MaxFloat32) {
				return nil, fmt.Errorf("data set %q: example %d, feature %d is %g when standardised, too large for a float32", set.Name, i, f, d)
			}
		}
	}
	return &t, nil
}
