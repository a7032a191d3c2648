package data

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/starling-smc/starling/internal/cells"
)

const (
	// maxNames bounds the different names in a target column, each of which takes many times its size in the text.
	maxNames = 1 << 16
	// maxCategories bounds the different words of a column, each of which becomes an input of the network.
	maxCategories = 1000
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
	line   int    // of the first word
	first  string // the first word, as an error shows it
	labels bool   // numbers are words, too: the column is the target

	repeated, lacks bool
	// all are hashes of the words of a column in which more than maxCategories words are all different; else nil. The column is left
	// out, if no two of them turn out to be the same.
	all []uint64

	other bool // of a run: a word that is not in names has the number len(names)
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

// wordsOf returns the categories of a run's column, to which no word is added.
func wordsOf(categories []string, other bool) *words {
	w := &words{ids: make(map[string]int32, len(categories)), names: categories, other: other}
	for k, c := range categories {
		w.ids[c] = int32(k)
	}
	return w
}

var (
	errManyWords = fmt.Errorf("more than %d different words: write fewer categories", maxCategories)
	errNewWord   = errors.New("changed while it was read")
)

// manyWords says that a column holds more words than can be categories.
type manyWords struct{ column string }

func (e *manyWords) Error() string { return errManyWords.Error() }

// number is the number of the word in a cell: NaN if the cell is missing. An error has no place.
func (w *words) number(text []byte, keep bool) (float64, error) {
	if id, ok := w.ids[string(text)]; ok {
		w.repeated = true
		return float64(id), nil
	}
	v, err := cells.Number(text)
	switch {
	case err == nil && math.IsNaN(v):
		if w.lacks = true; w.all != nil {
			return 0, errManyWords
		}
		return v, nil
	case w.labels:
	case err == nil && w.names != nil:
		return 0, fmt.Errorf("%s is a number, where the run's table has words: %s", cells.Quote(text), quoteSome(w.names))
	case err == nil:
		return 0, &CellError{Line: w.line, Text: w.first, Missing: isMissing(w.first)} // completed by the reader
	case err != cells.ErrText && !wordWithComma(text):
		return 0, err
	}
	switch {
	case !utf8.Valid(text):
		return 0, errors.New("the name is not UTF-8 text: save the file as UTF-8")
	case w.names != nil && w.other:
		return float64(len(w.names)), nil
	case w.names != nil:
		return 0, errNewWord
	case w.all != nil:
		w.all = append(w.all, hash(string(text)))
		return math.NaN(), nil
	case w.labels && len(w.ids) == maxNames:
		return 0, fmt.Errorf("more than %d different names: these are not classes", maxNames)
	case !w.labels && len(w.ids) == maxCategories && (w.repeated || w.lacks || keep):
		return 0, errManyWords
	case !w.labels && len(w.ids) == maxCategories:
		for name := range w.ids {
			w.all = append(w.all, hash(name))
		}
		clear(w.ids)
		w.all = append(w.all, hash(string(text)))
		return math.NaN(), nil
	}
	id := int32(len(w.ids))
	w.ids[string(text)] = id
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

// complete ends the reading of words: it puts the words of all columns in order, and leaves out the columns of which no two words
// are the same and that have too many.
func (t *Table) complete(d *dictionary) error {
	for j := range t.Cols {
		w := d.columns[j]
		switch {
		case w == nil || w.names != nil:
		case w.all == nil:
			w.complete()
		case w.distinct():
			t.leaveOut([]int{j})
			t.counts = append(t.counts, j)
		default:
			return fmt.Errorf("%s: %w", t.column(j), &manyWords{t.name(j)})
		}
	}
	t.nameWords(d)
	return nil
}

// nameWords gives a table the words of its columns.
func (t *Table) nameWords(d *dictionary) {
	for j, w := range d.columns {
		if w.names == nil {
			continue
		}
		if t.Names == nil {
			t.Names = make([][]string, t.Cols)
		}
		t.Names[j] = w.names
	}
}

// sortNames completes the words, and renumbers those of each column. They were numbered in the order of the rows; the new numbers
// are places in sorted order, which do not depend on the order of the rows.
func (t *Table) sortNames(d *dictionary) error {
	came := map[int][]string{} // the words of each column by their first numbers
	for j, w := range d.columns {
		if w.names != nil {
			continue
		}
		came[j] = make([]string, len(w.ids))
		for n, id := range w.ids {
			came[j][id] = n
		}
	}
	if err := t.complete(d); err != nil {
		return err
	}
	for j, words := range came {
		for i := j; i < len(t.Values); i += t.Cols {
			if v := t.Values[i]; t.leftOut(j) {
				t.Values[i] = math.NaN()
			} else if v == v {
				t.Values[i] = float64(d.columns[j].ids[words[int(v)]])
			}
		}
	}
	return nil
}

// hash is a hash that is the same in every run.
func hash(word string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(word))
	return h.Sum64()
}

// forMissing are texts that other programs write for a missing value, in lower case.
var forMissing = []string{"na", "n/a", "#n/a", "null", "none", "?", "-"}

func isMissing(text string) bool { return slices.Contains(forMissing, strings.ToLower(text)) }

// wordWithComma reports whether a text with a comma is a word, and not a number with a comma for its decimal mark.
func wordWithComma(text []byte) bool {
	if bytes.Count(text, []byte(",")) != 1 {
		return false
	}
	_, err := cells.Number(bytes.Replace(text, []byte(","), []byte("."), 1))
	return err != nil
}
