package formats

import (
	"encoding/json"

	"github.com/starling-smc/starling/internal/tables"
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
	Differs bool   // likewise: it holds words that all differ
	Mixed   string // what words are that are numbers with different texts around them, and what to do; empty: they are none
	Inexact bool   // likewise: it holds whole numbers that a float64 does not tell apart
	Written string // how its numbers are written; empty: they are plain
	Summary
	Names []string
	Of    []int
}

// showTable describes a table in a file, in the memory of a block.
func showTable(f *tables.File, o tables.CSV) (*TableSummary, error) {
	var all tables.Profile
	var last *tables.Table
	sum := new(TableSummary)
	if err := f.Scan(MaxShown, func(t *tables.Table) error {
		all.Add(t)
		sum.show(t)
		last = t
		return nil
	}); err != nil {
		return nil, err
	}
	sum.describe(last, &all)
	if o.Words {
		sum.count(last, &all, o.Target)
	}
	if sum.RowGroups = f.RowGroups(); sum.RowGroups > 0 {
		sum.Delimiter = ""
	}
	return sum, nil
}

// ShowTable describes a table.
func ShowTable(t *tables.Table) *TableSummary {
	s := new(TableSummary)
	s.show(t)
	s.describe(t, t.Profile())
	return s
}

// show adds the first rows of a block, as long as few are shown.
func (s *TableSummary) show(t *tables.Table) {
	for i := 0; i < t.Rows() && (len(s.Rows)+1)*t.Cols <= MaxShown; i++ {
		s.Rows = append(s.Rows, cells(t, i))
	}
}

// describe says what the columns hold. t is the last block of the table.
func (s *TableSummary) describe(t *tables.Table, p *tables.Profile) {
	s.Delimiter, s.Header, s.Count = t.Delimiter, t.Header, p.Rows
	for j := range p.Columns {
		of := &p.Columns[j]
		c := ColumnSummary{LeftOut: of.LeftOut, Names: t.Words(j), Of: of.Of, Summary: summary(of)}
		if n := t.Notation(j); n != nil {
			c.Written = n.String()
		}
		c.Mixed = t.Mixed(j)
		if t.Header != nil {
			c.Name = t.Header[j]
		}
		s.Columns = append(s.Columns, c)
	}
}

// count says which columns count the rows: that the reader left out for this reason, and others except the target.
func (s *TableSummary) count(t *tables.Table, p *tables.Profile, target string) {
	for j := range s.Columns {
		c, input := &s.Columns[j], target == "" || t.ColumnName(j) != target
		counts := p.Columns[j].Counts() && input
		c.Counts, c.Differs = t.CountsRows(j) || counts && t.Words(j) == nil, t.Differs(j) || counts && t.Words(j) != nil
		c.Inexact = input && !c.LeftOut && t.Large(j) != ""
	}
}

// summary summarises the numbers of a column.
func summary(c *tables.Column) Summary {
	s := Summary{Count: c.Count, NaN: c.Missing, Min: "NaN", Max: "NaN", Mean: "NaN"}
	if !c.Empty() {
		s.Min, s.Max, s.Mean = numberOf(c.Low), numberOf(c.High), numberOf(c.Mean())
	}
	return s
}

// cells returns row i as it is shown.
func cells(t *tables.Table, i int) []any {
	row := make([]any, t.Cols)
	for j, v := range t.Values[i*t.Cols:][:t.Cols] {
		switch {
		case t.Left(j):
		case t.Words(j) != nil && v == v:
			row[j] = t.Words(j)[int(v)]
		default:
			row[j] = numberOf(v)
		}
	}
	return row
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
	Counts  bool   `json:"counts_rows,omitempty"`
	Inexact bool   `json:"inexact,omitempty"`
	Written string `json:"written,omitempty"`
}

type leftOutJSON struct {
	Name    string `json:"name,omitempty"`
	LeftOut bool   `json:"left_out"`
	Counts  bool   `json:"counts_rows,omitempty"`
	Differs bool   `json:"all_differ,omitempty"`
}

type namesJSON struct {
	Name  string         `json:"name,omitempty"`
	Count int            `json:"count"`
	Names map[string]int `json:"names"` // rows of each
	NaN   int            `json:"nan"`

	Counts  bool `json:"counts_rows,omitempty"`
	Differs bool `json:"all_differ,omitempty"`
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
			j.Columns = append(j.Columns, leftOutJSON{c.Name, true, c.Counts, c.Differs})
			continue
		}
		if c.Names == nil {
			j.Columns = append(j.Columns, numbersJSON{c.Name, c.Summary, c.Counts, c.Inexact, c.Written})
			continue
		}
		names := map[string]int{}
		for k, n := range c.Names {
			names[n] = c.Of[k]
		}
		j.Columns = append(j.Columns, namesJSON{c.Name, c.Count, names, c.NaN, c.Counts, c.Differs})
	}
	return j
}

// MarshalJSON writes the table as Description.MarshalJSON does.
func (t *TableSummary) MarshalJSON() ([]byte, error) { return json.Marshal(t.json()) }
