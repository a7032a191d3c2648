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

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/internal/ckpt"
)

// block is the number of rows that are predicted at a time: it bounds the memory and does not change the predictions.
const block = 1024

// File writes the posterior's prediction for every row of a file of inputs, CSV, Parquet, NPY or IDX, to another file, CSV or NPY by
// the ending of its name, and returns the number of rows. Either file may be larger than memory. After an error the file out
// is unchanged.
//
// A CSV has the columns row, from 0; that of the Key, if there is one; for classes
//
//	class              the most probable, or the one by the Threshold: its name, or its number where classes have no names; empty where
//	                   the network overflows and probabilities are NaN
//	p_NAME             the probability of each class, or p_0 … p_{C−1}: tempered where the Decision has a temperature, unless Untempered
//	entropy_total, entropy_aleatoric, entropy_epistemic   in nats, of the ensemble's probabilities
//	abstain            with a Decision that has a rule to abstain: 1 where the row does, else 0; empty without one
//	energy, foreign    with a Decision that has Foreign: foreign is 1 where the row is declared OOD, by its energy or because an input lies outside, else 0
//
// or for a regression, in the target's units,
//
//	mean, sd_aleatoric, sd_epistemic, q05, q50, q95   of several target values these six of each, mean_0 and so on; with Quantiles the
//	                                                  columns of theirs, such as q10, in place of the last three. Where the Decision
//	                                                  has a factor all but the mean are those of the law that is so many times as wide, unless Untempered
//
// and then, for both,
//
//	missing            the number of inputs of a table's row that were missing and filled; empty for none
//	outside            the number of inputs outside what the run was trained on (data.Outside); empty for none, and for runs of older versions
//	p_wrong, set       classes, with a Decision that has Learnt: the probability that the answer is wrong, empty without a classifier, and the names
//	                   of the set's classes with | between them, empty without sets
//	abstain, low, high numbers, likewise: 1 or 0 as above, and the ends of the interval; empty where they were not learnt
//	draw_1 …           the Draws, of the ensemble as it is, of several target values draw_1_0 and so on: numbers in the target's units, or names of classes
//
// Where probabilities, or quantiles, are NaN the row abstains, its set is all classes, and its interval all numbers.
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
		a, err := p.answers(ctx, set, done, outside.Add(set))
		if err == nil {
			a.keys, a.missing = keys, filled
			a.values, err = p.draws(ctx, set, done, a.values)
		}
		if err == nil {
			err = to.write(a)
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
