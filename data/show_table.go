package data

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
)

// TableSummary describes a table of numbers. Rows holds its first rows, with MaxShown values at most. A cell is a Number, a
// string in a column of names, or nil in a column that is left out.
type TableSummary struct {
	Delimiter string   // empty: the table is a Parquet file
	RowGroups int      // of a Parquet file
	Header    []string // nil: none
	Count     int      // rows
	Rows      [][]any
	Columns   []ColumnSummary
}

// All reports whether Rows holds all rows.
func (t *TableSummary) All() bool { return len(t.Rows) == t.Count }

// ColumnSummary describes a column. For a column of names, Names lists them, Of counts the rows of each, and NaN counts the
// rows without one.
type ColumnSummary struct {
	Name    string // empty: the table has no header
	LeftOut bool   // its cells were not looked at, or hold more words than can be categories, all different
	Counts  bool   // it counts the rows, so that fit leaves it out unless it is kept; told of tables that may hold words alone
	Summary
	Names []string
	Of    []int
}

// showTable describes a table in a file, in the memory of a block, and says whether it is packed with gzip.
func showTable(path string, file io.ReaderAt, size int, o CSV) (sum *TableSummary, packed bool, err error) {
	f, err := newCSVFile(path, file, size, o)
	if err != nil {
		return nil, false, err
	}
	var s tableTally
	s.counting, s.target = o.Words, o.Target
	if err := f.scan(MaxShown, s.add); err != nil {
		return nil, false, err
	}
	sum = s.summary()
	if f.p != nil {
		sum.Delimiter, sum.RowGroups = "", f.p.Groups
	}
	return sum, f.kind == gzipText, nil
}

// Show describes a table.
func (t *Table) Show() *TableSummary {
	var s tableTally
	s.add(t)
	return s.summary()
}

// tableTally gathers a TableSummary from the blocks of a table.
type tableTally struct {
	sum     TableSummary
	columns []tally
	left    []bool // for each column, whether it is left out; nil: none is
	names   [][]string
	of      [][]int // for each column of names, the rows of each

	counting bool   // say which columns count the rows
	target   string // which does not
	counters []counter
	counted  []int // columns that the reader left out for this reason
}

func (s *tableTally) add(t *Table) error {
	if s.columns == nil {
		s.sum = TableSummary{Delimiter: t.Delimiter, Header: t.Header}
		s.columns, s.of, s.names, s.left = make([]tally, t.Cols), make([][]int, t.Cols), t.Names, t.LeftOut
		for j := range t.Cols {
			s.of[j] = make([]int, len(t.words(j)))
		}
		if s.counting {
			s.counters, s.counted = make([]counter, t.Cols), t.counts
			for j := range s.counters {
				s.counters[j] = counterOf(t.name(j))
			}
		}
	}
	for i := 0; i < t.Rows() && (len(s.sum.Rows)+1)*t.Cols <= MaxShown; i++ {
		s.sum.Rows = append(s.sum.Rows, t.cells(i))
	}
	s.sum.Count += t.Rows()
	column := make([]float64, t.Rows())
	for j := range s.columns {
		if t.leftOut(j) {
			continue
		}
		for i := range column {
			column[i] = t.Values[i*t.Cols+j]
		}
		tallyOf(&s.columns[j], column)
		if s.counting {
			s.counters[j].add(column, t.words(j))
		}
		if t.words(j) == nil {
			continue
		}
		for _, v := range column {
			if v == v {
				s.of[j][int(v)]++
			}
		}
	}
	return nil
}

// name is the name of column j or, without a header, its number from 1.
func (t *TableSummary) name(j int) string {
	if t.Header == nil {
		return strconv.Itoa(j + 1)
	}
	return t.Header[j]
}

// cells returns row i as it is shown.
func (t *Table) cells(i int) []any {
	row := make([]any, t.Cols)
	for j, v := range t.Values[i*t.Cols:][:t.Cols] {
		switch {
		case t.leftOut(j):
		case t.words(j) != nil && v == v:
			row[j] = t.words(j)[int(v)]
		default:
			row[j] = numberOf(v)
		}
	}
	return row
}

func (s *tableTally) summary() *TableSummary {
	for j := range s.columns {
		c := ColumnSummary{Summary: s.columns[j].summary()}
		c.LeftOut = s.left != nil && s.left[j]
		c.Counts = slices.Contains(s.counted, j) || s.counters != nil && s.counters[j].counts() && (s.target == "" || s.sum.name(j) != s.target)
		if s.sum.Header != nil {
			c.Name = s.sum.Header[j]
		}
		if s.names != nil {
			c.Names, c.Of = s.names[j], s.of[j]
		}
		s.sum.Columns = append(s.sum.Columns, c)
	}
	return &s.sum
}

// tableJSON has either rows or columns.
type tableJSON struct {
	DType     string   `json:"dtype"`
	Shape     []int    `json:"shape"`
	Delimiter string   `json:"delimiter,omitempty"`
	RowGroups int      `json:"row_groups,omitempty"`
	Header    []string `json:"header"`
	Rows      *[][]any `json:"rows,omitempty"`
	Columns   []any    `json:"columns,omitempty"`
}

type numbersJSON struct {
	Name string `json:"name,omitempty"`
	Summary
	Counts bool `json:"counts_rows,omitempty"`
}

type leftOutJSON struct {
	Name    string `json:"name,omitempty"`
	LeftOut bool   `json:"left_out"`
	Counts  bool   `json:"counts_rows,omitempty"`
}

type namesJSON struct {
	Name  string         `json:"name,omitempty"`
	Count int            `json:"count"`
	Names map[string]int `json:"names"` // rows of each
	NaN   int            `json:"nan"`

	Counts bool `json:"counts_rows,omitempty"`
}

func (t *TableSummary) json() tableJSON {
	j := tableJSON{DType: "float64", Shape: []int{t.Count, len(t.Columns)}, Delimiter: t.Delimiter, RowGroups: t.RowGroups, Header: t.Header}
	if t.All() {
		rows := append([][]any{}, t.Rows...)
		j.Rows = &rows
		return j
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.LeftOut {
			j.Columns = append(j.Columns, leftOutJSON{c.Name, true, c.Counts})
			continue
		}
		if c.Names == nil {
			j.Columns = append(j.Columns, numbersJSON{c.Name, c.Summary, c.Counts})
			continue
		}
		names := map[string]int{}
		for k, n := range c.Names {
			names[n] = c.Of[k]
		}
		j.Columns = append(j.Columns, namesJSON{c.Name, c.Count, names, c.NaN, c.Counts})
	}
	return j
}

// MarshalJSON writes the table as Description.MarshalJSON does.
func (t *TableSummary) MarshalJSON() ([]byte, error) { return json.Marshal(t.json()) }
