package filtering

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/runs"
)

// Last says which lines a run keeps: those of the last scans, as long a time as 90s, 15m, 1h or 7d before the last one, or as many bytes as
// 500MB or 2GB. Empty: all lines.
type Last string

// day is the unit of time that time.ParseDuration lacks, in seconds.
const day = 86400

// window is the length of a Last: seconds, or else bytes.
func (l Last) window() (seconds float64, bytes int64, err error) {
	text := strings.TrimSpace(string(l))
	for _, s := range numeral.ByteUnits {
		if number, ok := strings.CutSuffix(text, s.Name); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if n *= s.Bytes; err == nil && n >= 1 && n < 1e18 {
				return 0, int64(n), nil
			}
			return 0, 0, l.wrong()
		}
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		seconds, err = strconv.ParseFloat(number, 64)
		seconds *= day
	} else {
		var d time.Duration
		d, err = time.ParseDuration(text)
		seconds = d.Seconds()
	}
	if err != nil || !(seconds > 0 && seconds < 1e18) {
		return 0, 0, l.wrong()
	}
	return seconds, 0, nil
}

func (l Last) wrong() error {
	return fmt.Errorf("%q: want a time, as in 90s, 15m, 1h or 7d, or a size, as in 500MB or 2GB", string(l))
}

// Check implements config.Checker.
func (l Last) Check(f *config.Faults) {
	if l == "" {
		return
	}
	if _, _, err := l.window(); err != nil {
		f.Add("", "%v", err)
	}
}

// First is the number of the first scan whose line is kept, of those so far. The last line always is.
func (l Last) First(so runs.Lines) (k int, err error) {
	seconds, size, err := l.window()
	if err != nil {
		return 0, err
	}
	type line struct {
		k    int
		at   float64
		size int64
	}
	each := func(yield func(line) (more bool)) error {
		for l, err := range so {
			if err != nil {
				return err
			}
			at, size, err := measured(l)
			if err != nil {
				return fmt.Errorf("k %d: %w", l.K, err)
			}
			if !yield(line{l.K, at, size}) {
				return nil
			}
		}
		return nil
	}
	var last line
	all := int64(0)
	if err := each(func(l line) bool {
		last, all = l, all+l.size
		return true
	}); err != nil {
		return 0, err
	}
	err = each(func(l line) bool {
		needed := l.at > last.at-seconds
		if size > 0 {
			needed = all <= size
		}
		k, all = l.k, all-l.size
		return !needed
	})
	return k, err
}

// measured is the time of a scan, and the bytes of its line in the trace without the computer's times: they are the same whenever and wherever
// the scan was filtered.
func measured(l runs.TraceLine) (at float64, size int64, err error) {
	var s struct {
		At Number `json:"at"`
	}
	if err := json.Unmarshal(l.Fields, &s); err != nil {
		return 0, 0, err
	}
	_, rest, _ := bytes.Cut(l.Fields, []byte(",")) // the lag comes first
	return float64(s.At), int64(len(rest)), nil
}
