package starling

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/pool"
	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// together is the number of rows that are predicted at a time: it bounds the memory, and has no part in the figures.
const together = 1024

// Predict writes what the posterior says of every row of a file of inputs, CSV, NPY or IDX, to another, CSV or NPY as
// its name ends, and returns the number of rows. Either file may be larger than memory; out is complete or as it was.
//
// Of classes a CSV has the columns row (from 0), class (the most probable: its name, or its number where classes have
// no names; empty where the network overflows and probabilities are NaN), p_0 … p_{C−1}, the entropies entropy_total,
// entropy_aleatoric and entropy_epistemic in nats, and abstain, which is empty as long as a run has no threshold; NPY has
// the probabilities [n, C]. Of a regression the columns are row, mean, sd_aleatoric, sd_epistemic, q05, q50 and q95 in
// the target's units, with several outputs these six of each, mean_0 and so on; NPY has the six, [n, 6] or [n, outputs, 6].
//
// The error is a *ConfigError for files that cannot be these, and a *DataError for what is wrong with the inputs.
func (r *Run) Predict(ctx context.Context, in, out string, o Options) (int, error) {
	if err := checkOut(in, out); err != nil {
		return 0, err
	}
	progress := o.Progress
	if progress == nil {
		progress = func(Event) {}
	}
	source, err := r.source(ctx, in)
	if err != nil {
		return 0, err
	}
	predict, done := r.predictor(ctx, pool.New(o.Threads)), 0
	progress(&Predicting{Rows: source.rows})
	err = ckpt.Replace(out, "", func(w io.Writer) error {
		to := r.writer(w, source.rows, out)
		err := source.each(func(set *data.Set) error {
			values, err := predict(set)
			if err == nil {
				err = to.write(values)
			}
			done += set.Len()
			progress(&Predicting{Rows: source.rows, Done: done})
			return err
		})
		if err == nil && done != source.rows {
			err = &DataError{fmt.Errorf("%s: changed while it was read", in)}
		}
		return errors.Join(err, to.Flush())
	})
	var bad *DataError
	if errors.As(err, &bad) { // which is not about out
		err = bad
	}
	return done, err
}

// checkOut refuses a file of predictions that cannot be one before any work is done.
func checkOut(in, out string) error {
	if ext := strings.ToLower(filepath.Ext(out)); ext != ".npy" && ext != ".csv" {
		return wrong("%s: predictions are written as .csv or .npy", out)
	}
	folder := filepath.Dir(out)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return wrong("%s: there is no folder %s", out, folder)
	}
	there, err := os.Stat(out)
	if err != nil {
		return nil
	}
	if from, err := os.Stat(in); err == nil && os.SameFile(there, from) {
		return wrong("%s is the file of inputs: name another to write to", out)
	}
	if !there.Mode().IsRegular() {
		return wrong("%s exists and is no file", out)
	}
	return nil
}

// inputs are rows in a file, which each passes on in blocks, as the network sees them. What is wrong with the file is a
// *DataError; errors of fn come back as they are.
type inputs struct {
	rows int
	each func(fn func(*data.Set) error) error
}

// source opens a file of inputs. A CSV is read once in advance: its faults show before the work begins.
func (r *Run) source(ctx context.Context, file string) (*inputs, error) {
	array, err := data.IsArray(file)
	if err != nil {
		return nil, &DataError{err}
	}
	scan := r.scanTable
	if array {
		scan = r.scanArray
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
			err = &DataError{err}
		}
		return err
	}
	if array {
		a, err := data.OpenArray(file)
		if err != nil {
			return nil, &DataError{err}
		}
		in.rows = a.Shape()[0]
		return in, a.Close()
	}
	err = in.each(func(set *data.Set) error { in.rows += set.Len(); return nil })
	return in, err
}

func (r *Run) scanTable(file string, fn func(*data.Set) error) error {
	return data.ScanCSV(file, r.Schema.CSV(), together, func(t *data.Table) error {
		set, err := r.Schema.Set(file, t, nil, false)
		if err != nil {
			return err
		}
		return fn(set)
	})
}

func (r *Run) scanArray(file string, fn func(*data.Set) error) error {
	a, err := data.OpenArray(file)
	if err != nil {
		return err
	}
	defer a.Close()
	for {
		rows, err := a.Next(together)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		set, err := r.Schema.Examples(file, rows)
		if err != nil {
			return err
		}
		if err := fn(set); err != nil {
			return err
		}
	}
}

// classes is the number of classes that the network tells apart, 0 for a regression.
func (r *Run) classes() int {
	switch r.Net.Likelihood().(type) {
	case nn.Gaussian:
		return 0
	case nn.Bernoulli:
		return 2
	}
	return r.Net.Outputs()
}

// predictor returns the function that predicts a set: of each example as many values as valueNames says.
func (r *Run) predictor(ctx context.Context, p *pool.Pool) func(*data.Set) ([]float64, error) {
	if r.classes() == 0 {
		return func(set *data.Set) ([]float64, error) {
			v, err := r.Posterior.PredictRegression(ctx, set, []float64{0.05, 0.5, 0.95}, p)
			if err != nil {
				return nil, err
			}
			restoreValues(v, r.Schema.Targets)
			var values []float64
			for i, mean := range v.Mean {
				values = append(values, mean, v.Aleatoric[i], v.Epistemic[i])
				values = append(values, v.Quantiles[3*i:3*i+3]...)
			}
			return values, nil
		}
	}
	return func(set *data.Set) ([]float64, error) {
		v, err := r.Posterior.Predict(ctx, set, p)
		if err != nil {
			return nil, err
		}
		var values []float64
		for i := range set.Len() {
			values = append(values, v.Probs[i*v.Classes:(i+1)*v.Classes]...)
			values = append(values, v.Total[i], v.Aleatoric[i], v.Epistemic[i])
		}
		return values, nil
	}
}

// valueNames are the columns of a CSV that hold a prediction's values.
func (r *Run) valueNames() (names []string) {
	for c := range r.classes() {
		names = append(names, fmt.Sprint("p_", c))
	}
	if names != nil {
		return append(names, "entropy_total", "entropy_aleatoric", "entropy_epistemic")
	}
	for k := range r.Net.Outputs() {
		suffix := ""
		if r.Net.Outputs() > 1 {
			suffix = fmt.Sprint("_", k)
		}
		for _, name := range []string{"mean", "sd_aleatoric", "sd_epistemic", "q05", "q50", "q95"} {
			names = append(names, name+suffix)
		}
	}
	return names
}

// predictions writes values as they come; what goes wrong shows at the end.
type predictions struct {
	*bufio.Writer
	write func(values []float64) error
}

// writer begins a file of predictions.
func (r *Run) writer(w io.Writer, rows int, out string) predictions {
	b := bufio.NewWriter(w)
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		return predictions{b, r.writeNPY(b, rows)}
	}
	return predictions{b, r.writeCSV(b)}
}

func (r *Run) writeNPY(b *bufio.Writer, rows int) func([]float64) error {
	width := len(r.valueNames())
	shape, kept := []int{rows, width}, width
	if k := r.Net.Outputs(); r.classes() > 0 {
		kept = r.classes()
		shape[1] = kept
	} else if k > 1 {
		shape = []int{rows, k, width / k}
	}
	b.Write(data.NPYHeader(shape))
	return func(values []float64) error {
		for ; len(values) > 0; values = values[width:] {
			for _, v := range values[:kept] {
				if _, err := b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), math.Float64bits(v))); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (r *Run) writeCSV(b *bufio.Writer) func([]float64) error {
	names, classes, row := r.valueNames(), r.classes(), 0
	lines := csv.NewWriter(b)
	record := append([]string{"row"}, names...)
	if classes > 0 {
		record = append(append([]string{"row", "class"}, names...), "abstain")
	}
	lines.Write(record)
	lines.Flush()
	return func(values []float64) error {
		for ; len(values) > 0; values = values[len(names):] {
			record = append(record[:0], strconv.Itoa(row))
			if classes > 0 {
				record = append(record, r.class(values[:classes]))
			}
			for _, v := range values[:len(names)] {
				record = append(record, shortest(v))
			}
			if classes > 0 {
				record = append(record, "")
			}
			if err := lines.Write(record); err != nil {
				return err
			}
			row++
		}
		lines.Flush()
		return lines.Error()
	}
}

// class is the most probable class, the first of equals; empty where probabilities are NaN.
func (r *Run) class(probs []float64) string {
	best := uq.Argmax(probs)
	switch {
	case best < 0:
		return ""
	case best < len(r.Schema.Names):
		return r.Schema.Names[best]
	}
	return strconv.Itoa(best)
}

// shortest is the shortest text that the readers take for v again.
func shortest(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
