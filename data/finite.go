package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

func (t *Table) tooLarge(i, j int) error {
	return fmt.Errorf("%s: line %d, %s: the value is too large for a float32: change its unit", t.Name, t.Line(i), t.column(j))
}

// finite refuses infinite values in some columns, and missing ones where lacks, which says whether a column may lack values, does
// not allow them; nil: none may. Its error lists the first few lines that have one.
func (t *Table) finite(columns []int, lacks func(j int) bool) error {
	const few = 5
	var first *missingError
	var lines []string
	bad := 0
	for i := range t.Rows() {
		row := t.Values[i*t.Cols : (i+1)*t.Cols]
		k := slices.IndexFunc(columns, func(j int) bool {
			infinite := math.IsInf(row[j], 0)
			is := infinite || math.IsNaN(row[j]) && (lacks == nil || !lacks(j))
			return is && (first == nil || infinite == first.infinite) // those that the first is one of are counted
		})
		if k < 0 {
			continue
		}
		if bad++; bad <= few {
			lines = append(lines, strconv.Itoa(t.Line(i)))
		}
		if first == nil {
			first = &missingError{column: columns[k], infinite: math.IsInf(row[columns[k]], 0)}
			what := "missing"
			if first.infinite {
				what = "infinite"
			}
			first.message = fmt.Sprintf("%s: line %d, %s: the value is %s", t.Name, t.Line(i), t.column(first.column), what)
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
	first.message += fmt.Sprintf("; %d rows have such values (lines %s): fill them or remove the rows", bad, strings.Join(lines, ", "))
	return first
}

// missingError says that a value is missing or infinite: the first of them.
type missingError struct {
	message  string
	column   int
	infinite bool
}

func (e *missingError) Error() string { return e.message }
