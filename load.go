package starling

import (
	"errors"
	"fmt"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/nn"
)

// DataError is a fault of the examples: a file that is missing or malformed, or a set that the network cannot learn.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// load brings the examples that s names into memory, parts that the data lack held out of the training examples by
// the seed, and inputs standardised as s says.
func (s *Spec) load(dir string) (*data.Problem, error) {
	problem, err := s.read(dir)
	if errors.Is(err, data.ErrUnknown) {
		return nil, configError("", []fault{{path: "data.set", message: err.Error()}})
	}
	if err == nil && !problem.Whole {
		err = problem.Split(s.Seed)
	}
	if err == nil && s.Data.Set != "" && s.Data.Standardise == "inputs" {
		err = standardise(problem)
	}
	if err != nil {
		return nil, &DataError{err}
	}
	return problem, nil
}

func (s *Spec) read(dir string) (*data.Problem, error) {
	if s.Data.Set != "" {
		return data.Load(s.Data.Set, dir)
	}
	csv := s.Data.CSV
	table, err := data.ReadCSV(csv.File, data.CSV{Target: csv.Target})
	if err != nil {
		return nil, err
	}
	kept, held, err := data.Split(table.Rows(), s.Seed, 2)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", csv.File, err)
	}
	_, numbers := s.Model.Likelihood.(nn.Gaussian)
	columns := data.Columns{Target: csv.Target, Classes: !numbers}
	if s.Data.Standardise == "inputs" {
		columns.SD = 1
	}
	sets, _, err := columns.Sets(table, kept, held[1], held[0])
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"train", "validate", "test"} {
		sets[i].Name = name
	}
	return &data.Problem{Name: csv.File, Train: sets[0], Validate: sets[1], Test: sets[2]}, nil
}

// standardise scales the inputs of every part by the mean and the deviation of the training part.
func standardise(p *data.Problem) error {
	standard := data.FitStandard(p.Train, 1)
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
