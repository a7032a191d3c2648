package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/starling-smc/starling/internal/cells"
)

// lookLines is the number of lines among which the names of the columns are looked for, and of rows below a line of units.
const lookLines = 10

// longLine is the number of bytes of a line beyond which it is not looked at, as its cells would take more memory than the text.
const longLine = 16 << 10

// late returns an error if a header comes late: the target's name is a cell of one of the next lines, and none of the first record. skipped: a
// line was left out before head.
func (o CSV) late(name string, head []byte, skipped bool) error {
	if o.run != nil || o.Target == "" || o.Header != nil || isNumber(o.Target) {
		return nil
	}
	delimiter := cmp.Or(o.Delimiter, cells.GuessDelimiter(head, true))
	first, _, _ := cells.NewReader(bytes.NewReader(head), delimiter, cells.GuessBytes, cells.Window).Record()
	if slices.ContainsFunc(first, func(c cells.Cell) bool {
		return Composed(string(c.Text)) == Composed(o.Target)
	}) {
		return nil // also where a name in quotes has several lines
	}
	line := 1
	if skipped {
		line++
	}
	begin := line
	for ; line <= lookLines+1 && len(head) > 0; line++ {
		text, rest, _ := bytes.Cut(head, []byte("\n"))
		if named(string(text[:min(len(text), longLine)]), o.Delimiter, o.Target) {
			before := "the lines before it"
			switch line {
			case begin:
				return nil
			case begin + 1:
				before = fmt.Sprint("line ", begin)
			}
			return fmt.Errorf("%s: line %d is no header: line %d has the column %s: remove %s", name, begin, line, cells.Quote([]byte(o.Target)), before)
		}
		head = rest
	}
	return nil
}

// named reports whether a line has a cell of some text. Without a delimiter any that is usual cuts the line, and blanks where there is none.
func named(line, delimiter, text string) bool {
	cuts := func(r rune) bool { return strings.ContainsRune(delimiter, r) }
	switch {
	case delimiter == "" && strings.ContainsAny(line, ",;\t|"):
		delimiter = ",;\t|"
	case delimiter == "" || delimiter == "whitespace":
		cuts = unicode.IsSpace
	}
	return slices.ContainsFunc(strings.FieldsFunc(line, cuts), func(cell string) bool {
		return Composed(strings.Trim(cell, "\" \r")) == Composed(text)
	})
}

func isNumber(text string) bool {
	_, err := cells.Number([]byte(text))
	return err == nil
}

// units returns an error if the line below the header has units or types, such as kg, m or float: words above columns that have numbers, or no value.
func (o CSV) units(name string, head []byte, delimiter string) error {
	if line, _, _ := bytes.Cut(head, []byte("\n")); len(line) > longLine {
		return nil
	}
	c := cells.NewReader(bytes.NewReader(head), delimiter, cells.GuessBytes, cells.Window)
	first, ok, err := c.Record()
	if !ok || err != nil || !o.named(first) {
		return nil
	}
	cols := len(first)
	second, ok, err := c.Record()
	if !ok || err != nil || len(second) != cols {
		return nil
	}
	line, words, example := c.Start, []int{}, ""
	for j, cell := range second {
		text := string(cell.Text)
		switch {
		case text == "":
		case standsForMissing(text) || isNumber(text):
			return nil
		default:
			if example == "" {
				example = text
			}
			words = append(words, j)
		}
	}
	rows := 0 // of those that have a number below each word
	for rows < lookLines {
		record, ok, err := c.Record()
		if err != nil || ok && len(record) != cols {
			return nil
		}
		if !ok {
			break
		}
		missing := false
		for _, j := range words {
			v, err := cells.Number(record[j].Text)
			if err != nil && !standsForMissing(string(record[j].Text)) {
				return nil
			}
			missing = missing || err != nil || v != v
		}
		if !missing {
			rows++
		}
	}
	if len(words) == 0 || rows < 2 {
		return nil
	}
	return fmt.Errorf("%s: line %d has no numbers, as %s, and the lines below have: it looks like units or types: remove it", name, line, cells.Quote([]byte(example)))
}
