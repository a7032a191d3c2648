package data

import (
	"slices"
	"strings"
	"time"
)

// dates are the forms of dates and times of day that a column may have in place of words.
var dates = []string{
	"2006-01-02", "2006/01/02", "2006.01.02", "2006-01", "02.01.2006", "2.1.2006", "2.1.06", "02/01/2006", "1/2/2006", "2/1/2006", "1/2/06", "2/1/06",
	"02-01-2006", "1-2-2006", "2-1-2006", "2-Jan-2006", "2-Jan-06", "2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2006", "January 2006",
	time.RFC1123, time.RFC1123Z, time.ANSIC,
}

// isDate reports whether a text is a date, a time of day or both.
func isDate(text string) bool {
	if len(text) < 4 || len(text) > 40 {
		return false
	}
	day, clock := text, ""
	if k := strings.IndexAny(text, "T"); k > 0 && k+1 < len(text) && text[k+1] >= '0' && text[k+1] <= '9' {
		day, clock = text[:k], text[k+1:]
	} else if k := strings.LastIndexByte(text, ' '); k > 0 && strings.Contains(text[k:], ":") {
		day, clock = text[:k], text[k+1:]
	}
	isTime := func(s string) bool {
		return slices.ContainsFunc([]string{"15:04", "15:04:05", "15:04Z07:00", "15:04:05Z07:00", "15:04:05Z0700", "15:04:05-07"}, func(form string) bool {
			_, err := time.Parse(form, s)
			return err == nil
		})
	}
	if isTime(text) {
		return true
	}
	if clock != "" && !isTime(clock) {
		day = text
	}
	return slices.ContainsFunc(dates, func(form string) bool {
		_, err := time.Parse(form, day)
		return err == nil
	})
}
