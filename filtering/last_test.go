package filtering

import (
	"fmt"
	"testing"

	"github.com/starling-smc/starling/internal/runs"
)

// TestLast: times and sizes are read as people write them, and everything else is refused.
func TestLast(t *testing.T) {
	for text, want := range map[Last]struct {
		seconds float64
		bytes   int64
	}{
		"90s": {90, 0}, "1h": {3600, 0}, "1h30m": {5400, 0}, "7d": {604800, 0}, "0.5d": {43200, 0}, "250ms": {0.25, 0},
		"500MB": {0, 500e6}, "2 GB": {0, 2e9}, "1.5kB": {0, 1500}, "1TB": {0, 1e12},
	} {
		seconds, bytes, err := text.window()
		if err != nil || seconds != want.seconds || bytes != want.bytes {
			t.Errorf("%q: %v seconds, %d bytes, %v", text, seconds, bytes, err)
		}
	}
	for _, text := range []Last{"1", "h", "0s", "-1h", "0MB", "-2GB", "NaNGB", "infd", "1e300d", "NaNd", "1 hour", "MB", "5mb", "1e40TB", " "} {
		if _, _, err := text.window(); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestFirstOfTheLast: a time keeps the scans after it, a size those whose lines fit, and the last scan is kept in any case. A line is as long
// whatever the computer's times.
func TestFirstOfTheLast(t *testing.T) {
	lines := func(lag string) runs.Lines {
		return func(yield func(runs.TraceLine, error) bool) {
			for k := 11; k <= 20; k++ { // each of 20 bytes without the lag
				l := runs.TraceLine{K: k, Fields: fmt.Appendf(nil, `{"lag":%s,"note":"x","at":%d}`, lag, 10*k)}
				if !yield(l, nil) {
					return
				}
			}
		}
	}
	for last, want := range map[Last]int{
		"1h": 11, "100s": 11, "90s": 12, "25s": 18, "10s": 20, "1ms": 20,
		"1kB": 11, "0.2kB": 11, "0.199kB": 12, "0.045kB": 19, "0.02kB": 20, "0.001kB": 20,
	} {
		for _, lag := range []string{"0", "0.0000123456789"} {
			if k, err := last.First(lines(lag)); err != nil || k != want {
				t.Errorf("last %s: from %d on, want %d, %v", last, k, want, err)
			}
		}
	}
	none := func(func(runs.TraceLine, error) bool) {}
	if k, err := Last("1h").First(none); err != nil || k != 0 {
		t.Errorf("of no lines: %d, %v", k, err)
	}
}
