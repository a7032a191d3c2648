package starling

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/testkit"
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

// TestStreamsDoNotGrow: the memory that a filter holds after 100,000 scans is that after 20,000, within 10 bytes a scan, without a folder; with
// one, which keeps 1,000 scans, so it is after fewer, and the lines on the disk do not grow. A trace in memory has 400 bytes a scan and more.
func TestStreamsDoNotGrow(t *testing.T) {
	const bound = 10
	for name, c := range map[string]struct {
		scans int
		sets  []string
		dir   string
	}{"alone": {scans: 100_000}, "kept": {20_000, []string{"last=1000s"}, filepath.Join(t.TempDir(), "run")}} {
		o := FilterOptions{Stream: &sender{of: c.scans}, Options: Options{Every: 10 * time.Millisecond}}
		if c.dir != "" {
			var err error
			if o.Folder, err = TakeFolder(c.dir, FilterRuns); err != nil {
				t.Fatal(err)
			}
		}
		held, most := map[int]uint64{}, int64(0)
		o.Line = func(l *filtering.Line) error {
			if l.K == c.scans/5 || l.K == c.scans {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				held[l.K] = m.HeapAlloc
			}
			if info, err := os.Stat(filepath.Join(c.dir, "trace.jsonl")); err == nil && c.dir != "" {
				most = max(most, info.Size())
			}
			return nil
		}
		r, err := Filter(t.Context(), filteringOf(t, "model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}\nmethod: kalman\n", c.sets...), o)
		if err != nil {
			t.Fatal(err)
		}
		if c.dir != "" {
			o.Folder.Close()
		}
		if want := min(c.scans, 1000); r.Metrics.Scans+r.Metrics.Earlier != c.scans || c.dir != "" && r.Metrics.Scans != want || held[c.scans/5] == 0 {
			t.Fatalf("%s: %d scans after %d", name, r.Metrics.Scans, r.Metrics.Earlier)
		}
		if grown := float64(held[c.scans]) - float64(held[c.scans/5]); !(grown <= bound*float64(c.scans-c.scans/5)) {
			t.Errorf("%s: %.0f bytes more after %d scans than after %d", name, grown, c.scans, c.scans/5)
		}
		if most > 3<<20 { // of 20,000 scans they have 6 MB
			t.Errorf("%s: the trace has had %d bytes", name, most)
		}
	}
}

// TestFirstLinesAreMissing: a run may lack its first lines only if its config says so.
func TestFirstLinesAreMissing(t *testing.T) {
	for _, last := range []string{"", "12s"} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := filterIn(t.Context(), dir, filteringOf(t, filterings["time"], "last="+cmp.Or(last, "null")), FilterOptions{}); err != nil {
			t.Fatal(err)
		}
		trace := read(t, dir, "trace.jsonl")
		cut := trace[bytes.IndexByte(trace, '\n')+1:]
		save(t, filepath.Join(dir, "trace.jsonl"), cut)
		manifest := read(t, dir, "manifest.json")
		manifest = bytes.Replace(manifest, fmt.Appendf(nil, "%x", sha256.Sum256(trace)), fmt.Appendf(nil, "%x", sha256.Sum256(cut)), 1)
		save(t, filepath.Join(dir, "manifest.json"), testkit.Seal(manifest))
		run, err := OpenFilterRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		scans := 0
		for _, failed := range run.Steps() {
			scans, err = scans+1, errors.Join(err, failed)
		}
		if missing := err != nil && strings.Contains(err.Error(), "the first line is that of k 2: lines are missing"); missing != (last == "") || !missing && (err != nil || scans != 11) {
			t.Errorf("last %q: %d scans, %v", last, scans, err)
		}
	}
}
