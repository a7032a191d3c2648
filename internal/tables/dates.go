package tables

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// days are the forms of dates that a column may have in place of words. The form of a day or month of one digit reads one with a zero
// before it, too.
var days = []string{
	"2006-1-2", "2006/1/2", "2006.01.02", "2.1.2006", "2.1.06", "1/2/2006", "2/1/2006", "1/2/06", "2/1/06", "1-2-2006", "2-1-2006",
	"2-Jan-2006", "2-Jan-06", "2Jan2006", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2006 Jan 2",
	"Jan-2-2006", "Jan-2-06", "Jan/2/2006", "2/Jan/2006", "Jan 2 2006", "January 2 2006", "January-2-2006", "2-January-2006", "2006-Jan-2",
	time.ANSIC, time.UnixDate,
}

// months are those of months. A code may look like one: only that of a year from 1500 to 2299 is taken for a month.
var months = []string{"2006-01", "2006/01", "01/2006", "Jan-06", "Jan-2006", "Jan 2006", "January 2006", "2006 Jan"}

// times are those of times of day, and zones of what may follow them.
var (
	times = []string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM", "3:04PM", "3:04:05PM"}
	zones = []string{"Z07:00", "Z0700", "-07", "MST"}
)

// IsDate reports whether a text is a date, a time of day or both.
func IsDate(text string) bool {
	if len(text) < 4 || len(text) > 50 || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	if isTime(text) || isDay(text) || isPartOfYear(text) {
		return true
	}
	weekday, rest, _ := strings.Cut(text, " ")
	return isAny(strings.TrimSuffix(weekday, ","), "Monday", "Mon") && isDay(rest)
}

// isPartOfYear reports whether a text is a quarter, a half or a week of a year, as in 2005Q1, 2005-Q1, Q1 2005, 1Q2005, 2005H2 or 2005-W07.
func isPartOfYear(text string) bool { return partOfYear.MatchString(text) }

var partOfYear = regexp.MustCompile(`^(?i:(1[5-9]|2[0-2])[0-9]{2}[-/ ]?(Q[1-4]|H[12]|W[0-5][0-9])|(Q[1-4]|[1-4]Q|H[12])[-/ ]?(1[5-9]|2[0-2])[0-9]{2})$`)

// isDay reports whether a text is a date, with a time of day after it or without one.
func isDay(text string) bool {
	if isAny(text, days...) {
		return true
	}
	for _, form := range months {
		if t, err := time.Parse(form, text); err == nil && t.Year() >= 1500 && t.Year() < 2300 {
			return true
		}
	}
	for k := 1; k < len(text); k++ {
		switch day, clock := text[:k], text[k+1:]; text[k] {
		case ' ':
			if isTime(clock) && isAny(strings.TrimSuffix(day, ","), days...) {
				return true
			}
		case 'T':
			if isTime(clock) && isAny(day, days...) || isAny(day, "20060102") && isAny(clock, "1504", "150405", "1504Z0700", "150405Z0700") {
				return true
			}
		}
	}
	return false
}

// isTime reports whether a text is a time of day, with a zone after it, also after a blank, or without one.
func isTime(text string) bool {
	if text == "" || text[0] < '0' || text[0] > '9' || !strings.Contains(text, ":") {
		return false
	}
	if text = strings.ToUpper(text); isAny(text, times...) {
		return true
	}
	k := strings.LastIndexAny(text, " Z+-")
	return k > 0 && isAny(strings.TrimPrefix(text[k:], " "), zones...) && isAny(strings.TrimSuffix(text[:k], " "), times...)
}

// isAny reports whether a text has one of some forms.
func isAny(text string, forms ...string) bool {
	return slices.ContainsFunc(forms, func(form string) bool {
		_, err := time.Parse(form, text)
		return err == nil
	})
}
