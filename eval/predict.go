package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/pool"
)

// block is the number of rows that are predicted at a time: it bounds the memory and does not change the predictions.
const block = 1024

// Predictor writes the posterior's predictions for files of inputs.
type Predictor struct {
	Posterior  *bnn.Ensemble
	Schema     *data.Schema         // of the run: how a file becomes inputs, and predictions numbers in the target's units
	Decision   *Decision            // what the posterior decides by; nil: it decides nothing
	Pool       *pool.Pool           // nil: one with a thread for each CPU
	Progress   func(done, rows int) // called after each block of rows, and once before the first; nil: not called
	MeanLogits bool                 // decide by the energy of the mean logits, not by the mean energy
	Threshold  *Threshold           // decides the class between two; nil: the most probable one
	Safe       bool                 // in a CSV an apostrophe stands before names of classes and keys that spreadsheets take for formulas
	Key        string               // a column of the inputs whose text is copied, by name or number; empty: none
	Complete   bool                 // a missing value of a table's input is an error; else it is filled as held-out rows of the run are
	Quantiles  []float64            // levels of a number's quantiles; nil: 0.05, 0.5 and 0.95
	Draws      int                  // targets of each row drawn from the posterior predictive distribution, in a CSV; 0: none
	Seed       uint64               // of the draws
	Note       func(text string)    // called for each way in which a file differs from what the run was trained on: its columns (data.Table.Notes) and its numbers (data.Outside); nil: not called
}

// File writes the posterior's prediction for every row of a file of inputs, CSV, Parquet, NPY or IDX, to another file, CSV or NPY by
// the ending of its name, and returns the number of rows. Either file may be larger than memory. After an error the file out
// is unchanged.
//
// A CSV has the columns row, from 0; that of the Key, if there is one; for classes
//
//	class              the most probable, or the one by the Threshold: its name, or its number where classes have no names; empty where
//	                   the network overflows and probabilities are NaN
//	p_NAME             the probability of each class, or p_0 … p_{C−1}
//	entropy_total, entropy_aleatoric, entropy_epistemic   in nats
//	abstain            always empty
//	energy, foreign    with a Decision that has Foreign: foreign is 1 where the row is declared OOD, by its energy or because an input lies outside, else 0
//
// or for a regression, in the target's units,
//
//	mean, sd_aleatoric, sd_epistemic, q05, q50, q95   of several target values these six of each, mean_0 and so on; with Quantiles the
//	                                                  columns of theirs, such as q10, in place of the last three
//
// and then, for both,
//
//	missing            the number of inputs of a table's row that were missing and filled; empty for none
//	outside            the number of inputs outside what the run was trained on (data.Outside); empty for none, and for runs of older versions
//	draw_1 …           the Draws, of several target values draw_1_0 and so on: numbers in the target's units, or names of classes
//
// An NPY has the probabilities [n, C], or the six, [n, 6] or [n, values, 6]. IsPredictions tells such a file by its header; that of an NPY has
// 512 bytes.
//
// The error is a *UsageError for file names that cannot be used, and an *InputError for the inputs.
func (p *Predictor) File(ctx context.Context, in, out string) (int, error) {
	if err := checkOut(in, out); err != nil {
		return 0, err
	}
	source, err := p.open(ctx, in, out)
	if err != nil {
		return 0, err
	}
	done := 0
	err = ckpt.Replace(out, "", func(w io.Writer) (err error) {
		done, err = p.write(ctx, in, source, p.writer(w, source.rows, out))
		return err
	})
	var bad *InputError
	if errors.As(err, &bad) { // not the error of ckpt.Replace around it, which is about out
		err = bad
	}
	return done, err
}

// To is File to a writer, as CSV. After an error a part may have been written.
func (p *Predictor) To(ctx context.Context, in string, w io.Writer) (int, error) {
	source, err := p.open(ctx, in, "")
	if err != nil {
		return 0, err
	}
	return p.write(ctx, in, source, p.writer(w, source.rows, ""))
}

// write predicts all rows of a file, and returns their number.
func (p *Predictor) write(ctx context.Context, in string, source *inputs, to predictions) (done int, err error) {
	progress := p.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, source.rows)
	outside := p.Schema.Outside()
	err = source.each(func(set *data.Set, keys []string, filled []int) error {
		of := counts{filled, outside.Add(set)}
		values, err := p.predict(ctx, set, of.outside)
		if err == nil {
			values, err = p.draws(ctx, set, done, values)
		}
		if err == nil {
			err = to.write(values, keys, of)
		}
		done += set.Len()
		progress(done, source.rows)
		return err
	})
	if err == nil && done != source.rows {
		err = &InputError{fmt.Errorf("%s: changed while it was read", in)}
	}
	if flushed := to.Flush(); err == nil { // the writer keeps its first error, which is err's cause if it could not write
		err = flushed
	}
	if err == nil && p.Note != nil {
		for _, note := range outside.Findings(in) {
			p.Note(note.Words())
		}
	}
	return done, err
}

// checkOut refuses an output file that cannot be written, before any work is done.
func checkOut(in, out string) error {
	if ext := strings.ToLower(filepath.Ext(out)); ext != ".npy" && ext != ".csv" {
		return wrongUse("%s: predictions are written as .csv or .npy", out)
	}
	folder := filepath.Dir(out)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return wrongUse("%s: there is no folder %s", out, folder)
	}
	there, err := os.Stat(out)
	if err != nil {
		return nil
	}
	if from, err := os.Stat(in); err == nil && os.SameFile(there, from) {
		return wrongUse("%s is the file of inputs: name another file to write to", out)
	}
	if !there.Mode().IsRegular() {
		return wrongUse("%s exists and is not a file", out)
	}
	return nil
}

// checkKey refuses a key column that cannot be written to the file out; empty: to a CSV without a name.
func (p *Predictor) checkKey(out string) error {
	switch {
	case p.Key == "":
	case isNPY(out):
		return wrongUse("%s: an array holds numbers alone: to copy the column %q, write the predictions as .csv", out, p.Key)
	case slices.Contains(slices.Delete(p.header(), 1, 2), p.safe(p.Key)):
		return wrongUse("the predictions have a column %q of their own: give the key column another name", p.Key)
	}
	return nil
}

// predict returns the prediction for a set: for each example as many numbers as columns has names. outside counts the inputs of each
// example that lie outside; nil: this is not known.
func (p *Predictor) predict(ctx context.Context, set *data.Set, outside []int32) ([]float64, error) {
	if p.Posterior.Net.Likelihood().Regression() {
		v, err := p.Posterior.PredictAmounts(ctx, set, amounts(p.Schema.Targets), p.quantiles(), p.Pool)
		if err != nil {
			return nil, err
		}
		restoreRegression(v, p.Schema.Targets)
		each := len(p.quantiles())
		values := make([]float64, 0, set.Len()*(3+each))
		for i, mean := range v.Mean {
			values = append(values, mean, v.Aleatoric[i], v.Epistemic[i])
			values = append(values, v.Quantiles[each*i:each*(i+1)]...)
		}
		return values, nil
	}
	v, err := p.Posterior.Predict(ctx, set, p.Pool)
	if err != nil {
		return nil, err
	}
	values := make([]float64, 0, set.Len()*(v.Classes+5))
	for i := range set.Len() {
		values = append(values, v.Probs[i*v.Classes:(i+1)*v.Classes]...)
		values = append(values, v.Total[i], v.Aleatoric[i], v.Epistemic[i])
		if by := p.foreign(); by != nil {
			energy, ood := by.energy(v, i, p.MeanLogits)
			values = append(values, energy, indicator(ood || outside != nil && outside[i] > 0))
		}
	}
	return values, nil
}

// foreign says which rows are declared OOD; nil: the CSV does not say.
func (p *Predictor) foreign() *Foreign {
	if p.Decision == nil {
		return nil
	}
	return p.Decision.Foreign
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
