package data

import (
	"github.com/starling-smc/starling/internal/regular"
)

// LoadBytes estimates the memory that Load takes at its peak, in bytes, from the beginnings and the sizes of the files. Files
// that cannot be read count nothing: Load says what is wrong with them.
func (s Settings) LoadBytes(dir string) int64 {
	total, standardise := int64(0), s.Standardise == "inputs" || s.Standardise == "both"
	for _, k := range known() {
		if k.Name == s.Set && !k.BuiltIn {
			total += k.loadBytes(dir, standardise)
		}
	}
	if s.CSV != nil {
		total += tableBytes(s.CSV.File, *s.CSV)
	}
	for _, part := range []*Arrays{s.Train, s.Validate, s.Test} {
		if part != nil {
			total += arrayBytes(part.Inputs, standardise) + arrayBytes(part.Targets, standardise)
		}
	}
	for _, g := range s.Groups {
		if array, err := IsArray(g.File); err == nil && array {
			total += arrayBytes(g.File, standardise)
		} else {
			total += tableBytes(g.File, CSV{})
		}
	}
	return total
}

// loadBytes is LoadBytes of a known set that is read from files.
func (k *Known) loadBytes(dir string, standardise bool) (total int64) {
	for _, p := range pins[k.Name] {
		switch {
		case p.size == 0:
			total += tableBytes(k.path(dir, p.file), CSV{})
		default:
			total += p.size * valueBytes(1, standardise)
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
	total, err := reading(path, openReadable, func(file *regular.File) (int64, error) {
		s, err := newSource(path, file, int(file.Size()))
		if err != nil {
			return 0, err
		}
		l, err := s.header((*source).anyHeader)
		if err != nil {
			return 0, err
		}
		n, err := s.check(l)
		if err != nil {
			return 0, err
		}
		size := elements[l.dtype].size
		each := valueBytes(size, standardise)
		if l.fortran {
			each = max(each, int64(3*size)) // at first: as in the file, turned into C order, and as values
		}
		return int64(n) * each, nil
	})
	if err != nil {
		return 0
	}
	return total
}

// tableBytes estimates the memory that a table takes with the sets that are made of it: of as many rows in a byte of the file, and of as
// many inputs in a row, as at its beginning.
func tableBytes(path string, o CSV) int64 {
	total, err := reading(path, openReadable, func(file *regular.File) (int64, error) {
		f, err := newCSVFile(path, file, int(file.Size()), o)
		if err != nil {
			return 0, err
		}
		b, err := f.beginning()
		if err != nil {
			return 0, err
		}
		rows := float64(b.rows) * float64(f.estimate()) / float64(max(1, b.bytes))
		if f.p != nil {
			rows = float64(f.p.Rows)
		}
		return int64(rows * float64(b.columns*inTable+b.inputs()*inSet+inRow)), nil
	})
	if err != nil {
		return 0
	}
	return total
}
