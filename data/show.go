package data

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/parquet"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/safetensors"
)

// Description describes the contents of a file. Depending on the format, Arrays or Table is set.
type Description struct {
	File   string
	Format string // idx, npy, safetensors, csv, parquet, cifar10 or cifar100
	Bytes  int    // size of the file
	Packed bool   // compressed with gzip

	Arrays   []ArraySummary    // one array; for safetensors the tensors in the file's order
	Metadata map[string]string // of safetensors
	Table    *TableSummary
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
func Show(path string, o CSV) (*Description, error) {
	d, err := reading(path, regular.Open, func(file *regular.File) (*Description, error) { return show(path, file, int(file.Size()), o) })
	return d, tooManyWords(err)
}

func show(path string, file content, size int, o CSV) (d *Description, err error) {
	d = &Description{File: path, Bytes: size}
	if d.Format, err = formatOf(path, file, size); err != nil {
		return nil, err
	}
	if d.Format != "csv" && d.Format != "parquet" && o.Told() {
		return nil, &NotCSVError{path, d.Format}
	}
	switch d.Format {
	case "csv", "parquet":
		d.Table, d.Packed, err = showTable(path, file, size, o)
	case "safetensors":
		err = d.tensors(file)
	case "cifar10", "cifar100":
		err = d.images(file)
	default:
		err = d.array(file)
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

// formatOf finds the format, first by the content, then by the end of the name.
func formatOf(path string, file content, size int) (string, error) {
	head := make([]byte, min(size, 1<<10))
	if n, err := file.ReadAt(head, 0); n < len(head) {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	is := func(magic string) bool { return strings.HasPrefix(string(head), magic) }
	if len(head) > 8 && head[8] == '{' && string(head[4:8]) == "\x00\x00\x00\x00" { // after the length of its header
		return "safetensors", nil
	}
	if err := otherKind(path, file); err != nil {
		return "", err
	}
	switch {
	case parquet.Is(head):
		return "parquet", nil
	case is(npyMagic):
		return "npy", nil
	case is("\x1f\x8b"):
		return packedFormat(path, file, size)
	}
	name := strings.ToLower(filepath.Base(path))
	switch filepath.Ext(name) {
	case ".npy":
		return "npy", nil
	case ".safetensors":
		return "safetensors", nil
	case ".idx", ".gz":
		return "idx", nil
	case ".csv", ".tsv":
		return "csv", nil
	case ".bin":
		return cifarFormat(size), nil
	}
	switch {
	case is("\x00\x00"), strings.HasSuffix(name, "-ubyte"):
		return "idx", nil
	case isText(head):
		return "csv", nil
	case size == 0:
		return "", fmt.Errorf("%s: the file is empty", path)
	}
	return "", fmt.Errorf("%s: is not in a format that can be read (NPY, IDX, CSV, Parquet, safetensors, or CIFAR as .bin): it begins with % x", path, head[:min(len(head), 8)])
}

// packedFormat returns the format inside a gzip file: NPY, a text or else IDX.
func packedFormat(path string, file content, size int) (string, error) {
	s, err := newSource(path, io.NewSectionReader(file, 0, int64(size)), size)
	if err != nil {
		return "", err
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(s.r, head) // what is damaged further on is said by the format's reader
	switch head = head[:n]; {
	case strings.HasPrefix(string(head), npyMagic[:4]):
		return "npy", nil
	case isText(head):
		return "csv", nil
	}
	return "idx", nil
}

// array describes an IDX or NPY file, in the memory of a block. The order of a file in Fortran order does not matter to
// a summary.
func (d *Description) array(file content) error {
	s, err := newSource(d.File, file, d.Bytes)
	if err != nil {
		return err
	}
	parse := (*source).npyHeader
	if d.Format == "idx" {
		parse = (*source).idxHeader
	}
	l, err := s.header(parse)
	if err != nil {
		return err
	}
	n, err := s.check(l)
	if err != nil {
		return err
	}
	from := s
	if l.fortran && n <= MaxShown {
		if from, err = s.toC(l, n); err != nil {
			return err
		}
	}
	sum, err := l.summarise(from, n)
	if err != nil {
		return err
	}
	if l.fortran && n > MaxShown {
		sum.First = nil
	}
	if len(l.shape) > 0 {
		if shape := l.shape[1:]; channelsLast(shape) {
			sum.Note = finding.ChannelsLast("", shape[0], shape[1], shape[2]).Words()
		}
	}
	d.Packed, d.Arrays = s.packed, []ArraySummary{sum}
	return s.end()
}

// summarise reads n values.
func (l *layout) summarise(s *source, n int) (ArraySummary, error) {
	sum := ArraySummary{DType: l.dtype, Shape: l.shape}
	var all tally
	for left := n; left > 0; left -= min(left, MaxShown) {
		values, err := l.read(s, min(left, MaxShown))
		if err != nil {
			return sum, err
		}
		a := &Array{Values: values}
		all.add(a)
		if left == n {
			sum.First = a.texts()
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

func (d *Description) tensors(file io.Reader) error {
	raw := make([]byte, d.Bytes)
	if _, err := io.ReadFull(file, raw); err != nil {
		return fmt.Errorf("%s: %w", d.File, ended(err))
	}
	list, metadata, err := safetensors.Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", d.File, err)
	}
	d.Metadata = metadata
	for _, t := range list {
		l := layout{dtype: dtypes[t.DType], shape: t.Shape}
		if l.dtype == "" {
			return fmt.Errorf("%s: tensor %q: dtype %s cannot be shown", d.File, t.Name, t.DType)
		}
		sum, err := l.summarise(&source{r: bytes.NewReader(t.Data), file: len(t.Data)}, len(t.Data)/elements[l.dtype].size)
		if err != nil {
			return err
		}
		sum.Name = t.Name
		d.Arrays = append(d.Arrays, sum)
	}
	return nil
}

// images describes a file of CIFAR's binary version.
func (d *Description) images(file io.Reader) error {
	c := &cifar10
	if d.Format == "cifar100" {
		c = &cifar100
	}
	var s Set
	if err := c.add(&s, d.File, file, d.Bytes); err != nil {
		return err
	}
	l := layout{dtype: "uint8", shape: []int{len(s.Labels), 3, 32, 32}}
	sum, err := l.summarise(&source{r: bytes.NewReader(s.U8), file: len(s.U8)}, len(s.U8))
	d.Arrays = []ArraySummary{sum}
	return err
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
	switch d.Format {
	case "csv", "parquet":
		return json.Marshal(struct {
			file
			tableJSON
		}{f, d.Table.json()})
	case "safetensors":
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
