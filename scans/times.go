package scans

import (
	"cmp"
	"fmt"
	"time"

	"github.com/starling-smc/starling/internal/cells"
)

// kind is how a source writes its times. A source has one kind: dates without a zone, for example, cannot be compared with those
// that have one.
type kind string

const (
	inSeconds kind = "seconds"
	asDate    kind = "a date"
	asLocal   kind = "a date and time without a zone"
	asZoned   kind = "a date and time with a zone"
)

// instant is a time as it was read.
type instant struct {
	kind    kind
	seconds float64   // where the kind is inSeconds
	date    time.Time // in UTC if it was written without a zone. Numbers are dates, too, as if they counted from 1970: to the nanosecond
}

// compare orders two instants of one kind.
func (a instant) compare(b instant) int {
	if a.kind == inSeconds {
		return cmp.Compare(a.seconds, b.seconds)
	}
	return a.date.Compare(b.date)
}

// since is the number of seconds by which a is later than origin.
func (a instant) since(origin instant) float64 {
	whole, parts := a.date.Unix()-origin.date.Unix(), a.date.Nanosecond()-origin.date.Nanosecond()
	if byKind(a.kind) != nil && whole > -1e9 && whole < 1e9 { // a number: rounded once
		return float64(whole*1e9+int64(parts)) / 1e9
	}
	return float64(whole) + float64(parts)/1e9
}

// parseTime reads a number or ISO 8601. unit is that of numbers; empty: their size tells it.
func parseTime(text []byte, unit Unit) (instant, error) {
	if len(text) >= 10 && text[4] == '-' && text[7] == '-' {
		return parseISO(string(text))
	}
	return parseNumber(text, unit)
}

// parseISO reads a date, or a date and a time with or without a zone, with fractions of a second. Without a zone it is UTC.
func parseISO(written string) (instant, error) {
	text := written
	if date, err := time.Parse(time.DateOnly, text); err == nil {
		return instant{kind: asDate, date: date}, nil
	}
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	for _, clock := range []string{"15:04:05", "15:04"} {
		if date, err := time.Parse("2006-01-02T"+clock, text); err == nil {
			return instant{kind: asLocal, date: date}, nil
		}
		for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
			if date, err := time.Parse("2006-01-02T"+clock+zone, text); err == nil {
				return instant{kind: asZoned, date: date}, nil
			}
		}
	}
	return instant{}, noTime(written)
}

func noTime(text string) error {
	return fmt.Errorf("%q is not a time: want seconds, as in 12.5, or ISO 8601, as in 2013-01-31 or 2013-01-31T06:30:00.5Z", cells.Clip(text))
}

// clock checks that the times of scans go forward, and turns dates into seconds.
type clock struct {
	origin instant // of time 0, where times are relative
	last   instant // of the last good scan
	text   string  // of last
	time   float64 // of last, in seconds
	step   float64 // the longest between good scans
	any    bool    // there was a scan
}

// sameKind returns an error unless the source's times so far are of the kind of a.
func (c *clock) sameKind(a instant) error {
	if known := c.origin.kind; known != "" && a.kind != known {
		return fmt.Errorf("the time is %s, but times before it are %s: write all times in one way%s", nameKind(a.kind), nameKind(known), byUnit(a.kind, known))
	}
	return nil
}

// byUnit names the setting that settles kinds of which both are numbers.
func byUnit(a, b kind) string {
	for _, k := range []kind{a, b} {
		if byKind(k) == nil {
			return ""
		}
	}
	return ", or say their unit with scans.time_unit"
}

func nameKind(k kind) string {
	if k == inSeconds {
		return "a number of seconds"
	}
	return string(k)
}

// relative reports whether times count from the first. Seconds do so if they are large, as those since 1970: a float64 would lose digits of
// the steps between them.
func (c *clock) relative() bool {
	return c.origin.kind != inSeconds || !(c.origin.seconds > -earliest && c.origin.seconds < earliest)
}

// advance takes a scan at the instant a, and returns its time in seconds. After an error the clock is as before.
func (c *clock) advance(a instant, text string) (float64, error) {
	if err := c.sameKind(a); err != nil {
		return 0, err
	}
	if c.any {
		switch order := a.compare(c.last); {
		case order == 0:
			return 0, fmt.Errorf("the time %s is also that of the last scan: merge the two into one scan", cells.Clip(text))
		case order < 0:
			return 0, fmt.Errorf("the time %s is before %s, the time of the last scan: sort the scans by time", cells.Clip(text), cells.Clip(c.text))
		}
	}
	if c.origin.kind == "" {
		c.origin = a
	}
	at := a.seconds
	if c.relative() {
		at = a.since(c.origin)
	}
	if c.any && !(at > c.time) {
		return 0, fmt.Errorf("the time %s is too near to %s, the time of the last scan: in seconds the two are the same number", cells.Clip(text), cells.Clip(c.text))
	}
	if c.any {
		c.step = max(c.step, at-c.time)
	}
	c.last, c.text, c.time, c.any = a, text, at, true
	return at, nil
}
