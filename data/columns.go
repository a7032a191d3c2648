package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Columns says how the columns of a table become inputs and targets: every column but the target is an input.
type Columns struct {
	// Target is the target's column: its name, or without a header its number from 1.
	Target string
	// Classes: the targets are names or integers, one for each class. If they are 0 … C−1, classes have no names;
	// else Set.Names holds what stands in the file, numbers in ascending order. Otherwise targets are real numbers.
	Classes bool
	// SD, if not 0, has every input centred and scaled to this population standard deviation over the training rows.
	SD float64
	// Intercept puts an input before the others that is always 1.
	Intercept bool
}

// Sets makes one set of each list of rows. The first is the training part: means and deviations are taken from it
// alone, in float64, before values are rounded to float32. The Standard is nil if SD is 0. A value that is missing,
// infinite or beyond float32 is an error that names its line and column.
func (c Columns) Sets(t *Table, parts ...[]int32) ([]*Set, *Standard, error) {
	target, err := t.Column(c.Target)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: target: %w", t.Name, err)
	}
	if t.Cols == 1 {
		return nil, nil, fmt.Errorf("%s: the target is the only column, there are no inputs", t.Name)
	}
	if err := t.finite(); err != nil {
		return nil, nil, err
	}
	if t.Text >= 0 && (t.Text != target || !c.Classes) {
		return nil, nil, fmt.Errorf("%s: %s holds names such as %s, not numbers", t.Name, t.column(t.Text), quote([]byte(t.Names[0])))
	}
	var labels []int32
	var names []string
	classes := 0
	if c.Classes {
		if labels, names, classes, err = t.classes(target); err != nil {
			return nil, nil, err
		}
	}
	var std *Standard
	row := func(i int32, dst []float64) {
		r := t.Values[int(i)*t.Cols:][:t.Cols]
		copy(dst[copy(dst, r[:target]):], r[target+1:])
	}
	if c.SD != 0 && len(parts) > 0 {
		train := parts[0]
		std = fitStandard(len(train), t.Cols-1, c.SD, func(k int, dst []float64) { row(train[k], dst) })
	}
	sets := make([]*Set, len(parts))
	x := make([]float64, t.Cols-1)
	for k, rows := range parts {
		s := &Set{Name: t.Name, Shape: []int{len(x)}, Classes: classes, Names: names}
		if c.Intercept {
			s.Shape[0]++
		}
		s.F32 = make([]float32, 0, len(rows)*s.Shape[0])
		for _, i := range rows {
			if c.Intercept {
				s.F32 = append(s.F32, 1)
			}
			row(i, x)
			if std != nil {
				std.row(x)
			}
			for j, v := range x {
				if !(math.Abs(v) <= math.MaxFloat32) {
					if j >= target {
						j++
					}
					return nil, nil, t.tooLarge(int(i), j)
				}
				s.F32 = append(s.F32, float32(v))
			}
		}
		if c.Classes {
			s.Labels = gather(labels, rows, 1)
		} else {
			s.Outputs = 1
			s.Values = make([]float32, len(rows))
			for n, i := range rows {
				v := t.Values[int(i)*t.Cols+target]
				if math.Abs(v) > math.MaxFloat32 {
					return nil, nil, t.tooLarge(int(i), target)
				}
				s.Values[n] = float32(v)
			}
		}
		sets[k] = s
	}
	return sets, std, nil
}

func (t *Table) tooLarge(i, j int) error {
	return fmt.Errorf("%s: line %d, %s: the value is too large for a float32: change its unit", t.Name, t.Line(i), t.column(j))
}

// finite refuses missing and infinite values, with the first few lines that have one.
func (t *Table) finite() error {
	const few = 5
	var first error
	var lines []string
	bad := 0
	for i := range t.lines {
		j := slices.IndexFunc(t.Values[i*t.Cols:(i+1)*t.Cols], func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		if j < 0 {
			continue
		}
		if bad++; bad <= few {
			lines = append(lines, strconv.Itoa(t.Line(i)))
		}
		if first == nil {
			what := "the value is missing"
			if math.IsInf(t.Values[i*t.Cols+j], 0) {
				what = "the value is infinite"
			}
			first = fmt.Errorf("%s: line %d, %s: %s", t.Name, t.Line(i), t.column(j), what)
		}
	}
	switch {
	case bad == 0:
		return nil
	case bad == 1:
		return fmt.Errorf("%w: fill it or remove the row", first)
	case bad > few:
		lines = append(lines, "…")
	}
	return fmt.Errorf("%w; %d rows have such values (lines %s): fill them or remove the rows", first, bad, strings.Join(lines, ", "))
}

// classes numbers the targets: by the sorted names if the column holds names, else by value.
func (t *Table) classes(j int) (labels []int32, names []string, classes int, err error) {
	labels = make([]int32, t.Rows())
	if t.Text == j {
		for i := range labels {
			labels[i] = int32(t.Values[i*t.Cols+j])
		}
		return labels, t.Names, len(t.Names), nil
	}
	var values []float64
	for i := range labels {
		v := t.Values[i*t.Cols+j]
		if v != math.Trunc(v) {
			return nil, nil, 0, fmt.Errorf("%s: line %d, %s: %v is no class: classes are names or integers (is this a regression?)", t.Name, t.Line(i), t.column(j), v)
		}
		if k, ok := slices.BinarySearch(values, v); !ok {
			if len(values) == maxNames {
				return nil, nil, 0, fmt.Errorf("%s: %s has more than %d different values: these are no classes (is this a regression?)", t.Name, t.column(j), maxNames)
			}
			values = slices.Insert(values, k, v)
		}
	}
	for i := range labels {
		k, _ := slices.BinarySearch(values, t.Values[i*t.Cols+j])
		labels[i] = int32(k)
	}
	if n := len(values); n > 0 && values[0] == 0 && values[n-1] == float64(n-1) {
		return labels, nil, n, nil
	}
	for _, v := range values {
		names = append(names, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return labels, names, len(values), nil
}
