package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/formats"
	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/internal/tables"
)

// inputs are the rows of a file. each passes them to fn in blocks, as the network's inputs, with their keys, if there are any, and the
// numbers of inputs that were missing and filled; nil: none was. A fault of the file is an *InputError; an error of fn is returned as it is.
type inputs struct {
	rows int
	each func(fn func(set *data.Set, keys []string, filled []int) error) error
}

// open opens a file of inputs whose predictions go to the file out; empty: to a CSV without a name. A CSV is read once in advance, so
// that its faults are found before the work begins.
func (p *Predictor) open(ctx context.Context, file, out string) (*inputs, error) {
	if err := cmp.Or(p.checkAsked(out), p.checkKey(out)); err != nil {
		return nil, err
	}
	array, err := formats.IsArray(file)
	if err != nil {
		return nil, &InputError{err}
	}
	scan := p.scanTable
	if array {
		if p.Key != "" {
			return nil, wrongUse("%s is an array, which has no column %q: name a CSV to copy a column of it", file, p.Key)
		}
		scan = p.scanArray
	}
	in := &inputs{}
	in.each = func(fn func(*data.Set, []string, []int) error) error {
		var failed error
		err := scan(file, func(set *data.Set, keys []string, filled []int) (bad error) {
			if failed = ctx.Err(); failed == nil && p.Through != nil {
				set, bad = p.Through.head(ctx, p.Schema, set)
			}
			if failed == nil && bad == nil && p.Posterior != nil {
				bad = p.Posterior.Net.Takes(set)
			}
			if failed == nil && bad == nil {
				failed = fn(set, keys, filled)
			}
			return cmp.Or(bad, failed)
		})
		if err != nil && failed == nil {
			err = &InputError{err}
		}
		return err
	}
	if array {
		a, err := formats.OpenArray(file)
		if err != nil {
			return nil, &InputError{err}
		}
		in.rows = a.Shape()[0]
		return in, a.Close()
	}
	var last *data.Table
	values, rows := 0, 0 // that were missing, and the rows that lacked them
	err = formats.ScanCSV(file, p.schema().CSVToPredict(p.Key), block, func(t *data.Table) error {
		in.rows, last = in.rows+t.Rows(), t
		_, missing, err := p.set(file, t)
		for _, n := range missing {
			if values += n; n > 0 {
				rows++
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &InputError{p.keyFault(err)}
	}
	if p.Note != nil {
		for _, note := range last.Notes(file, in.rows) {
			p.Note(note.Words())
		}
		if rows > 0 {
			p.Note(finding.Of(finding.FilledValues{Values: values, Rows: rows, File: file}).Words())
		}
	}
	return in, nil
}

// schema says how a file becomes inputs: of the posterior or, of a head, of its backbone.
func (p *Predictor) schema() *data.Schema {
	if p.Through != nil {
		return p.Through.reads()
	}
	return p.Schema
}

// keyFault adds the nearest column to the error that a file lacks the key column.
func (p *Predictor) keyFault(err error) error {
	var column *tables.ColumnError
	if errors.As(err, &column) && column.Name == p.Key {
		return fmt.Errorf("%w%s", err, spelling.Suggest(p.Key, column.Header))
	}
	return err
}

// set makes the inputs of a block of a table.
func (p *Predictor) set(file string, t *data.Table) (set *data.Set, filled []int, err error) {
	if p.Complete {
		if err := p.schema().Complete(t); err != nil {
			return nil, nil, err
		}
	}
	return p.schema().ToPredict(file, t)
}

func (p *Predictor) scanTable(file string, fn func(*data.Set, []string, []int) error) error {
	return formats.ScanCSV(file, p.schema().CSVToPredict(p.Key), block, func(t *data.Table) error {
		set, filled, err := p.set(file, t)
		if err != nil {
			return err
		}
		return fn(set, t.Keys, filled)
	})
}

func (p *Predictor) scanArray(file string, fn func(*data.Set, []string, []int) error) error {
	a, err := formats.OpenArray(file)
	if err != nil {
		return err
	}
	defer a.Close()
	for {
		rows, err := a.Next(block)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		set, err := p.schema().Examples(file, rows)
		if err != nil {
			return err
		}
		if err := fn(set, nil, nil); err != nil {
			return err
		}
	}
}
