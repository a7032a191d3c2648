package scans

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/config"
)

// Unit is the unit of times that are numbers; empty: the name of the column says it or, where it does not, their size.
type Unit string

// The units of a time.
const (
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Microseconds Unit = "us"
	Nanoseconds  Unit = "ns"
)

// measure is what is known of a unit.
type measure struct {
	unit  Unit
	kind  kind
	per   int64    // in a second
	words []string // by which the name of a column says it; the last stands in sentences
}

var measures = []measure{
	{Seconds, inSeconds, 1, []string{"s", "sec", "secs", "second", "seconds"}},
	{Milliseconds, "a number of milliseconds", 1e3, []string{"ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds"}},
	{Microseconds, "a number of microseconds", 1e6, []string{"us", "µs", "μs", "usec", "usecs", "micro", "micros", "microsecond", "microseconds"}},
	{Nanoseconds, "a number of nanoseconds", 1e9, []string{"ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"}},
}

// byKind is the row of the times of a kind; nil: they are no numbers.
func byKind(k kind) *measure {
	if i := slices.IndexFunc(measures, func(m measure) bool { return m.kind == k }); i >= 0 {
		return &measures[i]
	}
	return nil
}

// Check implements config.Checker.
func (u Unit) Check(f *config.Faults) {
	if u != "" {
		var units []string
		for _, m := range measures {
			units = append(units, string(m.unit))
		}
		f.OneOf("", string(u), units...)
	}
}

// Name is the unit in a sentence: milliseconds.
func (u Unit) Name() string {
	i := slices.IndexFunc(measures, func(m measure) bool { return m.unit == u })
	return measures[i].words[len(measures[i].words)-1]
}

// unitOf is the unit that a word of a name says; empty: none.
func unitOf(word string) Unit {
	for _, m := range measures {
		if slices.Contains(m.words, word) {
			return m.unit
		}
	}
	return ""
}

// Times further from 0 than latest cannot be: 3,000 years. A number of seconds since 1970 is between earliest and last where it is a
// date of 1979 to 2286, so that sizes tell seconds from milli-, micro- and nanoseconds: their ranges do not meet.
const latest, earliest, last = 1e11, 3e8, 1e10

// bySize is the unit of a number by its size; empty: none that can be.
func bySize(v float64) Unit {
	v = math.Abs(v)
	if v < latest {
		return Seconds
	}
	for _, u := range measures[1:] {
		if per := float64(u.per); v >= earliest*per && v < last*per {
			return u.unit
		}
	}
	return ""
}

// parseNumber reads a time that is a number; u is empty where its size tells the unit.
func parseNumber(text []byte, u Unit) (instant, error) {
	if len(text) == 0 {
		return instant{}, errors.New("the time is missing")
	}
	v, err := cells.Number(text)
	switch {
	case err == cells.ErrText:
		return instant{}, noTime(string(text))
	case err != nil:
		return instant{}, fmt.Errorf("the time %w", err)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return instant{}, fmt.Errorf("the time is %s: want a finite number of seconds", cells.Clip(string(text)))
	}
	if u == "" {
		if u = bySize(v); u == "" {
			return instant{}, impossible("the time %s cannot be: as seconds it is more than 3,000 years from 0, and as milli-, micro- or nanoseconds no date "+
				"from 1979 to 2286; if it has another beginning, say its unit with scans.time_unit", cells.Clip(string(text)))
		}
	}
	for i := range measures {
		if measures[i].unit == u {
			return measures[i].instant(text, v)
		}
	}
	return instant{}, fmt.Errorf("unknown unit of times %q", u)
}

// instant is the time v of a unit, of which text is the writing. Decimal numbers are exact to the nanosecond.
func (m *measure) instant(text []byte, v float64) (instant, error) {
	if math.Abs(v) >= float64(latest*float64(m.per)) {
		return instant{}, impossible("the time %s cannot be: %s of that size is more than 3,000 years", cells.Clip(string(text)), nameKind(m.kind))
	}
	at := instant{kind: m.kind}
	if m.kind == inSeconds {
		at.seconds = v
	}
	var ok bool
	if at.date, ok = m.exact(string(text)); !ok {
		whole := math.Floor(v / float64(m.per))
		rest := (v - float64(whole*float64(m.per))) / float64(m.per)
		at.date = time.Unix(int64(whole), int64(math.Round(rest*1e9))).UTC()
	}
	return at, nil
}

// exact is a decimal number of the unit as a date, to the nanosecond. ok is false for other forms of numbers.
func (m *measure) exact(text string) (date time.Time, ok bool) {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || whole[0] == '+' {
		return date, false
	}
	rest, err := strconv.ParseUint((part + "000000000")[:9], 10, 64)
	if err != nil || len(part) > 9 {
		return date, false
	}
	nanos := n%m.per*(1e9/m.per) + int64(rest)/m.per
	if whole[0] == '-' {
		nanos = n%m.per*(1e9/m.per) - int64(rest)/m.per
	}
	return time.Unix(n/m.per, nanos).UTC(), true
}

// impossibleTime is the error for a time that can be read, and cannot be.
type impossibleTime struct{ error }

func impossible(format string, args ...any) error { return impossibleTime{fmt.Errorf(format, args...)} }
