package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/starling-smc/starling/internal/arrays"
)

// ArraySchema makes the schema of arrays of inputs and targets; the rows in train are the training examples. Targets are
// labels below classes or, if classes is 0, values. Means and deviations, of the inputs if standardise and of the values too
// if both, are measured in float64 on the numbers of the arrays, before anything is rounded to float32.
func ArraySchema(inputs, targets *Array, train []int32, classes int, standardise, both bool) (*Schema, error) {
	return arraySchema(inputs, targets, train, classes, standard{inputs: standardise, targets: both}, false)
}

// arraySchema is ArraySchema, with the logarithms of the values in their place if log.
func arraySchema(inputs, targets *Array, train []int32, classes int, by standard, log bool) (*Schema, error) {
	shape, err := exampleOf(inputs)
	if err != nil {
		return nil, err
	}
	s, p := &Schema{Shape: shape, Classes: classes}, size(shape)
	read := reader(inputs, p)
	row := func(i int, dst []float64) { read(int(train[i]), dst) }
	if by.inputs {
		if err := checkFinite(inputs, "feature", p, nil); err != nil {
			return nil, err
		}
		s.Inputs = fitStandard(len(train), p, 1, row)
		if j := s.Inputs.undefined(); j >= 0 {
			return nil, fmt.Errorf("%s: feature %d: %s", inputs.Name, j, tooSmall)
		}
	} else if err := scaleFault(inputs.Name, largest(inputs, train, p), "inputs"); err != nil {
		return nil, err
	}
	if by.channels {
		if s.Channels, err = arrayChannels(inputs, len(train), shape, row); err != nil {
			return nil, err
		}
	}
	s.measure(len(train), row)
	if classes > 0 {
		return s, nil
	}
	if s.Outputs, err = outputsOf(inputs, targets); err != nil {
		return nil, err
	}
	if !by.targets && !log {
		return s, scaleFault(targets.Name, largest(targets, train, s.Outputs), "both")
	}
	if err := checkFinite(targets, "target", s.Outputs, nil); err != nil {
		return nil, err
	}
	values := func(i int, dst []float64) { targets.Row(int(train[i]), dst) }
	if log {
		if err := positiveArray(targets, s.Outputs); err != nil {
			return nil, err
		}
	}
	if !by.targets {
		s.takeLogs()
		return s, nil
	}
	return s, s.fitTargets(targets.Name, len(train), log, values)
}

// arrayChannels measures the channels of the n training rows of an array, which row returns.
func arrayChannels(a *Array, n int, shape []int, row func(i int, dst []float64)) (*Standard, error) {
	if len(shape) != 3 {
		return nil, noChannels(a.Name, shape)
	}
	if err := checkFinite(a, "feature", size(shape), nil); err != nil {
		return nil, err
	}
	s := fitChannels(n, shape, row)
	if !a.Floats() {
		return s, nil
	}
	return s, s.checkChannels(a.Name)
}

// Examples makes a set without targets of an array of inputs. The array holds images [n, height, width] or [n, channels,
// height, width], or features [n, p]. For a run on a table, p may also include the constant columns that were dropped, or all
// columns of the table with the target at its place. Inputs that are standardised, and all inputs of a run on a table, may be
// of any type. Errors name the array, and both shapes if they differ.
func (s *Schema) Examples(name string, a *Array) (*Set, error) {
	set, err := s.examples(name, a, nil)
	if err == nil && a.First > 0 {
		set.Rows = between(a.First, a.First+set.Len())
	}
	return set, err
}

// examples is Examples of some rows, nil for all.
func (s *Schema) examples(name string, a *Array, rows []int32) (*Set, error) {
	shape, err := exampleOf(a)
	if err != nil {
		return nil, err
	}
	p := size(shape)
	columns := make([]int, p)
	for j := range columns {
		columns[j] = j
	}
	read := func(i int, dst []float64) { input(a, i, dst) }
	switch {
	case s.Columns == nil && !slices.Equal(shape, s.Shape):
		return nil, fmt.Errorf("%s: examples of shape %v, the run was trained on examples of shape %v%s", a.Name, shape, s.Shape, otherSize(a.Name, shape, s.Shape))
	case s.Columns == nil && (s.Inputs == nil || lazy(a)):
		set, err := NewInputs(name, a)
		if err == nil && rows != nil {
			set = set.Select(name, rows)
		}
		if err != nil {
			return nil, err
		}
		return s.Standardise(set)
	case s.Columns == nil:
	case len(shape) != 1:
		return nil, fmt.Errorf("%s: examples of shape %v, the run was trained on rows of %s", a.Name, shape, s.counts())
	default:
		r, err := s.places(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		columns = r.Features
		read = a.Row // as in a table: bytes are numbers, not pixels
	}
	expand := s.expansions()
	must := slices.Clone(columns) // have a finite value
	for k, e := range slices.Backward(expand) {
		switch {
		case e != nil && e.Categories != nil:
			return nil, fmt.Errorf("%s: the run's table has words in the column %q, which an array cannot hold: name a CSV", a.Name, e.Column)
		case e != nil && e.Missing:
			must = slices.Delete(must, k, k+1)
		}
	}
	if err := checkFinite(a, "feature", p, must); err != nil {
		return nil, err
	}
	n := a.Shape[0]
	if rows != nil {
		n = len(rows)
	}
	out := &Set{Name: name, Shape: s.Shape, Source: a.Name, Rows: rows, F32: make([]float32, 0, n*size(s.Shape))}
	values, row, buffer := make([]float64, p), make([]float64, len(columns)), []float64(nil)
	for i := range n {
		if rows != nil {
			i = int(rows[i])
		}
		read(i, values)
		for k, j := range columns {
			row[k] = values[j]
		}
		if k := s.append(out, row, expand, &buffer); k >= 0 {
			return nil, fmt.Errorf("%s: example %d, feature %d is too large for a float32 when standardised", a.Name, a.First+i, columns[k])
		}
	}
	return out, nil
}

// lazy reports whether a set keeps the numbers of an array as they are, so that a network standardises them when it loads them.
func lazy(a *Array) bool {
	_, half := a.Values.([]Float16)
	return half || a.Stored != nil
}

// Labelled is Examples of some rows, nil for all, with their targets: labels [n], or values [n] or [n, outputs] of a
// regression.
func (s *Schema) Labelled(name string, inputs, targets *Array, rows []int32) (*Set, error) {
	set, err := s.examples(name, inputs, rows)
	if err != nil {
		return nil, err
	}
	if s.Classes == 0 {
		set.Outputs = s.Outputs
		set.Values, err = s.values(inputs, targets, rows)
		return set, err
	}
	if set.Labels, err = labelsOf(inputs, targets); err != nil {
		return nil, err
	}
	if rows != nil {
		set.Labels = gather(set.Labels, rows, 1)
	}
	set.Classes, set.Names = s.Classes, s.Names
	if err := set.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", targets.Name, err)
	}
	return set, nil
}

// values returns the targets of some rows, as the network learns them.
func (s *Schema) values(inputs, targets *Array, rows []int32) ([]float32, error) {
	k, err := outputsOf(inputs, targets)
	switch {
	case err != nil:
		return nil, err
	case k != s.Outputs:
		return nil, fmt.Errorf("%s: %d target values an example, the run was trained on %d", targets.Name, k, s.Outputs)
	case s.Targets == nil:
		all, err := finite(targets, "target", k)
		if err == nil && rows != nil {
			all = gather(all, rows, k)
		}
		return all, err
	}
	if err := checkFinite(targets, "target", k, nil); err != nil {
		return nil, err
	}
	if s.Targets.Log {
		if err := positiveArray(targets, k); err != nil {
			return nil, err
		}
	}
	n := targets.Shape[0]
	if rows != nil {
		n = len(rows)
	}
	values, y := make([]float32, 0, n*k), make([]float64, k)
	for i := range n {
		if rows != nil {
			i = int(rows[i])
		}
		targets.Row(i, y)
		s.Targets.row(y)
		for j, v := range y {
			if !(math.Abs(v) <= math.MaxFloat32) {
				return nil, fmt.Errorf("%s: target %d of example %d is %g when standardised, too large for a float32", targets.Name, j, i, v)
			}
			values = append(values, float32(v))
		}
	}
	return values, nil
}

// input is Array.Row, with uint8 pixels divided by 255.
func input(a *Array, i int, dst []float64) {
	a.Row(i, dst)
	if _, pixels := a.Values.([]uint8); pixels {
		for j := range dst {
			dst[j] /= 255
		}
	}
}

// reader returns input for a caller that reads the rows of an array, of width values each, in order.
func reader(a *Array, width int) func(i int, dst []float64) {
	if a.Stored != nil {
		return arrays.Pass[float64](a.Stored, width)
	}
	return func(i int, dst []float64) { input(a, i, dst) }
}

// checkFinite refuses NaN and infinities in some columns, nil for all, of rows of width values. what names such a value in
// an error.
func checkFinite(a *Array, what string, width int, columns []int) error {
	switch {
	case !a.Floats():
		return nil
	case a.Stored != nil && columns == nil:
		return a.Stored.CheckFinite()
	}
	x := make([]float64, width)
	for i := range a.Shape[0] {
		a.Row(i, x)
		for j, v := range x {
			if !(math.Abs(v) <= math.MaxFloat64) && (columns == nil || slices.Contains(columns, j)) {
				return fmt.Errorf("%s: example %d, %s %d is %v: a network needs finite numbers", a.Name, a.First+i, what, j, v)
			}
		}
	}
	return nil
}
