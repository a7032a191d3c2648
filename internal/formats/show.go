package formats

import (
	"encoding/json"
	"fmt"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/internal/packed"
	"github.com/starling-smc/starling/internal/regular"
	"github.com/starling-smc/starling/internal/tables"
)

// Look says how a file is looked at.
type Look struct {
	CSV   tables.CSV                    // how a CSV is read; for other formats any setting is an error
	Rows  int                           // of a table or an array, the first ones; 0: all
	Watch func(rows int, share float64) // is told now and then how many rows were looked at, and which share of the work is done; may be nil
}

// Show describes a file that the program can read. The content decides the format; if several are possible, the file's name
// does.
func Show(path string, look Look) (*Description, error) {
	d, err := packed.Reading(path, regular.Open, func(file *regular.File) (*Description, error) {
		return show(path, file, int(file.Size()), look)
	})
	return d, tables.TooManyWords(err)
}

func show(path string, file packed.File, size int, look Look) (*Description, error) {
	o := look.CSV
	b, err := beginningOf(path, file, size)
	if err != nil {
		return nil, err
	}
	f, err := b.format()
	if err != nil {
		return nil, err
	}
	d := &Description{File: path, Title: f.title, Format: f.name, Bytes: size}
	if given := o.Given(); f.table == nil && given != nil {
		return nil, &NotCSVError{path, d.Format, given}
	}
	switch {
	case f.table != nil:
		var t *tables.File
		if t, err = f.table(path, file, size, o); err == nil {
			t.First(look.Rows)
			t.Watch(look.Watch)
			d.Packed = t.Packed()
			if d.Table, err = showTable(t, o); err == nil && t.Partly() {
				d.Looked, d.Of = d.Table.Count, t.AllRows()
			}
		}
	case f.array != nil:
		err = d.array(file, f.array, look)
	case look.Rows > 0:
		err = &NoRowsError{path, d.Format}
	default:
		err = f.show(d, file)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// NotCSVError says that settings for CSV files were given for a file of another format.
type NotCSVError struct {
	File, Format string
	Given        []string // the settings, by their keys
}

func (e *NotCSVError) Error() string {
	verb := "are"
	if len(e.Given) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s: %s %s of CSV files, this one is %s", e.File, numeral.List(e.Given), verb, e.Format)
}

// NoRowsError says that some rows of a file were asked for that has none.
type NoRowsError struct{ File, Format string }

func (e *NoRowsError) Error() string {
	return fmt.Sprintf("%s: rows are of tables and arrays, this one is %s", e.File, e.Format)
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
// nan, for a table by those of each column. Where the first rows alone were looked at, first_rows is their number: all figures are
// of these, except the shape of an array.
func (d *Description) MarshalJSON() ([]byte, error) {
	type file struct {
		File   string `json:"file"`
		Format string `json:"format"`
		Bytes  int    `json:"bytes"`
		Packed bool   `json:"gzip,omitempty"`
		Looked int    `json:"first_rows,omitempty"`
	}
	f := file{d.File, d.Format, d.Bytes, d.Packed, d.Looked}
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
