package starling

import (
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// DataError is a fault of the examples: a file that is missing or malformed, or a set that the network cannot learn.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// load brings the examples that s names into memory, parts that the data lack held out of the training examples by
// the seed, and inputs standardised as s says. The Standard is nil if they are not.
func (s *Spec) load(dir string) (*data.Problem, *data.Standard, error) {
	problem, standard, err := s.read(dir)
	if err == nil && !problem.Whole {
		err = problem.Split(s.Seed)
	}
	if err == nil && s.Data.Set != "" && s.Data.Standardise == "inputs" {
		standard = data.FitStandard(problem.Train, 1)
		err = apply(standard, problem)
	}
	if err != nil {
		return nil, nil, &DataError{err}
	}
	return problem, standard, nil
}

func (s *Spec) read(dir string) (*data.Problem, *data.Standard, error) {
	if s.Data.Set != "" {
		problem, err := data.Load(s.Data.Set, dir)
		return problem, nil, err
	}
	csv := s.Data.CSV
	table, err := data.ReadCSV(csv.File, data.CSV{Target: csv.Target})
	if err != nil {
		return nil, nil, err
	}
	kept, held, err := data.Split(table.Rows(), s.Seed, 2)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", csv.File, err)
	}
	_, numbers := s.Model.Likelihood.(nn.Gaussian)
	columns := data.Columns{Target: csv.Target, Classes: !numbers}
	if s.Data.Standardise == "inputs" {
		columns.SD = 1
	}
	sets, standard, err := columns.Sets(table, kept, held[1], held[0])
	if err != nil {
		return nil, nil, err
	}
	for i, name := range []string{"train", "validate", "test"} {
		sets[i].Name = name
	}
	return &data.Problem{Name: csv.File, Train: sets[0], Validate: sets[1], Test: sets[2]}, standard, nil
}

// apply standardises the inputs of every part.
func apply(standard *data.Standard, p *data.Problem) error {
	parts := []**data.Set{&p.Train, &p.Validate, &p.Test}
	for i := range p.Groups {
		parts = append(parts, &p.Groups[i].Set)
	}
	for _, part := range parts {
		if *part == nil {
			continue
		}
		var err error
		if *part, err = standard.Apply(*part); err != nil {
			return err
		}
	}
	return nil
}
