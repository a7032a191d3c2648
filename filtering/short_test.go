package filtering

import (
	"math"
	"strings"
	"testing"
)

// TestShort: a short line has positions with the digits that their standard deviations allow, and says what is doubtful.
func TestShort(t *testing.T) {
	track := func(id string, lost bool, x, y, vx, vy float64) Track {
		return Track{ID: id, Lost: lost, Estimate: Estimate{Mean: []Number{-3.2149, 1234.567, 9, 9}, Cov: [][]Number{{Number(vx * vx)}, {0, Number(vy * vy)}, {0, 0, 1}, {0, 0, 0, 1}}}}
	}
	many := []Track{}
	for range 8 {
		many = append(many, track("1", false, 0, 0, 1, 1))
	}
	for want, l := range map[string]Line{
		"12.5  34 returns  1 (−3.21 ± 0.12, 1,235 ± 15)  2 (−3.2149 ± 0.0021, 1,234.6 ± 1.0)?": {
			Time: "12.5", Returns: 34, Tracks: []Track{track("1", false, 0, 0, 0.123, 15.2), track("2", true, 0, 0, 0.00214, 1)}, Ancestors: 20, ESS: known(50), RHat: known(3), Surprise: known(0.0011)},
		"2024-01-01  1 return  (0.50 ± 0.30)  ? 3 ancestors, ESS 12, R-hat 3.1, surprise 0.001": {
			Time: "2024-01-01", Returns: 1, Estimate: &Estimate{Mean: []Number{0.5}, Cov: [][]Number{{0.09}}}, Ancestors: 3, ESS: known(12), RHat: known(3.1), Surprise: known(0.001)},
		"1  0 returns  (1.500 ± 0, 2.000 ± –)": {
			Time: "1", Estimate: &Estimate{Mean: []Number{1.5, 2}, Cov: [][]Number{{0}, {0, Number(math.NaN())}}}},
	} {
		if got := l.Short(1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&Line{Time: "1", Tracks: many}).Short(1); !strings.HasSuffix(got, "  and 2 more targets") {
		t.Errorf("%q", got)
	}
}
