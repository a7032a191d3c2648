package stated

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		n    int64
		most int
		ok   bool
	}{{0, 0, true}, {-1, 5, false}, {5, 5, true}, {6, 5, false}, {math.MinInt64, math.MaxInt, false}, {0, -1, false}} {
		if v, ok := Int(c.n, c.most); ok != c.ok || ok && int64(v) != c.n {
			t.Errorf("%d of at most %d: %d, %v", c.n, c.most, v, ok)
		}
	}
	if v, ok := Int(uint64(math.MaxUint64), math.MaxInt); ok {
		t.Errorf("2⁶⁴ − 1 is %d", v)
	}
	for _, c := range []struct {
		a, b, most int
		want       int // −1: none
	}{{3, 4, 12, 12}, {3, 4, 11, -1}, {1 << 32, 1 << 32, math.MaxInt, -1}, {1 << 31, 1 << 31, math.MaxInt, 1 << 62}, {-1, -1, 9, -1}, {0, math.MaxInt, 0, 0}, {math.MaxInt, math.MaxInt, math.MaxInt, -1}, {0, 0, -1, -1}} {
		if v, ok := Product(c.a, c.b, c.most); ok != (c.want >= 0) || ok && v != c.want {
			t.Errorf("%d × %d of at most %d: %d, %v", c.a, c.b, c.most, v, ok)
		}
	}
	b := []byte("abcd")
	for n, ok := range map[int64]bool{0: true, 4: true, 5: false, -1: false} {
		if first, rest, is := Cut(b, n); is != ok || is && (len(first) != int(n) || string(first)+string(rest) != "abcd" || cap(first) != int(n)) {
			t.Errorf("%d bytes of 4: %q, %q, %v", n, first, rest, is)
		}
	}
}
