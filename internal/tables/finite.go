package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// TooLarge is the error for a value that a float32 cannot hold.
func (t *Table) TooLarge(i, j int) error {
	return fmt.Errorf("%s: %s, %s: the value is too large for a float32: change its unit", t.Name, t.Where(i), t.Title(j))
}

// Finite refuses infinite values in some columns, and missing ones where lacks, which says whether a column may lack values, does
// not allow them; nil: none may. Its error lists the first few lines that have one.
func (t *Table) Finite(columns []int, lacks func(j int) bool) error {
	const few = 5
	var first *MissingError
	var lines []string
	bad := 0
	for i := range t.Rows() {
		row := t.Values[i*t.Cols : (i+1)*t.Cols]
		k := slices.IndexFunc(columns, func(j int) bool {
			infinite := math.IsInf(row[j], 0)
			is := infinite || math.IsNaN(row[j]) && (lacks == nil || !lacks(j))
			return is && (first == nil || infinite == first.Infinite) // those that the first is one of are counted
		})
		if k < 0 {
			continue
		}
		if bad++; bad <= few {
			lines = append(lines, strconv.Itoa(t.Line(i)))
		}
		if first == nil {
			first = &MissingError{Column: columns[k], Infinite: math.IsInf(row[columns[k]], 0)}
			what := "missing"
			if first.Infinite {
				what = "infinite"
			}
			first.message = fmt.Sprintf("%s: %s, %s: the value is %s", t.Name, t.Where(i), t.Title(first.Column), what)
		}
	}
	switch {
	case bad == 0:
		return nil
	case bad == 1:
		first.message += ": fill it or remove the row"
		return first
	case bad > few:
		lines = append(lines, "…")
	}
	first.message += fmt.Sprintf("; %d rows have such values (%ss %s): fill them or remove the rows", bad, t.unit(), strings.Join(lines, ", "))
	return first
}

// MissingError says that a value is missing or infinite: the first of them.
type MissingError struct {
	message  string
	Column   int
	Infinite bool
}

func (e *MissingError) Error() string { return e.message }
