package scans

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/starling-smc/starling/internal/cells"
	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/tables"
)

// What the names of columns say: which is the time and in which unit, and which tell rows or targets apart.

// plainTimes are the names of a time, and timeWords the words of one. Beside one of them a name may have words that say more of it.
var (
	plainTimes = []string{"time", "timestamp", "t", "date", "datetime"}
	timeWords  = append([]string{"ts", "epoch"}, plainTimes...)
	timeMore   = []string{"unix", "posix", "utc", "gps", "stamp", "of"}
)

// idNames are the words of names of columns that tell rows or targets apart.
var idNames = []string{"id", "track id", "trackid", "target id", "targetid", "object id", "objectid", "row id", "uuid"}

// wordsOf are the words of a name in small letters, without what is no letter between them.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
}

// timeName reports whether a column of a name is the time, by all of its words, and in which unit the name says it to be.
func timeName(name string) (u Unit, ok bool) {
	words := wordsOf(name)
	if len(words) > 6 || strings.ContainsFunc(name, unicode.IsDigit) {
		return "", false
	}
	for _, w := range words {
		spelled := unitOf(w)
		switch {
		case slices.Contains(timeWords, w):
			ok = true
		case spelled != "" && u == "":
			u = spelled
		case !slices.Contains(timeMore, w):
			return "", false
		}
	}
	return u, ok
}

// plainTime reports whether a name is that of a time alone: time, Timestamp, T.
func plainTime(name string) bool {
	return slices.Contains(plainTimes, strings.ToLower(strings.TrimSpace(name)))
}

// isID reports whether a column of a name tells rows or targets apart, or is the index that pandas writes.
func isID(name string) bool {
	return tables.IsIndex(name) || slices.Contains(idNames, strings.Join(wordsOf(name), " "))
}

// chooseTime chooses the column of the time: the one that is asked for, or that its name tells, or the first one that is not taken by
// the measurement. What is not plain is noted.
func (t *table) chooseTime(asked string, taken []int) (err error) {
	defer func() {
		if err == nil {
			t.unit, _ = timeName(t.header[t.time])
		}
	}()
	if asked != "" {
		t.time, err = t.column(asked)
		return err
	}
	var named, plain []int
	for j, name := range t.header {
		if _, ok := timeName(name); ok && !t.headless {
			named = append(named, j)
			if plainTime(name) {
				plain = append(plain, j)
			}
		}
	}
	if len(plain) > 0 {
		named = plain
	}
	free := func(j int) bool { return !slices.Contains(taken, j) }
	switch {
	case len(named) == 1:
		t.time = named[0]
		if t.time > 0 && t.header[t.time] != "time" {
			t.note("the column %s is the time", t.title(t.time))
		}
	case len(named) > 1:
		if _, err := t.column(t.header[named[0]]); err != nil { // two of one name
			return err
		}
		var names []string
		for _, j := range named[:min(len(named), 5)] {
			names = append(names, t.title(j))
		}
		return fmt.Errorf("each of the columns %s may be the time: say which with scans.time: %s. A date and a time of day must be in one column, as 2013-01-31T06:30:00",
			numeral.List(names), t.title(named[0]))
	default:
		for t.time = 0; !free(t.time); t.time++ {
			if t.time == len(t.header)-1 {
				return fmt.Errorf("no column is left for the time beside those of the measurement: want a header as in time,x,y")
			}
		}
		if t.headless {
			t.note("the CSV has no header: its columns are called 1 to %d, and column %s is the time (scans.time: %[2]s); scans.columns says which are the measurement",
				len(t.header), t.title(t.time))
			break
		}
		if name := t.header[t.time]; isID(name) && !tables.IsIndex(name) {
			return fmt.Errorf("no column is named time, timestamp, t or date, and %s looks like names of rows or targets: say which is the time with scans.time", t.title(t.time))
		}
		t.note("no column is named time, timestamp, t or date: %s is taken as the time; say which it is with scans.time", t.title(t.time))
	}
	return nil
}

// hasTime reports whether the header names a time.
func (t *table) hasTime() bool {
	return slices.ContainsFunc(t.header, func(name string) bool { _, ok := timeName(name); return ok })
}

// title is the name of a column in a sentence.
func (t *table) title(j int) string {
	name := cells.Clip(t.header[j])
	if name == "" || strings.ContainsAny(name, " ,\"'") {
		return strconv.Quote(name)
	}
	return name
}

// note keeps a sentence about how the text is read.
func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}
