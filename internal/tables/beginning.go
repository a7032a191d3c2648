package tables

import "github.com/starling-smc/starling/internal/cells"

// beginning is what the beginning of a table says of the whole.
type beginning struct {
	columns, rows, bytes int
	left                 []bool                // columns that are no inputs, and the target
	words                []map[string]struct{} // of each column; nil: it holds numbers
	lacks                []bool                // columns in which a value is missing; all false where that is refused
}

// inputs counts the inputs of a row, and its target. A column of words has an input for each; one with more than can be categories is
// left out, or refused.
func (b *beginning) inputs() (n int) {
	for j, words := range b.words {
		switch k := len(words); {
		case b.left[j] || k == 0:
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
				b.add(j, cell.Text, f.o.Missing == MissingIndicator)
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
	for _, name := range append([]string{o.Target}, o.Drop...) {
		for _, j := range t.named(name) {
			b.left[j] = true
		}
	}
	return named
}

// add adds a cell of column j.
func (b *beginning) add(j int, text []byte, indicator bool) {
	v, err := cells.Number(text)
	if err == nil {
		b.lacks[j] = b.lacks[j] || indicator && v != v
		return
	}
	if b.words[j] == nil {
		b.words[j] = map[string]struct{}{}
	}
	if _, there := b.words[j][string(text)]; !there && len(b.words[j]) <= MaxCategories {
		b.words[j][string(text)] = struct{}{}
	}
}
