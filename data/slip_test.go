package data

import "testing"

func TestSlipOfTargets(t *testing.T) {
	s := &Standard{Mean: []float64{50}, SD: []float64{10}, To: 1}
	for _, c := range []struct{ mean, sd, want float64 }{
		{50, 10, 0}, {500, 100, 10}, {50000, 9000, 1000}, {.5, .11, .01}, {1270, 250, 25.4}, // a slip
		{500, 10, 0}, {50, 100, 0}, {-500, 100, 0}, {200, 40, 0}, {500, 0, 0}, // none
	} {
		if got := s.Slip(0, c.mean, c.sd); got != c.want {
			t.Errorf("mean %v, sd %v: %v, want %v", c.mean, c.sd, got, c.want)
		}
	}
}
