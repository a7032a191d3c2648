package eval

import (
	"context"
	"io"

	"github.com/starling-smc/starling/data"
)

// inputs are the rows of a file. each passes them to fn in blocks, as the network's inputs. A fault of the file is an
// *InputError; an error of fn is returned as it is.
type inputs struct {
	rows int
	each func(fn func(*data.Set) error) error
}

// open opens a file of inputs. A CSV is read once in advance, so that its faults are found before the work begins.
func (p *Predictor) open(ctx context.Context, file string) (*inputs, error) {
	array, err := data.IsArray(file)
	if err != nil {
		return nil, &InputError{err}
	}
	scan := p.scanTable
	if array {
		scan = p.scanArray
	}
	in := &inputs{}
	in.each = func(fn func(*data.Set) error) error {
		var failed error
		err := scan(file, func(set *data.Set) error {
			if failed = ctx.Err(); failed == nil {
				failed = fn(set)
			}
			return failed
		})
		if err != nil && failed == nil {
			err = &InputError{err}
		}
		return err
	}
	if array {
		a, err := data.OpenArray(file)
		if err != nil {
			return nil, &InputError{err}
		}
		in.rows = a.Shape()[0]
		return in, a.Close()
	}
	err = in.each(func(set *data.Set) error { in.rows += set.Len(); return nil })
	return in, err
}

func (p *Predictor) scanTable(file string, fn func(*data.Set) error) error {
	return data.ScanCSV(file, p.Schema.CSV(), block, func(t *data.Table) error {
		set, err := p.Schema.Set(file, t, nil, false)
		if err != nil {
			return err
		}
		return fn(set)
	})
}

func (p *Predictor) scanArray(file string, fn func(*data.Set) error) error {
	a, err := data.OpenArray(file)
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
		set, err := p.Schema.Examples(file, rows)
		if err != nil {
			return err
		}
		if err := fn(set); err != nil {
			return err
		}
	}
}
