package data

import (
	"fmt"
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

// TestAlikeGroups: groups that differ only in letter case are told; classes of yes and no are known in any.
func TestAlikeGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("g,x,\u00a0y\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%s,%d,%s\n", []string{"p1", "P1", "p2", "p3", "p4", "p5"}[i%6], i*i%17, []string{"True", "False"}[i%7%2])
	}
	file := put(t, t.TempDir(), "t.csv", b.String())
	p, err := Settings{CSV: &CSV{File: file, Target: "y", Group: "g"}}.Load("", Need{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, f := range p.Noted {
		if strings.Contains(f.Words(), `the groups "P1" and "p1"`) || strings.Contains(f.Words(), `the groups "p1" and "P1"`) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%v", p.Noted)
	}
}
