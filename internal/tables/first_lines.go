package tables

import (
	"bytes"
	"fmt"
	"math"
	"unicode"

	"github.com/starling-smc/starling/internal/cells"
)

// What programs write before the rows of a CSV: a line that names the delimiter, comments, and a header in which years are names.

// separator returns the delimiter that the first line names, as Excel reads it, sep=; for example; empty: it names none.
func separator(head []byte) string {
	if d := string(cells.Separator(head)); d != "\x00" && CheckDelimiter(d) == nil {
		return d
	}
	return ""
}

// startsComment reports whether a text begins as comments do.
func startsComment(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#")) || bytes.HasPrefix(text, []byte("//"))
}

// comment returns an error if the first line is a comment: it begins as one, and is not cut into as many cells as the first line that does
// not. more says that the text goes on after head.
func comment(name string, head []byte, delimiter string, more bool) error {
	if !startsComment(head) {
		return nil
	}
	rest, lines := head, 0
	for startsComment(rest) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
		lines++
	}
	if len(bytes.TrimSpace(rest)) == 0 && more {
		return nil
	}
	if delimiter == "" {
		delimiter = cells.GuessDelimiter(rest, more)
	}
	if width(head, delimiter) == width(rest, delimiter) && width(rest, delimiter) > 0 {
		return nil
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	what, it := "line 1 is a comment", "it"
	if lines > 1 {
		what, it = fmt.Sprintf("lines 1 to %d are comments", lines), "them"
	}
	return fmt.Errorf("%s: %s (%s), not rows: remove %s", name, what, cells.Quote(bytes.TrimSpace(first)), it)
}

// width is the number of cells of the first record of a text; 0: there is none.
func width(text []byte, delimiter string) int {
	record, _, err := cells.NewReader(bytes.NewReader(text), delimiter, cells.GuessBytes, cells.Window).Record()
	if err != nil {
		return 0
	}
	return len(record)
}

// labels reports whether the first record of a text names the columns although there are numbers among the names, as in country, 1960, 1961.
// There is a word among them, and the numbers are years, or three and more whole numbers that rise in equal steps. The rows below tell: a word stands above
// numbers, or years stand above numbers that are none.
func labels(head []byte, delimiter string) bool {
	const look = 16
	if line, _, _ := bytes.Cut(head, []byte("\n")); !bytes.ContainsAny(line, "0123456789") || !bytes.ContainsFunc(line, unicode.IsLetter) {
		return false
	}
	c := cells.NewReader(bytes.NewReader(head), delimiter, cells.GuessBytes, cells.Window)
	first, ok, err := c.Record()
	if !ok || err != nil {
		return false
	}
	var numbers []float64
	var at []int
	words := map[int]bool{}
	for j, cell := range first {
		v, err := cells.Number(cell.Text)
		switch {
		case err == nil && v == v:
			numbers, at = append(numbers, v), append(at, j)
		case err != nil && isName(cell.Text):
			words[j] = true
		case err != nil || j > 0: // an index has no name
			return false
		}
	}
	years := allYears(numbers)
	if len(words) == 0 || numbers == nil || !years && !(len(numbers) > 2 && inSteps(numbers)) {
		return false
	}
	above, seen, others := map[int]bool{}, 0, false // above: words above numbers alone; others: numbers that are no years
	for j := range words {
		above[j] = true
	}
	cols := len(first)
	for ; seen < look; seen++ {
		record, ok, err := c.Record()
		if !ok || err != nil || len(record) != cols {
			break
		}
		for j := range above {
			if _, err := cells.Number(record[j].Text); err != nil && !isMissing(string(record[j].Text)) {
				delete(above, j)
			}
		}
		for _, j := range at {
			v, err := cells.Number(record[j].Text)
			others = others || err == nil && v == v && !isYear(v)
		}
	}
	return seen > 0 && (len(above) > 0 || years && others)
}

// isName reports whether a text looks like the name of a column: it begins with a letter, and stands for no missing value.
func isName(text []byte) bool {
	return unicode.IsLetter([]rune(string(text[:min(len(text), 4)]))[0]) && !standsForMissing(string(text))
}

// allYears reports whether all numbers are years, and no two are the same.
func allYears(numbers []float64) bool {
	seen := map[float64]bool{}
	for _, v := range numbers {
		if !isYear(v) || seen[v] {
			return false
		}
		seen[v] = true
	}
	return len(numbers) > 0
}

func isYear(v float64) bool { return v == math.Trunc(v) && v >= 1500 && v < 2300 }

// inSteps reports whether whole numbers rise in equal steps.
func inSteps(numbers []float64) bool {
	for i := 1; i < len(numbers); i++ {
		if step := numbers[i] - numbers[i-1]; step <= 0 || step != numbers[1]-numbers[0] {
			return false
		}
	}
	return numbers[0] == math.Trunc(numbers[0]) && numbers[len(numbers)-1] == math.Trunc(numbers[len(numbers)-1])
}
