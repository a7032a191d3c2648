package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/filtering"
)

// TestThinning: few values are all kept. Of many one of each stretch is, at random places, and both ends; no more than most, however many there are.
func TestThinning(t *testing.T) {
	const most = 64
	for _, n := range []int{0, 1, 2, most - 1, most, most + 1, 2 * most, 1000, 100_000} {
		made := 0
		keep := thinning[int]{most: most}
		for i := range n {
			keep.add(func() int {
				made++
				return i
			})
		}
		got := keep.all()
		if n <= most {
			if len(got) != n || n > 0 && (keep.each != 1 || got[n-1] != n-1) {
				t.Errorf("of %d values %v", n, got)
			}
			continue
		}
		if len(got) > most+2 || len(got) < most/2 || got[0] != 0 || got[len(got)-1] != n-1 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("of %d values %v", n, got)
		}
		for stretch := range n / keep.each {
			in := 0
			for _, v := range keep.list {
				if v.at/keep.each == stretch {
					in++
				}
			}
			if in != 1 {
				t.Errorf("of %d values stretch %d of %d has %d", n, stretch, keep.each, in)
			}
		}
		if n == 100_000 && made > 12*most { // most, and half as many each time that stretches become longer
			t.Errorf("%d values were made", made)
		}
	}
}

// TestThinningTakesNoSide: values at even and odd places are kept alike, in stretches of 2, 4 and 8, each with probability 1/2, whether a stretch was
// drawn at once or by halving. Of 4,096 stretches the share has sd .5/√4096 = .0078; 5 sd fail once in 1.7e6, and a twelfth more of one side is seen.
func TestThinningTakesNoSide(t *testing.T) {
	for each := 2; each <= 8; each *= 2 {
		odd, keep := 0, thinning[int]{most: 4096}
		for v := range 4096 * each {
			keep.add(func() int { return v })
		}
		for _, v := range keep.list {
			odd += v.at % 2
		}
		if share := float64(odd) / 4096; !(share > 0.461 && share < 0.539) || len(keep.list) != 4096 {
			t.Errorf("of stretches of %d, %.4f of %d values are at odd places", each, share, len(keep.list))
		}
	}
}

// TestPageOfMany: a page that draws some of the scans says so, and its counts and sums are those of all.
func TestPageOfMany(t *testing.T) {
	f := crossing(20)
	f.Of = &Whole{Scans: 160_000, Each: 32, Metrics: &filtering.Metrics{
		Scans: 160_000, Returns: 1_234_567, Missing: 89, Evaluated: 3, Skipped: 1, ESS: &filtering.Spread{Min: 7, Median: 210},
	}}
	f.Last = "The run keeps the lines of the last 1h."
	for k := range f.Scans {
		f.Scans[k].Since = 2
	}
	var page strings.Builder
	if err := WriteFilter(&page, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"160,000 scans, 1", "1,234,567 measurements in 160,000 scans", "The page draws 20 of the 160,000 scans: one of each 32 that follow one another", "Another 89 measurements",
		"the worst scan: 7", "independent draws (median over the scans", "scans are 2\u00a0s apart", "25.0\u00a0% of all terms were left out", "of the last 1h", "over the scans that are drawn",
	} {
		if text := strings.Join(strings.Fields(strings.ReplaceAll(page.String(), `<span class="whole">`, "")), " "); !strings.Contains(strings.ReplaceAll(text, "</span>", ""), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, not := range []string{"20 scans,", "over all scans"} {
		if strings.Contains(page.String(), not) {
			t.Errorf("the page says %q", not)
		}
	}
}
