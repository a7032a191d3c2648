package data

import (
	"slices"

	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/sets"
	"github.com/starling-smc/starling/internal/tables"
)

// LoadBytes estimates the memory that Load takes at its peak, in bytes, from the beginnings and the sizes of the files. Files
// that cannot be read count nothing: Load says what is wrong with them.
func (s Settings) LoadBytes(dir string) int64 {
	total, standardise := int64(0), s.standard().inputs
	if k, err := sets.Find(s.Set); err == nil && !k.BuiltIn {
		bytes, tables := k.Sizes(dir)
		each := valueBytes(1, standardise)
		if k.Text != nil {
			each = inSet * int64(k.Text.Context+1) // a character is an input of so many examples, and a target
		}
		total += bytes * each
		for _, path := range tables {
			total += tableBytes(path, CSV{})
		}
	}
	if s.CSV != nil {
		for _, file := range []string{s.CSV.File, s.CSV.Test, s.CSV.Validate, s.CSV.Calibrate} {
			if file != "" {
				total += tableBytes(file, *s.CSV)
			}
		}
	}
	for _, part := range []*Arrays{s.Train, s.Validate, s.Test, s.Calibrate} {
		if part != nil {
			total += arrayBytes(part.Inputs, standardise) + arrayBytes(part.Targets, standardise)
		}
	}
	for _, g := range slices.Concat(s.Groups, s.CalibrateGroups) {
		if array, err := formats.IsArray(g.File); err == nil && array {
			total += arrayBytes(g.File, standardise)
		} else {
			total += tableBytes(g.File, CSV{})
		}
	}
	return total
}

// Bytes of a value as a network takes it, of a value in a table, and of a row's label and its numbers in the lists of the parts.
const (
	inSet   = 4
	inTable = 8
	inRow   = 16
)

// valueBytes is the number of bytes of a value of an array, which has size bytes in the file, with those in the sets.
func valueBytes(size int, standardise bool) int64 {
	if standardise {
		return int64(size + inSet)
	}
	return int64(size + 2*min(size, inSet)) // as a network takes it, first in the whole array and then in its part
}

// arrayBytes estimates the memory that an array takes with the sets that are made of it.
func arrayBytes(path string, standardise bool) int64 {
	l, n, err := formats.LayoutOf(path)
	if err != nil {
		return 0
	}
	each := valueBytes(l.Size(), standardise)
	if l.Fortran {
		each = max(each, int64(3*l.Size())) // at first: as in the file, turned into C order, and as values
	}
	return int64(n) * each
}

// tableBytes estimates the memory that a table takes with the sets that are made of it: of as many rows in a byte of the file, and of as
// many inputs in a row, as at its beginning.
func tableBytes(path string, o CSV) int64 {
	total, err := formats.Table(path, o, func(f *tables.File) (int64, error) {
		rows, columns, inputs, err := f.Beginning()
		return int64(rows * float64(columns*inTable+inputs*inSet+inRow)), err
	})
	if err != nil {
		return 0
	}
	return total
}
