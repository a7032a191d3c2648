package data

import (
	"strings"
	"testing"
)

// TestOneImage: an array of another shape than the run's is told how to get it.
func TestOneImage(t *testing.T) {
	for _, c := range []struct {
		have, want []int
		says       string
	}{
		{[]int{8}, []int{1, 8, 8}, "x[None]"}, {[]int{64}, []int{1, 8, 8}, "x.reshape(-1, 1, 8, 8)"}, {[]int{192}, []int{3, 8, 8}, "x.reshape(-1, 3, 8, 8)"},
		{[]int{1, 8, 3}, []int{3, 8, 8}, "np.moveaxis(x, -1, 0)[None]"}, {[]int{8, 8, 3}, []int{3, 8, 8}, "np.moveaxis(x, -1, 1)"},
		{[]int{8}, []int{9}, ""}, {[]int{60}, []int{1, 8, 8}, ""},
	} {
		got := otherSize("f", c.have, c.want)
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%v for %v: %q, want %q", c.have, c.want, got, c.says)
		}
	}
}
