package data

import (
	"fmt"
	"math"
)

// A network computes in float32. Inputs and targets that are not standardised keep their scale, which must be one that float32
// has: numbers below the smallest normal one would become 0, and the squares of very large ones overflow.
const (
	smallestScale = 0x1p-126
	largestScale  = 0x1p64
)

// scaleFault says what is wrong with numbers whose largest magnitude is given and that stay as they are; nil if nothing is.
// what names them, and standardise is the setting that would scale them. Numbers beyond float32 are refused where they stand.
func scaleFault(what string, largest float64, standardise string) error {
	mend := fmt.Sprintf("change the unit, or standardise (data.standardise: %s)", standardise)
	switch {
	case largest > 0 && largest < smallestScale:
		return fmt.Errorf("%s: no number is larger than %.3g, too small for the float32 in which a network computes: %s", what, largest, mend)
	case largest > largestScale && largest <= math.MaxFloat32:
		return fmt.Errorf("%s: numbers as large as %.3g, whose squares overflow the float32 in which a network computes: %s", what, largest, mend)
	}
	return nil
}

// LargeScale names training inputs or targets that are not standardised and far from 1, and says what to do: their likelihoods
// may be too different for a sampler. It is empty if there are none.
func (p *Problem) LargeScale() string {
	const far = 100
	train := p.Train
	if train.U8 == nil && p.Schema.Inputs == nil && p.Schema.Channels == nil {
		top, next := float32(0), train.pass()
		for i := range train.Len() {
			top = max(top, magnitude(next(i)))
		}
		if top > far {
			return tooLarge("inputs", "inputs", top)
		}
	}
	if top := magnitude(train.Values); p.Schema.Targets == nil && top > far {
		return tooLarge("targets", "both", top)
	}
	return ""
}

// magnitude is the largest magnitude of some numbers.
func magnitude(values []float32) (top float32) {
	for _, v := range values {
		top = max(top, v, -v)
	}
	return top
}

func tooLarge(what, standardise string, top float32) string {
	return fmt.Sprintf("%s as large as %.3g are not standardised: change their unit, or standardise (data.standardise: %s)", what, top, standardise)
}

// Arrays of floats whose mean is farther from 0 than so many deviations have few digits of their deviations in a float32.
const farFromZero = 1 << 12

// checkChannels refuses channels of floats that lose their digits in float32, in which images stay as the file has them.
func (s *Standard) checkChannels(name string) error {
	for c, sd := range s.SD {
		if sd != 0 && !(sd >= smallestScale && math.Abs(s.Mean[c]) <= farFromZero*sd) {
			return fmt.Errorf("%s: channel %d has mean %.6g and standard deviation %.3g, too few digits of which a float32 holds: subtract the mean from the file's numbers", name, c, s.Mean[c], sd)
		}
	}
	return nil
}

// largest is the largest finite magnitude in some rows of width values. Integers have no scale that float32 lacks: for them it
// is 1.
func largest(a *Array, rows []int32, width int) float64 {
	if !a.Floats() {
		return 1
	}
	top, x, next := 0.0, make([]float64, width), reader(a, width)
	for _, i := range rows {
		next(int(i), x)
		for _, v := range x {
			if v = math.Abs(v); v > top && v <= math.MaxFloat64 {
				top = v
			}
		}
	}
	return top
}
