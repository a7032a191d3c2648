package formats

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/internal/tables"
)

// Description describes the contents of a file. Depending on the format, Arrays or Table is set.
type Description struct {
	File   string
	Title  string // of the format
	Format string // idx, npy, safetensors, csv, parquet, cifar10 or cifar100
	Bytes  int    // size of the file
	Packed bool   // compressed with gzip

	Arrays   []ArraySummary    // one array; for safetensors the tensors in the file's order
	Metadata map[string]string // of safetensors
	Table    *TableSummary

	Named bool // the arrays are tensors, which have names
}

// ArraySummary describes an array. First holds its first values, at most MaxShown; it is empty for a large array in Fortran
// order, whose first values are spread over the file.
type ArraySummary struct {
	Name  string // of a tensor
	DType string
	Shape []int
	First []Number
	Note  string // how inputs are read, if the channels may be meant to come last
	Summary
}

// All reports whether First holds all values.
func (a *ArraySummary) All() bool { return len(a.First) == a.Count }

// Show describes a file that the program can read. The content decides the format; if several are possible, the file's name
// does. o says how a CSV is read. For other formats any setting in o is an error.
func Show(path string, o tables.CSV) (*Description, error) {
	d, err := packed.Reading(path, regular.Open, func(file *regular.File) (*Description, error) { return show(path, file, int(file.Size()), o) })
	return d, tables.TooManyWords(err)
}

func show(path string, file packed.File, size int, o tables.CSV) (*Description, error) {
	b, err := beginningOf(path, file, size)
	if err != nil {
		return nil, err
	}
	f, err := b.format()
	if err != nil {
		return nil, err
	}
	d := &Description{File: path, Title: f.title, Format: f.name, Bytes: size}
	if f.table == nil && o.Told() {
		return nil, &NotCSVError{path, d.Format}
	}
	switch {
	case f.table != nil:
		var t *tables.File
		if t, err = f.table(path, file, size, o); err == nil {
			d.Packed = t.Packed()
			d.Table, err = showTable(t, o)
		}
	case f.array != nil:
		err = d.array(file, f.array)
	default:
		err = f.show(d, file)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// NotCSVError says that settings for CSV files were given for a file of another format.
type NotCSVError struct{ File, Format string }

func (e *NotCSVError) Error() string {
	return fmt.Sprintf("%s: target, drop, words, delimiter and header are of CSV files, this one is %s", e.File, e.Format)
}

// array describes an IDX or NPY file, in the memory of a block. The order of a file in Fortran order does not matter to
// a summary.
func (d *Description) array(file packed.File, header arrays.Header) error {
	s, err := packed.New(d.File, file, d.Bytes)
	if err != nil {
		return err
	}
	l, n, err := arrays.Begin(s, header)
	if err != nil {
		return err
	}
	from, few := s, n <= MaxShown
	if few {
		if from, err = l.InC(s, n); err != nil {
			return err
		}
	}
	sum, err := summarise(l, from, n)
	if err != nil {
		return err
	}
	if l.Fortran && !few {
		sum.First = nil
	}
	if len(l.Shape) > 0 {
		if shape := l.Shape[1:]; arrays.ChannelsLast(shape) {
			sum.Note = finding.ChannelsLast("", shape[0], shape[1], shape[2]).Words()
		}
	}
	d.Packed, d.Arrays = s.Packed, []ArraySummary{sum}
	return s.End()
}

// summarise reads n values.
func summarise(l *arrays.Layout, s *packed.Source, n int) (ArraySummary, error) {
	sum := ArraySummary{DType: l.DType, Shape: l.Shape}
	var all tally
	for left := n; left > 0; left -= min(left, MaxShown) {
		values, err := l.Read(s, min(left, MaxShown))
		if err != nil {
			return sum, err
		}
		a := &arrays.Array{Values: values}
		all.add(a)
		if left == n {
			sum.First = texts(a)
		}
	}
	sum.Summary = all.summary()
	return sum, nil
}

// dtypes maps safetensors' element types to NumPy's.
var dtypes = map[string]string{
	"BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
	"U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
}

// tensors describes a safetensors file.
func (d *Description) tensors(file packed.File) error {
	raw := make([]byte, d.Bytes)
	if _, err := io.ReadFull(file, raw); err != nil {
		return fmt.Errorf("%s: %w", d.File, packed.Ended(err))
	}
	list, metadata, err := safetensors.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", d.File, err)
	}
	d.Metadata, d.Named = metadata, true
	for _, t := range list {
		l := arrays.Layout{DType: dtypes[t.DType], Shape: t.Shape}
		if l.DType == "" {
			return fmt.Errorf("%s: tensor %q: dtype %s cannot be shown", d.File, t.Name, t.DType)
		}
		sum, err := summarise(&l, packed.Bytes("", t.Data), len(t.Data)/l.Size())
		if err != nil {
			return err
		}
		sum.Name = t.Name
		d.Arrays = append(d.Arrays, sum)
	}
	return nil
}

// images describes a file of CIFAR's binary version.
func images(c *arrays.CIFAR) func(d *Description, file packed.File) error {
	return func(d *Description, file packed.File) error {
		a, _, err := c.Decode(d.File, file, d.Bytes)
		if err != nil {
			return err
		}
		var all tally
		all.add(a)
		pixels := a.Values.([]uint8)
		d.Arrays = []ArraySummary{{
			DType: a.DType(), Shape: a.Shape, First: texts(&arrays.Array{Values: pixels[:min(len(pixels), MaxShown)]}), Summary: all.summary(),
		}}
		return nil
	}
}

// arrayJSON has either values or a summary.
type arrayJSON struct {
	DType  string    `json:"dtype"`
	Shape  []int     `json:"shape"`
	Note   string    `json:"note,omitempty"`
	Values *[]Number `json:"values,omitempty"`
	*Summary
}

func (a *ArraySummary) json() arrayJSON {
	j := arrayJSON{DType: a.DType, Shape: append([]int{}, a.Shape...), Note: a.Note}
	if a.All() {
		values := append([]Number{}, a.First...)
		j.Values = &values
	} else {
		j.Summary = &a.Summary
	}
	return j
}

// MarshalJSON writes dtype, shape and values of an array; for safetensors the same of each tensor by name, and the metadata
// if there are any; for a table its header and rows. More than MaxShown values are replaced by count, min, max, mean and
// nan, for a table by those of each column.
func (d *Description) MarshalJSON() ([]byte, error) {
	type file struct {
		File   string `json:"file"`
		Format string `json:"format"`
		Bytes  int    `json:"bytes"`
		Packed bool   `json:"gzip,omitempty"`
	}
	f := file{d.File, d.Format, d.Bytes, d.Packed}
	switch {
	case d.Table != nil:
		return json.Marshal(struct {
			file
			tableJSON
		}{f, d.Table.json()})
	case d.Named:
		tensors := map[string]arrayJSON{}
		for i := range d.Arrays {
			tensors[d.Arrays[i].Name] = d.Arrays[i].json()
		}
		return json.Marshal(struct {
			file
			Tensors  map[string]arrayJSON `json:"tensors"`
			Metadata map[string]string    `json:"metadata,omitempty"`
		}{f, tensors, d.Metadata})
	}
	return json.Marshal(struct {
		file
		arrayJSON
	}{f, d.Arrays[0].json()})
}
