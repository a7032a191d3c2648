package formats

import (
	"fmt"
	"io"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/safetensors"
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

	Looked int // rows, if they are not all: all figures are of these
	Of     int // rows of the whole file then; 0: not known

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

// array describes an IDX or NPY file, in the memory of a block. The order of a file in Fortran order does not matter to
// a summary.
func (d *Description) array(file packed.File, header arrays.Header, look Look) error {
	s, err := packed.New(d.File, file, d.Bytes)
	if err != nil {
		return err
	}
	l, n, err := arrays.Begin(s, header)
	if err != nil {
		return err
	}
	whole := n
	if rows := look.Rows; rows > 0 && len(l.Shape) > 0 && rows < l.Shape[0] {
		d.Looked, d.Of = rows, l.Shape[0]
		n = n / l.Shape[0] * rows
	}
	from, few := s, n <= MaxShown
	if few || n < whole {
		if from, err = l.InC(s, whole); err != nil {
			return err
		}
	}
	sum, err := summarise(l, from, n, look.Watch)
	if err != nil {
		return err
	}
	if l.Fortran && from == s && !few {
		sum.First = nil
	}
	if len(l.Shape) > 0 {
		if shape := l.Shape[1:]; arrays.ChannelsLast(shape) {
			sum.Note = finding.Of(finding.ChannelsLast{Channels: shape[0], Height: shape[1], Width: shape[2]}).Words()
		}
	}
	d.Packed, d.Arrays = s.Packed, []ArraySummary{sum}
	if n < whole {
		return nil
	}
	return s.End()
}

// summarise reads n values.
func summarise(l *arrays.Layout, s *packed.Source, n int, watch func(rows int, share float64)) (ArraySummary, error) {
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
		if done := n - left; watch != nil && done%(1<<20) == 0 && len(l.Shape) > 0 {
			watch(int(float64(done)/float64(n)*float64(l.Shape[0])), float64(done)/float64(n))
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
		sum, err := summarise(&l, packed.Bytes("", t.Data), len(t.Data)/l.Size(), nil)
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
