package data

import "math"

// Slip is the slip of units that would explain numbers of some mean and standard deviation where those of a Standard were learnt: they are
// so many times larger, or, below 1, smaller. It is 0 if there is none. Divided by it, they vary about as much, and about the same mean.
func (s *Standard) Slip(j int, mean, sd float64) float64 {
	if !(sd > 0 && s.SD[j] > 0) {
		return 0
	}
	best, nearest := 0., math.Log(1.5)
	for _, factor := range slips {
		off := math.Abs(math.Log(sd / s.SD[j] / factor))
		if off <= nearest && math.Abs(mean/factor-s.Mean[j]) <= s.SD[j] {
			best, nearest = factor, off
		}
	}
	return best
}
