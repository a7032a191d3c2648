package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Classes finds the classes among the targets: the sorted names if the column holds names, else the numbers.
func (t *Table) Classes(j int) (names []string, classes int, err error) {
	if names := t.Words(j); names != nil {
		return names, len(names), nil
	}
	var values []float64
	for i := range t.Rows() {
		v := t.Values[i*t.Cols+j]
		if v != math.Trunc(v) {
			return nil, 0, fmt.Errorf("%s: %s, %s: %v is not a class: classes are names or integers (is this a regression?)", t.Name, t.Where(i), t.Title(j), v)
		}
		if math.Abs(v) >= tellsApart {
			return nil, 0, fmt.Errorf("%s: %s, %s: class %s: a float64 does not tell all integers from 2⁵³ apart: write such classes as names, with a letter before the number",
				t.Name, t.Where(i), t.Title(j), cmp.Or(t.Large(j), strconv.FormatFloat(v, 'f', -1, 64)))
		}
		if k, ok := slices.BinarySearch(values, v); !ok {
			if len(values) == maxNames {
				return nil, 0, fmt.Errorf("%s: %s has more than %d different values: these are not classes (is this a regression?)", t.Name, t.Title(j), maxNames)
			}
			values = slices.Insert(values, k, v)
		}
	}
	if n := len(values); n > 0 && values[0] == 0 && values[n-1] == float64(n-1) {
		return nil, n, nil
	}
	for _, v := range values {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return names, len(values), nil
}
