package tables

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
)

// dictionary holds the words of a table's columns while the table is read.
type dictionary struct {
	target  bool           // the cells of the target are names, whatever they look like
	columns map[int]*words // the columns that hold words
}

// words are the words of a column: each has a number.
type words struct {
	ids map[string]int32
	// names are the words in order, once no more are added. The number of a word is then its place in them.
	names  []string
	line   int    // of the first word, or of a text that stands for a missing value as long as there is no word; 0: none
	first  string // that word or text
	labels bool   // numbers are words, too: the column is the target
	codes  bool   // likewise, but numbers that are the same are the same word, however they are written: the column was declared

	repeated, lacks bool
	// all are hashes of the words of a column in which more than MaxCategories words are all different; else nil. The column is left
	// out, if no two of them turn out to be the same.
	all []uint64

	other   bool // of a run: a word that is not in names has the number len(names)
	unknown int  // the cells with such a word so far; line and first are then those of the first of them
}

// of returns the words of column j, which are none so far if it has none.
func (d *dictionary) of(j int) *words {
	if d.columns == nil {
		d.columns = map[int]*words{}
	}
	w := d.columns[j]
	if w == nil {
		w = &words{ids: map[string]int32{}}
		d.columns[j] = w
	}
	return w
}

// take gives column j the categories of a run's, to which no word is added.
func (d *dictionary) take(j int, categories []string, other, codes bool) {
	w := &words{ids: make(map[string]int32, len(categories)), names: categories, other: other, codes: codes}
	for k, c := range categories {
		w.ids[c] = int32(k)
	}
	if d.columns == nil {
		d.columns = map[int]*words{}
	}
	d.columns[j] = w
}

// errNewWord says that a column holds a word which it had not when it was read before.
var errNewWord = errors.New("changed while it was read")

// number is the number of the word in a cell: NaN if the cell is missing. keep: the words are categories, however many they are. An error
// has no place.
func (w *words) number(c cells.Cell, keep bool) (float64, error) {
	if id, ok := w.ids[string(c.Text)]; ok {
		w.repeated = true
		return float64(id), nil
	}
	v, err := cells.Number(c.Text)
	switch {
	case err == nil && math.IsNaN(v):
		return w.missing(c)
	case w.labels:
	case w.codes && err == nil:
		c.Text = []byte(code(v, c.Text))
		if id, ok := w.ids[string(c.Text)]; ok {
			w.repeated = true
			return float64(id), nil
		}
	case err == nil && w.names != nil:
		return 0, fmt.Errorf("%s is a number, where the run's table has words: %s", cells.Quote(c.Text), cells.QuoteSome(w.names))
	case err == nil:
		return 0, &CellError{Line: w.line, Text: cells.Quote([]byte(w.first)), Missing: standsForMissing(w.first), Number: c.Line}
	case err != cells.ErrText:
		return 0, err
	case isMissing(string(c.Text)):
		return w.missing(c)
	}
	if !utf8.Valid(c.Text) {
		return 0, errors.New("the name is not UTF-8 text: save the file as UTF-8")
	}
	if w.names == nil {
		return w.add(c, keep)
	}
	k := Category(w.names, string(c.Text))
	if k == len(w.names) {
		if !w.other {
			return 0, errNewWord
		}
		if w.unknown++; w.unknown == 1 {
			w.line, w.first = c.Line, cells.Quote(c.Text)
		}
	}
	return float64(k), nil
}

// code is the word of a number: the same for 4, 4.0 and 04. A number that a float64 does not tell from others stays as it is written.
func code(v float64, text []byte) string {
	if math.Abs(v) >= tellsApart {
		return string(text)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// missing takes a cell without a value.
func (w *words) missing(c cells.Cell) (float64, error) {
	if w.lacks = true; w.all != nil {
		return 0, errManyWords
	}
	w.begin(c)
	return math.NaN(), nil
}

// begin notes the first word or, until there is one, the first text that stands for a missing value.
func (w *words) begin(c cells.Cell) {
	if w.line == 0 || isMissing(w.first) && !isMissing(string(c.Text)) && len(c.Text) > 0 {
		w.line, w.first = c.Line, string(c.Text[:min(len(c.Text), 64)])
	}
}

// add takes a new word. Beyond MaxCategories words that are all different, hashes of them stand for them, and their numbers are NaN.
func (w *words) add(c cells.Cell, keep bool) (float64, error) {
	text := string(c.Text)
	switch n := len(w.ids); {
	case w.labels && n == maxNames:
		return 0, fmt.Errorf("more than %d different names: these are not classes", maxNames)
	case w.labels:
	case !w.codes && IsDate(text):
		return 0, &CellError{Line: c.Line, Text: cells.Quote(c.Text), Date: true}
	case n == MaxCategories && (w.repeated || w.lacks || keep):
		return 0, errManyWords
	case n == MaxCategories:
		for name := range w.ids {
			w.all = append(w.all, hash(name))
		}
		clear(w.ids)
	}
	if w.all != nil {
		w.all = append(w.all, hash(text))
		return math.NaN(), nil
	}
	w.begin(c)
	id := int32(len(w.ids))
	w.ids[text] = id
	return float64(id), nil
}

// distinct reports whether no two of the words that are only kept as hashes are the same.
func (w *words) distinct() bool {
	slices.Sort(w.all)
	for i := 1; i < len(w.all); i++ {
		if w.all[i] == w.all[i-1] {
			return false
		}
	}
	return true
}

// complete puts the words in order: numbers that were given in the order of the rows are then no longer true.
func (w *words) complete() {
	w.names = inOrder(w.ids)
}

// inOrder returns the names in order and gives each its place as its number.
func inOrder(names map[string]int32) []string {
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for k, n := range sorted {
		names[n] = int32(k)
	}
	return sorted
}

// hash is a hash that is the same in every run.
func hash(word string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(word))
	return h.Sum64()
}

// forMissing are texts that other programs write for a missing value, in lower case.
var forMissing = []string{"na", "n/a", "#n/a", "null", "?", "-"}

// isMissing reports whether a text stands for a missing value.
func isMissing(text string) bool {
	return len(text) <= len("missing") && slices.Contains(forMissing, strings.ToLower(text)) // a long text is not copied
}

// standsForMissing reports whether a text in a column of numbers may stand for a missing value. None, which Python writes, is a word
// among words, and so are others.
func standsForMissing(text string) bool {
	return isMissing(text) || len(text) <= len("#DIV/0!") && slices.Contains(unclear, strings.ToLower(text))
}

// unclear are texts that stand for a missing value among numbers, and may be words among words, in lower case.
var unclear = []string{"none", "nil", ".", "--", "—", "–", "<na>", `\n`, "n.a.", "#div/0!"}
