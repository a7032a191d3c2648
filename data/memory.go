package data

import "fmt"

// Memory holds examples of a Go program, in place of files. They are processed like arrays in files: missing parts are drawn
// by the seed, and standardisation is measured in float64 before rounding. The slices are copied only where necessary, so do
// not change them while a Problem made of them is in use.
//
// A config cannot hold the examples. The config of a run on examples in memory says data: {memory: {}}; to load its data
// again, give the same slices.
type Memory struct {
	Train    *Slices       `yaml:"-"` // required
	Validate *Slices       `yaml:"-"`
	Test     *Slices       `yaml:"-"`
	Groups   []MemoryGroup `yaml:"-"` // out-of-distribution inputs, without targets

	Calibrate *Slices       `yaml:"-"` // labelled examples that no network learns from, for decisions about predictions
	Foreign   []MemoryGroup `yaml:"-"` // out-of-distribution inputs that are known beforehand, for decisions, without targets
}

// Slices are examples in memory: either Inputs or Array, and either Labels or Targets.
type Slices struct {
	Inputs [][]float64 // features, a slice for each example
	// Array holds inputs of another type or shape: [examples, features], [examples, height, width] or [examples, channels,
	// height, width]. A network sees uint8 pixels as v/255. Its Name is not used.
	Array   *Array
	Labels  []int     // classes, from 0, one for each example
	Targets []float64 // for regression: [n], or [n, k] row by row for k outputs
}

// MemoryGroup is a named group of inputs.
type MemoryGroup struct {
	Name string
	Slices
}

// inputs returns the inputs as an array. name names them in errors.
func (s *Slices) inputs(name string) (*Array, error) {
	switch {
	case (s.Inputs != nil) == (s.Array != nil):
		return nil, fmt.Errorf("%s: want one of Inputs and Array", name)
	case s.Array != nil:
		a := *s.Array
		a.Name = name + ".Array"
		return &a, a.Check()
	}
	name += ".Inputs"
	if len(s.Inputs) == 0 {
		return nil, fmt.Errorf("%s: no examples", name)
	}
	n, p := len(s.Inputs), len(s.Inputs[0])
	values := make([]float64, 0, n*p)
	for i, row := range s.Inputs {
		if len(row) != p {
			return nil, fmt.Errorf("%s: example %d has %d features, example 0 has %d", name, i, len(row), p)
		}
		values = append(values, row...)
	}
	return &Array{Name: name, Shape: []int{n, p}, Values: values}, nil
}

// arrays returns inputs and targets as arrays.
func (s *Slices) arrays(name string, regression bool) (inputs, targets *Array, err error) {
	if inputs, err = s.inputs(name); err != nil {
		return nil, nil, err
	}
	switch {
	case s.Labels != nil && s.Targets != nil:
		return nil, nil, fmt.Errorf("%s: has Labels and Targets: want one of them", name)
	case regression && s.Targets == nil:
		return nil, nil, fmt.Errorf("%s: has no Targets, the numbers that a regression learns", name)
	case !regression && s.Labels == nil:
		return nil, nil, fmt.Errorf("%s: has no Labels, the classes that the network learns", name)
	case !regression:
		labels := make([]int64, len(s.Labels))
		for i, y := range s.Labels {
			labels[i] = int64(y)
		}
		return inputs, &Array{Name: name + ".Labels", Shape: []int{len(labels)}, Values: labels}, nil
	}
	targets = &Array{Name: name + ".Targets", Shape: []int{len(s.Targets)}, Values: s.Targets}
	if n := examplesOf(inputs); n > 0 && len(s.Targets) > n {
		if len(s.Targets)%n != 0 {
			return nil, nil, fmt.Errorf("%s: %d values for %d examples: want as many for each", targets.Name, len(s.Targets), n)
		}
		targets.Shape = []int{n, len(s.Targets) / n}
	}
	return inputs, targets, nil
}

// group makes the set of a group's inputs. list names the field that has it, in errors.
func (g *MemoryGroup) group(list string, schema *Schema) (Group, error) {
	name := fmt.Sprintf("Memory.%s[%s]", list, g.Name)
	if g.Labels != nil || g.Targets != nil {
		return Group{}, fmt.Errorf("%s: a group has inputs only, no Labels and no Targets", name)
	}
	a, err := g.inputs(name)
	if err != nil {
		return Group{}, err
	}
	set, err := schema.Examples(g.Name, a)
	return Group{Name: g.Name, Set: set}, err
}

// examplesOf is the number of examples of inputs [n, …]; 0 for a scalar.
func examplesOf(a *Array) int {
	if len(a.Shape) == 0 {
		return 0
	}
	return a.Shape[0]
}
