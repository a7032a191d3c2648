package tables

import "github.com/starling-smc/starling/internal/cells"

// beginning is what the beginning of a table says of the whole.
type beginning struct {
	columns, rows, bytes int
	left                 []bool                // columns that are no inputs, and the target
	words                []map[string]struct{} // of each column; nil: it holds numbers
	lacks                []bool                // columns in which a value is missing; all false where that is refused
	codes                map[int]bool          // columns in which numbers are words, too
	written              []*cells.Detector     // of columns with texts: they may be numbers that are not plain
}

// inputs counts the inputs of a row, and its target. A column of words has an input for each; one with more than can be categories is
// left out, or refused.
func (b *beginning) inputs() (n int) {
	for j, words := range b.words {
		switch k := len(words); {
		case b.left[j] || k == 0 || b.numbers(j):
			n++
		case k <= MaxCategories:
			n += k
		}
		if b.lacks[j] && !b.left[j] {
			n++
		}
	}
	return n
}

// numbers reports whether the texts of column j are numbers that are not plain.
func (b *beginning) numbers(j int) bool {
	if b.written[j] == nil {
		return false
	}
	v, _, _, _ := b.written[j].Verdict()
	return v != cells.Texts
}

// Beginning says of the whole, from the first records, about how many rows the table has, of how many columns, and of how many inputs and
// targets of a network. It reads about as many records as the delimiter is guessed from.
func (f *File) Beginning() (rows float64, columns, inputs int, err error) {
	b, err := f.beginning()
	if err != nil {
		return 0, 0, 0, err
	}
	rows = float64(b.rows) * float64(f.estimate()) / float64(max(1, b.bytes))
	if f.p != nil {
		rows = float64(f.p.Rows)
	}
	return rows, b.columns, b.inputs(), nil
}

func (f *File) beginning() (*beginning, error) {
	c, err := f.cells()
	if err != nil {
		return nil, err
	}
	b := new(beginning)
	for c.Read() < cells.GuessBytes {
		record, ok, err := c.Record()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if b.words == nil && b.begin(record, f.o) {
			continue
		}
		b.rows++
		for j, cell := range record[:min(len(record), b.columns)] {
			if !b.left[j] {
				b.add(j, cell.Text, f.o)
			}
		}
	}
	b.bytes = c.Read()
	return b, nil
}

// begin makes room for the columns of the first record, and reports whether it names them.
func (b *beginning) begin(first []cells.Cell, o CSV) (named bool) {
	t := &Table{Cols: len(first)}
	if named = o.named(first); named {
		for _, cell := range first {
			t.Header = append(t.Header, string(cell.Text))
		}
	}
	b.columns = t.Cols
	b.left, b.lacks, b.words = make([]bool, t.Cols), make([]bool, t.Cols), make([]map[string]struct{}, t.Cols)
	b.codes, b.written = t.coded(o.Categories), make([]*cells.Detector, t.Cols)
	for _, name := range append([]string{o.Target}, o.Drop...) {
		for _, j := range t.named(name) {
			b.left[j] = true
		}
	}
	return named
}

// add adds a cell of column j.
func (b *beginning) add(j int, text []byte, o CSV) {
	v, err := cells.Number(text)
	if missing := err == nil && v != v || err != nil && isMissing(string(text)); missing || err == nil && !b.codes[j] {
		b.lacks[j] = b.lacks[j] || missing && o.Missing == MissingIndicator
		return
	}
	if b.written[j] == nil && !b.codes[j] {
		b.written[j] = cells.NewDetector(o.told())
	}
	if b.written[j] != nil {
		b.written[j].See(text)
	}
	if b.words[j] == nil {
		b.words[j] = map[string]struct{}{}
	}
	if _, there := b.words[j][string(text)]; !there && len(b.words[j]) <= MaxCategories {
		b.words[j][string(text)] = struct{}{}
	}
}
