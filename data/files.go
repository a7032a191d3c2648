package data

import (
	"io"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/tables"
)

// What Go programs use of the rooms that read files.

// Array is an array of a file or of a program, in C order: Name, of the file, for errors; Shape, empty for a scalar; First, the rows of the
// file before this block of rows; and Values, a slice of bool, uint8 … uint64, int8 … int64, Float16, BFloat16, float32 or float64.
type Array = arrays.Array

// Float16 holds the bits of an IEEE 754 binary16 number, and BFloat16 the upper half of those of a float32.
type (
	Float16  = arrays.Float16
	BFloat16 = arrays.BFloat16
)

// Stored is an array of float16 or float32 numbers that stays in its file, which is mapped.
type Stored = arrays.Stored

// CSV names a table of examples, or says how one is read: its fields are the keys of data.csv in docs/config.md (File, Test, Validate,
// Target, Delimiter, Header, Drop, Keep, Other, Missing). The zero value guesses delimiter and header and expects numbers only; with Words,
// a column without numbers may hold words.
type CSV = tables.CSV

// NamesError is the error of Settings.Load for a regression whose target column holds names.
type NamesError = tables.NamesError

// Table is a table of numbers, row by row in Values, Cols to a row; NaN where a cell is missing or the column is left out. Header has the
// names of the columns, and Names, for each column that holds words in place of numbers, all its words in order: values are indices in
// them.
type Table = tables.Table

// ReadArray reads a whole file, NPY or IDX, compressed with gzip or not; the content tells which. Errors name the file, the place and what
// is wrong there.
func ReadArray(path string) (*Array, error) { return formats.ReadArray(path) }

// StoreArray is ReadArray of a file whose numbers stay there, mapped, if they can (Array.Stored): those of an NPY of float16 or float32, in C
// order, little-endian and not compressed, on Linux and macOS. Of others it is ReadArray. The file must not change while they are in use.
func StoreArray(path string) (*Array, error) { return formats.StoreArray(path) }

// ReadNPY reads a NumPy file, compressed with gzip or not.
func ReadNPY(path string) (*Array, error) { return formats.ReadArrayAs(path, arrays.NPY) }

// DecodeNPY decodes the bytes of a NumPy file; name stands for the file in errors.
func DecodeNPY(name string, raw []byte) (*Array, error) {
	return arrays.Decode(name, raw, arrays.NPY)
}

// WriteNPY writes a NumPy file of float64 numbers in C order. The length of values must be the product of shape.
func WriteNPY(w io.Writer, shape []int, values []float64) error {
	return arrays.WriteNPY(w, shape, values)
}

// ReadCSV reads a table: text, packed with gzip or not, or Parquet. Errors name file, line and column.
func ReadCSV(path string, o CSV) (*Table, error) { return formats.ReadCSV(path, o) }

// DecodeCSV decodes the bytes of a file; name stands for it in errors.
func DecodeCSV(name string, raw []byte, o CSV) (*Table, error) {
	return formats.DecodeCSV(name, raw, o)
}
