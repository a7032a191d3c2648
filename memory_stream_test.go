package starling

import (
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/starling-smc/starling/filtering"
)

// sender sends so many scans of one number, without holding their text.
type sender struct {
	n, of int
	rest  []byte
}

func (s *sender) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.n == s.of {
			return 0, io.EOF
		}
		s.n++
		s.rest = append(s.rest, `{"time": `...)
		s.rest = strconv.AppendInt(s.rest, int64(s.n), 10)
		s.rest = append(s.rest, `, "measurements": [[`...)
		s.rest = strconv.AppendInt(s.rest, int64(s.n%7-3), 10)
		s.rest = append(s.rest, "]]}\n"...)
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// TestStreamsDoNotGrow: the memory that a filter holds after 100,000 scans is that after 20,000, within 10 bytes a scan. A trace in memory
// has 400 and more.
func TestStreamsDoNotGrow(t *testing.T) {
	const early, late, bound = 20_000, 100_000, 10
	s := filteringOf(t, "model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}\nmethod: kalman\n")
	held := map[int]uint64{}
	r, err := Filter(t.Context(), s, FilterOptions{Stream: &sender{of: late}, Line: func(l *filtering.Line) error {
		if l.K == early || l.K == late {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			held[l.K] = m.HeapAlloc
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Metrics.Scans != late || held[early] == 0 {
		t.Fatalf("%d scans, %d bytes", r.Metrics.Scans, held[early])
	}
	if grown := float64(held[late]) - float64(held[early]); !(grown <= bound*(late-early)) {
		t.Errorf("%.0f bytes more after %d scans than after %d: %.1f a scan", grown, late, early, grown/(late-early))
	} else {
		t.Logf("%.2f bytes a scan", grown/(late-early))
	}
}
