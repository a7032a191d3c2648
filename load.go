package starling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/nn"
)

// DataError is a fault of the examples: a file that is missing or malformed, or a set that the network cannot learn.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// load brings the examples that s names into memory, as the network sees them: parts that the data lack held out of
// the training examples by the seed, and what is standardised measured on those that are left, unless schema says how
// it was in a run before. Of a network that is judged as it is nothing is held out.
func (s *Spec) load(dir string, schema *data.Schema) (*data.Problem, error) {
	var p *data.Problem
	var err error
	switch {
	case s.tabular():
		p, err = s.readTable(dir, schema)
	case s.Data.Set != "":
		p, err = s.readSet(dir, schema)
	default:
		p, err = s.readArrays(schema)
	}
	if err == nil && schema == nil && !p.Whole {
		err = s.learnable(p)
	}
	for _, g := range s.Data.Groups {
		if err != nil {
			break
		}
		var set *data.Set
		set, err = readInputs(g.Name, g.File, p.Schema)
		p.Groups = append(p.Groups, data.Group{Name: g.Name, Set: set})
	}
	if err != nil {
		return nil, faultOfData(err)
	}
	return p, nil
}

// whole reports whether training examples stay together.
func (s *Spec) whole() bool { return s.Method.AsIs || s.Data.Whole }

// learnable is an error if all training examples are of one class.
func (s *Spec) learnable(p *data.Problem) error {
	labels := p.Train.Labels
	if len(labels) == 0 || slices.ContainsFunc(labels, func(l int32) bool { return l != labels[0] }) {
		return nil
	}
	file, class := p.Name, fmt.Sprint(labels[0])
	if s.Data.Train != nil {
		file = s.Data.Train.Targets
	}
	if p.Train.Names != nil {
		class = p.Train.Names[labels[0]]
	}
	return fmt.Errorf("%s: the target has one class only, %s, in all %d training examples: there is nothing to learn", file, class, len(labels))
}

// faultOfData is what err is unless it is the config's.
func faultOfData(err error) error {
	var config *ConfigError
	if errors.As(err, &config) {
		return err
	}
	return &DataError{err}
}

// readTable reads the user's own CSV or a known table.
func (s *Spec) readTable(dir string, schema *data.Schema) (*data.Problem, error) {
	_, regression := s.Model.Likelihood.(nn.Gaussian)
	columns := data.Columns{Classes: !regression, Standardise: s.Data.Standardise == "both"}
	if s.Data.Standardise != "none" {
		columns.SD = 1
	}
	var t *data.Table
	var err error
	csv := s.Data.CSV
	if csv == nil {
		t, columns.Target, err = data.LoadTable(s.Data.Set, dir)
	} else {
		columns.Target = csv.Target
		t, err = s.readCSV()
	}
	if err != nil {
		return nil, err
	}
	p := &data.Problem{Name: t.Name, Schema: schema, Whole: s.whole()}
	parts := 2
	if p.Whole {
		parts = 0
	}
	kept, held, err := data.Split(t.Rows(), s.Seed, parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	if schema == nil {
		p.Schema, err = columns.Schema(t, kept)
		var names *data.NamesError
		if errors.As(err, &names) && regression {
			return nil, s.fault("model.likelihood", "gaussian predicts numbers, but %v: want categorical", err)
		}
		if err != nil {
			return nil, err
		}
		if csv != nil {
			p.Schema.Delimiter, p.Schema.Header = csv.Delimiter, csv.Header
		}
	}
	if p.Train, err = p.Schema.Set("train", t, kept, true); err != nil || p.Whole {
		return p, err
	}
	if p.Test, err = p.Schema.Set("test", t, held[0], true); err == nil {
		p.Validate, err = p.Schema.Set("validate", t, held[1], true)
	}
	return p, err
}

// readCSV reads the user's own table. Columns that it has not are the config's fault.
func (s *Spec) readCSV() (*data.Table, error) {
	csv := s.Data.CSV
	t, err := data.ReadCSV(csv.File, data.CSV{Delimiter: csv.Delimiter, Header: csv.Header, Target: csv.Target, Drop: csv.Drop})
	var column *data.ColumnError
	if errors.As(err, &column) {
		hint := spelling.Suggest(column.Name, column.Header)
		if column.Cols == 1 {
			hint = ": a single column; is the delimiter right?"
		}
		path := "data.csv.target"
		if k := slices.Index(csv.Drop, column.Name); k >= 0 {
			path = join("data.csv.drop", fmt.Sprint(k))
		}
		return nil, s.fault(path, "%v%s", err, hint)
	}
	var cell *data.CellError
	if errors.As(err, &cell) {
		fill := ""
		if cell.Missing {
			fill = "fill it, remove the row, or "
		}
		err = fmt.Errorf("%w: %sleave the column out with data.csv.drop: [%s]", err, fill, scalarText(cell.Name))
	}
	return t, err
}

// readSet loads a known set that is no table.
func (s *Spec) readSet(dir string, schema *data.Schema) (*data.Problem, error) {
	p, err := data.Load(s.Data.Set, dir)
	if err != nil {
		return nil, err
	}
	p.Whole = p.Whole || s.whole()
	if p.Schema != nil && s.Data.Standardise != "none" {
		return nil, s.fault("data.standardise", "the inputs of %s come standardised: want none", p.Name)
	}
	if p.Schema != nil {
		return p, nil
	}
	if err := p.Split(s.Seed); err != nil {
		return nil, err
	}
	if p.Schema = schema; schema == nil {
		p.Schema = data.NewSchema(p.Train, s.Data.Standardise != "none")
	}
	return p, standardise(p, p.Schema)
}

// readArrays reads the user's own arrays. As with a table, rows are chosen and measured before anything is rounded.
func (s *Spec) readArrays(schema *data.Schema) (*data.Problem, error) {
	p := &data.Problem{Name: s.Data.Train.Inputs, Schema: schema, Whole: s.whole()}
	_, regression := s.Model.Likelihood.(nn.Gaussian)
	type part struct {
		name            string
		from            *Arrays
		into            **data.Set
		inputs, targets *data.Array
		rows            []int32 // nil: all
	}
	parts := []*part{
		{name: "train", from: s.Data.Train, into: &p.Train},
		{name: "test", from: s.Data.Test, into: &p.Test},
		{name: "validate", from: s.Data.Validate, into: &p.Validate},
	}
	train, classes, lacking := parts[0], 0, 0
	for _, part := range parts {
		if part.from == nil {
			lacking++
			continue
		}
		var err error
		if part.inputs, part.targets, err = part.from.read(); err != nil {
			return nil, err
		}
		if !regression {
			labels, err := part.targets.Ints()
			if err != nil {
				return nil, err
			}
			classes = max(classes, int(slices.Max(append(labels, 0)))+1) // the largest label of any part
		}
	}
	if len(train.inputs.Shape) == 0 {
		return nil, fmt.Errorf("%s: a single number, want inputs [examples, …]", train.inputs.Name)
	}
	if p.Whole {
		lacking = 0
	}
	rows, held, err := data.Split(train.inputs.Shape[0], s.Seed, lacking)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if schema == nil {
		standardise, both := s.Data.Standardise != "none", s.Data.Standardise == "both"
		if p.Schema, err = data.ArraySchema(train.inputs, train.targets, rows, classes, standardise, both); err != nil {
			return nil, err
		}
	}
	train.rows = rows
	for _, part := range parts {
		if part.inputs == nil {
			if p.Whole {
				continue
			}
			part.inputs, part.targets, part.rows = train.inputs, train.targets, held[0]
			held = held[1:]
		}
		if *part.into, err = p.Schema.Labelled(part.name, part.inputs, part.targets, part.rows); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (a *Arrays) read() (inputs, targets *data.Array, err error) {
	if inputs, err = data.ReadArray(a.Inputs); err != nil {
		return nil, nil, err
	}
	targets, err = data.ReadArray(a.Targets)
	return inputs, targets, err
}

// standardise turns every part of a problem into what the network sees.
func standardise(p *data.Problem, schema *data.Schema) error {
	parts := []**data.Set{&p.Train, &p.Validate, &p.Test}
	for i := range p.Groups {
		parts = append(parts, &p.Groups[i].Set)
	}
	for _, part := range parts {
		if *part == nil {
			continue
		}
		var err error
		if *part, err = schema.Standardise(*part); err != nil {
			return err
		}
	}
	return nil
}

// network builds the network for the training examples; an input shape that was left out becomes theirs. What does not
// fit them is a *ConfigError.
func (s *Spec) network(p *data.Problem) (*nn.Net, error) {
	set, m := p.Train, &s.Model
	given := m.Input != nil
	if !given {
		m.Input = slices.Clone(set.Shape)
		c := s.checker()
		if c.model(m); c.faults != nil {
			return nil, s.refuse(c.faults...)
		}
	}
	net, err := nn.New(m.Input, m.Layers, m.Likelihood)
	if err != nil {
		return nil, s.fault("model", "%v", err)
	}
	if given && !fits(m.Input, set.Shape) {
		hint := ": leave input out to take theirs"
		if p.Schema != nil && p.Schema.Dropped != nil {
			hint = ": " + constants(p.Schema)
		}
		return nil, s.fault("model.input", "%s has examples of shape %v, the network takes %v%s", p.Name, set.Shape, m.Input, hint)
	}
	last := join("model.layers", fmt.Sprint(len(m.Layers)-1))
	switch k := net.Outputs(); m.Likelihood.(type) {
	case nn.Categorical:
		if set.Classes > k {
			return nil, s.fault(last, "%s, the network %d outputs", s.classes(p), k)
		}
	case nn.Bernoulli:
		if set.Classes > 2 {
			return nil, s.fault("model.likelihood", "bernoulli is for 2 classes, %s: want categorical", s.classes(p))
		}
	case nn.Gaussian:
		if set.Values == nil {
			return nil, s.fault("model.likelihood", "gaussian predicts numbers, %s has classes: want categorical", p.Name)
		}
		if set.Outputs != k {
			return nil, s.fault(last, "%s has %d target values an example, the network %d outputs", p.Name, set.Outputs, k)
		}
	}
	return net, nil
}

// classes says how many classes the data have; of arrays which file's labels say so, and which labels no example has.
func (s *Spec) classes(p *data.Problem) string {
	n := p.Train.Classes
	if s.Data.Train == nil {
		return fmt.Sprintf("%s has %d classes", p.Name, n)
	}
	file, seen := "", make([]bool, n)
	for _, part := range []struct {
		set  *data.Set
		from *Arrays
	}{{p.Train, s.Data.Train}, {p.Validate, s.Data.Validate}, {p.Test, s.Data.Test}} {
		if part.set == nil {
			continue
		}
		for _, label := range part.set.Labels {
			if seen[label] = true; int(label) == n-1 && file == "" {
				if file = s.Data.Train.Targets; part.from != nil {
					file = part.from.Targets
				}
			}
		}
	}
	const few = 10
	gaps := ""
	for label, there := range seen {
		switch {
		case there:
		case strings.Count(gaps, ",") == few:
			return fmt.Sprintf("%s has %d classes (the largest label is %d; no example has label%s, …)", file, n, n-1, gaps[1:])
		default:
			gaps += fmt.Sprintf(", %d", label)
		}
	}
	if gaps != "" {
		gaps = "; no example has label" + gaps[1:]
	}
	return fmt.Sprintf("%s has %d classes (the largest label is %d%s)", file, n, n-1, gaps)
}

// fits reports whether a network of an input shape takes examples of another: as they are, or flattened.
func fits(input, shape []int) bool {
	if len(input) == 3 && len(shape) == 3 {
		return slices.Equal(input, shape)
	}
	size := func(shape []int) int {
		p := 1
		for _, d := range shape {
			p *= d
		}
		return p
	}
	return size(input) == size(shape)
}

// constants says which columns were dropped.
func constants(schema *data.Schema) string {
	names := make([]string, len(schema.Dropped))
	for i, name := range schema.Dropped {
		if names[i] = name; !schema.Named {
			names[i] = "number " + name
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("column %s is constant over the training rows and was dropped", names[0])
	}
	return fmt.Sprintf("columns %s are constant over the training rows and were dropped", strings.Join(names, ", "))
}

// alwaysZero says which features of arrays, which drop none, a network sees as 0 once they are standardised; "" if none.
func alwaysZero(schema *data.Schema) string {
	if schema.Columns != nil || schema.Inputs == nil {
		return ""
	}
	const few = 20
	var names []string
	for _, j := range schema.Inputs.Constant() {
		names = append(names, fmt.Sprint(j))
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("feature %s (from 0) is constant over the training examples: the network sees it as 0 everywhere", names[0])
	case n > few:
		names = append(names[:few], "…")
	}
	return fmt.Sprintf("%d features (from 0: %s) are constant over the training examples: the network sees them as 0 everywhere",
		len(schema.Inputs.Constant()), strings.Join(names, ", "))
}
